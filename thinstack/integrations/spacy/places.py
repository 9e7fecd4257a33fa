"""Conversion between characters and tokens of a spaCy Doc. Results are stored by characters, which
do not change when tokens are merged or split, and are converted to the current tokens on access."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from spacy.tokens import Doc, Span

from thinstack.errors import InputError

_PLACE: list[int | str] = ["IDX", "LENGTH"]


def places_of(doc: Doc) -> NDArray[np.int64]:
    """Return the characters [start, end) of each of the N tokens of a Doc, (N, 2)."""
    places: NDArray[np.int64] = doc.to_array(_PLACE).view(np.int64).reshape(-1, 2)
    places[:, 1] += places[:, 0]
    return places


def tokens_at(doc: Doc, characters: ArrayLike) -> NDArray[np.int64]:
    """Return the tokens [start, end) around spans of characters (K, 2), expanded if a span begins
    or ends inside a token."""
    starts = doc.to_array("IDX").astype(np.int64)
    asked = np.reshape(characters, (-1, 2))
    first = starts.searchsorted(asked[:, 0], side="right") - 1
    return np.stack([first, starts.searchsorted(asked[:, 1] - 1, side="right")], axis=1)


def span_around(doc: Doc, start: int, end: int) -> Span:
    """Return the tokens around the characters [start, end) of a Doc, without whitespace tokens."""
    span = doc.char_span(start, end, alignment_mode="expand")
    assert span is not None
    return span


def words_within(span: Span) -> tuple[int, int] | None:
    """Return the characters [start, end) of a span without whitespace at its ends; None if nothing
    is left.

    Raises InputError if tokens were merged or split since the span was created, because spaCy does
    not update its token indices.
    """
    doc, first, behind = span.doc, span.start, span.end
    start, end = span.start_char, span.end_char
    if first == behind:
        return None
    if behind > len(doc):
        raise _moved(start, end)
    head, last = doc[first], doc[behind - 1]
    opening, closing = head.text, last.text
    if head.idx != start or last.idx + len(closing) != end:
        raise _moved(start, end)
    if opening[:1].isspace() or closing[-1:].isspace():
        text = span.text
        start += len(text) - len(text.lstrip())
        end -= len(text) - len(text.rstrip())
    return (start, end) if start < end else None


def _moved(start: int, end: int) -> InputError:
    return InputError(
        f"this span, characters {start} to {end}, was created before tokens of its Doc were "
        "merged or split, and spaCy has not moved it: create it again with "
        f"doc.char_span({start}, {end}, alignment_mode='expand')"
    )
