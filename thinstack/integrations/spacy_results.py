"""What `tree_sentiment` leaves on a spaCy Doc, and the extension attributes that read it.

Stored, as plain data that survives `to_bytes`, DocBin and worker processes, is `Doc._.tree_sentiment`:

    {"labels": [C class names],
     "sentences": [{"start": first token, "end": last token + 1,
                    "words": [L words as the model read them],
                    "tokens": (L, 2) int32, the tokens [first, last + 1) of the Doc that a word was made of,
                    "transitions": (2L - 1,) int8, the tree,
                    "scores": (2L - 1, C) float32, the probabilities of each phrase}, ...]}

with arrays as little-endian bytes. A sentence without words (white space only) has no entry. All else is computed from it
when asked for:

- `Doc._.sentiment_phrases`: every phrase of every sentence in transition order, a list of dicts with `start`, `end` (tokens),
  `start_char`, `end_char`, `text`, `label` and `scores` {label: probability}; a phrase may be one word.
- `Span._.sentiment_label`: the most probable class of the span,
- `Span._.sentiment_scores`: {label: probability} of the span,
- `Span._.sentiment_tree`: the tree over the span in labelled brackets, labels being class numbers;

the three are None for a span that is no phrase of a tree. White space at the ends of a span is of no account.
`predictions(doc)` gives the sentences as `thinstack.integrations.prediction.Prediction`, which can be drawn.
The results are about the tokens of the Doc as they were: merge or split tokens before, not after.
"""

from bisect import bisect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import spans_of
from thinstack.errors import ConfigError
from thinstack.integrations.prediction import Prediction

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

__all__ = ["Sentence", "predictions", "record", "register_extensions"]


class Sentence(NamedTuple):
    """Tokens [start, end) of a Doc as L words, the tokens (L, 2) that each was made of, and the tree over them (2L - 1,)."""

    start: int
    end: int
    words: list[str]
    tokens: NDArray[np.int64]
    transitions: NDArray[np.int8]


def record(sentence: Sentence, scores: NDArray[np.float32]) -> dict[str, Any]:
    """The stored form of one sentence with the scores (2L - 1, C) of its phrases."""
    return {
        "start": sentence.start,
        "end": sentence.end,
        "words": sentence.words,
        "tokens": sentence.tokens.astype("<i4").tobytes(),
        "transitions": sentence.transitions.tobytes(),
        "scores": scores.astype("<f4", copy=False).tobytes(),
    }


def predictions(doc: "Doc") -> list[Prediction]:
    """One `Prediction` for each sentence of a Doc that `tree_sentiment` found words in; empty if it did not see the Doc.

    The Doc may come from a DocBin, in a process without the component. Raises ConfigError as `register_extensions` does.
    """
    register_extensions()
    return [_phrase(doc, sentence, scores, labels, len(scores) - 1) for sentence, scores, labels in _sentences(doc)]


def register_extensions() -> None:
    """Make the attributes known to spaCy, once or again. Raises ConfigError where another package has taken a name."""
    from spacy.tokens import Doc, Span

    for kind, name, options in (
        (Doc, "tree_sentiment", {"default": None}),
        (Doc, "sentiment_phrases", {"getter": _phrases}),
        (Span, "sentiment_label", {"getter": _label}),
        (Span, "sentiment_scores", {"getter": _scores}),
        (Span, "sentiment_tree", {"getter": _brackets}),
    ):
        if kind.has_extension(name):
            default, method, getter, setter = kind.get_extension(name)
            ours = (
                getter.__module__ == __name__ if getter else "default" in options and (default, method, setter) == (None,) * 3
            )
            if not ours:
                raise ConfigError(
                    f"tree_sentiment needs the attribute {kind.__name__}._.{name}, which something else has set already; "
                    f"remove it first: {kind.__name__}.remove_extension({name!r})"
                )
        kind.set_extension(name, force=True, **options)


