"""The phrases of scored texts as columns, and their clauses with a topic and a side."""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import SHIFT, parents_of, spans_of
from thinstack.data.words.ptb import plain
from thinstack.integrations.report.reading import scored_rows
from thinstack.integrations.report.rows import TextRow
from thinstack.runtime.clauses import are_apart, joints_of
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result
from thinstack.text.batching import in_batches
from thinstack.text.english import rules
from thinstack.text.sentences import Sentence

LEAST: Final = 0.25
"""Minimum absolute polarity of a clause that takes a side."""

SAYS: Final = 0.15
"""Minimum polarity of a phrase, toward the side of its clause."""

TOGETHER: Final = 0.3
"""Minimum polarity of a clause plus that of its sentence, toward its side: "it barely adds any
weight", in a sentence of praise, is no complaint."""

_HIGHLIGHTS: Final = 3  # highlights per text around which clauses are searched

WIDEST: Final = 12
"""Maximum number of words of a clause, including punctuation."""

_WIDEST_TOPIC: Final = 14  # maximum words of a phrase around an opinion to search for a topic
_NEUTRAL: Final = 0.25  # maximum absolute polarity of a topic word
_TOGETHER: Final = 64  # texts per batch
_CHARACTERS: Final = 1 << 16  # characters per batch
_WORDS: Final = Path(__file__).with_name("no_topic.txt")

Ints = NDArray[np.int64]


class Opinions(NamedTuple):
    """The highlights of texts, with their topics.

    Attributes:
        texts: (H,) the index of the text of each.
        sides: (H,) -1 or 1.
        clauses: (H,) the node of the smallest clause around it with a topic, -1 if there is none.
    """

    texts: Ints
    sides: Ints
    clauses: Ints


