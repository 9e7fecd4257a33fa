"""Units: what a model reads at once, as one tree. It is the sentences of a text, a single sentence,
or a part of a sentence that is too long; and it is joined to texts again when it is scored."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import balanced, breaks_of, over
from thinstack.runtime.scored import Scored, ScoredText, Spans, joined, mean_scores
from thinstack.text.batching import BATCH_WORDS, character_counts, joined_transitions

MOST_NODES: Final = 1 << 12
"""Nodes of the tree of a unit of several sentences at most, on any device: 2,048 words."""

MOST_CHARACTERS: Final = BATCH_WORDS["cpu"]
"""Characters of the words of such a unit at most."""

MOST_PLACES: Final = 1 << 12
"""Places of such a unit at most, where words are read in their context: sentences times the pieces
of the widest. Attention between 8 times 512 pieces takes 0.1 GB a layer."""


class Parts(NamedTuple):
    """All sentences of some texts in order; one that is too long for the model in parts.

    Attributes:
        words: of each part.
        owners: the place of the sentence that each part belongs to.
        lengths, characters: how many words and characters each part has.
        widths: its word pieces, None if the model does not read words in their context.
    """

    words: Sequence[Sequence[str]]
    owners: Sequence[int]
    lengths: Sequence[int]
    characters: Sequence[int]
    widths: Sequence[int] | None = None

    @classmethod
    def of(
        cls,
        words: Sequence[Sequence[str]],
        lengths: Sequence[int],
        characters: Sequence[int],
        cuts: Mapping[int, Spans],
    ) -> Self:
        """The parts of sentences, of which those in `cuts` are cut so, without their pieces."""
        if not cuts:
            return cls(words, range(len(words)), lengths, characters)
        spans = [cuts.get(place, ((0, length),)) for place, length in enumerate(lengths)]
        cut = [words[place][start:end] for place, of in enumerate(spans) for start, end in of]
        owners = [place for place, of in enumerate(spans) for _ in of]
        return cls(cut, owners, [*map(len, cut)], character_counts(cut))


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
    owners = parts.owners  # each sentence has a part
    if not joins or (len(owners) == sum(counts) and max(counts, default=0) < 2):
        return [_alone(owner, part) for part, owner in enumerate(owners)]
    firsts = [place for place, (one, two) in enumerate(pairwise((-1, *owners))) if one != two]
    firsts.append(len(owners))
    units: list[Unit] = []
    sentence = 0
    for count in counts:
        units += _units_of_text(parts, firsts, range(sentence, sentence + count))
        sentence += count
    return units


def _alone(sentence: int, part: int) -> Unit:
    return Unit(range(sentence, sentence + 1), range(part, part + 1), (1,))


def _units_of_text(parts: Parts, firsts: Sequence[int], sentences: range) -> Iterator[Unit]:
    """The units of a text. `firsts`: the first part of each sentence of all texts."""
    start, size = sentences.start, _Size(0, 0, 0, 0)
    for place in sentences:
        further = _Size.of(parts, range(firsts[place], firsts[place + 1]))
        if place > start and not size.plus(further).fits:
            yield from _units_between(firsts, range(start, place), size)
            start, size = place, further
        else:
            size = size.plus(further)
    yield from _units_between(firsts, range(start, sentences.stop), size)


def _units_between(firsts: Sequence[int], sentences: range, size: "_Size") -> list[Unit]:
    """The unit of some sentences of this size, or the units of one that is too long."""
    inside = range(firsts[sentences.start], firsts[sentences.stop])
    if not size.fits:
        return [_alone(sentences.start, part) for part in inside]
    counts = tuple(firsts[place + 1] - firsts[place] for place in sentences)
    return [Unit(sentences, inside, counts)] if counts else []


class _Size(NamedTuple):
    """How much a unit takes."""

    words: int
    characters: int
    parts: int
    width: int

    @classmethod
    def of(cls, parts: Parts, inside: range) -> Self:
        chosen = slice(inside.start, inside.stop)
        width = 0 if parts.widths is None else max(parts.widths[chosen])
        words, characters = sum(parts.lengths[chosen]), sum(parts.characters[chosen])
        return cls(words, characters, len(inside), width)

    def plus(self, other: Self) -> Self:
        sums = (self.words + other.words, self.characters + other.characters)
        return type(self)(*sums, self.parts + other.parts, max(self.width, other.width))

    @property
    def fits(self) -> bool:
        small = 2 * self.words <= MOST_NODES and self.characters <= MOST_CHARACTERS
        return small and self.parts * self.width <= MOST_PLACES


def costs_of(units: Sequence[Unit], parts: Parts) -> tuple[Sequence[int], dict[str, Any]]:
    """The words of each unit, and what else `batches` asks."""
    if len(units) == len(parts.lengths):
        return parts.lengths, {"counts": parts.characters, "widths": parts.widths}
    sizes = [_Size.of(parts, unit.parts) for unit in units]
    costs: dict[str, Any] = {"counts": [size.characters for size in sizes]}
    if parts.widths is not None:
        costs |= {
            "widths": [size.width for size in sizes],
            "heights": [size.parts for size in sizes],
        }
    return [size.words for size in sizes], costs


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
    counts: Sequence[int],
    lengths: Sequence[int],
    cuts: Mapping[int, Spans],
    *,
    joins: bool,
    phrases: bool,
) -> list[ScoredText]:
    """The texts of so many sentences each (`counts`), from the scored trees of the units.
    `lengths`: the words of each sentence. `phrases`: whether every node has scores."""
    pairs = zip(units, trees, strict=True)
    texts: list[ScoredText] = []
    place = 0
    for count in counts:
        stop = place + count
        sentences: list[Scored] = []
        roots: list[Scored] = []
        words: list[int] = []
        while place < stop:
            unit, tree = next(pairs)
            spans = cuts.get(place, ())
            if len(unit.parts) < len(spans):
                further = [next(pairs)[1] for _ in spans[1:]]
                tree = joined([tree, *further], spans, phrases=phrases)
            sizes = [lengths[sentence] for sentence in unit.sentences]
            below, root = ([tree], tree) if len(sizes) == 1 else tree.below_top(sizes)
            for sentence, scored in zip(unit.sentences, below, strict=True):
                cut = sentence in cuts
                sentences.append(scored._replace(parts=cuts[sentence]) if cut else scored)
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
