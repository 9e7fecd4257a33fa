"""What `tree_sentiment` leaves on a spaCy Doc, and the extension attributes that read it.

Stored, as plain data that survives `to_bytes`, DocBin and worker processes, is
`Doc._.tree_sentiment`:

    {"labels": [C class names],
     "sentences": [{"start": first token, "end": last token + 1,
                    "words": [L words as the model read them],
                    "tokens": (L, 2) int32, the tokens [first, last + 1) of the Doc that a word was
                    made of, "transitions": (2L - 1,) int8, the tree,
                    "scores": (2L - 1, C) float32, the probabilities of each phrase}, ...]}

with arrays as little-endian bytes. A sentence without words (white space only) has no entry. All
else is computed from it when asked for:

- `Doc._.sentiment_phrases`: every phrase of every sentence in transition order, a list of dicts
  with `start`, `end` (tokens), `start_char`, `end_char`, `text`, `label` and `scores` {label:
  probability}; a phrase may be one word.
- `Span._.sentiment_label`: the most probable class of the span.
- `Span._.sentiment_scores`: {label: probability} of the span.
- `Span._.sentiment_tree`: the tree over the span in labelled brackets, labels being class numbers.
- `Span._.sentiment_phrases`: the phrases of that tree, as the Doc's.

The last four are None for a span that is no phrase of a tree; white space at its ends does not
matter. Merge or split tokens before the component runs, not after.
"""

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from thinstack.core.transitions import spans_of
from thinstack.data.brackets import to_brackets
from thinstack.errors import ConfigError
from thinstack.integrations.spacy.splitter import DocSentence, text_of
from thinstack.runtime.prediction import Prediction

__all__ = ["Annotated", "predictions", "register_extensions", "store"]


class Annotated(NamedTuple):
    """A sentence with its tree (2L - 1,) and the scores (2L - 1, C) of its phrases."""

    sentence: DocSentence
    transitions: NDArray[np.int8]
    scores: NDArray[np.float32]


def store(doc: Doc, found: Sequence[Annotated], labels: Sequence[str]) -> None:
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
        for sentence, transitions, scores in found
    ]
    doc._.tree_sentiment = {"labels": list(labels), "sentences": records}


def predictions(doc: Doc) -> list[Prediction]:
    """One `Prediction` for each sentence of a Doc that `tree_sentiment` found words in.

    The Doc may come from a DocBin, in a process without the component; of one that the component
    has not seen there are none. Raises ConfigError as `register_extensions` does.
    """
    register_extensions()
    return [_phrase(doc, found, len(found.scores) - 1) for found in _sentences(doc)]


def register_extensions() -> None:
    """Make the attributes known to spaCy. Raises ConfigError where another has taken a name."""
    for kind, name, options in (
        (Doc, "tree_sentiment", {"default": None}),
        (Doc, "sentiment_phrases", {"getter": _phrases}),
        (Span, "sentiment_label", {"getter": _of_phrase(attrgetter("label"))}),
        (Span, "sentiment_scores", {"getter": _of_phrase(_scores)}),
        (Span, "sentiment_tree", {"getter": _of_phrase(_brackets)}),
        (Span, "sentiment_phrases", {"getter": _phrases_inside}),
    ):
        if kind.has_extension(name):
            default, method, getter, setter = kind.get_extension(name)
            plain = "default" in options and (default, method, setter) == (None,) * 3
            if not (getter.__module__ == __name__ if getter else plain):
                taken = f"{kind.__name__}._.{name}, which something else has set already"
                remedy = f"remove it first: {kind.__name__}.remove_extension({name!r})"
                raise ConfigError(f"tree_sentiment needs the attribute {taken}; {remedy}")
        kind.set_extension(name, force=True, **options)


def _sentences(doc: Doc) -> Iterator[Annotated]:
    stored = doc._.tree_sentiment
    return map(_decoded, stored["sentences"] if stored else ())


