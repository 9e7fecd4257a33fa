"""The columns of a phrase index: the vectors, polarity and mentions of phrases; and their ranking
for a query, exact or with a graph."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.data.tables.alike import likeness
from thinstack.errors import needs_extra
from thinstack.integrations.report.collect import said_phrase
from thinstack.runtime.highlights import turned_nodes
from thinstack.runtime.phrase import Nodes
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.result import Result
from thinstack.runtime.vectors import SIGN_WEIGHT

NUMBERS: Final = {"polarity": "f", "sides": "b", "mentions": "i", "sentences": "i"}
"""The numeric columns of a table, with the typecodes of their arrays."""


class Mentions(NamedTuple):
    """The mentions of phrases, sorted by phrase.

    Attributes:
        starts: (P + 1,) the first mention of each phrase, and the number of mentions.
        places: (M, 3) int32, the sentence of each mention and its characters [start, end) in the
            text.
    """

    starts: NDArray[np.int64]
    places: NDArray[np.int32]

    def kept(self, chosen: NDArray[np.bool_]) -> "Mentions":
        """Return the `chosen` (M,) mentions."""
        before = np.concatenate([[0], np.cumsum(chosen)])
        return Mentions(before[self.starts], self.places[chosen])


class PhraseTable:
    """P phrases, and their M mentions in the S sentences of T texts. Phrases that differ only in
    case or spaces are one (`likeness`), with the vector of the first mention.

    Attributes:
        vectors: (P, D).
        polarity: P numbers, NaN if the labels are not a sentiment scale.
        sides: P numbers, the side of the label: -1, 0 or 1.
        mentions: M times the numbers of phrase and sentence, and its characters [start, end) in the
            text.
        sentences: S times the number of the text, and the characters [start, end) in it.
        texts, ids: T texts and the ids that the user passed with them, as JSON.
    """

    def __init__(self, width: int, vectors: NDArray[np.float16] | None = None):
        self.width = width
        self._vectors = np.empty((0, width), np.float16) if vectors is None else vectors
        self.polarity, self.sides = array("f"), array("b")
        self.mentions, self.sentences = array("i"), array("i")
        self.texts, self.ids = list[str](), list[str]()
        self._numbers: dict[str, int] | None = None
        self._by_phrase: Mentions | None = None

    def __len__(self) -> int:
        return len(self.polarity)

    @property
    def vectors(self) -> NDArray[np.float16]:
        return self._vectors[: len(self)]

    def add(self, result: Result, id: str) -> None:
        """Add a text and the phrases of its sentences. An exception or Ctrl-C leaves the table
        unchanged."""
        columns: list[Any] = [self.polarity, self.sides, self.mentions, self.sentences]
        columns += self.texts, self.ids
        sizes = [len(column) for column in columns]
        try:
            for sentence in result.sentences:
                self._add_sentence(result.text, sentence)
            self.texts.append(result.text)
            self.ids.append(id)
        except BaseException:
            for column, before in zip(columns, sizes, strict=True):
                del column[before:]
            self._numbers = self._by_phrase = None
            raise

    def _add_sentence(self, text: str, sentence: Prediction) -> None:
        numbers, new, place = self.numbers, list[int](), len(self.sentences) // 3
        self._by_phrase = None
        for node, start, end in phrases_of(sentence):
            key, number = likeness(text[start:end]), len(self) + len(new)
            number = numbers.setdefault(key, number)
            if number == len(self) + len(new):
                new.append(node)
            self.mentions.extend((number, place, start, end))
        end = sentence.start + len(sentence.text)
        self.sentences.extend((len(self.texts), sentence.start, end))
        nodes, vectors = Nodes(sentence), sentence.vectors
        assert vectors is not None
        size, behind = len(self), len(self) + len(new)
        if behind > len(self._vectors):
            grown = np.empty((size + behind, self.width), np.float16)  # with spare capacity
            grown[:size] = self.vectors
            self._vectors = grown
        self._vectors[size:behind] = vectors[new]
        if sentence.view.polarity is None:
            self.polarity.extend([float("nan")] * len(new))
            self.sides.extend([0] * len(new))
        else:
            self.polarity.extend(nodes.polarity[node] or 0.0 for node in new)
            certain = sentence.certain.tolist()
            self.sides.extend(certain[node] * nodes.sides[node] for node in new)

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each phrase by its `likeness`, rebuilt for a table from a file."""
        if self._numbers is None:
            self._numbers = {}
            for number in range(len(self)):
                self._numbers[likeness(self.phrase(number))] = number
        return self._numbers

    @property
    def by_phrase(self) -> Mentions:
        """The mentions, sorted by phrase."""
        if self._by_phrase is None:
            rows = np.array(self.mentions, np.int32).reshape(-1, 4)
            counts = np.bincount(rows[:, 0], minlength=len(self))
            places = rows[np.argsort(rows[:, 0], kind="stable"), 1:]
            self._by_phrase = Mentions(np.concatenate([[0], np.cumsum(counts)]), places)
        return self._by_phrase

    def phrase(self, number: int) -> str:
        """Return a phrase as written in its first mention."""
        sentence, start, end = self.by_phrase.places[self.by_phrase.starts[number]].tolist()
        text: str = self.texts[self.sentences[3 * sentence]]
        return text[start:end]

    def column(self, name: str) -> NDArray[Any]:
        """Return a copy of a numeric column."""
        return np.array(getattr(self, name))


