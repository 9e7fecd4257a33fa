"""How much of a suite of aspects a model understands: what is said of given terms, and which terms
it finds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from thinstack.core.config import TreeSource
from thinstack.evaluate.aspect_figures import NAMES, Judged, aspect_figures
from thinstack.evaluate.figures import counts
from thinstack.evaluate.suite import AspectCase
from thinstack.evaluate.suite_sets import set_figures
from thinstack.evaluate.suite_terms import CaseTerm
from thinstack.runtime.aspects import about_place
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result

_SIDES = {"negative": -1, "neutral": 0, "positive": 1}


def judged_cases(
    predictor: Predictor,
    cases: Sequence[AspectCase],
    sides: Sequence[int],
    *,
    source: TreeSource = "auto",
) -> list[Judged] | None:
    """What a model says of the terms of each text, which it reads as a user's text, and which terms
    it finds. Places are characters. `sides` are those of its labels (`Scale`).

    None for a model that scores only sentences. Raises InputError for a source that the model does
    not have.
    """
    if not predictor.phrases:
        return None
    side_of = dict(zip(predictor.labels, sides, strict=True)) | {None: 0}
    results = predictor.stream((case.text for case in cases), source=source)
    return [_judged(case, result, side_of) for case, result in zip(cases, results, strict=True)]


def aspect_suite_figures(
    cases: Sequence[AspectCase], judged: Sequence[Judged] | None
) -> tuple[dict[str, Any], list[AspectCase]]:
    """The figures of a suite of aspects, ready for JSON, and the texts that are wrong.

    `right`, `total` and `accuracy` (percent) count terms: a term is right if what is said of it has
    the side of its polarity. `kinds` has the same by kind. `aspects` has the figures of
    `thinstack.evaluate.aspect_figures`. `no_terms` counts the texts without terms in which a model
    that finds terms finds none. `irony`, `tests` and `sets` have no case. A text is wrong if a term
    of it is, or if the model finds other terms.

    Without `judged`, as for a model that scores only sentences, `right`, `accuracy` and all
    `aspects` are None, and all texts are wrong.
    """
    none = np.empty(0)
    apart = {"irony": counts([]), "tests": {"INV": counts([]), "DIR": counts([])}}
    apart["sets"] = set_figures([], none.astype(int), none)
    kinds: dict[str, list[bool]] = {}
    wrong = list[AspectCase]()
    for case, one in zip(cases, judged or (None,) * len(cases), strict=True):
        right = [False] * len(case.terms) if one is None else _right(one)
        kinds.setdefault(case.kind, []).extend(right)
        if not (one is not None and all(right) and one.found in (None, one.gold)):
            wrong.append(case)
    figures = counts(right for found in kinds.values() for right in found)
    figures["kinds"] = {kind: counts(found) for kind, found in kinds.items() if found}
    if judged is None:
        for found in (figures, *figures["kinds"].values()):
            found |= {"right": None, "accuracy": None}
    without = (one for one in judged or () if not one.gold and one.found is not None)
    figures["no_terms"] = counts(not one.found for one in without)
    figures["aspects"] = dict.fromkeys(NAMES) if judged is None else aspect_figures(judged)
    return figures | apart, wrong


def _right(judged: Judged) -> list[bool]:
    """Whether each term has the right side."""
    pairs = zip(judged.gold, judged.sides, strict=True)
    return [side == found for (_, _, side), found in pairs]


def _judged(case: AspectCase, result: Result, side_of: Mapping[str | None, int]) -> Judged:
    finds = result.view.no_term is not None
    phrases = {(phrase.start, phrase.end) for phrase in result.phrases}
    found = (
        [(each.start, each.end, side_of[each.label]) for each in result.aspects] if finds else None
    )
    return Judged(
        [(term.start, term.end, _SIDES[term.polarity]) for term in case.terms],
        [_side(result, term, side_of, finds=finds) for term in case.terms],
        [(term.start, term.end) in phrases for term in case.terms],
        found,
    )


def _side(result: Result, term: CaseTerm, side_of: Mapping[str | None, int], *, finds: bool) -> int:
    """The side of what is said of a term; neutral if the model reads no word of it."""
    before = [sentence for sentence in result.sentences if sentence.start <= term.start]
    said = about_place(before[-1], term.start, term.end, finds=finds) if before else None
    return 0 if said is None else side_of[said.label]
