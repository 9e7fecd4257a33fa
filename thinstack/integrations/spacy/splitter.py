"""Finds the sentences and treebank words of a spaCy Doc, by its own tokens and sentence
boundaries. Parts of tokens that thinstack reads otherwise are read as in a text: tags, entities,
unusual letters, misspelt negations, emoji, hashtags, very long words (docs/text.md)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from thinstack.data.words import ptb
from thinstack.integrations.spacy.places import characters_of, places_of
from thinstack.text.english import LONGEST, plain_words, rules
from thinstack.text.plain_text import PlainText
from thinstack.text.raw_text import treebank_words

# spaCy leaves `n't` in tokens that it has no exception for: `havn't`, `don't/didn't`.
_negation = re.compile("(?<=[a-zA-Z])[nN]['\u2019][tT](?![a-zA-Z0-9])")


class DocSentence(NamedTuple):
    """A sentence of a Doc: its tokens [start, end), its characters [start_char, end_char), and its
    L treebank words. Each word was made from the `tokens` [first, last + 1) of the Doc, (L, 2),
    which have the `characters`, (L, 2), little-endian."""

    start: int
    end: int
    words: list[str]
    tokens: NDArray[np.int64]
    start_char: int
    end_char: int
    characters: NDArray[np.int32]


def sentences_of(doc: Doc) -> list[DocSentence]:
    """The sentences of a Doc that hold words."""
    places, text, sentences = places_of(doc), doc.text, []
    for span in sentence_spans(doc):
        words, tokens = _words(_Tokens.of(span, text, places))
        if words:
            tokens += span.start
            whole = span.start_char, span.end_char
            read = words, tokens, *whole, characters_of(places, tokens)
            sentences.append(DocSentence(span.start, span.end, *read))
    return sentences


def has_sentences(doc: Doc) -> bool:
    """Whether something has set where the sentences of a Doc begin. It is true for a Doc of one
    token."""
    return bool(doc.has_annotation("SENT_START"))


def sentence_spans(doc: Doc) -> Iterable[Span]:
    """The sentences of a Doc, or all of it if no boundaries are set."""
    return doc.sents if len(doc) and has_sentences(doc) else (doc[:],)


class _Tokens(NamedTuple):
    """The N tokens of a sentence.

    Attributes:
        text: the text of the sentence.
        texts: that of each token.
        spaces: whether another token follows each behind white space.
        places: their characters [start, end) in the text, (N, 2).
    """

    text: str
    texts: list[str]
    spaces: list[bool]
    places: NDArray[np.int64]

    @classmethod
    def of(cls, span: Span, whole: str, places: NDArray[np.int64]) -> "_Tokens":
        """Those of a sentence of a Doc, from its text and the places of its tokens. To ask each
        token takes several times as long."""
        shift, own = span.start_char, places[span.start : span.end]
        ends = own.tolist()
        texts = [whole[start:end] for start, end in ends]
        spaces = [end < start for (_, end), (start, _) in pairwise(ends)]
        return cls(whole[shift : span.end_char], texts, [*spaces, False], own - shift)

    @property
    def plain(self) -> bool:
        """Whether no token holds white space beside something else, and none is very long."""
        whole = len("".join(self.texts).split()) < 2 or not any(
            len(each.split()) > 1 for each in self.texts
        )
        return whole and max(map(len, self.texts), default=0) <= LONGEST


def _words(read: _Tokens) -> tuple[list[str], NDArray[np.int64]]:
    """Treebank words of a sentence, and the tokens that each was made of, (L, 2)."""
    parts = _parts_of(read)
    if parts is None:
        return treebank_words(read.texts, read.spaces)
    words, tokens = treebank_words(parts.texts, parts.spaces)
    owners = parts.owners
    return words, np.stack([owners[tokens[:, 0], 0], owners[tokens[:, 1] - 1, 1]], axis=1)


class _Parts(NamedTuple):
    """The texts of P parts of tokens, and whether a space follows each. `owners` (P, 2) are the
    tokens [first, last + 1) of the sentence that each part belongs to."""

    texts: list[str]
    spaces: list[bool]
    owners: NDArray[np.int64]


def _parts_of(read: _Tokens) -> _Parts | None:
    """The parts of a sentence; None if all tokens are read as they stand.

    Tokens that touch each other are read as thinstack reads texts, if one of them holds what is
    read otherwise. Tags of HTML are in no part. Each part of a token that holds white space is a
    word to the treebank.
    """
    text, (firsts, lasts) = read.text, read.places.T
    plain = rules().typed.plain(text)
    starts = [match.start() for match in _negation.finditer(text)]
    inside = np.setdiff1d(starts, firsts) if starts else np.zeros(0, np.int64)
    signs = _cut_signs(text, firsts)
    if read.plain and not (plain or len(inside) or signs):
        return None
    plain = plain or PlainText.of(text)
    changes = np.concatenate([[0], np.cumsum(plain.changed(text))])
    odd = (changes[lasts] > changes[firsts]) | (lasts - firsts > LONGEST)
    odd[np.searchsorted(firsts, inside, side="right") - 1] = True
    for first, behind in signs:
        odd[first:behind] = True
    parts = list[_Part]()
    for start, behind in _stretches(read.spaces, odd):
        place = firsts[start], lasts[behind - 1]
        parts += _read(plain, *place) if odd[start:behind].any() else _kept(text, *place)
    if not parts:
        return _Parts([], [], np.zeros((0, 2), np.int64))
    texts = [part.text for part in parts]
    places = np.array([part[1:] for part in parts], np.int64)
    owners = np.searchsorted(lasts, places[:, 0], side="right")
    behind_owners = np.searchsorted(firsts, places[:, 1])
    # Words of one token, such as of a hashtag or one that was too long, are not joined again.
    alike = [one.isalnum() and two.isalnum() for one, two in pairwise(texts)]
    apart = places[:-1, 1] < places[1:, 0]
    apart |= np.array(alike, np.bool_) & (behind_owners[:-1] > owners[1:])
    apart |= np.array([len(part) >= LONGEST for part in texts[:-1]], np.bool_)
    spaces = [*apart.tolist(), False]
    return _Parts(texts, spaces, np.stack([owners, behind_owners], axis=1))


def _cut_signs(text: str, firsts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Tokens [first, last + 1) of each emoji and hashtag that spaCy has cut into several."""
    if text.isascii() and "#" not in text:
        return []
    places = [match.span() for match in rules().signs.finditer(text)]
    starts, ends = np.array(places, np.int64).reshape(-1, 2).T
    first = np.searchsorted(firsts, starts, side="right") - 1
    behind = np.searchsorted(firsts, ends)
    pairs = zip(first.tolist(), behind.tolist(), strict=True)
    return [(start, end) for start, end in pairs if end - start > 1]


