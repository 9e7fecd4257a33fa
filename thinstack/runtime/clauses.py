"""The clause of a sentence that says something of a term, and the phrase of it that decides."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from thinstack.runtime.phrase import NEUTRAL, Nodes
from thinstack.text.english import rules


class Verdict(NamedTuple):
    """What is said of a term: the node that says it, whether it says it `turned` round, and the
    node that decides."""

    node: int
    turned: bool
    because: int | None


def joints_of(words: Sequence[str]) -> tuple[list[bool], list[bool]]:
    """Whether each of some words in lower case, such as "but" or "except", divides phrases that
    meet there into clauses, and whether it does if they say the opposite, as a comma or "and".
    "yet" in "yet to find a fault" does neither."""
    tells = rules().clauses
    spelt = ["" if pair == ("yet", "to") else pair[0] for pair in pairwise((*words, ""))]
    return [word in tells.apart for word in spelt], [word in tells.joined for word in spelt]


def are_apart(joints: Sequence[Any], meet: Any, words: Any, sides: Any) -> Any:
    """Whether a phrase and the one beside it are clauses apart: of one pair, or of many as arrays.

    `joints`: as `joints_of` gives them. `meet`: the first word of the right one. `words`: how many
    the one beside has. `sides`: the product of both sides, below 0 if they say the opposite.
    """
    apart, joined = joints
    opposed = (words > 1) & (sides < 0)
    return apart[meet - 1] | apart[meet] | (opposed & (joined[meet - 1] | joined[meet]))


class ClauseNodes(Nodes):
    """The nodes of a prediction, by the clauses that they are in. The clause of a term is the
    largest phrase around it in which no two are apart, so a negation above the term is in it."""

    @cached_property
    def _joints(self) -> tuple[list[bool], list[bool]]:
        return joints_of(self.edges.spelt)

    @cached_property
    def _words(self) -> list[int]:
        """The node of each word; empty if only the sentence has scores."""
        return [node for node, (start, end) in enumerate(self.spans) if end - start == 1]

    def smallest(self, first: int, behind: int) -> int:
        """The smallest node around the words [first, behind)."""
        node = self._words[first] if self._words else 0
        while self.spans[node][1] < behind:
            node = self.parents[node]
        return node

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
        if self.sides[node] > 0 and not turned:
            spelt = " ".join(self.edges.spelt[self.spans[clause][0] : behind])
            turned = rules().compiled[rules().clauses.unreal].search(spelt) is not None
        turned = turned and self.sides[node] != NEUTRAL and self.sentence.view.mirror is not None
        if not turned:
            return Verdict(node, turned, self.because(first, behind, self.sides[node], node))
        because = node
        while because >= 0 and not self.is_shown(because, first, behind):
            because = self.parents[because]
        return Verdict(node, turned, because if because >= 0 else None)

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

    def is_shown(self, node: int, first: int = 0, behind: int = 0) -> bool:
        """Whether a phrase can be read by itself, or is the sentence, and has a content word that
        is not one of the words [first, behind)."""
        (start, end), content = self.spans[node], self.edges.content
        beside = (*content[start : min(first, end)], *content[max(behind, start) : end])
        return any(beside) and (self.parents[node] < 0 or self.edges.reads_alone(start, end))

    def _is_apart(self, node: int) -> bool:
        beside = self.sibling(node)
        (start, end), sides = self.spans[beside], self.sides[node] * self.sides[beside]
        meet = max(self.spans[node][0], start)
        return bool(are_apart(self._joints, meet, end - start, sides))

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
