"""Finds the text that is read of the one that was typed (docs/text.md).

It has no tags of HTML and no marks of Markdown. Entities are the characters that they mean, letters
are plain, and common misspellings of `n't` are put right.
"""

import re
from collections.abc import Sequence
from itertools import chain
from sys import maxunicode
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.data.words.letters import MARKED, plain_letters, rewritten
from thinstack.text.patterns import Patterns

_END = "\u2029"
_SURROGATES = range(0xD800, 0xE000)
_LONGEST = len("should n ' ")
_SIGNS = r"<&\\*_~\[\]#>\n<tick>"
_MARKUP = re.compile(r"[<&`\\*_~\]#>\n]")  # of ASCII

IntArray = NDArray[np.int64]
Change = tuple[int, int, str]
"""The characters [start, end) of a text, and what is read in their place."""


class PlainText(NamedTuple):
    """A text as it is read. `starts` and `ends`: for each of its characters, the ones of the typed
    text, [start, end), that it was made of."""

    text: str
    starts: IntArray
    ends: IntArray

    @classmethod
    def of(cls, text: str) -> "PlainText":
        """A text that is read as it stands."""
        places = np.arange(len(text) + 1)
        return cls(text, places[:-1], places[1:])

    def changed(self, typed: str) -> NDArray[np.bool_]:
        """Whether each character of the typed text is read as something else, or not at all."""
        changed = np.ones(len(typed), np.bool_)
        alone = np.bincount(self.starts, minlength=len(typed))[self.starts] == 1
        single = np.flatnonzero(alone & (self.ends - self.starts == 1)).tolist()
        same = [place for place in single if typed[self.starts[place]] == self.text[place]]
        changed[self.starts[same]] = False
        return changed

    def typed(self, places: IntArray) -> IntArray:
        """Where characters [start, end) of this text stand in the typed text, (L, 2)."""
        return np.stack([self.starts[places[:, 0]], self.ends[places[:, 1] - 1]], axis=1)


