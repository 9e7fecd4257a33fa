"""The figures of a task: their names, how they are printed, and which of them early stopping
watches."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core.config import Task
from thinstack.core.scale import Scale

__all__ = [
    "WATCHED",
    "Figures",
    "figure_names",
    "line",
    "mean_and_std",
    "percent",
    "percentage",
    "selection",
    "shown",
]

Figures = dict[str, float | None]
"""What was measured, by name; None is undefined, as an accuracy over no case."""

_ACCURACIES = {
    "root_accuracy": "root",
    "root_binary_accuracy": "root, binary",
    "phrase_accuracy": "phrases",
    "phrase_binary_accuracy": "phrases, binary",
}
_NAMES: dict[Task, dict[str, str]] = {
    "phrases": _ACCURACIES,
    "sentences": {"root_accuracy": "accuracy"},
    "texts": {"accuracy": "accuracy", "macro_f1": "macro F1", "binary_accuracy": "binary"},
    "relatedness": {"pearson": "Pearson's r", "spearman": "Spearman's rho", "mse": "MSE"},
    "entailment": {"accuracy": "accuracy"},
}
WATCHED: Final[dict[Task, tuple[str, ...]]] = {
    "phrases": ("root_accuracy", "root_binary_accuracy", "phrase_accuracy"),
    "sentences": ("root_accuracy",),
    "texts": ("accuracy",),
    "relatedness": ("pearson",),
    "entailment": ("accuracy",),
}
"""Figures whose sum chooses the epoch, by task."""


def figure_names(task: Task, labels: Sequence[str]) -> dict[str, str]:
    """The names of a task's figures, by key: accuracies in percent, correlations and squared
    errors. Binary accuracies are there only for labels that are a `Scale`."""
    binary = Scale.of(labels) is not None
    return {key: name for key, name in _NAMES[task].items() if binary or "binary" not in key}


def selection(task: Task, figures: Mapping[str, float | None]) -> float:
    """The figure that early stopping watches; higher is better. An undefined figure counts 0."""
    return sum(figures[name] or 0.0 for name in WATCHED[task])


def percentage(right: NDArray[np.bool_]) -> float | None:
    """The share in percent of the cases (K,) that are right; None without cases."""
    return 100.0 * float(right.mean()) if right.size else None


def percent(value: float | None) -> str:
    """A figure in percent as it is printed."""
    return "-" if value is None else f"{value:.2f}"


def line(figures: Mapping[str, float | None], task: Task, labels: Sequence[str]) -> str:
    """The figures of a task as they are printed, each with its name. `labels` are the classes."""
    names = figure_names(task, labels)
    return ", ".join(f"{shown(key, figures[key])} {name}" for key, name in names.items())


def mean_and_std(key: str, spread: Mapping[str, float | None], plus_minus: str) -> str:
    """A figure's mean and standard deviation as they are printed; the mean only if there is no
    deviation, as over one seed."""
    mean, std = shown(key, spread["mean"]), spread["std"]
    return mean if std is None else f"{mean} {plus_minus} {shown(key, std)}"


def shown(key: str, value: float | None) -> str:
    """A figure as it is printed: percent with two decimals, any other with four."""
    return percent(value) if value is None or key.endswith(("accuracy", "f1")) else f"{value:.4f}"
