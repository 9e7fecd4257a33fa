"""Whether every cell, kind of encoder and task head learns: each is trained for a while and set
against a plain guess.

    python lab/benchmarks/learning.py --data FOLDER [--seconds 60] [--trees 1000] [--jobs 2] [--out
    page.md]

Exit code 1 if any does not get below the development loss of predicting the frequencies of the
training data.
"""

import multiprocessing
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Annotated

import torch
import typer
from learning_subjects import Subject, all_subjects
from learning_training import Result, learn, prepare_process
from rich.console import Console

Outcome = Result | Exception
LOG = Console(stderr=True)


def main(
    data: Annotated[
        Path,
        typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/, sick/ and vectors/."),
    ],
    seconds: Annotated[float, typer.Option(min=0, help="Processor time to train each.")] = 60.0,
    trees: Annotated[int, typer.Option(min=20, help="Trees of SST, pairs of SICK.")] = 1000,
    only: Annotated[
        list[str] | None, typer.Option(help="Those whose name ('MODEL on TASK') holds this.")
    ] = None,
    seed: int = 1,
    out: Annotated[
        Path | None, typer.Option(help="Where to write the page. [default: standard output]")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of each process.")] = 1,
    jobs: Annotated[int, typer.Option(min=1, help="How many to train at a time.")] = 1,
) -> None:
    """Train every cell, kind of encoder and task head on a little data, and say whether it
    learns."""
    subjects = [
        subject
        for subject in all_subjects()
        if not only or any(part in subject.title for part in only)
    ]
    if problem := hindrance(subjects, data):
        LOG.print(problem, markup=False, highlight=False)
        raise typer.Exit(2)
    outcomes: dict[str, Outcome] = {}
    context = multiprocessing.get_context("spawn")  # torch must not be forked once it has threads
    with ProcessPoolExecutor(
        jobs, context, initializer=prepare_process, initargs=(threads,)
    ) as pool:
        running = {
            pool.submit(learn, subject, data, trees, seconds, seed): subject for subject in subjects
        }
        for future in as_completed(running):
            subject = running[future]
            outcomes[subject.title] = outcome_of(future)
            progress = f"{len(outcomes)}/{len(subjects)} {subject.title}: "
            progress += loss(outcomes[subject.title])
            LOG.print(progress, markup=False, highlight=False, soft_wrap=True)
    conditions = (
        f"`python lab/benchmarks/learning.py --data DATA` wrote this page: {trees} trees or pairs, "
        f"{seconds:g} s each, seed {seed}, {jobs} x {threads} threads, torch {torch.__version__}."
    )
    written = f"{page(subjects, outcomes)}\n{conditions}\n"
    if out is None:
        typer.echo(written, nl=False)
    else:
        out.write_text(written, encoding="utf-8")
    if not all(passed(outcome) for outcome in outcomes.values()):
        raise typer.Exit(1)


def hindrance(subjects: list[Subject], data: Path) -> str:
    """Why these cannot be trained at all; empty if they can."""
    if not subjects:
        return "\n".join(
            ["nothing has such a name; there are:", *(subject.title for subject in all_subjects())]
        )
    files = dict.fromkeys(
        file for subject in subjects for file in (*subject.task.files, subject.task.vectors)
    )
    absent = [file for file in files if not (data / file).exists()]
    if absent:
        return (
            f"{data} lacks {', '.join(absent)}: name the folder that holds sst/, sick/ and "
            "vectors/ with --data"
        )
    return ""


def outcome_of(future: Future[Result]) -> Outcome:
    """What became of a subject: one that cannot be trained is a row that fails, and the others go
    on."""
    try:
        return future.result()
    except Exception as error:
        return error


def passed(outcome: Outcome) -> bool:
    return isinstance(outcome, Result) and outcome.passed


def page(subjects: list[Subject], outcomes: dict[str, Outcome]) -> str:
    """The losses as a Markdown list for each task, in the order of the subjects."""
    learns = sum(passed(outcome) for outcome in outcomes.values())
    intro = (
        f"{learns} of {len(outcomes)} learn: their mean development loss, with the weights that "
        "did best on held-out training data, is below that of predicting the label frequencies "
        "(for relatedness the mean target, for ranking equal scores)."
    )
    by_task: dict[str, list[Subject]] = {}
    for subject in subjects:
        by_task.setdefault(subject.task.name, []).append(subject)
    lists = (task_list(task, members, outcomes) for task, members in by_task.items())
    return "".join([f"# Does everything learn?\n\n{intro}\n\n", *lists])


def task_list(task: str, subjects: list[Subject], outcomes: dict[str, Outcome]) -> str:
    results = [outcomes[subject.title] for subject in subjects]
    baselines = [f" (baseline {each.baseline:.3f})" for each in results if isinstance(each, Result)]
    models = "; ".join(
        f"{subject.name}: {loss(result)}" for subject, result in zip(subjects, results, strict=True)
    )
    return f"- **{task}**{''.join(baselines[:1])}: {models}.\n"


def loss(outcome: Outcome) -> str:
    if not isinstance(outcome, Result):
        return f"FAILS, {type(outcome).__name__} {' '.join(str(outcome).split())}"
    return ("" if outcome.passed else "FAILS, ") + f"{outcome.trained:.3f}"


if __name__ == "__main__":
    typer.run(main)
