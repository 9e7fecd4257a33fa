"""Classes that form a scale from negative to positive."""

from collections.abc import Sequence

__all__ = ["tones_of"]

_TONES = {2: (1, 3), 3: (1, 2, 3), 5: (0, 1, 2, 3, 4)}


def tones_of(labels: Sequence[str]) -> tuple[int, ...] | None:
    """The tone of each class, 0 (very negative) to 4 (very positive), or None if the labels are not
    a scale.

    A scale has 2, 3 or 5 classes, from a name with "negative" through "neutral" to one with
    "positive".
    """
    names = [label.lower() for label in labels]
    if len(names) not in _TONES or "negative" not in names[0] or "positive" not in names[-1]:
        return None
    if len(names) % 2 and "neutral" not in names[len(names) // 2]:
        return None
    return _TONES[len(names)]