class TextNodes:
    """The N nodes of the trees of some texts, as columns.

    Attributes:
        sentences: the sentences of all texts, in order.
        sentence: (N,) the index of the sentence of each node.
        texts: (N,) the index of the text of each node, by default among the results.
        parents: (N,) the parent of each node, -1 for a sentence.
        roots: (N,) the root of each node.
        widths: (N,) the number of words of each node.
        polarity: (N,) from -1 to 1.
        opinions: the highlights of each text, with their clauses, without those whose polarity is
            below `SAYS`, those below `TOGETHER` with their sentence, and those in a clause of
            another side (`sides`).
    """

    def __init__(
        self,
        results: Sequence[Result],
        ignore: Collection[str] = (),
        places: Sequence[int] | None = None,
    ):
        """`results`: of texts with words, by a sentiment model with vectors. `ignore`: lower-case
        words that are not topics. `places`: the indices of the texts."""
        places = range(len(results)) if places is None else places
        self._ignore = ignore
        read = [sentence for result in results for sentence in result.sentences]
        self.sentences = [Sentence(one.text, [*one.words], one.offsets, one.start) for one in read]
        self._offsets = np.concatenate([one.offsets + one.start for one in read])
        steps = np.concatenate([sentence.transitions for sentence in read])
        self._spans, self.parents = spans_of(steps), parents_of(steps)[0]
        scores = np.concatenate([sentence.node_scores for sentence in read])
        self.polarity = scores @ np.array(results[0].view.polarity, np.float32)
        self._vectors = np.concatenate([sentence.vectors for sentence in read])
        self._rows = np.arange(len(steps))
        self._signs, self._leaves = np.sign(self.polarity), steps == SHIFT
        self.widths: Ints = self._spans[:, 1] - self._spans[:, 0]
        ends = np.cumsum([len(sentence.transitions) for sentence in read])
        self.sentence = np.repeat(np.arange(len(read)), np.diff(ends, prepend=0))
        self.roots: Ints = (ends - 1)[self.sentence]
        counts = [len(result.sentences) for result in results]
        self.texts = np.repeat(np.array(places), counts)[self.sentence]
        self.opinions = self._opinions(results, read)

    def vectors(self, nodes: Ints) -> NDArray[np.float16]:
        """Return the vectors (n, D) of some nodes."""
        vectors: NDArray[np.float16] = self._vectors[self._rows[nodes]]
        return vectors

    def keep_vectors(self, needed: NDArray[np.bool_]) -> None:
        """Discard the vectors of all nodes except the `needed` ones (N,)."""
        self._vectors, self._rows = self._vectors[needed], np.cumsum(needed) - 1

    @cached_property
    def topics(self) -> Ints:
        """(N,) the number of topic words of each node: content words that are almost neutral."""
        topics = np.array([is_topic(word) and word not in self._ignore for word in self._words])
        topics &= abs(self.polarity[self._leaves]) < _NEUTRAL
        before = np.concatenate([[0], np.cumsum(topics)])
        counts: Ints = before[self._spans[:, 1]] - before[self._spans[:, 0]]
        return counts

    @cached_property
    def sides(self) -> Ints:
        """(N,) the side of the clause around each node: -1, 0 or 1.

        The clause is the largest phrase around a node that does not contain two separate clauses
        (`thinstack.runtime.clauses`): "no problems" is not negative even if "problems" is.
        """
        nodes, right = np.arange(len(self.parents)), np.maximum(self.parents - 1, 0)
        beside = np.where(nodes == right, right - 2 * self.widths[right] + 1, right)
        strong = np.where(abs(self.polarity) >= LEAST, self._signs, 0).astype(np.int64)
        joints = [*map(np.array, joints_of(self._words))]
        apart = are_apart(
            joints, self._spans[right, 0], self.widths[beside], strong * strong[beside]
        )
        sides: Ints = strong[self._climbed(nodes, lambda node, around: ~apart[node])]
        return sides

    def characters(self, nodes: Ints) -> Ints:
        """Return the characters [start, end) of some nodes in their texts (n, 2)."""
        first, last = self._spans[nodes].T
        return np.stack([self._offsets[first, 0], self._offsets[last - 1, 1]], axis=1)

    @cached_property
    def _words(self) -> list[str]:
        return [plain(word).lower() for sentence in self.sentences for word in sentence.words]

    def _opinions(self, results: Sequence[Result], read: Sequence[Prediction]) -> Opinions:
        sizes = (len(sentence.transitions) for sentence in read)
        firsts = dict(zip(map(id, read), accumulate(sizes, initial=0), strict=False))
        phrases = (phrase for result in results for phrase in result.highlights(_HIGHLIGHTS))
        nodes = np.array([firsts[id(one.sentence)] + one.node for one in phrases], np.int64)
        sides = self._signs[nodes].astype(np.int64)
        lacks = self.topics == 0
        clauses = self._climbed(nodes, lambda node, around: lacks[node], _WIDEST_TOPIC)
        same = self._signs[clauses] == sides
        signs = self._signs
        largest = self._climbed(clauses, lambda node, around: signs[node] == signs[around], WIDEST)
        clauses = np.where(same, largest, clauses)
        says = (self.polarity[clauses] * sides >= SAYS) & (self.sides[clauses] == sides)
        together = self.polarity[clauses] + self.polarity[self.roots[clauses]]
        says &= together * sides >= TOGETHER
        clauses = np.where(lacks[clauses], -1, clauses)
        says |= clauses < 0
        return Opinions(self.texts[nodes[says]], sides[says], clauses[says])

    def _climbed(
        self, nodes: Ints, goes: Callable[[Ints, Ints], NDArray[Any]], widest: int | None = None
    ) -> Ints:
        """Climb from each node as long as `goes` is true of the node and its parent, and the parent
        has at most `widest` words. Return the last nodes."""
        fits = self.widths <= (widest or np.inf)
        while True:
            around = self.parents[nodes]
            up = (around >= 0) & fits[around] & goes(nodes, around)
            if not up.any():
                return nodes
            nodes = np.where(up, around, nodes)


class ReadTexts(NamedTuple):
    """Rows scored by a model, with the `nodes` of the texts that count, or None if none does. The
    texts of the nodes are indices of `rows`."""

    rows: list[TextRow]
    nodes: TextNodes | None

    @classmethod
    def of(cls, pairs: list[tuple[TextRow, Result]], ignore: Collection[str] = ()) -> "ReadTexts":
        """Create it from rows with their results, as yielded by `scored_rows`. `ignore`: lower-case
        words that are not topics."""
        results = {place: result for place, (row, result) in enumerate(pairs) if not row.unreadable}
        nodes = TextNodes([*results.values()], ignore, [*results]) if results else None
        return cls([row for row, _ in pairs], nodes)


def read_texts(
    model: Predictor, rows: Iterator[TextRow], ignore: Collection[str]
) -> Iterator[ReadTexts]:
    """Score the texts of rows in batches."""
    pairs = scored_rows(model, rows)
    for some in in_batches(pairs, _TOGETHER, lambda pair: len(pair[0].text), _CHARACTERS):
        yield ReadTexts.of(some, ignore)


@cache
def _no_topic() -> frozenset[str]:
    """Return generic words: a phrase without any other word has no topic."""
    return rules().function_words | {*_WORDS.read_text(encoding="utf-8").split()}


@lru_cache(maxsize=1 << 15)
def is_topic(word: str) -> bool:
    """Whether a lower-case word may be a topic."""
    return (
        len(word) > 2
        and any(map(str.isalpha, word))
        and word not in _no_topic()
        and not word.endswith("ly")
    )
