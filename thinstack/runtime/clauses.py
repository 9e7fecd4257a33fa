"""The clause that expresses an opinion about a term, and the phrase in it that decides."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from thinstack.runtime.phrase import NEUTRAL, Nodes
from thinstack.text.english import rules


class Verdict(NamedTuple):
    """The opinion about a term: the node that expresses it, whether it is `turned` (inverted), and
    the node that decides."""

    node: int
    turned: bool
    because: int | None


def joints_of(words: Sequence[str]) -> tuple[list[bool], list[bool]]:
    """Return two flags for each lower-case word: whether it separates the phrases that it joins
    into clauses ("but", "except"), and whether it does so only between opposite polarities (a
    comma, "and"). Neither is set for "yet" in "yet to find a fault"."""
    clauses = rules().clauses
    spelt = ["" if pair == ("yet", "to") else pair[0] for pair in pairwise((*words, ""))]
    return [word in clauses.apart for word in spelt], [word in clauses.joined for word in spelt]


def are_apart(joints: Sequence[Any], meet: Any, words: Any, sides: Any) -> Any:
    """Return whether a phrase and its sibling are separate clauses; takes scalars or arrays.

    `joints`: as from `joints_of`. `meet`: the first word of the right phrase. `words`: the number
    of words of the sibling. `sides`: the product of both signs, below 0 if they are opposite.
    """
    apart, joined = joints
    opposed = (words > 1) & (sides < 0)
    return apart[meet - 1] | apart[meet] | (opposed & (joined[meet - 1] | joined[meet]))


class ClauseNodes(Nodes):
    """The nodes of a prediction, grouped into clauses. The clause of a term is the largest phrase
    around it that contains no separate clauses, so it includes a negation above the term."""

    @cached_property
    def _joints(self) -> tuple[list[bool], list[bool]]:
        return joints_of(self.spelt)

    @cached_property
    def _words(self) -> list[int]:
        """The leaf node of each word; empty if only the sentence has scores."""
        return [node for node, (start, end) in enumerate(self.spans) if end - start == 1]

    @cached_property
    def _wishes(self) -> list[int]:
        """The words in which a match of `unreal` starts."""
        starts = [*accumulate((len(word) + 1 for word in self.spelt), initial=0)]
        matches = rules().compiled[rules().clauses.unreal].finditer(" ".join(self.spelt))
        return [bisect_right(starts, match.start()) - 1 for match in matches]

    def _is_unreal(self, first: int, behind: int) -> bool:
        """Return whether the words [first, behind) match `unreal`, which depends on at most two
        words and the space after them."""
        last = max(first, behind - 2)
        if bisect_left(self._wishes, first) < bisect_left(self._wishes, last):
            return True
        spelt = " ".join(self.spelt[last:behind])
        return rules().compiled[rules().clauses.unreal].search(spelt) is not None

    def smallest(self, first: int, behind: int) -> int:
        """Return the smallest node that covers the words [first, behind)."""
        node = self._words[first] if self._words else 0
        while self.spans[node][1] < behind:
            node = self.parents[node]
        return node

    def verdict(self, first: int, behind: int) -> Verdict:
        """Return the verdict of the largest non-neutral phrase around the words [first, behind) in
        their clause, else of the first one around the clause, or of the sentence.

        It is inverted if the clause is neutral and follows "except" or "but", or is a positive
        wish.
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
            turned = self._is_unreal(self.spans[clause][0], behind)
        turned = turned and self.sides[node] != NEUTRAL and self.sentence.view.mirror is not None
        if not turned:
            return Verdict(node, turned, self.because(first, behind, self.sides[node], node))
        because = node
        while because >= 0 and not self.is_shown(because, first, behind):
            because = self.parents[because]
        return Verdict(node, turned, because if because >= 0 else None)

    def because(self, first: int, behind: int, side: int, top: int) -> int | None:
        """Return the node inside `top` that decides the sign of the words [first, behind), or None.

        In the smallest phrase around them with that sign, this is the sibling if it has the sign,
        else the phrase. It is readable alone and has a content word outside the term.
        """
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
        """Iterate over the nodes with a polarity sign, parents before children of the same sign."""
        for node in nodes:
            if self.sides[node] == side:
                yield from (node, *self._inside(self.children(node) or (), side))

    def is_shown(self, node: int, first: int = 0, behind: int = 0) -> bool:
        """Return whether a phrase is readable alone, or is the sentence, and contains a content
        word outside the words [first, behind)."""
        (start, end), content = self.spans[node], self.is_content
        beside = (*content[start : min(first, end)], *content[max(behind, start) : end])
        return any(beside) and (self.parents[node] < 0 or self.reads_alone(start, end))

    def _is_apart(self, node: int) -> bool:
        beside = self.sibling(node)
        (start, end), sides = self.spans[beside], self.sides[node] * self.sides[beside]
        meet = max(self.spans[node][0], start)
        return bool(are_apart(self._joints, meet, end - start, sides))

    def _is_excepted(self, node: int) -> bool:
        """Return whether a word such as "except" or "but" separates a node from the rest of the
        phrase around it, and that rest is not neutral."""
        opposite, start, spelt = rules().clauses.opposite, self.spans[node][0], self.spelt
        first, behind = self.spans[self.sibling(node)]
        before = spelt[start - 1 : start] if first < start else []
        rest = zip(self.is_word[first:behind], spelt[first:behind], strict=True)
        return any(word in opposite for word in (*before, spelt[start])) and any(
            is_word and word not in opposite for is_word, word in rest
        )
