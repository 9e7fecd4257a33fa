"""Cuts sentences that are too long for a model."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import InputError
from thinstack.runtime.scored import Spans
from thinstack.text.batching import check_words

MAX_WORDS: Final = 400
"""Words of a sentence that is read as a whole, by default. The longest has 52 in SST, 159 in UD
English EWT."""

MAX_CHARACTERS: Final = 1 << 14
"""Characters of the words of a sentence that is read as a whole, or 40 times the words if these are
more: what long words take stays bounded."""

# Behind what a sentence is cut, the best first.
_MARKS = (frozenset((";", ":", "--", "–", "—", ".", "...", "…", "!", "?")), frozenset((",",)))


def cut(words: Sequence[str], costs: Sequence[int] | NDArray[np.integer], limit: int) -> Spans:
    """The words [start, end) of the parts of a sentence, in order. Each part costs at most `limit`,
    or is a single word.

    `costs`: the cost of each word, at least 1. A part that costs too much is cut in two, as often
    as needed. The cut comes after a semicolon, colon, dash or full stop, else after a comma, else
    at the middle. Of several marks, the nearest to the middle is taken; each side must keep at
    least a quarter of the cost. The whole takes linear time.
    """
    before = np.concatenate([[0], np.cumsum(costs)]).tolist()  # the cost of all words before each
    marked: list[Sequence[int]] = [
        [place for place, word in enumerate(words, 1) if word in marks] for marks in _MARKS
    ]
    parts, todo = [], [(0, len(words))]
    while todo:
        start, end = todo.pop()
        cost = before[end] - before[start]
        if cost <= limit or end - start == 1:
            parts.append((start, end))
            continue
        middle, inner = before[start] + cost / 2, range(start + 1, end)
        for places in marked:
            place = _nearest(places, before, middle)
            if place in inner and abs(before[place] - middle) <= cost / 4:
                break
        else:
            place = _nearest(inner, before, middle)
        todo += [(place, end), (start, place)]
    return tuple(parts)


def _nearest(places: Sequence[int], before: Sequence[int], middle: float) -> int:
    """The one of some places, in order, before which the cost is nearest to `middle`; 0 of none."""
    behind = bisect_left(places, middle, key=before.__getitem__)
    near = places[max(behind - 1, 0) : behind + 1]
    return min(near, key=lambda place: abs(before[place] - middle), default=0)


class Limits(NamedTuple):
    """How much of a sentence a model reads at once: words, and word pieces of a vocabulary. Where
    trees are there already (`with_trees`), only pieces are limited, and no sentence can be cut."""

    words: int
    pieces: int | None
    vocabulary: Vocabulary
    with_trees: bool = False

    def cuts(
        self, sentences: Sequence[Sequence[str]], lengths: Sequence[int], characters: Sequence[int]
    ) -> dict[int, Spans]:
        """The parts of each sentence that is too long, by its place.

        `lengths`, `characters`: how many words and characters each sentence has. Raises InputError
        for a word that is not a string, and for one that is too long for the model by itself; also
        for a sentence that is too long and has a given tree.
        """
        cuts: dict[int, Spans] = {}
        most = max(MAX_CHARACTERS, 40 * self.words)
        for place, words in enumerate(sentences):
            long = not self.with_trees and (lengths[place] > self.words or characters[place] > most)
            if long or self.pieces is not None:
                check_words(words, place)
            parts: Spans = ((0, len(words)),)
            if long:
                parts = _finer(parts, words, np.ones(len(words), np.int64), self.words)
                parts = _finer(parts, words, np.maximum([*map(len, words)], 1), most)
            if self.pieces is not None:
                counts = self.vocabulary.fields(words)["pieces_per_word"]
                if counts.sum() > self.pieces:
                    self._check_pieces(words, place, counts, self.pieces)
                    parts = _finer(parts, words, counts, self.pieces)
            if len(parts) > 1:
                cuts[place] = parts
        return cuts

    def _check_pieces(
        self, words: Sequence[str], place: int, counts: NDArray[np.int64], most: int
    ) -> None:
        reads = f"word pieces; this model reads {most:,} at once"
        if counts.max() > most:
            problem = f"the word {words[int(counts.argmax())]:.40} has {counts.max():,} {reads}"
            raise InputError(f"sentence {place}: {problem}: shorten it or leave it out")
        if self.with_trees:
            problem = f"sentence {place} has {counts.sum():,} {reads}"
            advice = "shorten it, or leave its tree out so that it is read in parts"
            raise InputError(f"{problem}: {advice}")


def _finer(parts: Spans, words: Sequence[str], costs: NDArray[np.int64], limit: int) -> Spans:
    """The parts of a sentence, each cut again until it costs at most `limit`."""
    return tuple(
        (start + first, start + behind)
        for start, end in parts
        for first, behind in cut(words[start:end], costs[start:end], limit)
    )
