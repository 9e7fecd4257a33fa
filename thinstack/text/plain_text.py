"""Convert the text as typed to plain text, which the model reads (docs/text.md).

Plain text has no HTML tags and no Markdown marks. Entities, escapes and wrongly decoded characters
are replaced by their characters, letters are plain, and contractions are corrected.
"""

import json
import re
from collections.abc import Mapping, Sequence
from sys import maxunicode
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.data.words.letters import MARKED, plain_letters, rewritten

_END = "\u2029"
_SURROGATES = range(0xD800, 0xE000)
_LONGEST, _LOOKAHEAD = len("definitely always can't"), 20
"""Characters before and after the end of a misspelt `n't` that determine it."""
_SIGNS, _SIGN = r"<&\\*_~\[\]#>\n%=<tick>", b"\n"
_SMALL = re.sub(rb"[<&`\\*_~\]#>%=]", _SIGN, bytes(range(256)).lower())
_SEEN = re.sub(rb"[^a-z'\n]", b" ", _SMALL)
_WORD = re.compile("[a-zA-Z]+(?<![nN]['\u2019][tT])")
"""Letters, without the last one of `n't`."""

IntArray = NDArray[np.int64]
Change = tuple[int, int, str]
"""The characters [start, end) of a text, and their replacement."""


class PlainText(NamedTuple):
    """A plain text. `starts` and `ends`: for each of its characters, its source [start, end) in the
    typed text."""

    text: str
    starts: IntArray
    ends: IntArray

    @classmethod
    def of(cls, text: str) -> "PlainText":
        """Return a text without changes."""
        places = np.arange(len(text) + 1)
        return cls(text, places[:-1], places[1:])

    def changed(self, typed: str) -> NDArray[np.bool_]:
        """Return whether each character of the typed text was changed or removed."""
        changed = np.ones(len(typed), np.bool_)
        alone = np.bincount(self.starts, minlength=len(typed))[self.starts] == 1
        single = np.flatnonzero(alone & (self.ends - self.starts == 1)).tolist()
        same = [place for place in single if typed[self.starts[place]] == self.text[place]]
        changed[self.starts[same]] = False
        return changed

    def typed(self, places: IntArray) -> IntArray:
        """Return the positions in the typed text of characters [start, end) of this one, (L, 2)."""
        return np.stack([self.starts[places[:, 0]], self.ends[places[:, 1] - 1]], axis=1)