MOST_WORDS: Final = 12
"""Maximum number of words of a phrase, except for whole sentences."""


def phrases_of(sentence: Prediction) -> Iterator[tuple[int, int, int]]:
    """Yield the phrases of a sentence that make sense alone, each as its node and its characters
    [start, end) in the whole text, without surrounding punctuation: single content words; longer
    phrases that contain a content word and end at a phrase boundary (`reads_alone`); and the
    sentence. Phrases that their context negates, such as "worth it" in "not worth it", are skipped.
    Two nodes with the same words are one."""
    nodes, seen = Nodes(sentence), set[tuple[int, int]]()
    content, turned = [0, *accumulate(nodes.is_content)], turned_nodes(sentence)
    root, offsets = len(nodes.spans) - 1, (sentence.offsets + sentence.start).tolist()
    for node, (start, end) in enumerate(nodes.spans):
        while start < end and not nodes.is_word[start]:
            start += 1
        while start < end and not nodes.is_word[end - 1]:
            end -= 1
        reads = node == root or (
            end - start <= MOST_WORDS
            and content[start] < content[end]
            and nodes.reads_alone(start, end)
        )
        if start < end and reads and not turned[node] and (start, end) not in seen:
            seen.add((start, end))
            yield node, offsets[start][0], offsets[end - 1][1]


EXACT: Final = 1_000_000
"""Maximum number of phrases to compare exactly; more use a graph, if usearch is installed."""

_BLOCK: Final = 1 << 16  # phrases added to a graph at once
_TOGETHER: Final = 512  # vectors whose floats fit into the processor's cache
_SIGN_AND_REST: Final = np.int32(-0x70002000)  # 0x8fffe000: all but the copies of the sign
_FIRST: Final = 512
"""Number of phrases to inspect before more are sorted or looked up."""


def signs(polarity: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the column that `encode` appends for polarities (P,), but 0 if there is none."""
    numbers = np.nan_to_num(polarity)
    column: NDArray[np.float32] = np.sign(numbers) * np.sqrt(np.float32(SIGN_WEIGHT) * abs(numbers))
    return column


def cosines(vectors: NDArray[np.float16], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Compute the cosine (P,) of each vector (P, D) with a query (D,).

    float16 is converted to float32 by bit operations, three times as fast as numpy's `astype`:
    shifted by 13 bits, and without copies of the sign, it is the number times 2**-112.
    """
    cosines = np.empty(len(vectors), np.float32)
    bits = np.empty((_TOGETHER, vectors.shape[1]), np.int32)
    scaled = query * np.float32(2.0**112)
    for start in range(0, len(vectors), _TOGETHER):
        rows = vectors[start : start + _TOGETHER]
        some = bits[: len(rows)]
        np.left_shift(rows.view(np.int16), 13, out=some, casting="same_kind", dtype=np.int32)
        np.bitwise_and(some, _SIGN_AND_REST, out=some)
        cosines[start : start + len(rows)] = some.view(np.float32) @ scaled
    return cosines


def best_first(scores: NDArray[np.float32]) -> Iterator[int]:
    """Yield the indices of scores in descending order, except -inf. Sorts a few first, and more
    only if needed."""
    first = np.arange(len(scores))
    if len(scores) > _FIRST:
        first = np.sort(np.argpartition(-scores, _FIRST)[:_FIRST])
    for some in (first, np.setdiff1d(np.arange(len(scores)), first, assume_unique=True)):
        order = some[np.argsort(-scores[some], kind="stable")]
        yield from order[scores[order] > -np.inf].tolist()


class Graph:
    """A graph over the vectors and signs of phrases for approximate nearest-neighbor search. Raises
    MissingExtraError without usearch."""

    def __init__(self, width: int):
        with needs_extra("index", "usearch"):
            from usearch.index import Index
        self._index = Index(ndim=width + 1, metric="ip", dtype="f16", expansion_add=64)

    def extend(self, table: PhraseTable) -> None:
        """Add the phrases of a table that are not in the graph yet."""
        column = signs(table.column("polarity"))
        for start in range(len(self._index), len(table), _BLOCK):
            rows = np.hstack([table.vectors[start : start + _BLOCK], column[start:][:_BLOCK, None]])
            self._index.add(np.arange(start, start + len(rows)), rows.astype(np.float16))

    def best_first(self, query: NDArray[np.float32]) -> Iterator[int]:
        """Yield phrases by their inner product with a vector and its sign (D + 1,), descending."""
        count, seen = _FIRST, set[int]()
        while len(seen) < len(self._index):
            keys = self._index.search(query, min(count, len(self._index))).keys.tolist()
            if not (new := [key for key in keys if key not in seen]):
                return
            yield from new
            seen.update(new)
            count *= 4


def places_of(
    order: Iterable[int], mentions: Mentions, table: PhraseTable
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranked phrases that are hits, each with the sentence of its first free mention and
    its characters in the text. Hits have different words, and their mentions do not overlap."""
    taken, all_said = defaultdict[int, list[list[int]]](list), set[str]()
    for number in order:
        said = said_phrase(table.phrase(number))
        if said in all_said:
            continue
        places = mentions.places[slice(*mentions.starts[number:][:2])].tolist()
        for sentence, start, end in places:
            if all(end <= begun or ended <= start for begun, ended in taken[sentence]):
                for around, *place in places:
                    taken[around].append(place)
                all_said.update([said] if said else ())
                yield number, sentence, start, end
                break
