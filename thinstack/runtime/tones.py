"""The colours of classes: another way to ask `thinstack.core.scale.Scale`."""

from collections.abc import Sequence

from thinstack.core.scale import Scale


def tones_of(labels: Sequence[str]) -> tuple[int, ...] | None:
    """The tone of each class, 0 (very negative) to 4 (very positive), or None if the classes are
    not a scale of sentiment."""
    scale = Scale.of(labels)
    return None if scale is None else scale.tones
