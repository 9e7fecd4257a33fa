"""`python -m reproduce rerank`: every seed of a reranking, and its report."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from reproduce.attempts import Failure
from reproduce.console import say
from reproduce.markdown import markdown
from reproduce.provenance import commit_of, versions
from reproduce.rerank_report import build
from reproduce.rerank_run import Job, Outcome, attempt, finished, job_of
from reproduce.reranking import Reranking
from reproduce.workers import each
from thinstack.data.files.writing import locked, write_atomically
from thinstack.errors import ThinstackError
from thinstack.training.examples.inputs import data_digests


@dataclass(frozen=True, slots=True)
class Places:
    """Folders of the data, of the report and of the work; `jobs` seeds at a time."""

    data: Path
    out: Path
    work: Path
    jobs: int


def rerank(file: Path, places: Places, console: Console) -> None:
    """Do the seeds of the reranking in `file` that are left to do, and write its report,
    `places.out`/NAME.json and NAME.md.

    Raises ThinstackError that tells of all seeds that failed, once the others are done; InputError
    where another command works in the folder of its work; what reading the files raises.
    """
    plan = Reranking.read(file)
    work, commit = places.work / plan.name, commit_of(file)
    with locked(work, option="--work"):
        jobs = [job_of(plan, seed, places.data, work, commit) for seed in plan.seeds]
        done = _work(jobs, places.jobs, console)
        report = build(plan, done, data_digests(plan.parser_recipe(), places.data)) | {
            "command": shlex.join(
                ["python", "-m", "reproduce", "rerank", file.as_posix(), "--data", "DATA"]
            ),
            "commit": commit,
            "versions": versions(),
            "threads": 1,
        }
    places.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, indent=1, allow_nan=False) + "\n"
    for name, content in ((f"{plan.name}.json", text), (f"{plan.name}.md", markdown(report))):
        write_atomically(places.out / name, content)
        say(console, f"wrote {places.out / name}")


def _work(jobs: list[Job], processes: int, console: Console) -> list[tuple[Job, Outcome]]:
    """The jobs with what came of each, in order. Raises ThinstackError if any failed."""
    found = {str(job.seed): outcome for job in jobs if (outcome := finished(job)) is not None}
    failed: dict[str, str] = {}
    say(console, f"{len(jobs)} seeds, {len(found)} of them done before")

    def tell(seed: str, answer: Outcome | Failure) -> None:
        if isinstance(answer, Outcome):
            found[seed] = answer
            shown = ", ".join(f"{name} {value:.2f}" for name, value in answer.figures.items())
            say(console, f"seed {seed}: {shown}, {sum(answer.seconds.values()):.0f} s")
        else:
            failed[seed] = answer.reason
            say(console, f"seed {seed}: failed: {failed[seed]}")

    left = {str(job.seed): job for job in jobs if str(job.seed) not in found}
    if left:
        each(attempt, left, processes=processes, threads=1, tell=tell)
    if failed:
        reasons = "; ".join(f"seed {seed}: {reason}" for seed, reason in failed.items())
        head = f"{len(failed)} of {len(jobs)} seeds failed"
        raise ThinstackError(f"{head}; called again, the others are kept: {reasons}")
    return [(job, found[str(job.seed)]) for job in jobs]
