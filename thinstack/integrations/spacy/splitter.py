"""Extracts the sentences and treebank words of a spaCy Doc from its tokens and sentence boundaries.
Parts of tokens that thinstack tokenizes differently are read as plain text: tags, entities, unusual
letters, misspelled negations, emoji, hashtags, very long words (docs/text.md).

Results are stored by characters, which do not change when tokens are merged or split, and are
converted to the current tokens on access."""

import re
from collections.abc import Iterable
from itertools import pairwise
from operator import lt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from spacy.tokens import Doc, Span

from thinstack.data.words import ptb
from thinstack.errors import InputError
from thinstack.text.english import LONGEST, plain_words, rules
from thinstack.text.plain_text import PlainText
from thinstack.text.raw_text import read_tokens, tokens_of_words, treebank_words
from thinstack.text.sentences import Sentence

_PLACE: list[int | str] = ["IDX", "LENGTH"]


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


# spaCy keeps `n't` in tokens that it has no exception for: `havn't`, `don't/didn't`. The pattern
# begins with a letter, because a search that begins with a lookbehind is slower.
_negation = re.compile("[nN](?<=[a-zA-Z][nN])['\u2019][tT](?![a-zA-Z0-9])")

# The possible position of an emoji, a hashtag or a word with hidden letters. Searching for one
# character set takes half as long as for several.
_sign = re.compile("[!*#$%^_@\x80-\U0010ffff](?:(?<!!)|(?=[a-zA-Z]))")

_part = re.compile(r"\S+")

_Part = tuple[str, int, int]
"""A part of a sentence, and its characters [start, end) in the text."""

_LAST = np.array([0, 1])  # the end of a range is that of its last token


def sentences_of(doc: Doc, text: str | None = None) -> list[Sentence]:
    """Return the sentences of a Doc that contain words, each word with the characters of the whole
    tokens that it was made from. `text`: the text of the Doc, which spaCy computes slowly."""
    text = doc.text if text is None else text
    places, sentences = doc.to_array(_PLACE).view(np.int64).reshape(-1, 2), list[Sentence]()
    places[:, 1] += places[:, 0]  # from lengths to ends
    starts, ends = places.T.tolist()
    # Several times as fast as reading each token.
    texts = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    spaces = [*map(lt, ends, starts[1:]), False]
    for span in sentence_spans(doc):
        part = slice(span.start, span.end)
        whole = text[starts[span.start] : ends[span.end - 1]] if len(span) else ""
        read = _Tokens(whole, texts[part], starts[part], ends[part], spaces[part])
        words, tokens = _words_of(read)
        if words:
            characters = places[part]
            if tokens is not None:
                characters = characters.ravel().take(2 * tokens - _LAST)
            first, last = characters[0, 0].item(), characters[-1, 1].item()
            sentences.append(Sentence(text[first:last], words, characters - first, first))
    return sentences


def has_sentences(doc: Doc) -> bool:
    """Whether the sentence boundaries of a Doc are set. True for a Doc of one token."""
    return bool(doc.has_annotation("SENT_START"))


def sentence_spans(doc: Doc) -> Iterable[Span]:
    """Return the sentences of a Doc, or the whole Doc if no boundaries are set."""
    return doc.sents if len(doc) and has_sentences(doc) else (doc[:],)


class _Tokens(NamedTuple):
    """The N tokens of a sentence.

    Attributes:
        text: the text from the first token to the last.
        texts: the text of each token.
        starts, ends: the characters [start, end) of each token in the Doc.
        spaces: whether each token is followed by whitespace and another token.
    """

    text: str
    texts: list[str]
    starts: list[int]
    ends: list[int]
    spaces: list[bool]

    @property
    def plain(self) -> bool:
        """Whether no token mixes whitespace with other characters, and none is very long."""
        whole = len("".join(self.texts).split()) < 2 or not any(
            len(token.split()) > 1 for token in self.texts
        )
        short = len(self.text) <= LONGEST or max(map(len, self.texts)) <= LONGEST
        return whole and short


