"""Units: what a model reads at once, as one tree. It is the sentences of a text, a single sentence,
or a part of a sentence that is too long; and it is joined to texts again when it is scored."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import balanced, breaks_of, over
from thinstack.runtime.long_sentences import Limits
from thinstack.runtime.scored import Scored, ScoredText, joined, mean_scores
from thinstack.text.batching import (
    BATCH_WORDS,
    character_counts,
    joined_transitions,
    lengths_of,
    piece_counts,
)

MOST_NODES: Final = 1 << 12
"""Nodes of the tree of a unit of several sentences at most, on any device: 2,048 words."""

MOST_CHARACTERS: Final = BATCH_WORDS["cpu"]
"""Characters of the words of such a unit at most."""

MOST_PLACES: Final = 1 << 12
"""Places of such a unit at most, where words are read in their context: sentences times the pieces
of the widest. Attention between 8 times 512 pieces takes 0.1 GB a layer."""


class Parts:
    """The sentences of some texts in order; those that are too long for the model in parts.

    Attributes:
        words: of each part.
        owners: the place of the sentence that each part belongs to.
        lengths, characters: how many words and characters each part has.
        widths: its word pieces, None if the model does not read words in their context.
        sentences: how many words each sentence has.
        cuts: the parts of each sentence that is cut, by its place.
    """

    def __init__(self, words: Sequence[Sequence[str]], limits: Limits):
        """`words`: of each sentence, at least one. Raises InputError as `Limits.cuts` does."""
        lengths, characters = lengths_of(words), character_counts(words)
        self.sentences, self.cuts = lengths, limits.cuts(words, lengths, characters)
        self.owners: Sequence[int] = range(len(words))
        if self.cuts:
            spans = [self.cuts.get(place, ((0, length),)) for place, length in enumerate(lengths)]
            words = [words[place][start:end] for place, of in enumerate(spans) for start, end in of]
            self.owners = [place for place, of in enumerate(spans) for _ in of]
            lengths, characters = [*map(len, words)], character_counts(words)
        self.words, self.lengths, self.characters = words, lengths, characters
        self.widths = None if limits.pieces is None else piece_counts(words, limits.vocabulary)

    def ends(self) -> list[int]:
        """The first part of each sentence, and at last the number of all parts."""
        counts = (len(self.cuts.get(place, "1")) for place in range(len(self.sentences)))
        return [0, *accumulate(counts)]

    def size(self, inside: range) -> tuple[int, int, int, int]:
        """What some parts take together: their words, their characters, their number, and the word
        pieces of the widest."""
        chosen = slice(inside.start, inside.stop)
        width = 0 if self.widths is None else max(self.widths[chosen])
        return sum(self.lengths[chosen]), sum(self.characters[chosen]), len(inside), width

    def fit(self, inside: range) -> bool:
        """Whether some parts may be one unit."""
        words, characters, count, width = self.size(inside)
        small = 2 * words <= MOST_NODES and characters <= MOST_CHARACTERS
        return small and count * width <= MOST_PLACES


class Unit(NamedTuple):
    """What a model composes to one tree: the places of its sentences and of its parts, and how
    many parts each sentence has in it. Over the parts, and over the sentences, trees are
    balanced."""

    sentences: range
    parts: range
    counts: tuple[int, ...]

    @property
    def top(self) -> NDArray[np.int8]:
        """The transitions (2p-1,) of the tree over the p parts."""
        return _top_of(self.counts)[0]

    @property
    def breaks(self) -> NDArray[np.int64]:
        """How a model is told that tree, (p,)."""
        return _top_of(self.counts)[1]


@lru_cache(maxsize=256)
def _top_of(counts: tuple[int, ...]) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    top = over(balanced(len(counts)), [balanced(count) for count in counts])
    return top, breaks_of(top)


def units_of(parts: Parts, counts: Sequence[int], *, joins: bool) -> list[Unit]:
    """The units of texts that have so many sentences each (`counts`), in order.

    `joins`: whether the model composes sentences and their parts. As many sentences of a text are
    a unit as it may have, and a sentence that is too long even for that is a unit a part. If the
    model does not compose them, each part is a unit.
    """
    if not joins or (len(parts.owners) == sum(counts) and max(counts, default=0) < 2):
        return [_alone(owner, part) for part, owner in enumerate(parts.owners)]
    ends, units, start = parts.ends(), list[Unit](), 0
    for last in accumulate(counts):
        while start < last:
            stop = start + 1
            while stop < last and parts.fit(range(ends[start], ends[stop + 1])):
                stop += 1
            inside = range(ends[start], ends[stop])
            if parts.fit(inside):
                units.append(_joined(range(start, stop), ends))
            else:
                units += [_alone(start, part) for part in inside]
            start = stop
    return units


def units_of_sentences(parts: Parts) -> list[Unit]:
    """A unit for each sentence, of all its parts."""
    ends = parts.ends()
    return [_joined(range(place, place + 1), ends) for place in range(len(parts.sentences))]


def _alone(sentence: int, part: int) -> Unit:
    return Unit(range(sentence, sentence + 1), range(part, part + 1), (1,))


def _joined(sentences: range, ends: Sequence[int]) -> Unit:
    counts = tuple(ends[place + 1] - ends[place] for place in sentences)
    return Unit(sentences, range(ends[sentences.start], ends[sentences.stop]), counts)


def costs_of(units: Sequence[Unit], parts: Parts) -> tuple[Sequence[int], dict[str, Any]]:
    """The words of each unit, and what else `batches` asks."""
    if len(units) == len(parts.lengths):
        return parts.lengths, {"counts": parts.characters, "widths": parts.widths}
    words, characters, heights, widths = zip(
        *(parts.size(unit.parts) for unit in units), strict=True
    )
    more = {} if parts.widths is None else {"widths": widths, "heights": heights}
    return words, {"counts": characters, **more}


def transitions_of(
    units: Sequence[Unit], steps: Sequence[NDArray[np.integer]], lengths: Sequence[int]
) -> Sequence[NDArray[np.integer]]:
    """The transitions of each unit, from those of the parts, which have so many words (`lengths`).
    Raises InputError, naming the place of the part, for a part whose transitions are no tree."""
    if len(units) == len(steps):
        return steps  # which `batches` checks
    joined_transitions(steps, lengths, range(len(steps)))
    return [over(unit.top, [np.ravel(steps[part]) for part in unit.parts]) for unit in units]


def texts_of(
    units: Sequence[Unit],
    trees: Sequence[Scored],
    parts: Parts,
    counts: Sequence[int],
    *,
    joins: bool,
    phrases: bool,
) -> list[ScoredText]:
    """The texts of so many sentences each (`counts`), from the scored trees of the units.
    `phrases`: whether every node has scores."""
    pairs = zip(units, trees, strict=True)
    texts, place = list[ScoredText](), 0
    for stop in accumulate(counts):
        sentences, roots, words = list[Scored](), list[Scored](), list[int]()
        while place < stop:
            unit, tree = next(pairs)
            spans = parts.cuts.get(place, ())
            if len(unit.parts) < len(spans):
                further = [next(pairs)[1] for _ in spans[1:]]
                tree = joined([tree, *further], spans, phrases=phrases)
            sizes = [parts.sentences[sentence] for sentence in unit.sentences]
            below, root = ([tree], tree) if len(sizes) == 1 else tree.below_top(sizes)
            for sentence, scored in zip(unit.sentences, below, strict=True):
                cut = parts.cuts.get(sentence)
                sentences.append(scored._replace(parts=cut) if cut else scored)
            roots.append(root)
            words.append(sum(sizes))
            place = unit.sentences.stop
        joint = _joint(roots, words) if joins and len(sentences) > 1 else None
        texts.append(ScoredText(sentences, joint))
    return texts


def _joint(roots: Sequence[Scored], words: Sequence[int]) -> Scored:
    """What the units of a text, which have so many words, say together."""
    if len(roots) == 1:
        return roots[0]
    rows = np.stack([root.scores[-1] for root in roots]).astype(np.float64)
    mean = mean_scores(rows, np.array(words), np.array([len(words)]))
    return Scored(np.zeros(0, np.int8), mean.astype(np.float32))