def _decoded(item: dict[str, Any]) -> Annotated:
    tokens = np.frombuffer(item["tokens"], "<i4").astype(np.int64).reshape(-1, 2)
    transitions = np.frombuffer(item["transitions"], np.int8)
    scores = np.frombuffer(item["scores"], "<f4").reshape(len(transitions), -1)
    sentence = DocSentence(item["start"], item["end"], item["words"], tokens)
    return Annotated(sentence, transitions, scores)


def _phrase(doc: Doc, found: Annotated, node: int) -> Prediction:
    first, behind = spans_of(found.transitions)[node].tolist()
    text, offsets = text_of(doc, found.sentence.tokens[first:behind])
    nodes = _subtree(node, behind - first)
    words = tuple(found.sentence.words[first:behind])
    labels = tuple(doc._.tree_sentiment["labels"])
    return Prediction(text, words, offsets, found.transitions[nodes], found.scores[nodes], labels)


def _subtree(node: int, words: int) -> slice:
    """The nodes at and below one over so many words, which stand side by side, the node last."""
    return slice(node - 2 * words + 2, node + 1)


def _node_of(span: Span) -> tuple[Annotated, int] | None:
    """The node whose phrase is the span."""
    inside, stored = [token.i for token in span if not token.is_space], span.doc._.tree_sentiment
    if not inside or not stored:
        return None
    start, end = inside[0], inside[-1] + 1
    place = bisect(stored["sentences"], start, key=lambda item: int(item["start"])) - 1
    if place < 0 or end > stored["sentences"][place]["end"]:
        return None
    found = _decoded(stored["sentences"][place])
    tokens = found.sentence.tokens
    first = int(np.searchsorted(tokens[:, 0], start))
    behind = int(np.searchsorted(tokens[:, 1], end, side="right"))
    if first >= behind or (tokens[first, 0], tokens[behind - 1, 1]) != (start, end):
        return None
    nodes = np.flatnonzero((spans_of(found.transitions) == (first, behind)).all(axis=1))
    return (found, int(nodes[0])) if nodes.size else None


def _of_phrase(read: Callable[[Prediction], Any]) -> Callable[[Span], Any]:
    """A getter of what `read` gives of a span that is a phrase, and of None for any other."""

    def getter(span: Span) -> Any:
        place = _node_of(span)
        return read(_phrase(span.doc, *place)) if place else None

    return getter


def _scores(found: Prediction) -> dict[str, float]:
    return dict(zip(found.labels, found.scores[-1].tolist(), strict=True))


def _brackets(found: Prediction) -> str:
    return to_brackets(found.tree)


def _phrases(doc: Doc) -> list[dict[str, Any]]:
    listed = (_listed(doc, found, len(found.scores) - 1) for found in _sentences(doc))
    return list(chain.from_iterable(listed))


def _phrases_inside(span: Span) -> list[dict[str, Any]] | None:
    place = _node_of(span)
    return list(_listed(span.doc, *place)) if place else None


def _listed(doc: Doc, found: Annotated, node: int) -> Iterator[dict[str, Any]]:
    spans, tokens = spans_of(found.transitions), found.sentence.tokens
    nodes = _subtree(node, int(spans[node, 1] - spans[node, 0]))
    starts, ends = tokens[spans[nodes, 0], 0].tolist(), tokens[spans[nodes, 1] - 1, 1].tolist()
    labels, rows = doc._.tree_sentiment["labels"], found.scores[nodes]
    best = rows.argmax(axis=1).tolist()
    for start, end, label, row in zip(starts, ends, best, rows.tolist(), strict=True):
        span = doc[start:end]
        yield {
            "start": start,
            "end": end,
            "start_char": span.start_char,
            "end_char": span.end_char,
            "text": span.text,
            "label": labels[label],
            "scores": dict(zip(labels, row, strict=True)),
        }
