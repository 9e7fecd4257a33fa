"""Two rows of a table compared: the difference of their figures, and how far chance would take
it."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from reproduce.bootstrap import interval, same_cases
from reproduce.cases import Cases
from reproduce.measures import WHOLE, Figure, likelihood, of_seeds
from reproduce.shown import Column, Comparison
from reproduce.table import Row, Table

FindCases = Callable[[Row, str, str], Sequence[Cases]]
"""Of every seed of a row, by variant ("" is the row itself) and the source of the trees."""

ACCURACIES = {"root_accuracy": True, "accuracy": True, "phrase_accuracy": False}
"""Of whole sentences and pairs, or of all labelled phrases."""


def compare_rows(
    table: Table, pair: Comparison, rows: Sequence[Mapping[str, Any]], cases: FindCases
) -> dict[str, Any] | None:
    """The difference of two rows' means, `a` less `b`; None where a row is missing.

    `error` is the standard error over the seeds (None for one seed), `examples_error` that of
    `error_of_examples` (None for rivals, and for figures that are not accuracies). `interval` is
    that of the paired bootstrap (None for rivals, phrases and collapsed classes too);
    `likelihood` is the same of the negative log-likelihood, where it is known of both rows.
    """
    figures = {row["name"]: row["figures"].get(pair.key) for row in rows}
    a, b = figures.get(pair.a), figures.get(pair.b)
    if a is None or b is None:
        return None
    error = None
    if a["std"] is not None and b["std"] is not None:
        error = math.sqrt(a["std"] ** 2 / len(a["seeds"]) + b["std"] ** 2 / len(b["seeds"]))
    first, second = table.row(pair.a), table.row(pair.b)
    column = next(column for column in table.columns if column.key == pair.key)
    return {
        "a": pair.a,
        "b": pair.b,
        "key": pair.key,
        "difference": a["mean"] - b["mean"],
        "error": error,
        **_by_chance(column, (first, second), cases),
        "paper": difference_of_papers(table, pair),
    }


def difference_of_papers(table: Table, pair: Comparison) -> float | None:
    """The difference of the papers' figures; None where one of the two is not known."""
    a, b = (table.row(name).paper.get(pair.key) for name in (pair.a, pair.b))
    return None if a is None or b is None else a - b


def _by_chance(column: Column, rows: tuple[Row, Row], cases: FindCases) -> dict[str, Any]:
    variant, source, figure = column.parts
    known = figure in WHOLE or figure in ACCURACIES
    if not known or any(row.rival is not None for row in rows):
        return {"examples_error": None, "interval": None, "likelihood": None}
    first, second = (cases(row, variant, source or row.trees) for row in rows)
    whole = ACCURACIES.get(figure)
    return {
        "examples_error": (
            None if whole is None else error_of_examples(first, second, whole=whole)
        ),
        "interval": interval(first, second, WHOLE[figure]) if figure in WHOLE else None,
        "likelihood": _compared(likelihood, first, second),
    }


def _compared(
    figure: Figure, first: Sequence[Cases], second: Sequence[Cases]
) -> dict[str, Any] | None:
    means = of_seeds(figure, first), of_seeds(figure, second)
    if means[0] is None or means[1] is None:
        return None
    difference = statistics.fmean(means[0]) - statistics.fmean(means[1])
    return {"difference": difference, "interval": interval(first, second, figure)}


def error_of_examples(
    first: Sequence[Cases], second: Sequence[Cases], *, whole: bool
) -> float | None:
    """The standard error, in percent, of a difference of accuracies that comes from measuring on
    so many examples only.

    Each case counts with its difference of the shares of seeds that were right, so that cases which
    both find easy or hard add nothing. Phrases count as if drawn one by one, which makes their
    error too small. None where the rows were not measured on the same cases, or on fewer than two.
    """
    rows = [[seed.only(seed.whole) if whole else seed for seed in row] for row in (first, second)]
    if not same_cases(*rows) or len(rows[0][0]) < 2:
        return None
    shares = [np.mean([seed.gold == seed.predicted for seed in seeds], 0) for seeds in rows]
    return 100.0 * float(np.std(shares[0] - shares[1], ddof=1)) / math.sqrt(len(shares[0]))
