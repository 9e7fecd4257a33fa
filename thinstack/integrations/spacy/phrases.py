"""Finds a span of a spaCy Doc in the trees that are stored on the Doc."""

import struct
from bisect import bisect_left, bisect_right
from functools import cache
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from thinstack.core.transitions import SHIFT, spans_of
from thinstack.integrations.spacy.places import span_around, tokens_at, words_within
from thinstack.integrations.spacy.stored import view_of
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.scored import Spans, scored_spans

_CHANGE = (1, -1)  # of the height of the stack, by SHIFT and REDUCE
_START = itemgetter("start_char")

Stored = dict[str, Any]
"""The results of one component, as `thinstack.integrations.spacy.stored` describes them."""


class Phrase(NamedTuple):
    """A node of a tree, as the results of one component on a Doc have it. It has the record of its
    sentence, its words [first, behind) there, and the row of its scores."""

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
        form, rows = _floats(len(self.stored["labels"])), self.record["scores"]
        return form.unpack_from(rows, min(form.size * self.node, len(rows) - form.size))

    @property
    def weight(self) -> float:
        """The weight of each of its words in a mean of sentences."""
        weight: float = self.record.get("weight", 1.0)
        return weight

    @property
    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.float32]]:
        """The characters of its words in the Doc, and the transitions and the scores of the nodes
        at and below it. If only the sentence has scores, there is one row of them."""
        record = self.record
        nodes = slice(self.node + 1 - _nodes(self.first, self.behind), self.node + 1)
        scores = np.frombuffer(record["scores"], "<f4").reshape(-1, len(self.stored["labels"]))
        steps = np.frombuffer(record["transitions"], np.int8)[nodes]
        return _characters(record)[self.first : self.behind], steps, scores[nodes]

    @property
    def terms(self) -> NDArray[np.float32] | None:
        """How probably each of these nodes is a term, from a model of aspects; else None."""
        if "terms" not in self.record:
            return None
        terms = np.frombuffer(self.record["terms"], "<f4")
        return terms[self.node + 1 - _nodes(self.first, self.behind) : self.node + 1]

    @property
    def sentence(self) -> "Phrase":
        """The sentence that it is a phrase of."""
        return _sentence(self.doc, self.stored, self.record)

    @property
    def parts(self) -> Spans:
        """The words [start, end) of its parts, if it is a sentence that was cut; else empty."""
        whole = self.behind - self.first == len(self.record["words"])
        return tuple((start, end) for start, end in self.record.get("parts", ()) if whole)

    @property
    def characters(self) -> tuple[int, int]:
        """Its characters [start, end) in the Doc."""
        characters = _characters(self.record)
        return int(characters[self.first, 0]), int(characters[self.behind - 1, 1])

    @property
    def token_parts(self) -> list[tuple[int, int]]:
        """The tokens [start, end) of its parts; if it was not cut, its own tokens."""
        spans, characters = self.parts or ((self.first, self.behind),), _characters(self.record)
        asked = [(characters[start, 0], characters[end - 1, 1]) for start, end in spans]
        return [(start, end) for start, end in tokens_at(self.doc, asked).tolist()]

    @property
    def prediction(self) -> Prediction:
        """The phrase as a prediction, which can be drawn."""
        characters, transitions, scores = self.arrays
        start, end = self.characters
        around = span_around(self.doc, start, end)
        text = around.text[start - around.start_char : end - around.start_char]
        offsets = characters.astype(np.int64) - start
        words = tuple(self.record["words"][self.first : self.behind])
        view = view_of(self.stored)
        read, scored = (text, words, offsets), (transitions, scores)
        return Prediction(*read, *scored, view, self.weight, self.parts, start, self.terms)

    @property
    def listed(self) -> list[dict[str, Any]]:
        """The phrases at and below it, as `Doc._.sentiment_phrases` lists them."""
        characters, transitions, scores = self.arrays
        spans, text = scored_spans(transitions, scores, len(characters)), self.doc.text
        labels, abstain = self.stored["labels"], self.stored.get("abstain", 0.0)
        places = np.stack([characters[spans[:, 0], 0], characters[spans[:, 1] - 1, 1]], axis=1)
        listed, best = [], scores.argmax(axis=1).tolist()
        each = zip(tokens_at(self.doc, places).tolist(), places.tolist(), strict=True)
        for (tokens, place), label, row in zip(each, best, scores.tolist(), strict=True):
            listed.append(
                {
                    "start": tokens[0],
                    "end": tokens[1],
                    "start_char": place[0],
                    "end_char": place[1],
                    "text": text[place[0] : place[1]],
                    "label": labels[label] if row[label] >= abstain else None,
                    "scores": dict(zip(labels, row, strict=True)),
                }
            )
        return listed


@cache
def _floats(count: int) -> struct.Struct:
    return struct.Struct(f"<{count}f")


def sentences_in(doc: Doc, stored: Stored) -> list[Phrase]:
    """The sentences of a Doc that have words."""
    return [_sentence(doc, stored, record) for record in stored["sentences"]]


def root_of(stored: Stored, sentences: int) -> tuple[float, ...] | None:
    """The probabilities of a Doc that was read as one tree, for all of its sentences."""
    if "root" not in stored or sentences != len(stored["sentences"]):
        return None
    return _floats(len(stored["labels"])).unpack(stored["root"])


def phrases_around(span: Span, stored: Stored) -> tuple[list[Phrase], bool]:
    """The smallest phrase around a span, and whether the span is just that phrase. If the span
    reaches over several sentences, it is these sentences. A span without words has no phrases."""
    doc, records, within = span.doc, stored["sentences"], words_within(span)
    if within is None:
        return [], False
    place = bisect_right(records, within[0], key=_START) - 1
    if place < 0:
        return [], False
    behind = bisect_left(records, within[1], place, key=_START)
    if behind - place > 1:
        sentences = [_sentence(doc, stored, record) for record in records[place:behind]]
        return sentences, within == (sentences[0].characters[0], sentences[-1].characters[1])
    return _around(doc, stored, records[place], *within)


def _around(
    doc: Doc, stored: Stored, record: dict[str, Any], start: int, end: int
) -> tuple[list[Phrase], bool]:
    """The smallest phrase of a sentence around these characters, which neither begin nor end with
    white space; and whether they are just that."""
    places = np.frombuffer(record["characters"], "<i4").tolist()  # start and end of each, in turn
    first, behind = bisect_right(places[1::2], start), bisect_left(places[::2], end)
    if first >= behind:
        return [], False
    exact = (places[2 * first], places[2 * behind - 1]) == (start, end)
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


def _characters(record: dict[str, Any]) -> NDArray[np.int32]:
    """The characters [start, end) of the L words of a sentence, (L, 2)."""
    return np.frombuffer(record["characters"], "<i4").reshape(-1, 2)


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
