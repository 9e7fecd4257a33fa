"""What a model says of the terms of sentences, beside what the data say."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from thinstack.core.scale import Scale
from thinstack.core.transitions import spans_of
from thinstack.evaluate.aspect_figures import Judged
from thinstack.evaluate.suite import AspectCase, CaseTerm
from thinstack.evaluate.suite_evaluation import judged_cases
from thinstack.runtime.aspects import chosen_terms
from thinstack.runtime.predictor import Predictor
from thinstack.training.examples.example import Example
from thinstack.training.tasks.aspects.reading import LabelledSentence

Scores = Sequence[NDArray[np.floating]]


def sides_of(labels: Sequence[str]) -> tuple[int, ...]:
    """The sides of the classes behind "no term": -1 negative, 0 neutral, 1 positive."""
    scale = Scale.of(labels[1:])
    assert scale is not None, "the task has looked"
    return scale.sides


def judged_examples(
    examples: Sequence[Example], scores: Scores, source: str, labels: Sequence[str]
) -> Iterator[Judged]:
    """The terms of examples, and what a model says of them by its `scores` (N, C) over the trees of
    `source`. Places are words. A term that is no phrase is judged by the smallest one around it."""
    sides = sides_of(labels)
    for example, rows in zip(examples, scores, strict=True):
        gold, spans_there = example.gold, spans_of(example.trees[source].forest.transitions)
        places = spans_of(gold.forest.transitions).tolist()
        terms = [
            (places[node][0], places[node][1], sides[int(gold.targets[node]) - 1])
            for node in np.flatnonzero(gold.targets > 0).tolist()
        ]
        said = [sides[place] for place in rows[:, 1:].argmax(1).tolist()]
        spans = [(start, end) for start, end in spans_there.tolist()]
        nodes = [_smallest(spans_there, start, end) for start, end, _ in terms]
        words = [True] * spans[-1][1]
        chosen = chosen_terms(spans, (1 - rows[:, 0]).tolist(), words)
        yield Judged(
            terms,
            [said[node] for node in nodes],
            [spans[node] == term[:2] for node, term in zip(nodes, terms, strict=True)],
            [(*spans[node], said[node]) for node in chosen],
        )


def _smallest(spans: NDArray[np.int64], start: int, end: int) -> int:
    """The smallest node around the words [start, end): of those around them, it comes first."""
    return int(((spans[:, 0] <= start) & (spans[:, 1] >= end)).argmax())


def judged_bundle(
    predictor: Predictor, sentences: Sequence[LabelledSentence], labels: Sequence[str]
) -> list[Judged]:
    """What a bundle says of sentences, whose texts it reads as raw text. Places are characters."""
    names = {-1: "negative", 0: "neutral", 1: "positive"}
    side_of = dict(zip(labels[1:], sides_of(labels), strict=True))
    cases, cut = [], []
    for text, group in groupby(sentences, key=lambda sentence: sentence.text):
        cut.append(list(group))
        terms = [
            CaseTerm(*sentence.characters(start, end), names[side_of[label]])
            for sentence in cut[-1]
            for start, end, label in sentence.terms
        ]
        cases.append(AspectCase("", "open", "", tuple(terms), text))
    judged = judged_cases(predictor, cases, sides_of(labels))
    assert judged is not None, "the model scores phrases"
    pairs = zip(judged, cut, strict=True)
    return [_within(one, sentence) for one, group in pairs for sentence in group]


def _within(judged: Judged, sentence: LabelledSentence) -> Judged:
    """The part of a text that is one sentence."""
    first, last = sentence.characters(0, len(sentence.words))
    places = [place for place, (start, *_) in enumerate(judged.gold) if first <= start < last]
    return Judged(
        [judged.gold[place] for place in places],
        [judged.sides[place] for place in places],
        [judged.phrases[place] for place in places],
        [term for term in judged.predicted or () if first <= term[0] < last],
    )
