"""Figures: measurements by name, and their formatting; and the figures of vectors."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core.scale import Scale

Figures = dict[str, float | None]
"""{name: measurement}; None if undefined, such as an accuracy without cases."""


def figure_names(names: Mapping[str, str], labels: Sequence[str]) -> dict[str, str]:
    """Return {key: printed name}, with binary accuracies only for labels that are a `Scale`."""
    binary = Scale.of(labels) is not None
    return {key: name for key, name in names.items() if binary or "binary" not in key}


def percentage(right: NDArray[np.bool_]) -> float | None:
    """Return the share in percent of the cases (K,) that are right; None without cases."""
    return 100.0 * float(right.mean()) if right.size else None


def f1(right: int, gold: int, predicted: int) -> float | None:
    """Return F1 in percent, from the numbers of right, gold and predicted cases; None for 0 / 0."""
    return 200 * right / (gold + predicted) if gold + predicted else None


def counts(right: Iterable[bool]) -> dict[str, Any]:
    """Return the number of cases that are `right`, the `total`, and the `accuracy` in percent, None
    without cases."""
    cases = list(map(bool, right))  # numpy booleans are not JSON
    accuracy = 100.0 * sum(cases) / len(cases) if cases else None
    return {"right": sum(cases), "total": len(cases), "accuracy": accuracy}


Z: Final = NormalDist().inv_cdf(0.975)
"""The quantile of the normal distribution for a 95% confidence interval."""


def wilson(share: float, cases: int) -> tuple[float, float]:
    """Return the bounds of the 95% score interval (Wilson 1927) of a share p from 0 to 1 of n >= 1
    independent cases. With the normal quantile z, they are

        (p + z² / 2n ± z √(p (1 - p) / n + z² / 4n²)) / (1 + z² / n)
    """
    square = Z * Z / cases
    middle = share + square / 2
    half = Z * math.sqrt(share * (1 - share) / cases + square / (4 * cases))
    low, high = ((middle + side * half) / (1 + square) for side in (-1, 1))
    return max(low, 0.0) if share > 0 else 0.0, min(high, 1.0) if share < 1 else 1.0


def interval_line(figures: Figures) -> str:
    """Format the confidence interval of the `accuracy`, from the number of `texts`, or ""."""
    accuracy, texts = figures.get("accuracy"), figures.get("texts")
    if accuracy is None or not texts:
        return ""
    low, high = (100 * end for end in wilson(accuracy / 100, int(texts)))
    return f"the 95% interval of the accuracy on {texts:,} texts is {low:.1f} to {high:.1f}"


def percent(value: float | None) -> str:
    """Format a figure in percent."""
    return "-" if value is None else f"{value:.2f}"


def line(figures: Mapping[str, float | None], names: Mapping[str, str]) -> str:
    """Format figures with their names."""
    return ", ".join(f"{shown(key, figures[key])} {name}" for key, name in names.items())


def mean_and_std(key: str, spread: Mapping[str, float | None], plus_minus: str) -> str:
    """Format a figure's mean and standard deviation; only the mean if there is no deviation, as
    with one seed."""
    mean, std = shown(key, spread["mean"]), spread["std"]
    return mean if std is None else f"{mean} {plus_minus} {shown(key, std)}"


def shown(key: str, value: float | None) -> str:
    """Format a figure: percent with two decimals, any other with four."""
    in_percent = value is None or key.endswith(("accuracy", "f1", "terms"))
    return percent(value) if in_percent else f"{value:.4f}"


NEAR: Final = 10


def nearest_figures(vectors: NDArray[Any], teacher: NDArray[Any]) -> Figures:
    """Return how often, in percent, the nearest row by a teacher's vectors (n, W) is also near by
    other vectors (n, D). All have unit norm, and a row is not its own neighbor.

    `first`: how often it is the nearest; `among_ten`: how often it is among the ten nearest.
    """
    n = len(vectors)
    theirs, ours = teacher @ teacher.T, vectors @ vectors.T
    np.fill_diagonal(theirs, -np.inf)
    np.fill_diagonal(ours, -np.inf)
    nearest = theirs.argmax(axis=1)
    nearer = (ours > ours[np.arange(n), nearest][:, None]).sum(axis=1)
    return {
        "first": 100 * float((nearer < 1).mean()),
        "among_ten": 100 * float((nearer < NEAR).mean()),
    }
