"""Makes trees of raw words by syntactic distance (Shen et al. 2018, "Straight to the Tree").

Each gap between two neighbouring words has a distance. A span is cut at its greatest distance. Here
a distance is a sum of weights of the words around the gap. Bundles of version 0.1.0 bring the table
of these weights along; newer models have a parser (`thinstack.plugins.parsers`).
"""

import json
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from thinstack.data.words.vocabulary import Cache
from thinstack.errors import DataError

SCHEMA_VERSION = 1
WINDOW = 3
"""Words read on either side of a gap."""

# 2**32 over the golden ratio: its multiples are spread evenly modulo 2**32.
_SCRAMBLE = 0x9E3779B9

_MEND = "the table is damaged, so get the bundle again"
_ENDINGS = "ing ed ly ness tion ity ment able ous ful ive al ic est er s y"


def transitions_of(distances: Sequence[float]) -> NDArray[np.int8]:
    """Transitions (2n-1,) of the binary tree over n words that cuts every span at its greatest
    distance. `distances`: one for each of the n - 1 gaps.

    Equal distances are ranked by a scrambled position. So words that repeat themselves make a tree
    of logarithmic depth (a treap) and not a chain.
    """
    steps = [0]
    open_gaps: list[tuple[float, int]] = []
    for position, distance in enumerate(distances, start=1):
        gap = (distance, position * _SCRAMBLE & 0xFFFFFFFF)
        while open_gaps and open_gaps[-1] < gap:
            open_gaps.pop()
            steps.append(1)
        open_gaps.append(gap)
        steps.append(0)
    steps.extend([1] * len(open_gaps))
    return np.array(steps, np.int8)


class DistanceTable:
    """Gives each gap its distance: a sum of weights, one for each of the WINDOW words on either
    side.

    Args:
        words: the words that have weights of their own, in lower case. Any other word has the
            weight of its form (`form_of`).
        weights: (2 WINDOW, F) by place, from WINDOW words before the gap to WINDOW after, and by
            feature. Feature 0 is a place beyond the sentence; `words` and `forms()` follow.

    Raises DataError for words that are not distinct and for weights of another shape.
    """

    def __init__(self, words: Sequence[str], weights: NDArray[np.floating]):
        self.words = tuple(words)
        features = (*self.words, *forms())
        if len(set(features)) < len(features):
            expected = "distinct words that are not spelt as a form (<number>), found one twice"
            raise DataError(f"distance words: expected {expected}; {_MEND}")
        self._features = {feature: number for number, feature in enumerate(features, start=1)}
        self.weights = np.asarray(weights, np.float32)
        shape = (2 * WINDOW, 1 + len(self._features))
        if self.weights.shape != shape or not np.isfinite(self.weights).all():
            expected = f"finite numbers of shape {shape}, found {self.weights.shape}"
            raise DataError(f"distance weights: expected {expected}; {_MEND}")
        self._cache = Cache(self._feature)

    def features(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Features (2 WINDOW, n - 1) of the words around each gap between n words, by place."""
        ids = np.zeros(len(words) + 2 * WINDOW, np.int64)
        ids[WINDOW : WINDOW + len(words)] = list(map(self._cache.__getitem__, words))
        gaps = max(len(words) - 1, 0)
        return np.stack([ids[place + 1 : place + 1 + gaps] for place in range(2 * WINDOW)])

    def distances(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Distances (n - 1,) of the gaps between n words."""
        weights = self.weights[np.arange(2 * WINDOW)[:, None], self.features(words)]
        return np.asarray(weights.sum(axis=0))

    def transitions(self, words: Sequence[str]) -> NDArray[np.int8]:
        """Transitions (2n-1,) of the tree over n >= 1 words."""
        return transitions_of(self.distances(words).tolist())

    @classmethod
    def from_bytes(cls, content: bytes, *, source: str) -> Self:
        """Read `distances.json`. Raises DataError, led by `source`, for any other content."""
        try:
            table: dict[str, Any] = json.loads(content)
            version = table["schema_version"], table["window"]
            if version != (SCHEMA_VERSION, WINDOW):
                raise ValueError("schema {}, window {}; upgrade thinstack".format(*version))
            return cls(list(map(str, table["words"])), np.array(table["weights"], np.float32))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            problem = f"not a table of syntactic distances: {error!s:.200}"
            raise DataError(f"{source}: {problem}") from None

    def _feature(self, word: str) -> int:
        return self._features.get(word.lower()) or self._features[form_of(word)]


def forms() -> tuple[str, ...]:
    """All forms."""
    endings = (*_ENDINGS.split(), "")
    cased = (f"<{case}{ending}>" for case in ("", "Capital ") for ending in endings)
    return "<number>", "<compound>", *cased


def form_of(word: str) -> str:
    """The form of a word: a number, a compound with a hyphen, or its ending and capital, such as
    `<Capital ing>`."""
    if word[:1].isdigit():
        return "<number>"
    if "-" in word:
        return "<compound>"
    lower = word.lower()
    ending = next(filter(lower.endswith, _ENDINGS.split()), "")
    return f"<{'Capital ' if word[:1].isupper() else ''}{ending}>"
