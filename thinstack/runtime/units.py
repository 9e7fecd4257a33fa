"""Units: the trees that a model reads at once. A unit is the sentences of a text, a single
sentence, or a part of a sentence that is too long; the scores are joined to texts again."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import balanced, breaks_of, over
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import InputError
from thinstack.runtime.scored import Scored, ScoredText, Spans, joined, mean_scores
from thinstack.text.batching import (
    BATCH_WORDS,
    Size,
    check_words,
    joined_transitions,
    piece_counts,
    sizes_of,
)

MAX_WORDS: Final = 400
"""Default maximum words of a sentence that is read as a whole. The longest sentence is 52 words in
SST, 159 in UD English EWT."""

MAX_CHARACTERS: Final = 1 << 14
"""Maximum characters of a sentence that is read as a whole, or 40 times its maximum words if that
is more, to bound the memory for long words."""

MOST_NODES: Final = 1 << 12
"""Maximum nodes in the tree of a unit of several sentences, on any device: 2,048 words."""

MOST_CHARACTERS: Final = BATCH_WORDS["cpu"]
"""Maximum characters of the words of such a unit."""

MOST_PLACES: Final = 1 << 12
"""Maximum positions of such a unit if words are read in context: sentences times the word pieces of
the widest. Attention between 8 times 512 pieces takes 0.1 GB per layer."""

# Punctuation after which a sentence may be split, in order of preference.
_MARKS = (frozenset((";", ":", "--", "–", "—", ".", "...", "…", "!", "?")), frozenset((",",)))


def cut(words: Sequence[str], costs: Sequence[int], limit: int, parts: Spans = ()) -> Spans:
    """Split a sentence into parts of words [start, end), in order. Each part costs at most `limit`,
    or is a single word.

    `costs`: the cost of each word, at least 1. `parts`: parts to split further. A part that costs
    too much is halved recursively: after a semicolon, colon, dash or full stop, else after a comma,
    else in the middle. The mark nearest to the middle wins; each half must keep at least a quarter
    of the cost. The total time is linear.
    """
    before = [*accumulate(costs, initial=0)]  # cost of all words before each word
    marked: list[Sequence[int]] = [
        [place for place, word in enumerate(words, 1) if word in marks] for marks in _MARKS
    ]

    def nearest(places: Sequence[int], middle: float) -> int:
        behind = bisect_left(places, middle, key=before.__getitem__)
        near = places[max(behind - 1, 0) : behind + 1]
        return min(near, key=lambda place: abs(before[place] - middle), default=0)

    finer, todo = [], [*reversed(parts)] or [(0, len(words))]
    while todo:
        start, end = todo.pop()
        cost = before[end] - before[start]
        if cost <= limit or end - start == 1:
            finer.append((start, end))
            continue
        middle, inner = before[start] + cost / 2, range(start + 1, end)
        for places in marked:
            place = nearest(places, middle)
            if place in inner and abs(before[place] - middle) <= cost / 4:
                break
        else:
            place = nearest(inner, middle)
        todo += [(place, end), (start, place)]
    return tuple(finer)


class Limits(NamedTuple):
    """The maximum size of a sentence that a model reads at once, in words and in word pieces. With
    existing trees (`with_trees`), only pieces are limited, and sentences cannot be split."""

    words: int
    pieces: int | None
    vocabulary: Vocabulary
    with_trees: bool = False

    def cuts(self, sentences: Sequence[Sequence[str]], sizes: Sequence[Size]) -> dict[int, Spans]:
        """Return {index: parts} of each sentence that is too long."""
        cuts: dict[int, Spans] = {}
        most = max(MAX_CHARACTERS, 40 * self.words)
        for place, (words, size) in enumerate(zip(sentences, sizes, strict=True)):
            long = not self.with_trees and (size.words > self.words or size.characters > most)
            if not long and self.pieces is None:
                continue
            check_words(words, place)
            parts: Spans = ()
            if long:
                parts = cut(words, [1] * len(words), self.words)
                parts = cut(words, [max(len(word), 1) for word in words], most, parts)
            if self.pieces is not None:
                counts = self.vocabulary.fields(words)["pieces_per_word"]
                if counts.sum() > self.pieces:
                    self._check_pieces(words, place, counts, self.pieces)
                    parts = cut(words, counts.tolist(), self.pieces, parts)
            if len(parts) > 1:
                cuts[place] = parts
        return cuts

    def _check_pieces(
        self, words: Sequence[str], place: int, counts: NDArray[np.int64], most: int
    ) -> None:
        reads = f"word pieces; this model reads at most {most:,}"
        if counts.max() > most:
            problem = f"the word {words[int(counts.argmax())]:.40} has {counts.max():,} {reads}"
            raise InputError(f"sentence {place}: {problem}: shorten it or leave it out")
        if self.with_trees:
            problem = f"sentence {place} has {counts.sum():,} {reads}"
            advice = "shorten it, or omit its tree to read it in parts"
            raise InputError(f"{problem}: {advice}")


class Unit(NamedTuple):
    """A tree that a model composes: the indices of its sentences and of their parts, and the number
    of parts of each sentence."""

    sentences: range
    parts: range
    counts: tuple[int, ...]


@lru_cache(maxsize=256)
def top_of(counts: tuple[int, ...]) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Return the tree over the p parts of a unit, balanced over the parts of each sentence and over
    the sentences: its transitions (2p-1,), and as a model input (p,)."""
    top = over(balanced(len(counts)), [balanced(count) for count in counts])
    return top, breaks_of(top)