class Typed:
    """What is read of a typed text, by the rules under `typed` in `english.json`. It reads each
    character a bounded number of times, whatever the text."""

    def __init__(self, data: dict[str, Any], compiled: Patterns):
        self._compiled = compiled
        self._sign, self._marked = f"[{_SIGNS}]", f"[{_SIGNS}{MARKED}]"
        self._tag = "|".join(kind["pattern"] for kind in data["tags"])
        self._pairs: list[str] = [kind["pattern"] for kind in data["pairs"]]
        self._entity: str = data["entity"]
        self._hashtag, self._hump = str(data["hashtag"]), str(data["humps"])
        self._signs: list[tuple[str, str]] = data["signs"]
        self._negation = str(data["negation"])
        self._hints = [compiled[hint] for hint in data["hints"]]
        self._tags = dict.fromkeys(data["inline"], "") | dict.fromkeys(data["blocks"], _END)
        self._entities: dict[str, str] = data["entities"]

    def plain(self, text: str) -> PlainText | None:
        """What is read of a text; None if it is read as it stands."""
        marked = (_MARKUP if text.isascii() else self._compiled[self._marked]).search(text)
        plain = _changed(text, self._markup(text)) if marked else None
        read = plain.text if plain else text
        small, capital = self._hints
        if small.search(read) or capital.search(read):
            plain = _then(plain, _changed(read, self._misspelt(read)))
            read = plain.text if plain else text
        return _then(plain, _changed(read, self._humps(read))) if "#" in read else plain

    def _humps(self, text: str) -> list[Change]:
        """A space between the words that capitals, digits and `_` show in hashtags."""
        hashtags, humps = self._compiled[self._hashtag], self._compiled[self._hump]
        return [
            (hump.start(), hump.end(), hump[0].strip("_") + " ")
            for tag in hashtags.finditer(text)
            for hump in humps.finditer(text, tag.start(), tag.end())
        ]

    def _misspelt(self, text: str) -> list[Change]:
        """`n't` in place of its misspellings, which end where a hint is found."""
        changes, negation = list[Change](), self._compiled[self._negation]
        for last in chain.from_iterable(hint.finditer(text) for hint in self._hints):
            place, first = last.start(), max(last.start() - _LONGEST, 0)
            for found in negation.finditer(text, first, place + 3):
                start, end = found.span(found.lastindex or 0)
                if start <= place < end:
                    changes.append((start, end, "N'T" if last[0] == "T" else "n't"))
        return sorted(changes)

    def _markup(self, text: str) -> list[Change]:
        """What is to be changed for tags, marks of Markdown, entities, apostrophes and letters,
        in order."""
        changes, place, closers = list[Change](), 0, dict[int, int]()
        for found in self._compiled[self._sign].finditer(text):
            start = found.start()
            if start >= place and (change := self._change(text, start, closers)):
                changes += _letters(text, place, start)
                changes.append((start, *change))
                place = change[0]
        changes += _letters(text, place, len(text))
        return changes

    def _change(self, text: str, start: int, closers: dict[int, int]) -> tuple[int, str] | None:
        """Where what starts with a sign ends, and what it is read as. `closers`: where the second
        marks of open pairs start and end."""
        compiled = self._compiled
        if start in closers:
            return closers[start], ""
        if text[start] not in "<&]":
            for pair in self._pairs:
                if match := compiled[pair].match(text, start):
                    inside, behind = match.span(match.lastindex or 0)
                    closers[behind] = match.end()
                    return inside, ""
            signs = ((compiled[sign].match(text, start), plain) for sign, plain in self._signs)
            return next(((match.end(), plain) for match, plain in signs if match), None)
        if match := compiled[self._tag].match(text, start):
            tag = self._tags.get(match[match.lastindex].lower()) if match.lastindex else ""
            if tag is not None:
                return match.end(), tag
        match = compiled[self._entity].match(text, start)
        meant = self._meant(match[1]) if match else None
        return None if match is None or meant is None else (match.end(), plain_letters(meant))

    def _meant(self, name: str) -> str | None:
        """The character of an entity; None if there is no such entity."""
        known = self._entities.get(name) or self._entities.get(name.lower())
        if known or name[0] != "#":
            return known
        code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
        return chr(code) if 0 < code <= maxunicode and code not in _SURROGATES else None


def _letters(text: str, start: int, end: int) -> list[Change]:
    """The changes of letters between two places."""
    part = text[start:end]
    changes = () if part.isascii() else rewritten(part)
    return [(start + first, start + behind, plain) for first, behind, plain in changes]


def _then(plain: PlainText | None, further: PlainText | None) -> PlainText | None:
    """A text that was changed and then changed further; either may be None, for no changes."""
    if plain is None or further is None:
        return further or plain
    starts, ends = plain.starts[further.starts], plain.ends[further.ends - 1]
    return PlainText(further.text, starts, ends)


def _changed(text: str, changes: Sequence[Change]) -> PlainText | None:
    """The text after the changes, in order; None if there are none."""
    if not changes:
        return None
    parts, place = list[str](), 0
    for start, end, plain in changes:
        parts += text[place:start], plain
        place = end
    size = len(text)
    firsts, ends = ([*each, size] for each in list(zip(*changes, strict=True))[:2])
    # What is kept and what is new, in turns: how long it is, and where it begins and ends.
    sizes = np.array([*map(len, parts), size - place, 0], np.int64)
    begins = np.stack([[0, *ends[:-1]], firsts], axis=1).ravel()
    behind = np.stack([firsts, ends], axis=1).ravel()
    starts, kept = np.repeat(begins, sizes), np.repeat(np.arange(len(sizes)) % 2 == 0, sizes)
    within = np.arange(len(starts)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    starts[kept] += within[kept]
    places = np.where(kept, starts + 1, np.repeat(behind, sizes))
    return PlainText("".join((*parts, text[place:])), starts, places)
