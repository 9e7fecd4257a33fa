"""What `tree_sentiment` leaves on a spaCy Doc, and the extension attributes that read it.

Stored, as plain data that survives `to_bytes`, DocBin and worker processes, is
`Doc._.tree_sentiment`:

    {"labels": [C class names],
     "sentences": [{"start": first token, "end": last token + 1,
                    "words": [L words as the model read them],
                    "tokens": (L, 2) int32, the tokens [first, last + 1) of the Doc that a word was
                    made of, "transitions": (2L - 1,) int8, the tree,
                    "scores": (2L - 1, C) float32, the probabilities of each phrase, or (1, C) of
                    the sentence alone, from a model without phrases,
                    "parts": words [start, end) of the parts of a sentence that was read in parts,
                    a list of pairs; no such key of any other}, ...]}

with arrays as little-endian bytes; `"abstain"` stands beside the labels where the component
abstains, and `"weight"` in a sentence where a class is left out, as `Prediction` has them. A
sentence without words (white space only) has no entry. All else is computed from it when asked for:

- `Doc._.sentiment_phrases`: every phrase of every sentence in transition order, a list of dicts
  with `start`, `end` (tokens), `start_char`, `end_char`, `text`, `label` and `scores` {label:
  probability}; a phrase may be one word. Where the component abstains the label is None.
- `Span._.sentiment_label`: the most probable class of the span, None where it abstains.
- `Span._.sentiment_scores`: {label: probability} of the span.
- `Span._.sentiment_tree`: the tree over the span in labelled brackets, labels being class numbers.
- `Span._.sentiment_phrases`: the phrases of that tree, as the Doc's.
- `Span._.sentiment_parts`: the tokens (start, end) of the parts of a sentence too long to be read
  as a whole; of any other phrase, its own alone.

The last five are None for a span that is no phrase of a tree; white space at its ends does not
matter. From a model without phrases the sentences alone are phrases, and their trees have no
labels; from one of plain sentences there is no tree. Merge or split tokens before the component
runs, not after.
"""

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from thinstack.core.transitions import SHIFT
from thinstack.errors import ConfigError
from thinstack.integrations.spacy.splitter import DocSentence, text_of
from thinstack.runtime.prediction import Prediction, Spans, scored_spans
from thinstack.runtime.predictor import Predictor

__all__ = ["Annotated", "contributions_of", "predictions", "register_extensions", "store"]

_CHANGE = (1, -1)  # of the height of the stack, by SHIFT and REDUCE


class Annotated(NamedTuple):
    """A sentence with its tree and scores, as `runtime.predictor.Scored` has them."""

    sentence: DocSentence
    transitions: NDArray[np.int8]
    scores: NDArray[np.float32]
    weight: float = 1.0
    parts: Spans = ()


def store(
    doc: Doc, found: Sequence[Annotated], labels: Sequence[str], abstain: float | None = None
) -> None:
    """Leave the sentences of a Doc, scored by the classes `labels`, on it."""
    records = [
        {
            "start": sentence.start,
            "end": sentence.end,
            "words": sentence.words,
            "tokens": sentence.tokens.astype("<i4").tobytes(),
            "transitions": transitions.tobytes(),
            "scores": scores.astype("<f4", copy=False).tobytes(),
        }
        | ({"parts": [list(part) for part in parts]} if parts else {})
        | ({"weight": weight} if weight != 1 else {})
        for sentence, transitions, scores, weight, parts in found
    ]
    kept = {"labels": list(labels), "sentences": records}
    doc._.tree_sentiment = kept if abstain is None else {**kept, "abstain": abstain}


def predictions(doc: Doc) -> list[Prediction]:
    """One `Prediction` for each sentence of a Doc that `tree_sentiment` found words in.

    The Doc may come from a DocBin, in a process without the component; of one that the component
    has not seen there are none. Raises ConfigError as `register_extensions` does.
    """
    register_extensions()
    return list(map(_prediction, _sentences(doc)))


def contributions_of(doc: Doc, predictor: Predictor) -> list[list[dict[str, Any]]]:
    """What `TreeSentiment.why` gives, by the predictor that scored the Doc."""
    found = []
    for sentence in _sentences(doc):
        tokens, _, _ = _arrays(sentence)
        why = predictor.why(_prediction(sentence))
        spans = [(int(tokens[each.span[0], 0]), int(tokens[each.span[1] - 1, 1])) for each in why]
        found.append(
            [
                {"start": start, "end": end, "text": each.text}
                | {"contribution": each.contribution, "turning": each.turning}
                for (start, end), each in zip(spans, why, strict=True)
            ]
        )
    return found


def register_extensions() -> None:
    """Make the attributes known to spaCy. Raises ConfigError where another has taken a name."""
    for kind, name, options in (
        (Doc, "tree_sentiment", {"default": None}),
        (Doc, "sentiment_phrases", {"getter": _phrases}),
        (Span, "sentiment_label", {"getter": _of_phrase(_label)}),
        (Span, "sentiment_scores", {"getter": _of_phrase(_scores)}),
        (Span, "sentiment_tree", {"getter": _of_phrase(_brackets)}),
        (Span, "sentiment_phrases", {"getter": _of_phrase(_listed)}),
        (Span, "sentiment_parts", {"getter": _of_phrase(_token_parts)}),
    ):
        if kind.has_extension(name):
            default, method, getter, setter = kind.get_extension(name)
            plain = "default" in options and (default, method, setter) == (None,) * 3
            if not (getter.__module__ == __name__ if getter else plain):
                taken = f"{kind.__name__}._.{name}, which something else has set already"
                remedy = f"remove it first: {kind.__name__}.remove_extension({name!r})"
                raise ConfigError(f"tree_sentiment needs the attribute {taken}; {remedy}")
        kind.set_extension(name, force=True, **options)


