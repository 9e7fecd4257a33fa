"""The figures of suites as table rows, for the command line and for cards."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from thinstack.evaluate.accuracy import ASPECT_NAMES
from thinstack.evaluate.figures import percent

COLUMNS: Final = ("right", "of", "percent", "sets", "one side", "spread")
"""The column heads: texts that are right, then sets of texts (`set_figures`) and the percentage of
sets with consistent signs."""
TOTAL: Final = "total"


class SuiteRow(NamedTuple):
    """A row: the suite, the name of a kind or another figure, and the cells of `COLUMNS`."""

    suite: str
    name: str
    cells: tuple[str, ...]


def suite_rows(suites: Mapping[str, Mapping[str, Any]]) -> Iterator[SuiteRow]:
    """Iterate over the rows of suites, by name: the total, the kinds, and the figures outside the
    total that have a case or, for aspects, a value. A cell without cases is "-"."""
    for suite, figures in suites.items():
        sets = figures["sets"]
        yield SuiteRow(suite, TOTAL, _cells(figures) + _set_cells(sets))
        for kind, part in figures["kinds"].items():
            cells = _cells(part) + _set_cells(sets["kinds"].get(kind))
            yield SuiteRow(suite, kind.replace("_", " "), cells)
        for name, part in (
            ("irony, in no total", figures["irony"]),
            ("pairs that agree (INV)", figures["tests"]["INV"]),
            ("pairs that move (DIR)", figures["tests"]["DIR"]),
        ):
            if part["total"]:
                yield SuiteRow(suite, name, _cells(part) + _set_cells(None))
        if "aspects" in figures:
            yield from _aspect_rows(suite, figures)


def markdown(suites: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    heads = ("suite", "kind", *COLUMNS)
    rows = [(f"`{row.suite}`", row.name, *row.cells) for row in suite_rows(suites)]
    lines = [" | ".join(row) for row in (heads, ("---",) * len(heads), *rows)]
    return "\n".join(f"| {line} |" for line in lines)


def _aspect_rows(suite: str, figures: Mapping[str, Any]) -> Iterator[SuiteRow]:
    """Iterate over the figures of an aspects suite other than the terms that are right."""
    if (silent := figures["no_terms"])["total"]:
        yield SuiteRow(suite, "no term, none found", _cells(silent) + _set_cells(None))
    for key, value in figures["aspects"].items():
        if key != "polarity_accuracy" and value is not None:
            yield SuiteRow(suite, ASPECT_NAMES[key], ("-", "-", percent(value), *_set_cells(None)))


def _cells(counts: Mapping[str, Any]) -> tuple[str, ...]:
    right = "-" if counts["right"] is None else f"{counts['right']:,}"
    return right, f"{counts['total']:,}", percent(counts["accuracy"])


def _set_cells(sets: Mapping[str, Any] | None) -> tuple[str, ...]:
    if sets is None or not sets["total"]:
        return ("-",) * 3
    return f"{sets['total']:,}", percent(sets["accuracy"]), f"{sets['spread']:.3f}"
