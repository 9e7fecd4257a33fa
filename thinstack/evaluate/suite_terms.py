"""The terms of a text of a suite, as a cell of its table has them."""

import re
from typing import Final, NamedTuple

from thinstack.errors import DataError

NO_TERMS: Final = "-"
"""The cell of a text without terms."""
_EXAMPLE: Final = "'4-11 positive; 20-28 negative'"
_TERM: Final = re.compile(r"(\d{1,6})-(\d{1,6}) (negative|neutral|positive)", re.ASCII)


class CaseTerm(NamedTuple):
    """A term of a text: the characters [start, end), and the polarity of what is said of it."""

    start: int
    end: int
    polarity: str


def terms_of(cell: str, text: str, place: str) -> tuple[CaseTerm, ...]:
    """The terms in a cell such as "4-11 positive; 20-28 negative", in the order of the text; "-"
    has none.

    Raises DataError, whose message starts with `place`, for another cell. Also for characters that
    the text does not have, terms that are not whole words, and terms out of order or inside one
    another.
    """
    found = list[CaseTerm]()
    for part in () if cell == NO_TERMS else cell.split(";"):
        match = _TERM.fullmatch(part.strip())
        if match is None:
            expected = f"expected terms such as {_EXAMPLE}, or '{NO_TERMS}' for none"
            raise DataError(f"{place}: {expected}, in the column 'terms', found {part!r:.60}")
        term = CaseTerm(int(match[1]), int(match[2]), match[3])
        if problem := _problem(term, text, found[-1].end if found else 0):
            raise DataError(f"{place}: expected {problem} in the column 'terms', found {match[0]}")
        found.append(term)
    return tuple(found)


def _problem(term: CaseTerm, text: str, last: int) -> str | None:
    """What is expected of a term that does not fit behind the character `last`; None if it fits."""
    start, end, _ = term
    if not start < end <= len(text):
        return f"characters of a text of {len(text)}"
    if start < last:
        return "terms in the order of the text, none inside another,"
    cuts = any(text[max(at - 1, 0) : at + 1].isalnum() for at in (start, end) if 0 < at < len(text))
    if cuts or text[start:end] != text[start:end].strip():
        return "whole words"
    return None
