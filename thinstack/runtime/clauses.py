"""The clause of a sentence that says something of a term, and the phrase of it that decides."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.runtime.highlights import ReadNodes
from thinstack.runtime.phrase import NEUTRAL
from thinstack.text.english import rules

Ints = NDArray[np.int64]


class Verdict(NamedTuple):
    """What is said of a term: the node that says it, whether it says it `turned` round, and the
    node that decides."""

    node: int
    turned: bool
    because: int | None


def clauses_apart(
    words: Sequence[str], spans: Ints, parents: Ints, sides: NDArray[Any]
) -> NDArray[np.bool_]:
    """Whether each of N nodes and the one beside it are clauses apart, (N,); without a meaning for
    sentences.

    Two phrases side by side are if a word such as "but" or "except" stands where they meet. So are
    they if a comma or "and" does, and they say the opposite; "yet" in "yet to find a fault" joins
    none. `words`: of all sentences in turn, in lower case. `spans`: (N, 2), the words [start, end)
    of each node. `parents`: (N,), the node around each, which follows its right part. `sides`:
    (N,), below 0 for negative nodes and above for positive ones.
    """
    tells, nodes, right = rules().clauses, np.arange(len(parents)), np.maximum(parents - 1, 0)
    widths, meet = spans[:, 1] - spans[:, 0], spans[right, 0]
    beside = np.where(nodes == right, right - 2 * widths[right] + 1, right)
    joints = ["" if pair == ("yet", "to") else pair[0] for pair in pairwise((*words, ""))]
    apart, joined = (
        np.array([word in some for word in joints]) for some in (tells.apart, tells.joined)
    )
    opposed = (widths[beside] > 1) & (sides * sides[beside] < 0)
    joins = opposed & (joined[meet - 1] | joined[meet])
    splits: NDArray[np.bool_] = joins | apart[meet - 1] | apart[meet]
    return splits


class ClauseNodes(ReadNodes):
    """The nodes of a prediction, by the clauses that they are in. The clause of a term is the
    largest phrase around it in which no two are apart, so a negation above the term is in it."""

    @cached_property
    def _apart(self) -> list[bool]:
        spans, parents, sides = (np.array(c) for c in (self.spans, self.parents, self.sides))
        apart: list[bool] = clauses_apart(self.edges.spelt, spans, parents, sides).tolist()
        return apart

    def smallest(self, first: int, behind: int) -> int:
        """The smallest node around the words [first, behind): of those around, it comes first."""
        around = (start <= first and behind <= end for start, end in self.spans)
        return next(node for node, holds in enumerate(around) if holds)

    def verdict(self, first: int, behind: int) -> Verdict:
        """What is said of the words [first, behind): by the largest phrase around them in their
        clause that is not neutral; or else by the first one around the clause, or the sentence.

        It is turned round if the clause is neutral and stands behind "except" or "but", and if what
        is good is only wished for.
        """
        clause = node = self.smallest(first, behind)
        while self.parents[clause] >= 0 and not self._apart[clause]:
            clause = self.parents[clause]
            node = node if self.sides[clause] == NEUTRAL else clause
        turned = False
        if self.sides[node] == NEUTRAL:
            node = clause
        while self.sides[node] == NEUTRAL and self.parents[node] >= 0:
            turned = turned or self._is_excepted(node)
            node = self.parents[node]
        turned = turned or (self.sides[node] > 0 and self._is_unreal(clause, behind))
        turned = turned and self.sides[node] != NEUTRAL and self.sentence.view.mirror is not None
        if turned:
            return Verdict(node, turned, self._first_shown(node, first, behind))
        return Verdict(node, turned, self.because(first, behind, self.sides[node], node))

    def because(self, first: int, behind: int, side: int, top: int) -> int | None:
        """What decides that the words [first, behind) have a side, inside of the node `top`.

        It is in the smallest phrase around them of that side: what stands beside them, if it is of
        that side, or else the phrase. It can be read by itself and says something beside the term.
        None if there is no such phrase, and for neutral."""
        node, beside = self.smallest(first, behind), list[int]()
        while side != NEUTRAL and node >= 0:
            if self.sides[node] == side:
                for phrase in (*self._inside(beside, side), node):
                    if self.is_shown(phrase, first, behind):
                        return phrase
            if node == top:
                break
            node, beside = self.parents[node], [self.sibling(node)]
        return None

    def _inside(self, nodes: Sequence[int], side: int) -> Iterator[int]:
        """The nodes of a side, each before those of that side that it is made of."""
        for node in nodes:
            if self.sides[node] == side:
                yield from (node, *self._inside(self.children(node) or (), side))

    def _first_shown(self, node: int, first: int, behind: int) -> int | None:
        while node >= 0 and not self.is_shown(node, first, behind):
            node = self.parents[node]
        return node if node >= 0 else None

    def is_shown(self, node: int, first: int = 0, behind: int = 0) -> bool:
        """Whether a phrase can be read by itself, or is the sentence, and has a content word that
        is not of the term."""
        if self.parents[node] < 0:
            return self.has_content(node, first, behind)
        return self.is_readable(node, first, behind)

    def _is_excepted(self, node: int) -> bool:
        """Whether a word such as "except" or "but" stands between a node and the rest of the phrase
        around it, which says something."""
        opposite, start, spelt = rules().clauses.opposite, self.spans[node][0], self.edges.spelt
        first, behind = self.spans[self.sibling(node)]
        before = spelt[start - 1 : start] if first < start else []
        rest = zip(self.edges.words[first:behind], spelt[first:behind], strict=True)
        return any(word in opposite for word in (*before, spelt[start])) and any(
            is_word and word not in opposite for is_word, word in rest
        )

    def _is_unreal(self, clause: int, behind: int) -> bool:
        words = " ".join(self.edges.spelt[self.spans[clause][0] : behind])
        return rules().compiled[rules().clauses.unreal].search(words) is not None
