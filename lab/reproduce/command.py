"""`python -m reproduce table`: every run of a table, in processes side by side, and its report."""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from reproduce.attempts import Failure
from reproduce.console import say
from reproduce.curves import Point, points
from reproduce.kept import Kept, keep
from reproduce.markdown import markdown
from reproduce.plots import draw
from reproduce.provenance import commit_of, versions
from reproduce.report import build
from reproduce.run import Outcome, attempt, digests_of, finished, job_of, taken_over, tidy
from reproduce.state import State
from reproduce.table import Run, Table
from reproduce.workers import each
from thinstack.data.files.writing import locked, write_atomically
from thinstack.errors import DataError, ThinstackError, UnknownNameError


@dataclass(frozen=True, slots=True)
class Options:
    """How a table is run: folder of the data, of the report and of the work, `jobs` runs at a time
    of so many `threads`; rows and seeds, if not all; files to measure on in place of the
    development data, each `[VARIANT=]FILE`."""

    data: Path
    out: Path
    work: Path
    jobs: int
    threads: int
    rows: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    tests: tuple[str, ...] = ()


def run(file: Path, options: Options, console: Console) -> None:
    """Do what is left to do of the table in `file`, and write the report to `options.out`.

    That is TABLE.json, TABLE.md and a plot for each curve, of the rows that are complete; with
    "-test" after TABLE where figures are of test files. Rows that were not run now are kept of the
    report that stands there, if their recipes and data have not changed since. Where rows would be
    lost, or figures are not of all seeds, the report has "-part" after its name, so that no part
    takes the place of the whole. Raises ThinstackError that tells of all runs
    that failed, once the others are done; InputError where another command works in the folder of
    its work; what reading the table raises.
    """
    table = Table.read(file)
    tests = _tests(table, options.tests)
    name = table.name + ("-test" if tests else "")
    with locked(options.work / name, option="--work"):
        _run(table, name, tests, file, options, console)


def _run(
    table: Table, name: str, tests: dict[str, str], file: Path, options: Options, console: Console
) -> None:
    runs = {run.path: run for run in table.runs(options.rows, options.seeds, tests)}
    state = State(runs, commit_of(file))
    _find_jobs(state, options.data, options.work, name)
    before = f"{len(state.runs)} runs, {len(state.outcomes)} of them done before"
    say(console, f"{table.name}: {before}")
    _work(table, state, options, console)
    missing = state.missing()
    done = [
        (run, state.outcomes[path])
        for path, run in state.runs.items()
        if run.row.name not in missing
    ]
    if done:
        _report(table, name, tests, done, state, file, options, console)
    if failed := state.failed():
        reasons = "; ".join(f"{path}: {state.failures[path]}" for path in failed)
        head = f"{len(failed)} of {len(state.runs)} runs failed"
        raise ThinstackError(f"{head}; called again, the others are kept: {reasons}")


def _report(
    table: Table,
    name: str,
    tests: Mapping[str, str],
    done: Sequence[tuple[Run, Outcome]],
    state: State,
    file: Path,
    options: Options,
    console: Console,
) -> None:
    """Write the report of the runs `done`, and of the rows that are kept."""
    ran = list(dict.fromkeys(run.row.name for run, _ in done))
    all_seeds = {run.path for run in table.runs(ran)} == {run.path for run, _ in done}
    before = options.out / f"{name}.json"
    missing = state.missing()
    kept = keep(before, table, tests, (*ran, *missing), options.data) if all_seeds else Kept()
    whole = all_seeds and {*ran, *kept.rows} == {row.name for row in table.rows}
    report = build(
        table,
        done,
        missing=missing,
        digests={run.path: digests_of(run, options.data) for run, _ in done},
        complete=whole,
        cases=state.cases,
        kept=kept,
    )
    report |= {
        "command": _command(file, options, all_rows=bool(kept.rows)),
        "commit": state.commit,
        "versions": versions(),
        "threads": options.threads,
    }
    _tell_of_kept(kept, ran, console)
    stem = name if whole or (kept.rows and not kept.stale and not missing) else f"{name}-part"
    _write(table, stem, report, _curves(table, done, state, kept), options.out, console)
    _tell_of_empty_columns(report, done, console)


def _tests(table: Table, options: Iterable[str]) -> dict[str, str]:
    """The test file of each variant ("" is the row itself)."""
    tests = {}
    for option in options:
        variant, sign, file = option.partition("=")
        if not sign:
            variant, file = "", option
        if variant and variant not in table.variants:
            raise UnknownNameError("variant", variant, table.variants)
        tests[variant] = file
    return tests