def _sentences(doc: "Doc") -> Iterator[tuple[Sentence, NDArray[np.float32], tuple[str, ...]]]:
    stored = doc._.tree_sentiment
    for item in stored["sentences"] if stored else ():
        yield _decoded(item, tuple(stored["labels"]))


def _decoded(item: dict[str, Any], labels: tuple[str, ...]) -> tuple[Sentence, NDArray[np.float32], tuple[str, ...]]:
    tokens = np.frombuffer(item["tokens"], "<i4").astype(np.int64).reshape(-1, 2)
    transitions = np.frombuffer(item["transitions"], np.int8)
    scores = np.frombuffer(item["scores"], "<f4").reshape(-1, len(labels))
    return Sentence(item["start"], item["end"], item["words"], tokens, transitions), scores, labels


def _phrase(doc: "Doc", sentence: Sentence, scores: NDArray[np.float32], labels: tuple[str, ...], node: int) -> Prediction:
    """The subtree of one node: in transition order it is contiguous and ends with the node."""
    first, behind = spans_of(sentence.transitions)[node].tolist()
    tokens = sentence.tokens[first:behind]
    span = doc[int(tokens[0, 0]) : int(tokens[-1, 1])]
    offsets = np.array([(doc[a].idx, doc[b - 1].idx + len(doc[b - 1])) for a, b in tokens.tolist()], np.int64)
    nodes = slice(node - 2 * (behind - first) + 2, node + 1)
    return Prediction(
        text=span.text,
        words=tuple(sentence.words[first:behind]),
        offsets=offsets - span.start_char,
        transitions=sentence.transitions[nodes],
        scores=scores[nodes],
        labels=labels,
    )


def _of_span(span: "Span") -> Prediction | None:
    """The prediction for a span that is a phrase of a tree."""
    inside, stored = [token.i for token in span if not token.is_space], span.doc._.tree_sentiment
    if not inside or not stored:
        return None
    start, end = inside[0], inside[-1] + 1
    place = bisect(stored["sentences"], start, key=lambda item: int(item["start"])) - 1
    if place < 0 or end > stored["sentences"][place]["end"]:
        return None
    sentence, scores, labels = _decoded(stored["sentences"][place], tuple(stored["labels"]))
    first = int(np.searchsorted(sentence.tokens[:, 0], start))
    behind = int(np.searchsorted(sentence.tokens[:, 1], end, side="right"))
    if first >= behind or (sentence.tokens[first, 0], sentence.tokens[behind - 1, 1]) != (start, end):
        return None
    nodes = np.flatnonzero((spans_of(sentence.transitions) == (first, behind)).all(axis=1))
    return _phrase(span.doc, sentence, scores, labels, int(nodes[0])) if nodes.size else None


def _label(span: "Span") -> str | None:
    found = _of_span(span)
    return found.label if found else None


def _scores(span: "Span") -> dict[str, float] | None:
    found = _of_span(span)
    return dict(zip(found.labels, found.scores[-1].tolist(), strict=True)) if found else None


def _brackets(span: "Span") -> str | None:
    found = _of_span(span)
    return found.tree.to_brackets() if found else None


def _phrases(doc: "Doc") -> list[dict[str, Any]]:
    phrases = []
    for sentence, scores, labels in _sentences(doc):
        spans = spans_of(sentence.transitions)
        starts, ends = sentence.tokens[spans[:, 0], 0].tolist(), sentence.tokens[spans[:, 1] - 1, 1].tolist()
        for start, end, best, row in zip(starts, ends, scores.argmax(axis=1).tolist(), scores.tolist(), strict=True):
            span = doc[start:end]
            phrases.append(
                {
                    "start": start,
                    "end": end,
                    "start_char": span.start_char,
                    "end_char": span.end_char,
                    "text": span.text,
                    "label": labels[best],
                    "scores": dict(zip(labels, row, strict=True)),
                }
            )
    return phrases
