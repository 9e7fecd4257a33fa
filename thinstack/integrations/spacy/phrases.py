"""Finds a span of a spaCy Doc in the trees that are stored on the Doc."""

import struct
from bisect import bisect_left, bisect_right
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from thinstack.core.transitions import SHIFT, spans_of
from thinstack.integrations.spacy.splitter import text_of
from thinstack.runtime.prediction import Prediction, Spans, scored_spans

__all__ = ["Phrase", "phrases_around", "sentences_in"]

_CHANGE = (1, -1)  # of the height of the stack, by SHIFT and REDUCE

Stored = dict[str, Any]
"""The results of one component, as `thinstack.integrations.spacy.stored` describes them."""


class Phrase(NamedTuple):
    """A node of a tree, as it is stored on a Doc.

    Attributes:
        doc: the Doc.
        stored: the results of one component.
        record: the record of its sentence.
        first, behind: its words [first, behind) in the sentence.
        node: the row of its scores.
    """

    doc: Doc
    stored: Stored
    record: dict[str, Any]
    first: int
    behind: int
    node: int

    @property
    def row(self) -> tuple[float, ...]:
        """The probabilities of the phrase. They are read without numpy, which takes three times as
        long for so few."""
        form, rows = struct.Struct(f"<{len(self.stored['labels'])}f"), self.record["scores"]
        return form.unpack_from(rows, min(form.size * self.node, len(rows) - form.size))

    @property
    def weight(self) -> float:
        """The weight of each of its words in a mean of sentences."""
        weight: float = self.record.get("weight", 1.0)
        return weight

    @property
    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.float32]]:
        """The tokens of its words, and the transitions and the scores of the nodes at and below it.
        If only the sentence has scores, there is one row of them."""
        words, record = slice(self.first, self.behind), self.record
        nodes = slice(self.node + 1 - _nodes(self.first, self.behind), self.node + 1)
        tokens = np.frombuffer(record["tokens"], "<i4").reshape(-1, 2)[words]
        scores = np.frombuffer(record["scores"], "<f4").reshape(-1, len(self.stored["labels"]))
        return tokens, np.frombuffer(record["transitions"], np.int8)[nodes], scores[nodes]

    @property
    def parts(self) -> Spans:
        """The words [start, end) of its parts, if it is a sentence that was cut; else empty."""
        whole = self.behind - self.first == len(self.record["words"])
        return tuple((start, end) for start, end in self.record.get("parts", ()) if whole)

    @property
    def token_parts(self) -> list[tuple[int, int]]:
        """The tokens [start, end) of its parts; if it was not cut, its own tokens."""
        tokens = np.frombuffer(self.record["tokens"], "<i4").reshape(-1, 2)
        spans = self.parts or ((self.first, self.behind),)
        return [(int(tokens[start, 0]), int(tokens[end - 1, 1])) for start, end in spans]

    @property
    def prediction(self) -> Prediction:
        """The phrase as a prediction, which can be drawn."""
        tokens, transitions, scores = self.arrays
        text, offsets = text_of(self.doc, tokens)
        words = tuple(self.record["words"][self.first : self.behind])
        read, scored = (text, words, offsets), (transitions, scores, tuple(self.stored["labels"]))
        abstain = self.stored.get("abstain", 0.0)
        return Prediction(*read, *scored, abstain, self.weight, self.parts)

    @property
    def listed(self) -> list[dict[str, Any]]:
        """The phrases at and below it, as `Doc._.sentiment_phrases` lists them."""
        tokens, transitions, scores = self.arrays
        spans, doc = scored_spans(transitions, scores, len(tokens)), self.doc
        labels, abstain = self.stored["labels"], self.stored.get("abstain", 0.0)
        starts, ends = tokens[spans[:, 0], 0].tolist(), tokens[spans[:, 1] - 1, 1].tolist()
        listed, best = [], scores.argmax(axis=1).tolist()
        for start, end, label, row in zip(starts, ends, best, scores.tolist(), strict=True):
            span = doc[start:end]
            listed.append(
                {
                    "start": start,
                    "end": end,
                    "start_char": span.start_char,
                    "end_char": span.end_char,
                    "text": span.text,
                    "label": labels[label] if row[label] >= abstain else None,
                    "scores": dict(zip(labels, row, strict=True)),
                }
            )
        return listed


def sentences_in(doc: Doc, stored: Stored) -> list[Phrase]:
    """The sentences of a Doc that have words."""
    return [_sentence(doc, stored, record) for record in stored["sentences"]]


def phrases_around(span: Span, stored: Stored) -> tuple[list[Phrase], bool]:
    """The smallest phrase around a span, and whether the span is just that phrase. If the span
    reaches over several sentences, it is these sentences. A span without words has no phrases."""
    doc, start, end = span.doc, span.start, span.end
    while start < end and doc[start].is_space:
        start += 1
    while start < end and doc[end - 1].is_space:
        end -= 1
    records = stored["sentences"]
    place = bisect_right(records, start, key=itemgetter("start")) - 1
    if start == end or place < 0:
        return [], False
    behind = bisect_left(records, end, place, key=itemgetter("start"))
    if behind - place > 1:
        found = [_sentence(doc, stored, record) for record in records[place:behind]]
        return found, (start, end) == (found[0].token_parts[0][0], found[-1].token_parts[-1][1])
    return _around(doc, stored, records[place], start, end)


def _around(
    doc: Doc, stored: Stored, record: dict[str, Any], start: int, end: int
) -> tuple[list[Phrase], bool]:
    """The smallest phrase of a sentence around these tokens, which neither begin nor end with white
    space; and whether they are just that."""
    tokens = np.frombuffer(record["tokens"], "<i4").tolist()  # first and end of each word, in turn
    first, behind = bisect_right(tokens[1::2], start), bisect_left(tokens[::2], end)
    if first >= behind:
        return [], False
    exact = (tokens[2 * first], tokens[2 * behind - 1]) == (start, end)
    if behind - first == len(record["words"]):
        return [_sentence(doc, stored, record)], exact
    if len(record["scores"]) == 4 * len(stored["labels"]):  # only the sentence has scores
        return [_sentence(doc, stored, record)], False
    node = _node_over(record["transitions"], first, behind)
    if node is not None:
        return [Phrase(doc, stored, record, first, behind, node)], exact
    spans = spans_of(np.frombuffer(record["transitions"], np.int8))
    # Nodes around the same words are inside each other, and the inner one comes first.
    node = int(((spans[:, 0] <= first) & (spans[:, 1] >= behind)).argmax())
    first, behind = spans[node].tolist()
    return [Phrase(doc, stored, record, first, behind, node)], False


def _sentence(doc: Doc, stored: Stored, record: dict[str, Any]) -> Phrase:
    words = len(record["words"])
    return Phrase(doc, stored, record, 0, words, _nodes(0, words) - 1)


def _node_over(transitions: bytes, first: int, behind: int) -> int | None:
    """The node over the words [first, behind) of a tree, if there is one; not all of its words."""
    size = _nodes(first, behind)
    start = int(np.flatnonzero(np.frombuffer(transitions, np.int8) == SHIFT)[first])
    # Of the stack, above what was there; phrases are short, and numpy slow with so little.
    heights = list(accumulate(map(_CHANGE.__getitem__, transitions[start : start + size])))
    return start + size - 1 if heights[-1] == min(heights) == 1 else None


def _nodes(first: int, behind: int) -> int:
    """How many nodes are at and below one over these words. They stand side by side, it last."""
    return 2 * (behind - first) - 1