def _find_jobs(state: State, data: Path, work: Path, name: str) -> None:
    """Add the jobs in the folder `work`/`name`, and what came of those that were done before, be it
    for another table."""
    for path, run in state.runs.items():
        try:
            job = job_of(run, data=data, folder=work / name, commit=state.commit)
        except DataError as error:
            state.failures[path] = str(error)
            continue
        state.jobs[path] = job
        if (outcome := finished(job) or taken_over(job, work)) is not None:
            tidy(job)
            state.outcomes[path] = outcome


def _work(table: Table, state: State, options: Options, console: Console) -> None:
    """Do the jobs that have no outcome, add what comes of each, and tell of it."""
    left = {path: job for path, job in state.jobs.items() if path not in state.outcomes}
    if not left:
        return
    columns = TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("runs", total=len(left))

        def tell(path: str, answer: Outcome | Failure) -> None:
            if isinstance(answer, Outcome):
                state.outcomes[path] = answer
                line = _main_figures(table, state.runs[path], answer)
            else:
                state.failures[path] = answer.reason
                line = f"failed: {state.failures[path]}"
            say(console, f"{path}: {line}")
            progress.advance(task)

        each(attempt, left, processes=options.jobs, threads=options.threads, tell=tell)


def _main_figures(table: Table, run: Run, outcome: Outcome) -> str:
    """The figures of a run that stand in columns, and its time."""
    parts = []
    for column in table.columns:
        variant, source, figure = column.parts
        value = outcome.figures.get(source or run.row.trees, {}).get(figure)
        if variant == run.variant and value is not None:
            parts.append(f"{column.title} {value:.{column.digits}f}")
    return ", ".join([*parts, f"{outcome.seconds:.0f} s"])


def _curves(
    table: Table, done: Iterable[tuple[Run, Outcome]], state: State, kept: Kept
) -> dict[str, dict[str, list[Point]]]:
    """The points of every curve, by its name and the row's."""
    rows = {run.row.name: run.row for run, _ in done}
    found: dict[str, dict[str, list[Point]]] = {}
    for curve in table.curves:
        lines = dict(kept.curves.get(curve.name, {}))
        for name in set(curve.rows) & rows.keys():
            cases = state.cases(rows[name], curve.variant, rows[name].trees)
            lines[name] = points(cases, curve, state.traces(rows[name]))
        if lines:
            found[curve.name] = {name: lines[name] for name in curve.rows if name in lines}
    return found


def _tell_of_kept(kept: Kept, ran: Iterable[str], console: Console) -> None:
    if kept.rows:
        say(console, f"kept of the report before: {', '.join(kept.rows)}")
    if kept.stale:
        names = ", ".join(kept.stale)
        rows = " ".join(f"--row {row}" for row in (*ran, *kept.stale))
        say(
            console,
            f"not kept, for recipes, data or thinstack have changed since: {names}; for the whole "
            f"report call it with {rows}, where finished runs are not run again",
        )


def _write(
    table: Table,
    name: str,
    report: dict[str, Any],
    curves: dict[str, dict[str, list[Point]]],
    out: Path,
    console: Console,
) -> None:
    """Write the report and its plots as `out`/NAME..."""
    report["curves"] = {
        curve: {row: [found._asdict() for found in line] for row, line in lines.items()}
        for curve, lines in curves.items()
    }
    out.mkdir(parents=True, exist_ok=True)
    plots = draw(table, name, curves, out)
    write_atomically(out / f"{name}.json", json.dumps(report, indent=1, allow_nan=False) + "\n")
    write_atomically(out / f"{name}.md", markdown(report, [path.name for path in plots]))
    for path in (out / f"{name}.json", out / f"{name}.md", *plots):
        say(console, f"wrote {path}")


def _tell_of_empty_columns(
    report: Mapping[str, Any], done: Iterable[tuple[Run, Outcome]], console: Console
) -> None:
    known = {f"{s}.{f}" for _, outcome in done for s, part in outcome.figures.items() for f in part}
    for column in report["columns"]:
        if all(row["figures"].get(column["key"]) is None for row in report["rows"]):
            there = ", ".join(sorted(known))
            say(console, f"column {column['key']}: no row has this figure; there are {there}")


def _command(file: Path, options: Options, *, all_rows: bool) -> str:
    """The command line that makes the same report. DATA stands for the folder of the data: a report
    is for others, who have it elsewhere."""
    words = [file.as_posix(), "--data", "DATA"]
    rows = () if all_rows else options.rows
    for name, values in (("row", rows), ("seed", options.seeds), ("test", options.tests)):
        words += [word for value in values for word in (f"--{name}", str(value))]
    return shlex.join(["python", "-m", "reproduce", "table", *words])
