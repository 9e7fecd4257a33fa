"""The options of themes, and their validation."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from thinstack.errors import InputError, shown

Chosen = Literal["both", "negative", "positive"]

NAMED: Final = 0.45
"""Default minimum similarity of a phrase to a theme that a user names."""

_SIDES: Final = {"both": (-1, 1), "negative": (-1,), "positive": (1,)}


class ThemeOptions(NamedTuple):
    """The options of themes.

    Attributes:
        names: examples of each theme that a user names; None to find themes.
        ignore: lower-case words that are not topics, such as the name of the product.
        sides: -1 for complaints, 1 for praise.
        most: maximum number of found themes to show per side.
        quotes: number of quotes per theme.
        threshold: minimum similarity of a phrase to a named theme.
    """

    names: Mapping[str, Sequence[str]] | None
    ignore: frozenset[str]
    sides: tuple[int, ...]
    most: int
    quotes: int
    threshold: float


def theme_options(
    names: Any = None,
    ignore: Any = (),
    side: Any = "both",
    most: Any = 10,
    quotes: Any = 3,
    threshold: Any = NAMED,
) -> ThemeOptions:
    """Validate the options. Raises InputError for an invalid one."""
    _need('"both", "negative" or "positive"', "side", side, fits=side in _SIDES)
    for name, number, least in (("most", most, 1), ("quotes", quotes, 0)):
        fits = isinstance(number, int) and number >= least
        _need(f"a whole number, at least {least}", name, number, fits=fits)
    fits = isinstance(threshold, int | float) and 0 < threshold <= 1
    _need("a similarity above 0, at most 1", "threshold", threshold, fits=fits)
    _need_texts("ignore", ignore)
    if names is not None:
        expected = "examples by name, such as {'late': ['late flight', 'delayed flight']}"
        _need(expected, "names", names, fits=isinstance(names, Mapping) and bool(names))
        _need_texts("names", [*names])
        for name, examples in names.items():
            _need_texts(f"names, {shown(name, 40)}", examples)
            if not examples:
                problem = f"expected examples of the theme {shown(name, 40)}, found none"
                raise InputError(f"names: {problem}: name it by phrases, such as 'late flight'")
    words = " ".join(ignore).lower().split()
    return ThemeOptions(names, frozenset(words), _SIDES[side], most, quotes, threshold)


def _need(expected: str, name: str, value: Any, *, fits: bool) -> None:
    if not fits:
        raise InputError(f"{name}: expected {expected}, found {shown(value, 60)}")


def _need_texts(name: str, texts: Any) -> None:
    """Raise InputError unless `texts` is a list of texts; a single text is not."""
    fits = isinstance(texts, Sequence) and not isinstance(texts, str)
    _need("a list of texts", name, texts, fits=fits)
    for text in texts:
        _need("texts", name, text, fits=isinstance(text, str) and bool(text.strip()))