def _words_of(read: _Tokens) -> tuple[list[str], NDArray[np.int64] | None]:
    """Return the treebank words of a sentence, and the tokens [first, last + 1) of each, (L, 2), or
    None in the usual case that each token is a word.

    Tokens without whitespace between them are tokenized as plain text if one of them is odd, and so
    are consecutive odd tokens. HTML tags produce no words. Each part of a token that contains
    whitespace is a separate word.
    """
    reading = _odd_tokens(read)
    if reading is None:
        words, *changes = read_tokens(read.texts, read.spaces)
        return words, tokens_of_words(len(read.texts), *changes) if any(changes) else None
    text, odd, (firsts, lasts) = reading
    joined = ~np.array(read.spaces[:-1], np.bool_) | (odd[:-1] & odd[1:])
    groups = np.append(0, np.cumsum(~joined))
    odd = np.bincount(groups, odd)[groups] > 0
    opening = np.flatnonzero(np.append(True, ~(joined & odd[1:])))
    closing = np.append(opening[1:], len(odd)) - 1
    parts = list[_Part]()
    for start, end, plain in zip(firsts[opening], lasts[closing], odd[opening], strict=True):
        if plain:
            parts += _read(text, start, end)
        else:  # one token, or the parts of a merged token that contains whitespace
            parts += [(one[0], *one.span()) for one in _part.finditer(read.text, start, end)]
    if not parts:
        return [], None
    texts = [part for part, _, _ in parts]
    places = np.array([place for _, *place in parts], np.int64)
    owners = np.searchsorted(lasts, places[:, 0], side="right")
    behind_owners = np.searchsorted(firsts, places[:, 1])
    # Words of one token, such as of a hashtag or a very long one, are not joined again.
    alike = [one.isalnum() and two.isalnum() for one, two in pairwise(texts)]
    apart = places[:-1, 1] < places[1:, 0]
    apart |= np.array(alike, np.bool_) & (behind_owners[:-1] > owners[1:])
    apart |= np.array([len(part) >= LONGEST for part in texts[:-1]], np.bool_)
    words, made_of = treebank_words(texts, [*apart.tolist(), False])
    return words, np.stack([owners[made_of[:, 0]], behind_owners[made_of[:, 1] - 1]], axis=1)


def _odd_tokens(read: _Tokens) -> tuple[PlainText, NDArray[np.bool_], NDArray[np.int64]] | None:
    """Return the plain text of a sentence, a mask (N,) of the tokens that thinstack tokenizes
    differently, and the starts and ends of all in the text, (2, N); None if no token is odd."""
    text = read.text
    plain = rules().typed.plain(text)
    marked = "'" in text or "\u2019" in text
    negations = [match.start() for match in _negation.finditer(text)] if marked else []
    if negations:  # minus those that are tokens
        shift = read.starts[0]
        negations = sorted({*negations}.difference(start - shift for start in read.starts))
    if not (plain or negations or _sign.search(text)) and read.plain:  # the usual case
        return None
    places = np.array([read.starts, read.ends], np.int64) - read.starts[0]
    firsts, lasts = places
    # The tokens [first, last + 1) of each emoji and hashtag that spaCy has split.
    spans = np.array([match.span() for match in rules().signs.finditer(text)]).reshape(-1, 2)
    first, behind = firsts.searchsorted(spans[:, 0], "right") - 1, firsts.searchsorted(spans[:, 1])
    signs = [pair for pair in zip(first, behind, strict=True) if pair[1] - pair[0] > 1]
    if not (plain or negations or signs) and read.plain:
        return None
    plain = plain or PlainText.of(text)
    changes = np.concatenate([[0], np.cumsum(plain.changed(text))])
    odd = (changes[lasts] > changes[firsts]) | (lasts - firsts > LONGEST)
    odd[np.searchsorted(firsts, negations, side="right") - 1] = True
    for sign in signs:
        odd[slice(*sign)] = True
    return plain, odd, places


def _read(plain: PlainText, start: int, end: int) -> list[_Part]:
    """Return the words that thinstack reads between two positions in the text."""
    first, behind = np.searchsorted(plain.starts, (start, end)).tolist()
    words, places = plain_words(plain.text[first:behind])
    typed = plain.typed(places + first).tolist() if words else []
    return [(ptb.plain(word), *place) for word, place in zip(words, typed, strict=True)]
