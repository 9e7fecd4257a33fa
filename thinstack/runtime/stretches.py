"""Stretches: sentences of one text that a model reads at once, as one tree over their trees."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import SHIFT, balanced, breaks_of, over
from thinstack.runtime.documents import ScoredText, mean_scores
from thinstack.runtime.long_sentences import join
from thinstack.runtime.scored import Scored, Spans
from thinstack.text.batching import BATCH_WORDS, joined_transitions

MOST_NODES: Final = 1 << 12
"""Nodes of the tree of a stretch at most, or one sentence, on any device: 2,048 words."""

MOST_CHARACTERS: Final = BATCH_WORDS["cpu"]
"""Characters of the words of a stretch at most, or one sentence."""

MOST_PLACES: Final = 1 << 12
"""Places of a stretch at most, or one sentence, where words are read in their context: sentences
times the pieces of the widest. Attention between 8 times 512 pieces takes 0.1 GB a layer."""


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
    widths: Sequence[int] | None


class Shape(NamedTuple):
    """A balanced tree over sentences, each of which is a balanced tree over its parts.

    It is told by the transitions `top` (2p-1,) over the p parts, and to a model by `breaks` (p,).
    """

    top: NDArray[np.int8]
    breaks: NDArray[np.int64]


class Tree(NamedTuple):
    """What a model composes to one tree: the places of its parts, and the tree over them."""

    parts: range
    shape: Shape


class Stretch(NamedTuple):
    """Sentences of a text that are one tree, by their places; or a sentence that is too long even
    for that, whose parts are trees of their own."""

    sentences: range
    trees: list[Tree]


@lru_cache(maxsize=256)
def shape_of(counts: tuple[int, ...]) -> Shape:
    """The shape over sentences that have so many parts."""
    top = over(balanced(len(counts)), [balanced(count) for count in counts])
    return Shape(top, breaks_of(top))


def stretches(parts: Parts, counts: Sequence[int], *, joins: bool) -> list[list[Stretch]]:
    """The stretches of each text, which has so many sentences (`counts`).

    `joins`: whether the model composes sentences and their parts. A text that is too long for one
    stretch has several. If the model does not, each sentence is a stretch, and each part a tree.
    """
    owners = parts.owners  # each sentence has a part
    firsts = [place for place, (one, two) in enumerate(pairwise((-1, *owners))) if one != two]
    firsts.append(len(owners))
    texts: list[list[Stretch]] = []
    first, leaf = 0, shape_of((1,))
    for count in counts:
        own = firsts[first : first + count + 1]
        if count == 1 and own[1] == own[0] + 1:  # most texts of one sentence: at once
            texts.append([Stretch(range(first, first + 1), [Tree(range(*own), leaf)])])
        else:
            texts.append(_of_text(parts, own, first, joins=joins))
        first += count
    return texts


def _of_text(parts: Parts, firsts: Sequence[int], start: int, *, joins: bool) -> list[Stretch]:
    """The stretches of a text whose sentences stand from `start` on, and their parts from each of
    `firsts` on."""
    ranges: list[range] = []
    sizes: list[_Size] = []
    for place, bounds in enumerate(pairwise(firsts)):
        size = _Size.of(parts, range(*bounds))
        if ranges and joins and (both := sizes[-1].plus(size)).fits:
            ranges[-1], sizes[-1] = range(ranges[-1].start, place + 1), both
        else:
            ranges.append(range(place, place + 1))
            sizes.append(size)
    found: list[Stretch] = []
    for each, size in zip(ranges, sizes, strict=True):
        own = firsts[each.start : each.stop + 1]
        inside = range(own[0], own[-1])
        if joins and size.fits:
            trees = [Tree(inside, shape_of(tuple(two - one for one, two in pairwise(own))))]
        else:
            trees = [Tree(range(part, part + 1), shape_of((1,))) for part in inside]
        found.append(Stretch(range(start + each.start, start + each.stop), trees))
    return found


class _Size(NamedTuple):
    """How much a stretch takes."""

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


def costs_of(trees: Sequence[Tree] | None, parts: Parts) -> tuple[Sequence[int], dict[str, Any]]:
    """The words of each tree, and what else `batches` asks. Without trees, each part is one."""
    if trees is None or len(trees) == len(parts.lengths):
        return parts.lengths, {"counts": parts.characters, "widths": parts.widths}
    sizes = [_Size.of(parts, tree.parts) for tree in trees]
    costs: dict[str, Any] = {"counts": [size.characters for size in sizes]}
    if parts.widths is not None:
        costs |= {
            "widths": [size.width for size in sizes],
            "heights": [size.parts for size in sizes],
        }
    return [size.words for size in sizes], costs


def transitions_of(
    trees: Sequence[Tree] | None, steps: Sequence[NDArray[np.integer]], lengths: Sequence[int]
) -> Sequence[NDArray[np.integer]]:
    """The transitions of each tree, from those of the parts, which have so many words (`lengths`).
    Raises InputError, naming the place of the part, for a part whose transitions are no tree."""
    if trees is None or len(trees) == len(steps):
        return steps  # which `batches` checks
    joined_transitions(steps, lengths, range(len(steps)))
    return [over(tree.shape.top, [np.ravel(steps[part]) for part in tree.parts]) for tree in trees]


def text_of(
    text: Sequence[Stretch],
    scored: Iterator[Scored],
    lengths: Sequence[int],
    cuts: Mapping[int, Spans],
    *,
    joins: bool,
    phrases: bool,
) -> ScoredText:
    """A text, from the next of the scored trees, which are those of its stretches. `lengths`: the
    words of each sentence of all texts. `joins` is as for `stretches`, `phrases` as for `join`."""
    if len(text) == 1 == len(text[0].trees) == len(text[0].sentences):
        return ScoredText([_with_parts(next(scored), cuts.get(text[0].sentences.start))])
    sentences: list[Scored] = []
    roots: list[Scored] = []
    for stretch in text:
        trees = list(islice(scored, len(stretch.trees)))
        if len(trees) > 1:
            trees = [join(trees, cuts[stretch.sentences.start], phrases=phrases)]
        own = [lengths[place] for place in stretch.sentences]
        below, root = (trees, trees[0]) if len(own) == 1 else _apart(trees[0], own)
        pairs = zip(stretch.sentences, below, strict=True)
        sentences += [_with_parts(each, cuts.get(place)) for place, each in pairs]
        roots.append(root)
    if len(sentences) < 2 or not joins:
        return ScoredText(sentences)
    if len(roots) == 1:
        return ScoredText(sentences, roots[0])
    words = np.array([sum(lengths[place] for place in each.sentences) for each in text])
    rows = np.stack([each.scores[-1] for each in roots]).astype(np.float64)
    mean = mean_scores(rows, words, np.array([len(words)])).astype(np.float32)
    return ScoredText(sentences, Scored(np.zeros(0, np.int8), mean))


def _with_parts(sentence: Scored, parts: Spans | None) -> Scored:
    return sentence if parts is None else sentence._replace(parts=parts)


def _apart(tree: Scored, lengths: Sequence[int]) -> tuple[list[Scored], Scored]:
    """The sentences of the tree of a stretch, and the tree over them. `lengths`: the words of
    each."""
    top, sizes = balanced(len(lengths)), (2 * length - 1 for length in lengths)
    sentences: list[Scored] = []
    roots: list[int] = []
    place = 0
    for kind in top.tolist():
        if kind == SHIFT:
            nodes = slice(place, place + next(sizes))
            sentences.append(Scored(tree.transitions[nodes], tree.scores[nodes]))
        place = nodes.stop if kind == SHIFT else place + 1
        roots.append(place - 1)
    return sentences, Scored(top, tree.scores.take(roots, 0))
