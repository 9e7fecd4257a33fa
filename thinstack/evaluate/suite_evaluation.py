"""Evaluate a sentiment model on a suite (`thinstack.evaluate.suite`): the polarity of texts, sets
of texts with the same answer, and opinions about terms; and show the figures as table rows, for
the command line and for cards."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, compress
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.config import TreeSource
from thinstack.core.scale import Scale
from thinstack.errors import InputError
from thinstack.evaluate.accuracy import ASPECT_NAMES, Judged, aspect_figures
from thinstack.evaluate.figures import counts, percent
from thinstack.evaluate.suite import AspectCase, Case
from thinstack.evaluate.text_evaluation import text_scores
from thinstack.runtime.aspects import about_place
from thinstack.runtime.predictor import Predictor

NEUTRAL_MARGIN: Final = 0.2
"""A text whose positive and negative mass differ by at most this much counts as neutral."""
APART: Final = "irony"
"""The kind that is reported separately and excluded from totals."""
_SIDES: Final = {"negative": -1, "neutral": 0, "positive": 1}

COLUMNS: Final = ("right", "of", "percent", "sets", "one side", "spread")
"""The column heads: texts that are right, then sets of texts (`set_figures`) and the percentage of
sets with consistent signs."""
TOTAL: Final = "total"


class SuiteFigures(NamedTuple):
    """The results of a model on a suite.

    Attributes:
        figures: data for JSON. `right`, `total` and `accuracy` (percent) cover all texts except
            irony. `negated_negatives` is their accuracy, if there are any. `kinds`, `irony` and
            `tests` are the same three figures by kind, for irony, and by type of pair (INV, DIR).
            `sets` are the figures of `set_figures`. For an aspects suite, all are those of
            `aspect_suite_figures`.
        wrong: the texts that the model gets wrong, in order.
    """

    figures: dict[str, Any]
    wrong: Sequence[Case | AspectCase]


def evaluate_suite(
    predictor: Predictor, cases: Sequence[Case | AspectCase], *, source: TreeSource = "auto"
) -> SuiteFigures:
    """Return `polarity_figures` of a model's scores for the texts, read like a user's texts; for an
    aspects suite, `aspect_suite_figures`.

    Raises InputError for a model that does not score sentiment, and for a source that the model
    does not support; DataError for a text without words.
    """
    if aspects := [case for case in cases if isinstance(case, AspectCase)]:
        sides = _needed(predictor.labels, predictor.view.scale).sides
        judged = judged_cases(predictor, aspects, sides, source=source)
        return aspect_suite_figures(aspects, judged)
    texts = (case.text for case in cases)
    scores = text_scores(predictor, texts, source=source, where="the suite")
    whole = [case for case in cases if isinstance(case, Case)]
    best = predictor.view.best(scores)
    return polarity_figures(whole, scores, predictor.labels, predictor.view.scale, best)


def polarity_figures(
    cases: Sequence[Case],
    scores: NDArray[np.floating],
    labels: Sequence[str],
    scale: Scale | None = None,
    predicted: NDArray[np.integer] | None = None,
) -> SuiteFigures:
    """Return `suite_figures` of texts with these scores (K, C). `scale`: the places of the classes;
    by default, from their names, `labels`. `predicted` (K,): the predicted classes; by default, the
    most probable ones. Raises InputError for classes that are not about sentiment."""
    scale = _needed(labels, scale or Scale.of(labels))
    sides = np.array(scale.sides)
    polarity = scores @ np.array(scale.polarity)
    predicted = scores.argmax(1) if predicted is None else predicted
    return suite_figures(cases, scores @ sides, sides[predicted], polarity)


def suite_figures(
    cases: Sequence[Case],
    margins: NDArray[np.floating],
    sides: NDArray[np.integer],
    polarity: NDArray[np.floating],
) -> SuiteFigures:
    """Count how many of K texts are right, by the `margins` (K,) from -1 to 1: the probability of
    the positive classes minus that of the negative ones. `sides` (K,): the signs of the labels: -1,
    0 for neutral, or 1. `polarity` (K,): as in `Result.polarity`.

    A positive text is right if its margin is above 0, a negative text if it is below. A neutral
    text is right if its label is neutral, or if the absolute margin is at most `NEUTRAL_MARGIN`. An
    INV pair is right if both texts are right or both are wrong. A DIR pair is right if the margin
    is above the partner's ("up"), or below it ("down"). Pairs are reported separately, and their
    texts also count individually.
    """
    calm = (sides == 0) | (np.abs(margins) <= NEUTRAL_MARGIN)
    rules = {"positive": margins > 0, "negative": margins < 0, "neutral": calm}
    right = [bool(rules[case.polarity][place]) for place, case in enumerate(cases)]
    kinds = defaultdict[str, list[bool]](list)
    for case, is_right in zip(cases, right, strict=True):
        kinds[case.kind].append(is_right)
    irony = kinds.pop(APART, [])
    by_kind = {kind: counts(of_kind) for kind, of_kind in kinds.items()}
    figures = counts(chain.from_iterable(kinds.values()))
    if "negated_negatives" in by_kind:
        figures["negated_negatives"] = by_kind["negated_negatives"]["accuracy"]
    figures |= {"kinds": by_kind, "irony": counts(irony)}
    figures["tests"] = _pairs(cases, right, margins)
    figures["sets"] = set_figures(cases, sides, polarity)
    return SuiteFigures(figures, list(compress(cases, np.logical_not(right))))


def _pairs(
    cases: Sequence[Case], right: Sequence[bool], margins: NDArray[np.floating]
) -> dict[str, dict[str, Any]]:
    places = {case.id: place for place, case in enumerate(cases)}
    pairs = [(place, places.get(case.partner, -1), case) for place, case in enumerate(cases)]
    agree = (right[place] == right[other] for place, other, case in pairs if case.test == "INV")
    move = (
        margins[place] > margins[other] if case.moves == "up" else margins[place] < margins[other]
        for place, other, case in pairs
        if case.test == "DIR"
    )
    return {"INV": counts(agree), "DIR": counts(move)}


def _needed(labels: Sequence[str], scale: Scale | None) -> Scale:
    if scale is None:
        expected = "a polarity suite needs a model with negative and positive classes, such as"
        raise InputError(
            f"{expected} negative, neutral, positive; found {', '.join(labels)}; choose a "
            "sentiment model"
        )
    return scale


def case_sets(cases: Sequence[Case]) -> list[tuple[str, list[int]]]:
    """Return the sets of a text and its INV variants, in the order of their first texts: the kind
    and the indices of the cases. Variants of variants belong to the same set."""
    set_of = {case.id: [place] for place, case in enumerate(cases)}
    for case in cases:
        if case.test == "INV" and set_of[case.id] is not set_of[case.partner]:
            both = sorted(set_of[case.id] + set_of[case.partner])
            set_of |= {cases[place].id: both for place in both}
    places = sorted({tuple(one) for one in set_of.values() if len(one) > 1})
    return [(cases[one[0]].kind, [*one]) for one in places]


def set_figures(
    cases: Sequence[Case], sides: NDArray[np.integer], polarity: NDArray[np.floating]
) -> dict[str, Any]:
    """Count the sets with consistent signs. `sides` (K,), `polarity` (K,): of the texts' labels.

    `right` counts the sets whose labels all have the same sign, and `accuracy` is their share in
    percent. `spread` is the mean over the sets of the greatest polarity minus the least. Both are
    None without sets. `kinds` are the same figures by kind.
    """
    kinds = defaultdict[str, list[tuple[bool, float]]](list)
    for kind, places in case_sets(cases):
        kinds[kind].append((np.ptp(sides[places]) == 0, float(np.ptp(polarity[places]))))
    figures = _set_counts([*chain.from_iterable(kinds.values())])
    return figures | {"kinds": {kind: _set_counts(sets) for kind, sets in kinds.items()}}


def _set_counts(sets: Sequence[tuple[bool, float]]) -> dict[str, Any]:
    """Count sets, given for each whether its signs are consistent, and its spread."""
    spread = float(np.mean([spread for _, spread in sets])) if sets else None
    return counts(one_side for one_side, _ in sets) | {"spread": spread}


def judged_cases(
    predictor: Predictor,
    cases: Sequence[AspectCase],
    sides: Sequence[int],
    *,
    source: TreeSource = "auto",
) -> list[Judged] | None:
    """Return a model's opinions about the terms of each text, read like a user's text, and the
    terms that it detects. Positions are characters. `sides`: the signs of its labels (`Scale`).

    None for a model that scores only sentences. Raises InputError for a source that the model does
    not support.
    """
    if not predictor.phrases:
        return None
    side_of = dict(zip(predictor.labels, sides, strict=True)) | {None: 0}
    results = predictor.stream((case.text for case in cases), source=source)
    judged = list[Judged]()
    for case, result in zip(cases, results, strict=True):
        finds = result.view.no_term is not None
        phrases = {(phrase.start, phrase.end) for phrase in result.phrases}
        signs = list[int]()
        for term in case.terms:  # neutral if the model reads none of its words
            before = [sentence for sentence in result.sentences if sentence.start <= term.start]
            aspect = about_place(before[-1], term.start, term.end) if before else None
            signs.append(0 if aspect is None else side_of[aspect.label])
        aspects = result.aspects if finds else ()
        detected = [(aspect.start, aspect.end, side_of[aspect.label]) for aspect in aspects]
        gold = [(term.start, term.end, _SIDES[term.polarity]) for term in case.terms]
        are_phrases = [(term.start, term.end) in phrases for term in case.terms]
        judged.append(Judged(gold, signs, are_phrases, detected if finds else None))
    return judged


def aspect_suite_figures(
    cases: Sequence[AspectCase], judged: Sequence[Judged] | None
) -> SuiteFigures:
    """Return the figures of an aspects suite, and the texts that are wrong.

    `right`, `total` and `accuracy` (percent) count terms: a term is right if the opinion about it
    has the right sign. `kinds` are the same by kind. `aspects` are the figures of
    `thinstack.evaluate.accuracy`. `no_terms` counts the texts without terms in which a
    term-detecting model detects none. `irony`, `tests` and `sets` have no cases. A text is wrong if
    a term is, or if the model detects other terms.

    Without `judged`, as for a model that scores only sentences, `right`, `accuracy` and all
    `aspects` are None, and all texts are wrong.
    """
    none = np.empty(0)
    apart = {"irony": counts([]), "tests": {"INV": counts([]), "DIR": counts([])}}
    apart["sets"] = set_figures([], none.astype(int), none)
    kinds = defaultdict[str, list[bool]](list)
    wrong = list[AspectCase]()
    for case, one in zip(cases, judged or (None,) * len(cases), strict=True):
        right = [False] * len(case.terms)
        if one is not None:
            right = [gold == side for (_, _, gold), side in zip(one.gold, one.sides, strict=True)]
        kinds[case.kind] += right
        if not (one is not None and all(right) and one.predicted in (None, one.gold)):
            wrong.append(case)
    figures = counts(chain.from_iterable(kinds.values()))
    figures["kinds"] = {kind: counts(right) for kind, right in kinds.items() if right}
    if judged is None:
        for part in (figures, *figures["kinds"].values()):
            part |= {"right": None, "accuracy": None}
    without = (one for one in judged or () if not one.gold and one.predicted is not None)
    figures["no_terms"] = counts(not one.predicted for one in without)
    figures["aspects"] = dict.fromkeys(ASPECT_NAMES) if judged is None else aspect_figures(judged)
    return SuiteFigures(figures | apart, wrong)


class SuiteRow(NamedTuple):
    """A row: the suite, the name of a kind or another figure, and the cells of `COLUMNS`."""

    suite: str
    name: str
    cells: tuple[str, ...]


def suite_rows(suites: Mapping[str, Mapping[str, Any]]) -> Iterator[SuiteRow]:
    """Iterate over the rows of suites, by name: the total, the kinds, and the figures outside the
    total that have a case or, for aspects, a value. A cell without cases is "-"."""
    for suite, figures in suites.items():
        sets, aspects = figures["sets"], figures.get("aspects", {})
        yield SuiteRow(suite, TOTAL, _cells(figures, sets))
        for kind, part in figures["kinds"].items():
            yield SuiteRow(suite, kind.replace("_", " "), _cells(part, sets["kinds"].get(kind)))
        for name, part in (
            ("irony, in no total", figures["irony"]),
            ("pairs that agree (INV)", figures["tests"]["INV"]),
            ("pairs that move (DIR)", figures["tests"]["DIR"]),
            ("no term, none found", figures["no_terms"] if aspects else {"total": 0}),
        ):
            if part["total"]:
                yield SuiteRow(suite, name, _cells(part))
        for key, value in aspects.items():
            if key != "polarity_accuracy" and value is not None:
                cells = ("-", "-", percent(value), "-", "-", "-")
                yield SuiteRow(suite, ASPECT_NAMES[key], cells)


def markdown(suites: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    heads = ("suite", "kind", *COLUMNS)
    rows = [(f"`{row.suite}`", row.name, *row.cells) for row in suite_rows(suites)]
    lines = [" | ".join(row) for row in (heads, ("---",) * len(heads), *rows)]
    return "\n".join(f"| {line} |" for line in lines)


def _cells(part: Mapping[str, Any], sets: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    right = "-" if part["right"] is None else f"{part['right']:,}"
    of_sets: tuple[str, ...] = ("-",) * 3
    if sets and sets["total"]:
        of_sets = f"{sets['total']:,}", percent(sets["accuracy"]), f"{sets['spread']:.3f}"
    return right, f"{part['total']:,}", percent(part["accuracy"]), *of_sets