class _Part(NamedTuple):
    """A part and its characters [start, end) in the text of the sentence."""

    text: str
    start: int
    end: int


def _stretches(spaces: Sequence[bool], odd: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Tokens [first, last + 1) that are read together: those that touch, if any of them is odd, and
    odd ones that follow each other; else each by itself."""
    start, count = 0, len(spaces)
    while start < count:
        end = start + 1
        while end < count and (not spaces[end - 1] or (odd[end - 1] and odd[end])):
            end += 1
        if odd[start:end].any():
            yield start, end
        else:
            yield from ((place, place + 1) for place in range(start, end))
        start = end


def _kept(text: str, start: int, end: int) -> Iterator[_Part]:
    """A token as it stands; if it was merged and holds white space, each part by itself."""
    for found in re.finditer(r"\S+", text[start:end]):
        yield _Part(found[0], start + found.start(), start + found.end())


def _read(plain: PlainText, start: int, end: int) -> Iterator[_Part]:
    """The words that thinstack reads between two places of the text."""
    first = int(np.searchsorted(plain.starts, start))
    behind = int(np.searchsorted(plain.starts, end))
    words, places = plain_words(plain.text[first:behind])
    if words:
        typed = plain.typed(places + first).tolist()
        yield from (
            _Part(ptb.plain(word), *place) for word, place in zip(words, typed, strict=True)
        )