class Typed:
    """A converter of typed text, by the rules under `typed` in `english.json`. It reads each
    character a bounded number of times, for any text."""

    def __init__(self, data: dict[str, Any], compiled: Mapping[str, re.Pattern[str]]):
        self._rules, self._compiled = data, compiled
        self._sign, self._marked = f"[{_SIGNS}]", f"[{_SIGNS}{MARKED}]"
        self._hint = f"{self._marked}|{data['misread_hint']}"
        self._tag = "|".join(kind["pattern"] for kind in data["tags"])
        self._clitics = frozenset(data["clitics"])
        self._nots = {"t", "nt", *(verb + "nt" for verb in data["verbs"] + data["shortened"])}
        self._contractions = {word.encode() for word in self._clitics | self._nots}
        self._tags = dict.fromkeys(data["inline"], "") | dict.fromkeys(data["blocks"], _END)
        self._entities: dict[str, str] = data["entities"]
        self._misreadings = "|".join(pattern for pattern, _ in data["misread"])
        self._originals: list[str | None] = [plain for _, plain in data["misread"]]
        self._bytes: str = data["bytes"]
        # Texts may be wrongly decoded twice, and so may their entities and escapes.
        later = self._markup, self._misread, self._humps, self._contracted
        self._stages = self._misread, self._misread, *later

    def plain(self, text: str) -> PlainText | None:
        """Convert a text; None if there are no changes."""
        read, plain, glance = text, None, _glance(text)
        signs = _SIGN in glance if text.isascii() else self._compiled[self._hint].search(text)
        if not signs and self._contractions.isdisjoint(glance.split()):
            return None  # the usual case
        for stage in self._stages:
            if changes := stage(read):
                further = _changed(read, changes)
                if plain is not None:
                    starts, ends = plain.starts[further.starts], plain.ends[further.ends - 1]
                    further = PlainText(further.text, starts, ends)
                read, plain = further.text, further
        return plain

    def _misread(self, text: str) -> list[Change]:
        """Replace wrongly decoded characters by the originals."""
        if text.isascii() or not self._compiled[self._rules["misread_hint"]].search(text):
            return []
        return [
            (*match.span(match.lastindex or 0), plain)
            for match in self._compiled[self._misreadings].finditer(text)
            if (plain := self._originals[(match.lastindex or 0) - 1] or self._decoded(match[0]))
        ]

    def _decoded(self, run: str) -> str:
        """Return the character whose bytes were decoded as cp1252 or latin-1, one by one."""
        if len(run) == 1:
            return self._bytes[ord(run) - 0x80]
        codes = (0x80 + at if (at := self._bytes.find(char)) >= 0 else ord(char) for char in run)
        return bytes(codes).decode()

    def _humps(self, text: str) -> list[Change]:
        """Insert a space between the words of hashtags, at capitals, digits and `_`."""
        if "#" not in text:
            return []
        hashtags, humps = (self._compiled[self._rules[name]] for name in ("hashtag", "humps"))
        return [
            (hump.start(), hump.end(), hump[0].strip("_") + " ")
            for tag in hashtags.finditer(text)
            for hump in humps.finditer(text, tag.start(), tag.end())
        ]

    def _contracted(self, text: str) -> list[Change]:
        """Replace misspellings of `n't`, and insert the missing apostrophe of other verbs: `im`,
        `youre`, `thats`."""
        if self._contractions.isdisjoint(_glance(text).split()):
            return []
        changes, negation = list[Change](), self._compiled[self._rules["negation"]]
        for word in _WORD.finditer(text):
            first, last, small = word.start(), word.end() - 1, word[0].lower()
            if small in self._clitics:
                if match := self._compiled[self._rules["clitic"]].match(text, first):
                    group = match.lastindex or 0
                    changes.append((*match.span(group), "'" + match[group]))
            elif small in self._nots:
                for match in negation.finditer(text, max(last - _LONGEST, 0), last + _LOOKAHEAD):
                    start, end = match.span(match.lastindex or 0)
                    if start <= last < end:
                        changes.append((start, end, "N'T" if text[last] == "T" else "n't"))
        return changes

    def _markup(self, text: str) -> list[Change]:
        """Return the changes for tags, Markdown marks, entities, apostrophes and letters, in
        order."""
        if not self._compiled[self._marked].search(text):
            return []
        changes, place, closers = list[Change](), 0, dict[int, int]()
        for match in self._compiled[self._sign].finditer(text):
            start = match.start()
            if start >= place and (change := self._change(text, start, closers)):
                changes += _letters(text, place, start)
                changes.append((start, *change))
                place = change[0]
        changes += _letters(text, place, len(text))
        return changes

    def _change(self, text: str, start: int, closers: dict[int, int]) -> tuple[int, str] | None:
        """Return the end of the markup that starts with a sign, and its replacement. `closers`:
        {start: end} of the closing marks of open pairs."""
        compiled = self._compiled
        if start in closers:
            return closers[start], ""
        if text[start] not in "<&]%":
            for pair in self._rules["pairs"]:
                if match := compiled[pair["pattern"]].match(text, start):
                    inside, behind = match.span(match.lastindex or 0)
                    closers[behind] = match.end()
                    return inside, ""
        for sign, plain in self._rules["signs"]:
            if match := compiled[sign].match(text, start):
                return match.end(), plain
        if match := compiled[self._tag].match(text, start):
            tag = self._tags.get(match[match.lastindex].lower()) if match.lastindex else ""
            if tag is not None:
                return match.end(), tag
        match = compiled[self._rules["entity"]].match(text, start)
        meant = self._meant(match[1], match[0][-1] in ";>") if match else None
        return None if match is None or meant is None else (match.end(), plain_letters(meant))

    def _meant(self, name: str, closed: bool) -> str | None:
        """Return the character of an entity or an escape; None if it is unknown."""
        if name[0].isalpha():
            meant = self._entities.get(name) or self._entities.get(name.lower() if closed else "")
            # Most of these names need no semicolon in HTML. `&not` is usually the word.
            short = meant is not None and (meant <= "\xff" or meant in "\u2018\u2019")
            return meant if closed or (short and name != "not") else None
        if name[1] == "u":  # from JSON
            return str(json.loads('"\\{}"'.format(name[1:].replace("\\\\", "\\"))))
        if name in self._entities:
            return self._entities[name]
        code = int(name[2:], 16) if name[1] in "xXU" else int(name[1:])
        return chr(code) if 0 < code <= maxunicode and code not in _SURROGATES else None


def _glance(text: str) -> bytes:
    """Return the lower-case words of a text, without `n't`, separated by spaces or `_SIGN`."""
    glance = text.replace("\u2019", "'").encode("ascii", "replace").translate(_SEEN)
    return glance.replace(b"n't", b" ").replace(b"'", b" ") if b"'" in glance else glance


def _letters(text: str, start: int, end: int) -> list[Change]:
    part = text[start:end]
    changes = () if part.isascii() else rewritten(part)
    return [(start + first, start + behind, plain) for first, behind, plain in changes]


def _changed(text: str, changes: Sequence[Change]) -> PlainText:
    """Apply at least one change, in order."""
    parts, place = list[str](), 0
    for start, end, plain in changes:
        parts += text[place:start], plain
        place = end
    size = len(text)
    firsts, ends = ([*column, size] for column in list(zip(*changes, strict=True))[:2])
    # Alternating unchanged and new parts: their lengths and bounds.
    sizes = np.array([*map(len, parts), size - place, 0], np.int64)
    begins = np.stack([[0, *ends[:-1]], firsts], axis=1).ravel()
    behind = np.stack([firsts, ends], axis=1).ravel()
    starts, same = np.repeat(begins, sizes), np.repeat(np.arange(len(sizes)) % 2 == 0, sizes)
    within = np.arange(len(starts)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    starts[same] += within[same]
    places = np.where(same, starts + 1, np.repeat(behind, sizes))
    return PlainText("".join((*parts, text[place:])), starts, places)
