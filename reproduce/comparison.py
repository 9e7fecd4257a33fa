"""Two rows of a table compared: the difference of their figures, and how far chance would take
it."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from reproduce.cases import Cases
from reproduce.table import Column, Comparison, Row, Table

FindCases = Callable[[Row, str, str], Sequence[Cases]]
"""Of every seed of a row, by variant ("" is the row itself) and the source of the trees."""

WHOLE = {"root_accuracy": True, "accuracy": True, "phrase_accuracy": False}
"""Accuracies: of whole sentences and pairs, or of all labelled phrases."""


def compare_rows(
    table: Table, pair: Comparison, rows: Sequence[Mapping[str, Any]], cases: FindCases
) -> dict[str, Any] | None:
    """The difference of two rows' means, `a` less `b`; None where a row is missing.

    `error` is the standard error over the seeds (None for one seed), `examples_error` that of
    `error_of_examples` (None for rivals, and for figures that are not accuracies).
    """
    figures = {row["name"]: row["figures"][pair.key] for row in rows}
    a, b = figures.get(pair.a), figures.get(pair.b)
    if a is None or b is None:
        return None
    error = None
    if a["std"] is not None and b["std"] is not None:
        error = math.sqrt(a["std"] ** 2 / len(a["seeds"]) + b["std"] ** 2 / len(b["seeds"]))
    first, second = table.row(pair.a), table.row(pair.b)
    papers = first.paper.get(pair.key), second.paper.get(pair.key)
    column = next(column for column in table.columns if column.key == pair.key)
    return {
        "a": pair.a,
        "b": pair.b,
        "key": pair.key,
        "difference": a["mean"] - b["mean"],
        "error": error,
        "examples_error": _examples_error(column, (first, second), cases),
        "paper": None if papers[0] is None or papers[1] is None else papers[0] - papers[1],
    }


def _examples_error(column: Column, rows: tuple[Row, Row], cases: FindCases) -> float | None:
    variant, source, figure = column.parts
    if figure not in WHOLE or any(row.rival is not None for row in rows):
        return None
    first, second = (cases(row, variant, source or row.trees) for row in rows)
    return error_of_examples(first, second, whole=WHOLE[figure])


def error_of_examples(
    first: Sequence[Cases], second: Sequence[Cases], *, whole: bool
) -> float | None:
    """The standard error, in percent, of a difference of accuracies that comes from measuring on
    so many examples only.

    Each case counts with its difference of the shares of seeds that were right, so that cases which
    both find easy or hard add nothing. Phrases count as if drawn one by one, which makes their
    error too small. None where the rows were not measured on the same cases, or on fewer than two.
    """
    golds = [_counted(seed, seed.gold, whole) for seed in (*first, *second)]
    same = bool(first and second) and all(np.array_equal(golds[0], gold) for gold in golds)
    if not same or len(golds[0]) < 2:
        return None
    shares = [
        np.mean([_counted(seed, seed.gold == seed.predicted, whole) for seed in seeds], 0)
        for seeds in (first, second)
    ]
    return 100.0 * float(np.std(shares[0] - shares[1], ddof=1)) / math.sqrt(len(shares[0]))


def _counted(cases: Cases, values: Any, whole: bool) -> Any:
    return values[cases.whole] if whole else values
