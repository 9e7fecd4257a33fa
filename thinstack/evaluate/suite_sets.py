"""Sets of texts that should get one answer: a text of a suite, and its changes that must not matter
(INV)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.evaluate.suite import Case


class CaseSet(NamedTuple):
    """A text and its INV changes: their kind, and their places among the cases."""

    kind: str
    places: list[int]


def case_sets(cases: Sequence[Case]) -> list[CaseSet]:
    """The sets of two texts or more, in the order of their first texts. A change of a change
    belongs to the set too."""
    place_of = {case.id: place for place, case in enumerate(cases)}
    first = list(range(len(cases)))

    def first_of(place: int) -> int:
        while first[place] != place:
            place = first[place]
        return place

    for place, case in enumerate(cases):
        if case.test == "INV":
            low, high = sorted((first_of(place), first_of(place_of[case.partner])))
            first[high] = low
    members: dict[int, list[int]] = {}
    for place in range(len(cases)):
        members.setdefault(first_of(place), []).append(place)
    return [CaseSet(cases[place].kind, each) for place, each in members.items() if len(each) > 1]


def set_figures(
    cases: Sequence[Case], sides: NDArray[np.integer], polarity: NDArray[np.floating]
) -> dict[str, Any]:
    """How many sets have one side. `sides` (K,) and `polarity` (K,) are of the texts' labels.

    `right` counts the sets whose labels are all of one side, and `accuracy` is their share in
    percent. `spread` is the mean over the sets of the greatest polarity minus the least. Both are
    None without sets. `kinds` has the same figures by kind.
    """
    found = case_sets(cases)
    kept = [len({*sides[each.places].tolist()}) == 1 for each in found]
    spreads = [float(np.ptp(polarity[each.places])) for each in found]
    kinds = list(dict.fromkeys(each.kind for each in found))

    def figures(chosen: Sequence[int]) -> dict[str, Any]:
        right = sum(kept[number] for number in chosen)
        return {
            "right": right,
            "total": len(chosen),
            "accuracy": 100.0 * right / len(chosen) if chosen else None,
            "spread": float(np.mean([spreads[number] for number in chosen])) if chosen else None,
        }

    return figures(range(len(found))) | {
        "kinds": {
            kind: figures([number for number, each in enumerate(found) if each.kind == kind])
            for kind in kinds
        }
    }
