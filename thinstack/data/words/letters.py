"""Normalize unusual letters: ligatures, full-width, mathematical, circled and superscript letters,
combining accents, and zero-width characters."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

# Characters that NFKC converts to letters, digits or a single mark, except those that a model reads
# or that become several words: superscript digits, fractions, unit signs, trademarks.
_OTHERS = (
    "\u0132\u0133\u017f\u01f1-\u01f3\u02b0-\u02b8\u02e0-\u02e4\u1d2c-\u1d6a"
    "\u1d78\u1d9b-\u1dbf\u2071\u207f\u2090-\u209c\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d"
    "\u2124\u2128\u212a-\u212d\u212f-\u2134\u2145-\u2149\u2160-\u217f\u2460-\u2473\u24b6-\u24ea"
    "\u2c7c\u2c7d\ufb00-\ufb06\ufb13-\ufb17\ufb20-\ufb28\ufb50-\ufbb1\ufe50-\ufe52\ufe54-\ufe66"
    "\ufe68-\ufe6b\ufe80-\ufefc\uff01-\uffdc\uffe0-\uffe2\uffe4-\uffe6\U0001d400-\U0001d7ff"
    "\U0001f12b-\U0001f12e\U0001f130-\U0001f149"
)
_ACCENTS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20df\u3099\u309a\ufe20-\ufe2f"
# Joiners, direction marks, the soft hyphen, the byte order mark, variation selectors.
_NO_WIDTH = (
    "\xad\u034f\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0e\ufeff"
    "\ufff9-\ufffb"
)
# Inside an emoji, these belong to it, and to a keycap (the digit, U+FE0F, U+20E3).
_OF_EMOJI = "\u200d\ufe0f\u20e3"
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"

MARKED = _OTHERS + _ACCENTS + _NO_WIDTH + _OF_EMOJI
"""A character class; a text without these characters is unchanged."""

_marked = re.compile(f"[{MARKED}]")
_changes = re.compile(
    f"([{_OTHERS}][{_ACCENTS}\uff9e\uff9f]*)|([^{_OTHERS}{_NO_WIDTH}][{_ACCENTS}]+)|[{_NO_WIDTH}]|\u20e3"
    f"|(?<![{_EMOJI}])\ufe0f|\u200d(?![{_EMOJI}])|(?<![\ufe0f{_EMOJI}])\u200d"
)
_FORMS: tuple[Literal["NFKC", "NFC"], ...] = "NFKC", "NFC"


def plain_letters(text: str) -> str:
    """Return the text with plain letters: `terrific` for a word with a ligature, composed letters
    for separate accents (NFC), no zero-width characters outside emoji."""
    if text.isascii() or not _marked.search(text):
        return text
    return _changes.sub(_plain, text)


def rewritten(text: str) -> Iterator[tuple[int, int, str]]:
    """Iterate over the characters [start, end) that `plain_letters` changes and their new text."""
    for match in _changes.finditer(text):
        typed, plain = match[0], _plain(match)
        # Unchanged accents keep their offsets, and so does the letter before other accents.
        same = next(
            (at for at, (a, b) in enumerate(zip(typed, plain, strict=False)) if a != b), len(plain)
        )
        typed, plain = typed[same:], plain[same:]
        while typed and plain and typed[-1] == plain[-1]:
            typed, plain = typed[:-1], plain[:-1]
        if typed or plain:
            start = match.start() + same
            yield start, start + len(typed), plain


def _plain(match: re.Match[str]) -> str:
    form = match.lastindex
    return unicodedata.normalize(_FORMS[form - 1], match[0]) if form else ""