class _Phrase(NamedTuple):
    """A node of a tree, as it is stored: in which Doc, the classes, the record of its sentence, the
    words [first, behind) of that, and below which probability it has no label."""

    doc: Doc
    labels: list[str]
    record: dict[str, Any]
    first: int
    behind: int
    node: int
    abstain: float


def _sentences(doc: Doc) -> Iterator[_Phrase]:
    if stored := doc._.tree_sentiment:
        labels, abstain = stored["labels"], stored.get("abstain", 0.0)
        for record in stored["sentences"]:
            words = len(record["words"])
            yield _Phrase(doc, labels, record, 0, words, 2 * words - 2, abstain)


def _phrase_of(span: Span) -> _Phrase | None:
    """The phrase that the span is."""
    doc, start, end = span.doc, span.start, span.end
    while start < end and doc[start].is_space:
        start += 1
    while start < end and doc[end - 1].is_space:
        end -= 1
    stored = doc._.tree_sentiment
    if start == end or not stored:
        return None
    place = bisect_right(stored["sentences"], start, key=itemgetter("start")) - 1
    if place < 0:
        return None
    record = stored["sentences"][place]
    tokens = np.frombuffer(record["tokens"], "<i4").tolist()  # first and end of each word, in turn
    first, behind = bisect_left(tokens[::2], start), bisect_right(tokens[1::2], end)
    if first >= behind or (tokens[2 * first], tokens[2 * behind - 1]) != (start, end):
        return None
    labels, abstain = stored["labels"], stored.get("abstain", 0.0)
    if behind - first == len(record["words"]):
        return _Phrase(doc, labels, record, first, behind, _nodes(first, behind) - 1, abstain)
    if len(record["scores"]) == 4 * len(labels):  # those of the sentence alone
        return None
    node = _node_over(record["transitions"], first, behind)
    return None if node is None else _Phrase(doc, labels, record, first, behind, node, abstain)


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


def _of_phrase(read: Callable[[_Phrase], Any]) -> Callable[[Span], Any]:
    """A getter of what `read` gives of a span that is a phrase, and of None for any other."""

    def getter(span: Span) -> Any:
        phrase = _phrase_of(span)
        return read(phrase) if phrase else None

    return getter


def _row(phrase: _Phrase) -> tuple[float, ...]:
    """The probabilities of a phrase alone. They are read without numpy, which takes three times as
    long over so few."""
    form, rows = struct.Struct(f"<{len(phrase.labels)}f"), phrase.record["scores"]
    return form.unpack_from(rows, min(form.size * phrase.node, len(rows) - form.size))


def _label(phrase: _Phrase) -> str | None:
    row = _row(phrase)
    top = max(row)
    return phrase.labels[row.index(top)] if top >= phrase.abstain else None


def _scores(phrase: _Phrase) -> dict[str, float]:
    return dict(zip(phrase.labels, _row(phrase), strict=True))


def _brackets(phrase: _Phrase) -> str | None:
    return _prediction(phrase).brackets


def _arrays(phrase: _Phrase) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.float32]]:
    """The tokens of its words, and the transitions and scores of the nodes at and below it (one row
    of the sentence alone)."""
    words, record = slice(phrase.first, phrase.behind), phrase.record
    nodes = slice(phrase.node + 1 - _nodes(phrase.first, phrase.behind), phrase.node + 1)
    tokens = np.frombuffer(record["tokens"], "<i4").reshape(-1, 2)[words]
    scores = np.frombuffer(record["scores"], "<f4").reshape(-1, len(phrase.labels))[nodes]
    return tokens, np.frombuffer(record["transitions"], np.int8)[nodes], scores


def _prediction(phrase: _Phrase) -> Prediction:
    tokens, transitions, scores = _arrays(phrase)
    text, offsets = text_of(phrase.doc, tokens)
    words = tuple(phrase.record["words"][phrase.first : phrase.behind])
    read, scored = (text, words, offsets), (transitions, scores, tuple(phrase.labels))
    weight = phrase.record.get("weight", 1.0)
    return Prediction(*read, *scored, phrase.abstain, weight, _parts(phrase))


def _parts(phrase: _Phrase) -> Spans:
    """Of a sentence that was cut, the words [start, end) of its parts; else none."""
    whole = phrase.behind - phrase.first == len(phrase.record["words"])
    return tuple((start, end) for start, end in phrase.record.get("parts", ()) if whole)


def _token_parts(phrase: _Phrase) -> list[tuple[int, int]]:
    tokens = np.frombuffer(phrase.record["tokens"], "<i4").reshape(-1, 2)
    spans = _parts(phrase) or ((phrase.first, phrase.behind),)
    return [(int(tokens[start, 0]), int(tokens[end - 1, 1])) for start, end in spans]


def _phrases(doc: Doc) -> list[dict[str, Any]]:
    return list(chain.from_iterable(map(_listed, _sentences(doc))))


def _listed(phrase: _Phrase) -> list[dict[str, Any]]:
    tokens, transitions, scores = _arrays(phrase)
    spans, doc, labels = scored_spans(transitions, scores, len(tokens)), phrase.doc, phrase.labels
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
                "label": labels[label] if row[label] >= phrase.abstain else None,
                "scores": dict(zip(labels, row, strict=True)),
            }
        )
    return listed
