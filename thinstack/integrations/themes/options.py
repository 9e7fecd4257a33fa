"""What themes are to be looked for, checked."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from thinstack.errors import InputError, shown

Chosen = Literal["both", "negative", "positive"]

NAMED: Final = 0.45
"""The similarity of a phrase to a theme that a user names, at least."""

_SIDES: Final = {"both": (-1, 1), "negative": (-1,), "positive": (1,)}


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
    names: Any = None,
    ignore: Any = (),
    side: Any = "both",
    most: Any = 10,
    quotes: Any = 3,
    threshold: Any = NAMED,
) -> ThemeOptions:
    """The options, checked. Raises InputError for one that is none."""
    problem = None
    if side not in _SIDES:
        problem = f'side: expected "both", "negative" or "positive", found {shown(side, 60)}'
    for name, number, least in (("most", most, 1), ("quotes", quotes, 0)):
        if not isinstance(number, int) or number < least:
            expected = f"expected a whole number, at least {least}"
            problem = f"{name}: {expected}, found {shown(number, 60)}"
    if not isinstance(threshold, int | float) or not 0 < threshold <= 1:
        expected = "expected a similarity above 0, at most 1"
        problem = f"threshold: {expected}, found {shown(threshold, 60)}"
    if problem:
        raise InputError(problem)
    words = " ".join(_texts("ignore", ignore)).lower().split()
    examples = None if names is None else _examples(names)
    return ThemeOptions(examples, frozenset(words), _SIDES[side], most, quotes, threshold)


def _examples(names: Any) -> dict[str, Sequence[str]]:
    if not isinstance(names, Mapping) or not names:
        expected = "expected examples by name, such as {'late': ['late flight', 'delayed flight']}"
        raise InputError(f"names: {expected}, found {shown(names, 60)}")
    _texts("names", list(names))
    for name, examples in names.items():
        if not _texts(f"names, {shown(name, 40)}", examples):
            problem = f"expected examples of the theme {shown(name, 40)}, found none"
            raise InputError(f"names: {problem}: name it by phrases, such as 'late flight'")
    return dict(names)


def _texts(what: str, texts: Any) -> Sequence[str]:
    """A list of texts. Raises InputError for another value, and for a single text."""
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise InputError(f"{what}: expected a list of texts, found {shown(texts, 60)}")
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{what}: expected texts, found {shown(text, 60)}")
    return texts
