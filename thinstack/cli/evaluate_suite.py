"""`thinstack evaluate --suite`: which kinds of sentence a model of sentiment understands."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console
from rich.text import Text

from thinstack.cli.options import print_json
from thinstack.core.config import EvaluationSource
from thinstack.errors import InputError, escaped
from thinstack.evaluate.suite import AspectCase, Case, Half, halves, read_suite, suite_names

if TYPE_CHECKING:
    from rich.table import Table

    from thinstack.runtime.predictor import Predictor

ALL: Final = "all"
"""In place of the name of a suite: every suite that thinstack brings along."""

SuiteOption = Annotated[
    str | None,
    typer.Option(
        help="Instead of a file: sentences of known polarity, or with terms of known polarity. "
        f"Give all for every suite, the name of one ({', '.join(suite_names())}), or a table of "
        "such sentences."
    ),
]
HalfOption = Annotated[
    Half,
    typer.Option(
        help="With --suite: the half whose figures are reported, the open half that you may look "
        "at, or all."
    ),
]
ListWrongOption = Annotated[
    bool,
    typer.Option(
        "--list-wrong",
        help="For a table, or --suite --half open: list what the model gets wrong. The reported "
        "half is never listed: if you fix a model by looking at it, its figures no longer say how "
        "the model does on other sentences.",
    ),
]


def evaluate_on_suite(
    predictor: "Predictor",
    model: str,
    suite: str,
    half: Half,
    source: EvaluationSource,
    *,
    list_wrong: bool,
    as_json: bool,
) -> None:
    """Print the figures of a half of a suite and, on request, the texts that are wrong."""
    from thinstack.evaluate.suite_evaluation import evaluate_suite

    if list_wrong and half != "open":
        raise InputError(
            f"--list-wrong shows the open half only, but the half is {half}: add --half open. If "
            "you fix a model by looking at the reported half, its figures mean nothing"
        )
    if source == "gold":
        raise InputError(
            f"{suite}: a suite has texts and no gold trees: choose another source, such as "
            "--source auto"
        )
    figures: dict[str, dict[str, Any]] = {}
    wrong: dict[str, Sequence[Case | AspectCase]] = {}
    for name, cases in _cases(suite, half).items():
        figures[name], wrong[name] = evaluate_suite(predictor, cases, source=source)
    if as_json:
        if list_wrong:
            for name, cases in wrong.items():
                figures[name]["wrong"] = [case._asdict() for case in cases]
        found = {"suites": figures} if suite == ALL else figures[suite]
        print_json({"suite": suite, "half": half} | found)
        return
    console, part = Console(), "both halves" if half == "all" else f"{half} half"
    what = "all suites" if suite == ALL else f"the suite {suite}"
    console.print(Text(escaped(f"{model} on {what}, {part}"), style="italic"), soft_wrap=True)
    console.print(_table_of(figures))
    for name, cases in wrong.items() if list_wrong else ():
        _list(cases, f"{name}, " if suite == ALL else "", console)


def _cases(suite: str, half: Half) -> Mapping[str, Sequence[Case | AspectCase]]:
    """The texts of a half, by suite. Raises InputError for a half without texts."""
    names = suite_names() if suite == ALL else [suite]
    found = {name: halves(read_suite(name), half) for name in names}
    for name, cases in found.items():
        if not cases:
            raise InputError(f"{name}: the {half} half has no texts: choose another --half")
    return found


def _list(cases: Sequence[Case | AspectCase], where: str, console: Console) -> None:
    for case in cases:
        line = Text(escaped(f"{where}{case.id}, expected {case.expected}: {case.text}"))
        console.print(line, soft_wrap=True)


def _table_of(figures: Mapping[str, Mapping[str, Any]]) -> "Table":
    """The rows of each suite; its total has its name."""
    from rich.table import Column, Table

    from thinstack.evaluate.suite_table import COLUMNS, TOTAL, suite_rows

    table = Table("", *(Column(name, justify="right") for name in COLUMNS))
    for suite, found in figures.items():
        for row in suite_rows({suite: found}):
            total = Text(escaped(Path(suite).stem), style="bold")
            table.add_row(
                total if row.name == TOTAL else Text(escaped(f"  {row.name}")), *row.cells
            )
        table.add_section()
    return table
