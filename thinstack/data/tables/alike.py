"""Names that look the same to a person but differ for a program."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.ASCII)
_SIGNS: Final = str.maketrans("‐‑‒–—−‘’‛“”", "------'''\"\"")
_NO_WIDTH = re.compile(  # hyphens, joiners, direction marks, variation selectors, tags
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def likeness(text: str) -> str:
    """Return a normal form, equal for texts that look the same to a person: one case, single
    spaces, one Unicode form, one hyphen, one quotation mark, no zero-width characters."""
    if not text.isascii():
        seen = _NO_WIDTH.sub("", unicodedata.normalize("NFKC", text)).translate(_SIGNS)
        text = unicodedata.normalize("NFKC", seen.casefold())
    return " ".join(text.casefold().split())


def alike(names: Iterable[str]) -> list[list[str]]:
    """Group names that have the same `likeness` or are the same number."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[meaning(name)].append(name)
    return list(groups.values())


def difference(names: Sequence[str]) -> tuple[list[str], str]:
    """Return the names of a group from `alike`, written visibly different, and the difference."""
    if len({" ".join(name.casefold().split()) for name in names}) == 1:
        return [repr(name) for name in names], "differ only in case or spaces"
    if _NUMBER.fullmatch(likeness(names[0])):
        return [ascii(name) for name in names], "are the same number, written differently"
    return [ascii(name) for name in names], "look the same but use different characters"


def unknown_label(label: str, labels: Sequence[str]) -> str:
    """Describe a label that is not one of `labels`, with the label that it resembles, if any."""
    for name in labels:
        if meaning(name) == meaning(label):
            (written, like), how = difference([label, name])
            return f"found {written} instead of {like}: they {how}; write both the same way"
    return f"found {label!r:.60}"


def meaning(name: str) -> str:
    """Return the `likeness` of a name; for a number, the same in all notations."""
    text = likeness(name)
    return str(Decimal(text).normalize() + 0) if _NUMBER.fullmatch(text) else text
