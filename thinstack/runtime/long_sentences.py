"""Cuts sentences that are too long for a model, and joins the scored parts."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import REDUCE, SHIFT, balanced, spans_of
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import InputError
from thinstack.runtime.documents import mean_scores
from thinstack.runtime.scored import Scored, Spans
from thinstack.text.batching import check_words

MAX_WORDS = 400
"""Words of a sentence that is read as a whole, by default. The longest has 52 in SST, 159 in UD
English EWT."""

MAX_CHARACTERS = 1 << 14
"""Characters of the words of a sentence that is read as a whole, or 40 times the words if these are
more: what long words take stays bounded."""

Sentences = Sequence[Sequence[str]]

# Behind what a sentence is cut, the best first.
_MARKS = (frozenset((";", ":", "--", "–", "—", ".", "...", "…", "!", "?")), frozenset((",",)))


class Limits(NamedTuple):
    """How many words, and how many word pieces, a model reads at once."""

    words: int
    pieces: int | None
    vocabulary: Vocabulary

    @property
    def characters(self) -> int:
        """How many characters of words a model reads at once."""
        return max(MAX_CHARACTERS, 40 * self.words)


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


def cuts_of(
    sentences: Sentences,
    lengths: Sequence[int],
    counts: Sequence[int],
    limits: Limits,
    *,
    given: bool,
) -> dict[int, Spans]:
    """The parts of each sentence that is too long, by its place.

    `lengths`, `counts`: how many words and characters each sentence has. `given`: whether the trees
    are given. Then only word pieces are limited, and a sentence cannot be cut. Otherwise
    words and their characters are limited too.

    Raises InputError for a word that is not a string, and for one that is too long for the model by
    itself; also for a sentence that is too long and has a given tree.
    """
    cuts: dict[int, Spans] = {}
    if not given:
        for place, length in enumerate(lengths):
            if length > limits.words:
                check_words(sentences[place], place)
                cuts[place] = cut(sentences[place], np.ones(length, np.int64), limits.words)
        most = limits.characters
        for place, count in enumerate(counts):
            if count > most:
                sizes = np.maximum([*map(len, sentences[place])], 1)
                cuts[place] = _finer(cuts, place, sentences[place], sizes, most)
    if limits.pieces is not None:
        for place, words in enumerate(sentences):
            check_words(words, place)
            pieces = limits.vocabulary.fields(words)["pieces_per_word"]
            if pieces.sum() > limits.pieces:
                _check_pieces(words, place, pieces, limits.pieces, given=given)
                cuts[place] = _finer(cuts, place, words, pieces, limits.pieces)
    return cuts


def _finer(
    found: Mapping[int, Spans],
    place: int,
    words: Sequence[str],
    costs: NDArray[np.int64],
    limit: int,
) -> Spans:
    """The parts of a sentence, each cut again until it costs at most `limit`."""
    return tuple(
        (start + first, start + behind)
        for start, end in found.get(place, ((0, len(words)),))
        for first, behind in cut(words[start:end], costs[start:end], limit)
    )


def _check_pieces(
    words: Sequence[str], place: int, pieces: NDArray[np.int64], most: int, *, given: bool
) -> None:
    reads = f"word pieces; this model reads {most:,} at once"
    if pieces.max() > most:
        problem = f"the word {words[int(pieces.argmax())]:.40} has {pieces.max():,} {reads}"
        raise InputError(f"sentence {place}: {problem}: shorten it or leave it out")
    if given:
        problem = f"sentence {place} has {pieces.sum():,} {reads}"
        raise InputError(f"{problem}: shorten it, or leave its tree out, and it is read in parts")


def parts_of(sentences: Sentences, cuts: Mapping[int, Spans]) -> tuple[Sentences, list[int]]:
    """All sentences, with the long ones in parts as `cuts` says; and for each item the place of the
    sentence that it came from."""
    spans = [cuts.get(place, ((0, len(words)),)) for place, words in enumerate(sentences)]
    owners = [place for place, each in enumerate(spans) for _ in each]
    both = zip(owners, chain.from_iterable(spans), strict=True)
    return [sentences[place][start:end] for place, (start, end) in both], owners


def join(parts: Sequence[Scored], spans: Spans, *, phrases: bool) -> Scored:
    """Join the parts of a sentence by a balanced tree over their trees. `spans`: the words of each.

    A node above the parts has the mean of the scores of the parts below it, weighted by words.
    `phrases`: whether every node has scores; otherwise only the sentence has.
    """
    top = balanced(len(parts))
    below = spans_of(top)[top == REDUCE]
    order = np.concatenate([np.arange(*span) for span in below])
    roots = np.stack([part.scores[-1] for part in parts]).astype(np.float64)
    lengths = np.array([end - start for start, end in spans])
    means = mean_scores(roots[order], lengths[order], below[:, 1] - below[:, 0])
    means = means.astype(np.float32)
    if not parts[0].transitions.size:  # plain sentences
        return Scored(parts[0].transitions, means[-1:], parts=spans)
    reduce = np.array([REDUCE], np.int8)
    inner = (Scored(reduce, row[None]) for row in means)
    following = iter(parts)
    nodes = [next(following if step == SHIFT else inner) for step in top.tolist()]
    transitions = np.concatenate([node.transitions for node in nodes])
    scores = np.concatenate([node.scores for node in nodes]) if phrases else means[-1:]
    return Scored(transitions, scores, parts=spans)
