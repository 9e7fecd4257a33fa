"""What the labels or the ratings of texts say of a model's classes: the set of classes, one of
which a text has."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, Self

from pydantic import Field, model_validator

from thinstack.core.config.base import Strict
from thinstack.core.scale import FIVE, sentiment_sets
from thinstack.errors import ConfigError, shown

MOST_LISTED: Final = 8

NOTHING: tuple[int, ...] = ()
"""The set of texts that are left out."""


class Band(Strict):
    """The classes of ratings in a band. A rating that is in no band leaves its text out."""

    classes: tuple[str, ...] = Field(
        min_length=1, description="The classes of the model, one of which such a text has."
    )
    at_least: float | None = Field(
        default=None, description="The least rating of the band; without it there is no least one."
    )
    below: float | None = Field(
        default=None, description="The ratings of the band are below this one."
    )

    @model_validator(mode="after")
    def _is_no_line(self) -> Self:
        if self.at_least is None and self.below is None:
            raise ValueError("expected at_least, below or both, found neither")
        if self.ends[0] >= self.ends[1]:
            raise ValueError(f"expected at_least < below, found {self.at_least}, {self.below}")
        return self

    @property
    def ends(self) -> tuple[float, float]:
        """The least rating, and the one that the band ends at."""
        least = -float("inf") if self.at_least is None else self.at_least
        return least, float("inf") if self.below is None else self.below


def check_apart(bands: Iterable[Band]) -> None:
    """Raise ValueError for bands that share a rating."""
    ends = sorted(band.ends for band in bands)
    for (_, end), (start, _) in pairwise(ends):
        if start < end:
            raise ValueError(f"bands: expected bands that do not overlap, found two at {start}")


def places_of(classes: Sequence[str], labels: Sequence[str], where: str) -> tuple[int, ...]:
    """The places of a set of classes among the C `labels` of a model. `where` leads messages.
    Raises ConfigError for a class that the model does not have, and for a set of all classes."""
    if unknown := [each for each in classes if each not in labels]:
        raise ConfigError(
            f"{where}: expected classes of model.labels ({', '.join(labels)}), found "
            f"{unknown[0]!r:.60}"
        )
    if {*classes} == {*labels}:
        raise ConfigError(
            f"{where}: found all classes of the model, which says nothing of a text; name fewer, "
            "or leave the texts out (left_out)"
        )
    return tuple(sorted({labels.index(each) for each in classes}))


def sets_of_labels(
    counts: Mapping[str, int],
    sets: Mapping[str, Sequence[str]],
    left_out: Sequence[str],
    labels: Sequence[str],
    *,
    column: str,
    where: str,
) -> dict[str, tuple[int, ...]]:
    """The set of each label of a table, as places among the C `labels` of the model; `NOTHING` for
    those of `left_out`.

    `counts`: the rows of each label, which are in the `column`. `sets` names the classes of each.
    Without any, `sentiment_sets` reads the labels for a model of `FIVE`; for another model they
    must be its classes. Raises ConfigError for labels that are in no set, and what `places_of`
    raises.
    """
    names = [label for label in counts if label not in left_out]
    known: Mapping[str, Sequence[str]] = sets
    if not sets:
        if tuple(labels) == FIVE:
            known = sentiment_sets(names, column) or {}
        else:
            known = {name: (name,) for name in names if name in labels}
    if unknown := [name for name in names if name not in known]:
        counted = [f"{shown(name, 60)} (rows: {counts[name]:,})" for name in unknown]
        more = f" and {len(counted) - MOST_LISTED:,} more" if len(counted) > MOST_LISTED else ""
        scale = "labels with a negative and a positive side, at most five"
        own = scale if tuple(labels) == FIVE else f"the classes {', '.join(labels)}"
        expected = "labels that sets names" if sets else own
        raise ConfigError(
            f"{where}: expected {expected}, found {', '.join(counted[:MOST_LISTED])}{more}; name "
            "the classes of each label (sets), or those to leave out (left_out); of numbers, those "
            "of each band of them (bands)"
        )
    places = {
        name: places_of(classes, labels, f"{where}, {name!r:.60}")
        for name, classes in known.items()
    }
    return places | dict.fromkeys(left_out, NOTHING)
