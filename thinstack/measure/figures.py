"""What the figures of a task are called and how they are shown."""

from thinstack.config import Task
from thinstack.measure.metrics import percent

__all__ = ["figure_names", "shown"]

_ACCURACIES = {
    "root_accuracy": "root",
    "root_binary_accuracy": "root, binary",
    "phrase_accuracy": "phrases",
    "phrase_binary_accuracy": "phrases, binary",
}
_NAMES: dict[Task, dict[str, str]] = {
    "phrases": _ACCURACIES,
    "sentences": {"root_accuracy": "accuracy"},
    "relatedness": {"pearson": "Pearson's r", "spearman": "Spearman's rho", "mse": "MSE"},
    "entailment": {"accuracy": "accuracy"},
}


def figure_names(task: Task) -> dict[str, str]:
    """The figures of a task, by their key, and what they are called: accuracies in percent,
    correlations and squared errors."""
    return _NAMES[task]


def shown(key: str, value: float | None) -> str:
    """A figure as it is printed: percent with two decimals, all else with four."""
    return percent(value) if value is None or "accuracy" in key else f"{value:.4f}"
