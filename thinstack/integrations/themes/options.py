"""What themes are to be looked for, checked."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from thinstack.errors import InputError, shown

Chosen = Literal["both", "negative", "positive"]

SIDES_OF: Final[dict[str, tuple[int, ...]]] = {"both": (-1, 1), "negative": (-1,), "positive": (1,)}


class ThemeOptions(NamedTuple):
    """What themes are to be looked for.

    Attributes:
        names: examples of each theme that a user names; None to find themes.
        ignore: words in lower case that are no topics, such as the name of the product.
        sides: -1 for complaints, 1 for praise.
        most: themes of each side that are shown, of those that are found.
        quotes: quotes of each theme.
        threshold: how similar a phrase is to a theme that is named, at least.
    """

    names: Mapping[str, Sequence[str]] | None
    ignore: frozenset[str]
    sides: tuple[int, ...]
    most: int
    quotes: int
    threshold: float


def theme_options(
    names: object, ignore: object, side: object, most: object, quotes: object, threshold: object
) -> ThemeOptions:
    """The options, checked. Raises InputError for one that is none."""
    if side not in SIDES_OF:
        raise InputError(
            f'side: expected "both", "negative" or "positive", found {shown(side, 60)}'
        )
    for name, number, least in (("most", most, 1), ("quotes", quotes, 0)):
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            expected = f"expected a whole number, at least {least}"
            raise InputError(f"{name}: {expected}, found {shown(number, 60)}")
    if not isinstance(threshold, int | float) or not 0 < threshold <= 1:
        expected = "expected a similarity above 0, at most 1"
        raise InputError(f"threshold: {expected}, found {shown(threshold, 60)}")
    words = frozenset(
        word.lower() for text in _strings("ignore", ignore, ("alexa",)) for word in text.split()
    )
    checked = None if names is None else _names(names)
    sides: Any = SIDES_OF[str(side)]
    return ThemeOptions(checked, words, sides, int(str(most)), int(str(quotes)), float(threshold))


def _names(names: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(names, Mapping) or not names:
        expected = "expected examples by name, such as {'late': ['late flight', 'delayed flight']}"
        raise InputError(f"names: {expected}, found {shown(names, 60)}")
    checked = dict[str, tuple[str, ...]]()
    for name, examples in names.items():
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"names: expected the name of a theme, found {shown(name, 60)}")
        phrases = _strings(f"names, {shown(name, 40)}", examples, ("late flight",))
        if not phrases:
            problem = f"expected examples of the theme {shown(name, 40)}, found none"
            raise InputError(f"names: {problem}: name it by phrases, such as 'late flight'")
        checked[name] = phrases
    return checked


def _strings(what: str, value: Any, such: Sequence[str]) -> tuple[str, ...]:
    """A sequence of texts. Raises InputError for another value, and for a single text."""
    if isinstance(value, str) or not isinstance(value, Sequence | frozenset | set):
        raise InputError(
            f"{what}: expected a list of texts, such as {[*such]}, found {shown(value, 60)}"
        )
    if odd := [one for one in value if not isinstance(one, str) or not one.strip()]:
        raise InputError(f"{what}: expected texts, found {shown(odd[0], 60)}")
    return tuple(value)
