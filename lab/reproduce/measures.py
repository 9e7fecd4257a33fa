"""Measures beside accuracy that tell rows apart: how likely a row makes what is right, and how far
its probabilities can be trusted."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from reproduce.cases import Cases
from thinstack.evaluate.accuracy import confidence_error, relatedness
from thinstack.evaluate.figures import percentage

Figure = Callable[[Cases], float | None]
"""A figure of whole sentences or pairs; None where it is undefined or not known."""


def likelihood(cases: Cases) -> float | None:
    """The mean negative log-likelihood of the gold classes, in nats. A probability of 0 counts as
    the least positive normal number of 32 bits."""
    if np.isnan(cases.likelihood).any() or not len(cases.likelihood):
        return None
    least = np.finfo(np.float32).tiny
    return float(-np.log(np.maximum(cases.likelihood, least).astype(np.float64)).mean())


def calibration(cases: Cases) -> float | None:
    """The expected calibration error, in percentage points."""
    if np.isnan(cases.confidence).any():
        return None
    return confidence_error(cases.confidence, cases.gold == cases.predicted)


def accuracy(cases: Cases) -> float | None:
    """The accuracy in percent."""
    return percentage(cases.gold == cases.predicted)


def of_ratings(name: str) -> Figure:
    """The figure `name` of `relatedness`."""
    return lambda cases: relatedness(cases.predicted, cases.gold)[name]


MEASURES: Final[Mapping[str, Figure]] = {
    "negative_log_likelihood": likelihood,
    "calibration_error": calibration,
}
"""What stands beside the columns of a table, by its name in a report."""

WHOLE: Final[Mapping[str, Figure]] = {
    "root_accuracy": accuracy,
    "accuracy": accuracy,
    **{name: of_ratings(name) for name in ("pearson", "spearman", "mse")},
}
"""Columns that the cases of whole sentences or pairs suffice for."""


def of_seeds(figure: Figure, seeds: Sequence[Cases]) -> list[float] | None:
    """A figure of the whole cases of each seed; None without seeds, or if one has none."""
    values = [figure(cases.only(cases.whole)) for cases in seeds]
    known = [value for value in values if value is not None]
    return known if known and len(known) == len(values) else None
