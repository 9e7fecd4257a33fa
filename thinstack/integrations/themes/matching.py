"""The options of themes; assigns texts to themes, each with the phrase that matches best."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.errors import InputError, shown
from thinstack.integrations.themes.centres import Floats, without
from thinstack.integrations.themes.clauses import LEAST, SAYS, WIDEST, Ints, TextNodes
from thinstack.runtime.predictor import Predictor
from thinstack.text.language import is_word

Chosen = Literal["both", "negative", "positive"]

MOST: Final = 10
"""Default maximum number of themes per side."""
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
    most: Any = None,
    quotes: Any = 3,
    threshold: Any = None,
) -> ThemeOptions:
    """Validate the options. Raises InputError for an invalid one, and for `most` with `names` or
    `threshold` without them."""
    if threshold is not None and names is None:
        raise InputError("threshold works only with themes that you define: add names (--name)")
    if most is not None and names is not None:
        raise InputError("most works only without names (--name): remove one of them")
    most, threshold = MOST if most is None else most, NAMED if threshold is None else threshold
    _need('"both", "negative" or "positive"', "side", side, fits=side in [*_SIDES])
    for name, number, least in (("most", most, 1), ("quotes", quotes, 0)):
        fits = isinstance(number, int | np.integer) and bool(number >= least)
        _need(f"a whole number, at least {least}", name, number, fits=fits)
    fits = isinstance(threshold, int | float | np.floating) and bool(0 < threshold <= 1)
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
                raise InputError(f"names: {problem}: add phrases, such as 'late flight'")
    words = " ".join(ignore).lower().replace(",", " ").split()
    return ThemeOptions(
        names, frozenset(words), _SIDES[side], int(most), int(quotes), float(threshold)
    )


def _need(expected: str, name: str, value: Any, *, fits: bool) -> None:
    if not fits:
        raise InputError(f"{name}: expected {expected}, found {shown(value, 60)}")


def _need_texts(name: str, texts: Any) -> None:
    """Raise InputError unless `texts` is a list of texts; a single text is not."""
    fits = isinstance(texts, Sequence) and not isinstance(texts, str)
    _need("a list of texts", name, texts, fits=fits)
    for text in texts:
        _need("texts", name, text, fits=isinstance(text, str) and bool(text.strip()))


_FOUND: Final = 0.5  # minimum cosine of a phrase with the centroid of a theme
_NEUTRAL: Final = 0.65  # the same for a neutral phrase
_NARROWEST: Final = 2  # minimum words of a phrase that is compared with found themes
_BLOCK: Final = 1 << 12

MATCH: Final = np.dtype(
    {
        "names": ["row", "theme", "node", "similarity", "whole", "start", "end"],
        "formats": ["i8", "i4", "i4", "f4", "f4", "i4", "i4"],
    }
)
"""A match: a text of a row, a theme, the phrase that is most similar to the theme, the similarity
of its whole sentence, and the characters [start, end) of the phrase."""

Matches = NDArray[np.void]
"""(M,) matches, in the order of the rows, those of a row best first."""


@dataclass(frozen=True)
class FoundThemes:
    """K themes that were found.

    Attributes:
        sides: -1 or 1 for each theme.
        examples: phrases of each theme.
        centres: (K, D) centroids, sorted by side.
        directions: by side, the directions (k, D) projected out of vectors.
    """

    sides: Sequence[int]
    examples: Sequence[Sequence[str]]
    centres: Floats
    directions: Mapping[int, Floats]

    def match(self, nodes: TextNodes) -> Matches:
        """Match texts with themes. A phrase matches the nearest theme of its side (`sides_of`), if
        it is near; a neutral sentence must be nearer still."""
        sides = sides_of(nodes)
        parts, side_of = list[Matches](), np.array(self.sides)
        for side, directions in self.directions.items():
            (themes,) = np.nonzero(side_of == side)
            (some,) = np.nonzero(sides == side)
            for start in range(0, len(some) if len(themes) else 0, _BLOCK):
                block = some[start : start + _BLOCK]
                cosines = without(nodes.vectors(block), directions) @ self.centres[themes].T
                best, nearest = cosines.max(axis=1), themes[cosines.argmax(axis=1)]
                near = best >= np.where(nodes.sides[block] == side, _FOUND, _NEUTRAL)
                block, nearest = block[near], nearest[near]
                wholes = without(nodes.vectors(nodes.roots[block]), directions)
                whole = np.sum(wholes * self.centres[nearest], axis=1)
                parts.append(_matches(nodes, block, nearest, best[near], whole))
        return _best(parts)


def sides_of(nodes: TextNodes) -> Ints:
    """(N,) the side of the themes that each phrase may match; 0 for none.

    It is the side of the clause around the phrase, if the phrase has a topic and the same side. For
    a neutral sentence it is the sign of its polarity.
    """
    fits = (nodes.widths >= _NARROWEST) & (nodes.widths <= WIDEST) & (nodes.topics > 0)
    neutral = (nodes.sides == 0) & (nodes.parents < 0)
    fits &= neutral | (nodes.polarity * nodes.sides >= SAYS)
    return np.where(fits, np.sign(nodes.polarity), 0).astype(np.int64)


def ignored_directions(model: Predictor, words: Collection[str]) -> Floats:
    """Return the directions (k, D) to project out: the vectors of words that are not topics."""
    vectors = [model(word).vector for word in sorted(words)]
    rows = [vector for vector in vectors if vector is not None]
    return np.stack(rows) if rows else np.zeros((0, model.width), np.float32)


class NamedThemes:
    """Themes that a user defines by examples. `sides` and `examples` are those of `FoundThemes`; a
    side of 0 means either.

    The similarity of a phrase to a theme is the mean of two cosines, each with the nearest example:
    that of the phrase, and that of its sentence. If all examples of a theme are on one side,
    phrases of the other side do not match. `options`: the names; if only one side is requested,
    only phrases of that side count.

    Raises InputError for names without examples, and for examples without words.
    """

    def __init__(self, model: Predictor, options: ThemeOptions):
        names = options.names or {}
        self.examples: Sequence[Sequence[str]] = [*map(list, names.values())]
        self._options = options
        self._ignored = ignored_directions(model, options.ignore)
        polarity, vectors = list[float](), list[NDArray[np.float32]]()
        for example in (one for examples in self.examples for one in examples):
            result = model(example)
            if result.vector is None or not is_word(example):
                raise InputError(f"names: expected words, found the example {shown(example)}")
            polarity.append(result.polarity or 0.0)
            vectors.append(result.vector)
        self._vectors = without(np.stack(vectors), self._ignored)
        self._first = np.cumsum([0, *map(len, self.examples[:-1])])
        said = np.sign(polarity) * (np.abs(polarity) >= LEAST)
        low, high = (end.reduceat(said, self._first) for end in (np.minimum, np.maximum))
        self.sides = np.where(low == high, low, 0).astype(int).tolist()

    def match(self, nodes: TextNodes) -> Matches:
        """Match texts with themes."""
        fits = (nodes.widths <= WIDEST) | (nodes.parents < 0)
        if len(self._options.sides) == 1:
            fits &= nodes.sides == self._options.sides[0]
        (some,), sides, parts = np.nonzero(fits), np.array(self.sides), list[Matches]()
        for start in range(0, len(some), _BLOCK):
            block = some[start : start + _BLOCK]
            roots, sentence = np.unique(nodes.roots[block], return_inverse=True)
            wholes = self._cosines(nodes, roots)[sentence]
            scores = (self._cosines(nodes, block) + wholes) / 2
            scores[(sides != 0) & (nodes.sides[block, None] == -sides)] = -1
            at = near, themes = np.nonzero(scores >= self._options.threshold)
            parts.append(_matches(nodes, block[near], themes, scores[at], wholes[at]))
        return _best(parts)

    def _cosines(self, nodes: TextNodes, some: Ints) -> Floats:
        """Return the cosines (n, K) with the nearest example of each theme."""
        cosines = without(nodes.vectors(some), self._ignored) @ self._vectors.T
        nearest: Floats = np.maximum.reduceat(cosines, self._first, axis=1)
        return nearest


Matcher = FoundThemes | NamedThemes


def _matches(
    nodes: TextNodes,
    some: Ints,
    themes: Ints,
    similarity: NDArray[np.floating],
    whole: NDArray[np.floating],
) -> Matches:
    matches = np.zeros(len(some), MATCH)
    matches["row"], matches["theme"], matches["node"] = nodes.texts[some], themes, some
    matches["similarity"], matches["whole"] = similarity, whole
    matches["start"], matches["end"] = nodes.characters(some).T
    return matches


def _best(parts: Sequence[Matches]) -> Matches:
    """Select the best phrase per theme and text; of equals the widest, which comes last."""
    matches = np.concatenate([np.zeros(0, MATCH), *parts])
    order = -matches["node"], -matches["similarity"], matches["theme"], matches["row"]
    matches = matches[np.lexsort(order)]
    first = np.ones(len(matches), np.bool_)
    first[1:] = np.diff(matches["row"]).astype(bool) | np.diff(matches["theme"]).astype(bool)
    matches = matches[first]
    return matches[np.lexsort((matches["theme"], -matches["similarity"], matches["row"]))]