class Units:
    """The units of some texts in order, and their sentences, split into parts if too long.

    Attributes:
        items: the units.
        words: the words of each part.
        owners: the index of each part's sentence.
        lengths: the number of words of each part.
        sizes: the size of each unit.
    """

    def __init__(
        self,
        words: Sequence[Sequence[str]],
        counts: Sequence[int],
        limits: Limits,
        *,
        joins: bool,
        whole: bool = False,
    ):
        """`words`: the words of each sentence. `counts`: the number of sentences of each text.

        `joins`: whether the model composes sentences and their parts. A unit then has as many
        sentences of a text as fit, and a sentence that does not fit is one unit per part, unless it
        must stay `whole`. Otherwise each part is a unit.

        Raises InputError for a sentence without words, for a word that is not a string or is too
        long for the model, and for a sentence with a tree that is too long.
        """
        sizes = sizes_of(words)
        self._sentences, self._cuts = [size.words for size in sizes], limits.cuts(words, sizes)
        self.owners: Sequence[int] = range(len(words))
        ends: Sequence[int] = range(len(words) + 1)  # the first part of each sentence
        if self._cuts:
            whole_of = enumerate(self._sentences)
            spans = [self._cuts.get(place, ((0, length),)) for place, length in whole_of]
            words = [words[place][start:end] for place, of in enumerate(spans) for start, end in of]
            self.owners = [place for place, of in enumerate(spans) for _ in of]
            ends = [0, *accumulate(map(len, spans))]
        if self._cuts or limits.pieces is not None:
            pieces = None if limits.pieces is None else piece_counts(words, limits.vocabulary)
            sizes = sizes_of(words, pieces)
        self.words, self.lengths = words, [size.words for size in sizes]
        self._part_sizes = sizes
        self._counts, self._joins = counts, joins
        if not joins or (len(self.owners) == sum(counts) and max(counts, default=0) < 2):
            self.items = self._alone(range(len(self.owners)))
        elif whole:
            self.items = [self._of(range(place, place + 1), ends) for place in range(sum(counts))]
        else:
            self.items = self._packed(ends)
        alone = len(self.items) == len(sizes)
        self.sizes = sizes if alone else [self._size(unit.parts) for unit in self.items]

    def _alone(self, inside: range) -> list[Unit]:
        owned = zip(inside, self.owners[inside.start : inside.stop], strict=True)
        return [Unit(range(owner, owner + 1), range(part, part + 1), (1,)) for part, owner in owned]

    def _of(self, sentences: range, ends: Sequence[int]) -> Unit:
        """Return the unit of all parts of some sentences."""
        counts = tuple(ends[place + 1] - ends[place] for place in sentences)
        return Unit(sentences, range(ends[sentences.start], ends[sentences.stop]), counts)

    def _packed(self, ends: Sequence[int]) -> list[Unit]:
        units, start = list[Unit](), 0
        for last in accumulate(self._counts):
            while start < last:
                stop = start + 1
                while stop < last and self._fit(range(ends[start], ends[stop + 1])):
                    stop += 1
                inside = range(ends[start], ends[stop])
                fits = self._fit(inside)
                units += [self._of(range(start, stop), ends)] if fits else self._alone(inside)
                start = stop
        return units

    def _fit(self, inside: range) -> bool:
        size = self._size(inside)
        small = 2 * size.words <= MOST_NODES and size.characters <= MOST_CHARACTERS
        return small and size.sentences * size.pieces <= MOST_PLACES

    def _size(self, inside: range) -> Size:
        return Size.total(self._part_sizes[inside.start : inside.stop])

    def transitions(self, steps: Sequence[NDArray[np.integer]]) -> Sequence[NDArray[np.integer]]:
        """Return the transitions of each unit, from those of the parts. Raises InputError, with the
        index of the part, for transitions that are not a tree."""
        if len(self.items) == len(steps):
            return steps  # `batches` checks them
        joined_transitions(steps, self.lengths, range(len(steps)))
        return [
            over(top_of(unit.counts)[0], [np.ravel(steps[part]) for part in unit.parts])
            for unit in self.items
        ]

    def texts(self, trees: Sequence[Scored], *, phrases: bool) -> list[ScoredText]:
        """Return the texts, from the scored trees of the units. `phrases`: whether every node has
        scores."""
        pairs = zip(self.items, trees, strict=True)
        texts, place = list[ScoredText](), 0
        for stop in accumulate(self._counts):
            sentences, roots, words = list[Scored](), list[Scored](), list[int]()
            while place < stop:
                unit, tree = next(pairs)
                spans = self._cuts.get(place, ())
                if len(unit.parts) < len(spans):
                    further = [next(pairs)[1] for _ in spans[1:]]
                    tree = joined([tree, *further], spans, phrases=phrases)
                sizes = [self._sentences[sentence] for sentence in unit.sentences]
                below, root = ([tree], tree) if len(sizes) == 1 else tree.below_top(sizes)
                for sentence, scored in zip(unit.sentences, below, strict=True):
                    cut = self._cuts.get(sentence)
                    sentences.append(scored._replace(parts=cut) if cut else scored)
                roots.append(root)
                words.append(sum(sizes))
                place = unit.sentences.stop
            joint = roots[0] if self._joins and len(sentences) > 1 else None
            if joint and len(roots) > 1:
                rows = np.stack([root.scores[-1] for root in roots]).astype(np.float64)
                mean = mean_scores(rows, np.array(words), np.array([len(words)]))
                joint = Scored(np.zeros(0, np.int8), mean.astype(np.float32))
            texts.append(ScoredText(sentences, joint))
        return texts
