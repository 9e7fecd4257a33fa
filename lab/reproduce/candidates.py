"""The candidates for the tree of a sentence, and how far each is from the treebank's tree."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from reproduce.beam import Candidates
from reproduce.cases import Cases
from thinstack.core.forest import Forest
from thinstack.core.transitions import spans_of
from thinstack.training.examples.example import Example

IntArray = NDArray[np.int64]
Spans = set[tuple[int, ...]]


class Ranked(NamedTuple):
    """A sentence of n words and its k candidates, the most probable first.

    Attributes:
        words: its words, as a batch without a tree.
        candidates: their transitions and log probabilities.
        wrong: (k,) the phrases of each that the treebank's tree does not have.
        oracle: the place of the candidate with the fewest of these; the first such one.
        beyond: (k,) the phrases of each that the oracle does not have: the sum in (23) of Teng &
            Zhang 2017.
    """

    words: Forest
    candidates: Candidates
    wrong: IntArray
    oracle: int
    beyond: IntArray

    @classmethod
    def of(cls, example: Example, candidates: Candidates) -> Self:
        """Of an example, whose gold tree is the treebank's."""
        forest = example.gold.forest
        found = [_spans(steps) for steps in candidates.transitions]
        wrong = np.array([len(own - _spans(forest.transitions)) for own in found])
        oracle = int(wrong.argmin())
        beyond = np.array([len(own - found[oracle]) for own in found])
        return cls(forest, candidates, wrong, oracle, beyond)

    def forest(self, place: int) -> Forest:
        """The words over one candidate, for a model that ranks: every phrase has label 0."""
        steps = self.candidates.transitions[place].astype(np.int64)
        return self.words._replace(transitions=steps, constituents=np.zeros_like(steps))


def _spans(steps: NDArray[np.integer]) -> Spans:
    return set(map(tuple, spans_of(steps).tolist()))


def most_probable(sentences: Sequence[Ranked]) -> list[int]:
    """The place of the parser's best candidate of each sentence."""
    return [0] * len(sentences)


def oracles(sentences: Sequence[Ranked]) -> list[int]:
    """The place of the best candidate of each sentence."""
    return [one.oracle for one in sentences]


def by_score(
    sentences: Sequence[Ranked], scores: Sequence[NDArray[np.floating]], weight: float
) -> list[int]:
    """The place of the candidate of each sentence with the highest log p(y) + `weight` * f(y), from
    the `scores` f (k,) of a ranker; of f alone (18) where the weight is infinite."""
    found = []
    for one, own in zip(sentences, scores, strict=True):
        total = own if np.isinf(weight) else one.candidates.log_probs + weight * own
        found.append(int(np.argmax(total)))
    return found


def cases_of(sentences: Sequence[Ranked], places: Sequence[int]) -> Cases:
    """The sentences as cases: `gold` is the number of phrases in the treebank's tree, without words
    and the whole sentence, and `predicted` how many of them the chosen candidate has."""
    lengths = np.array([int(one.words.lengths[0]) for one in sentences])
    phrases = np.maximum(lengths - 2, 0)
    wrong = np.array([one.wrong[place] for one, place in zip(sentences, places, strict=True)])
    count = len(sentences)
    unknown = np.full(count, np.nan)
    return Cases(
        gold=phrases,
        predicted=phrases - wrong,
        words=lengths,
        depth=np.full(count, -1),
        whole=np.ones(count, bool),
        negated=np.zeros(count, bool),
        likelihood=unknown,
        confidence=unknown,
    )


def span_f1(cases: Cases) -> float | None:
    """Unlabelled bracket F1 in percent, over all phrases at once, as `span_f1` of `bracketing`;
    None without phrases. A binary tree has as many phrases as any other over the same words, so
    precision and recall are the same."""
    phrases = int(cases.gold.sum())
    return 100.0 * float(cases.predicted.sum()) / phrases if phrases else None
