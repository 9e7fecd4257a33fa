"""The clause of a sentence that says something of a term, and the phrase of it that decides."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from thinstack.data.words.ptb import plain
from thinstack.runtime.highlights import WordEdges, word_edges
from thinstack.runtime.phrase import NEUTRAL, Nodes
from thinstack.text.english import rules


class Verdict(NamedTuple):
    """What is said of a term: the node that says it, whether it says it `turned` round, and the
    node that decides."""

    node: int
    turned: bool
    because: int | None


def joints(words: Sequence[str]) -> list[str]:
    """The words of a sentence as they join phrases: "yet" in "yet to find a fault" joins none."""
    return ["" if pair == ("yet", "to") else pair[0] for pair in pairwise((*words, ""))]


class ClauseNodes(Nodes):
    """The nodes of a prediction, by the clauses that they are in.

    Two phrases side by side are clauses apart if a word such as "but" or "except" stands where they
    meet. So are they if a comma or "and" does, and they say the opposite. The clause of a term is
    the largest phrase around it in which no two are apart, so a negation above the term is in it.
    """

    @cached_property
    def _edges(self) -> WordEdges:
        return word_edges(self.sentence)

    @cached_property
    def _spelt(self) -> list[str]:
        return [plain(word).lower() for word in self.sentence.words]

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
        while self.parents[clause] >= 0 and not self._is_apart(clause):
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
                    if self._is_shown(phrase, first, behind):
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

    def is_readable(self, node: int) -> bool:
        """Whether a phrase can be read by itself, and has a content word; or is the sentence."""
        return self._is_shown(node, 0, 0)

    def _first_shown(self, node: int, first: int, behind: int) -> int | None:
        while node >= 0 and not self._is_shown(node, first, behind):
            node = self.parents[node]
        return node if node >= 0 else None

    def _is_shown(self, node: int, first: int, behind: int) -> bool:
        """Whether a phrase can be read by itself, and has a content word that is not of the
        term."""
        (start, end), edges = self.spans[node], self._edges
        whole = edges.first[start] and edges.last[end - 1]
        whole = whole and not (edges.inside[start] or edges.inside[end])
        beside = (*edges.content[start : min(first, end)], *edges.content[max(behind, start) : end])
        return any(beside) and (whole or self.parents[node] < 0)

    def _is_apart(self, node: int) -> bool:
        """Whether a node and the one beside it are clauses apart."""
        beside, words = self.sibling(node), rules().clauses
        (start, end), meet = self.spans[beside], max(self.spans[node][0], self.spans[beside][0])
        between = joints(self._spelt[meet - 1 : meet + 2])[:2]
        if any(word in words.apart for word in between):
            return True
        opposed = end - start > 1 and self.sides[node] * self.sides[beside] < 0
        return opposed and any(word in words.joined for word in between)

    def _is_excepted(self, node: int) -> bool:
        """Whether a word such as "except" or "but" stands between a node and the rest of the phrase
        around it, which says something."""
        opposite, start = rules().clauses.opposite, self.spans[node][0]
        first, behind = self.spans[self.sibling(node)]
        before = self._spelt[start - 1 : start] if first < start else []
        rest = zip(self._edges.words[first:behind], self._spelt[first:behind], strict=True)
        return any(word in opposite for word in (*before, self._spelt[start])) and any(
            is_word and word not in opposite for is_word, word in rest
        )

    def _is_unreal(self, clause: int, behind: int) -> bool:
        words = " ".join(self._spelt[self.spans[clause][0] : behind])
        return rules().compiled[rules().clauses.unreal].search(words) is not None
