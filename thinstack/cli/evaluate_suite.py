"""`thinstack evaluate --suite`: the accuracy of a sentiment model by type of sentence."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from thinstack.cli.options import option, print_json, print_table
from thinstack.core.config import TreeSource
from thinstack.data.files.outputs import Output, check_output
from thinstack.data.tables.csv_rows import csv_line
from thinstack.errors import InputError, escaped
from thinstack.evaluate.suite import AspectCase, Case, Half, halves, read_suite, suite_names

if TYPE_CHECKING:
    from thinstack.runtime.predictor import Predictor

ALL: Final = "all"
"""The name that means every suite that ships with thinstack."""


@dataclass(frozen=True)
class Suite:
    """The sentences to evaluate, and whether to list wrong predictions."""

    suite: str | None = option(
        "Instead of a file: evaluate on sentences or terms of known polarity. Use all, "
        f"the name of one suite ({', '.join(suite_names())}), or a table in the same format."
    )
    half: Half = option(
        "With --suite: which half to evaluate. reported: for figures that you publish. open: for "
        "texts that you may read. all: both halves.",
        default="reported",
    )
    list_wrong: Path | None = option(
        "Write the texts that the model gets wrong to this CSV file; for a table, with the phrase "
        "that decides each label. With --suite, requires --half open, because figures for "
        "texts that you have read do not generalize."
    )

    def output(self, used: Sequence[Path]) -> Output | None:
        """Return the checked file of --list-wrong, which may not replace one that is `used`."""
        return check_output(self.list_wrong, "--list-wrong", used) if self.list_wrong else None


def write_wrong(output: Output, columns: Sequence[str], rows: Sequence[Iterable[Any]]) -> None:
    """Write the wrong predictions as CSV, and report their number."""
    output.write("".join(map(csv_line, [columns, *rows])))
    print(escaped(f"wrong texts in {output.path}: {len(rows):,}"), file=sys.stderr)


def evaluate_on_suite(
    predictor: "Predictor", model: str, asked: Suite, source: TreeSource, *, as_json: bool
) -> None:
    """Print the metrics of a half of a suite and, on request, write the texts that are wrong."""
    from thinstack.evaluate.suite_evaluation import evaluate_suite

    suite, half = str(asked.suite), asked.half
    if asked.list_wrong and half != "open":
        raise InputError(
            f"--list-wrong works only with the open half, but the half is {half}: add --half open. "
            "Figures for texts that you have read do not generalize"
        )
    output = asked.output([predictor.bundle.path, *([] if suite == ALL else [Path(suite)])])
    figures: dict[str, dict[str, Any]] = {}
    wrong: dict[str, Sequence[Case | AspectCase]] = {}
    for name in suite_names() if suite == ALL else [suite]:
        sentences = halves(read_suite(name), half)
        if not sentences:
            raise InputError(f"{name}: the {half} half has no texts: choose another --half")
        figures[name], wrong[name] = evaluate_suite(predictor, sentences, source=source)
    if output:
        rows = [
            (name, case.id, case.kind, case.text, case.expected)
            for name, cases in wrong.items()
            for case in cases
        ]
        write_wrong(output, ("suite", "id", "kind", "text", "label"), rows)
    if as_json:
        results = {"suites": figures} if suite == ALL else figures[suite]
        print_json({"suite": suite, "half": half} | results)
        return
    from thinstack.evaluate.suite_table import COLUMNS

    part = "both halves" if half == "all" else f"{half} half"
    what = "all suites" if suite == ALL else f"the suite {suite}"
    print_table(f"{model} on {what}, {part}", ("", *COLUMNS), _rows(figures))


def _rows(figures: Mapping[str, Mapping[str, Any]]) -> Iterator[Sequence[str]]:
    """Yield the rows of each suite; its total has its name. Suites are separated by a line."""
    from thinstack.evaluate.suite_table import TOTAL, suite_rows

    for suite, results in figures.items():
        for row in suite_rows({suite: results}):
            yield (Path(suite).stem if row.name == TOTAL else f"  {row.name}", *row.cells)
        yield ()
