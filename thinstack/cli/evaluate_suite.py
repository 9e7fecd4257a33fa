"""`thinstack evaluate --suite`: which kinds of sentence a model of sentiment understands."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from thinstack.cli.options import print_json
from thinstack.core.config import EvaluationSource
from thinstack.errors import InputError, escaped
from thinstack.evaluate.suite import Half, halves, read_suite

if TYPE_CHECKING:
    from rich.table import Table

    from thinstack.runtime.predictor import Predictor


SuiteOption = Annotated[
    str | None,
    typer.Option(
        help="Instead of a file: sentences of known polarity. Give the name of a suite (polarity) "
        "or a table of such sentences."
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
        help="With --suite --half open: list the sentences that the model gets wrong. The reported "
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
    cases = halves(read_suite(suite), half)
    if not cases:
        raise InputError(f"{suite}: the {half} half has no texts: choose another --half")
    figures, wrong = evaluate_suite(predictor, cases, source=source)
    if as_json:
        listed = {"wrong": [case._asdict() for case in wrong]} if list_wrong else {}
        print_json({"suite": suite, "half": half} | figures | listed)
        return
    console, part = Console(), "both halves" if half == "all" else f"{half} half"
    title = Text(escaped(f"{model} on the suite {suite}, {part}"), style="italic")
    console.print(title, soft_wrap=True)
    console.print(_table_of(figures))
    for case in wrong if list_wrong else ():
        line = Text(escaped(f"{case.id}, expected {case.polarity}: {case.text}"))
        console.print(line, soft_wrap=True)


def _table_of(figures: Mapping[str, Any]) -> "Table":
    from rich.table import Column, Table

    from thinstack.evaluate.figures import percent
    from thinstack.evaluate.suite_evaluation import suite_rows

    headings = (Column(name, justify="right") for name in ("right", "of", "percent"))
    table = Table("", *headings)
    before_a_line = len(figures["kinds"]), len(figures["kinds"]) + 1
    for number, (name, found) in enumerate(suite_rows(figures), 1):
        counts = f"{found['right']:,}", f"{found['total']:,}", percent(found["accuracy"])
        table.add_row(Text(escaped(name)), *counts, end_section=number in before_a_line)
    return table
