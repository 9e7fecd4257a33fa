"""Finds the sentences and treebank words of a spaCy Doc, by its own tokens and sentence
boundaries."""

from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from thinstack.integrations.spacy.places import characters_of, places_of
from thinstack.integrations.spacy.typed_tokens import parts_of
from thinstack.text.raw_text import treebank_words

_TEXT, _SPACE = attrgetter("text"), attrgetter("whitespace_")


class DocSentence(NamedTuple):
    """A sentence of a Doc.

    Attributes:
        start, end: its tokens [start, end).
        words: its L treebank words.
        tokens: (L, 2) the tokens [first, last + 1) of the Doc that each word was made from.
        start_char, end_char: its characters [start_char, end_char).
        characters: (L, 2) the characters of the tokens of each word, little-endian.
    """

    start: int
    end: int
    words: list[str]
    tokens: NDArray[np.int64]
    start_char: int
    end_char: int
    characters: NDArray[np.int32]


def sentences_of(doc: Doc) -> list[DocSentence]:
    """The sentences of a Doc that hold words."""
    places, sentences = places_of(doc), []
    for span in sentence_spans(doc):
        words, tokens = _words(span)
        if words:
            whole = span.start_char, span.end_char
            read = words, tokens, *whole, characters_of(places, tokens)
            sentences.append(DocSentence(span.start, span.end, *read))
    return sentences


def has_sentences(doc: Doc) -> bool:
    """Whether something has set where the sentences of a Doc begin. It is true for a Doc of one
    token."""
    known: bool = doc.has_annotation("SENT_START")
    return known


def sentence_spans(doc: Doc) -> Iterable[Span]:
    """The sentences of a Doc, or all of it if no boundaries are set."""
    return doc.sents if len(doc) and has_sentences(doc) else (doc[:],)


def _words(span: Span) -> tuple[list[str], NDArray[np.int64]]:
    """Treebank words of a sentence, and the tokens of the Doc that each was made of, (L, 2)."""
    read = list(span)
    texts, spaces = list(map(_TEXT, read)), list(map(_SPACE, read))
    merged = len("".join(texts).split()) > 1 and any(len(text.split()) > 1 for text in texts)
    parts = parts_of(span, merged=merged)
    if parts is None:
        words, tokens = treebank_words(texts, spaces)
        return words, tokens + span.start
    words, tokens = treebank_words(parts.texts, parts.spaces)
    owners = parts.owners
    owned = np.stack([owners[tokens[:, 0], 0], owners[tokens[:, 1] - 1, 1]], axis=1)
    return words, owned + span.start
