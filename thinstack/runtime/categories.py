"""Categories that a user defines by examples, and the similarity of phrases to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from thinstack.errors import InputError, shown
from thinstack.runtime.clauses import ClauseNodes
from thinstack.runtime.scored import stored, unit
from thinstack.runtime.vectors import LOST

if TYPE_CHECKING:
    from thinstack.runtime.predictor import Predictor

THRESHOLD: Final = 0.4
"""Chosen on a fifth of the restaurant categories of SemEval-2014, by
`lab/benchmarks/categories.py`."""

_CLIMB: Final = 0.8  # share of its similarity that a phrase must keep when it is extended
_WIDEST: Final = 10  # maximum words of a compared phrase, except for the whole sentence
_EXAMPLE: Final = 'such as Category("price", ["overpriced", "pay extra", "cheap"])'


@dataclass(frozen=True)
class Category:
    """A topic that you define by examples: `Category("price", ["overpriced", "pay extra"])` also
    finds "It cost a fortune".

    Pass it to `about` and `score_frame`, alone or with terms; the model must have vectors. A
    sentence mentions a category if one of its phrases is similar enough, where the similarity is
    the mean of the phrase's and the sentence's cosine with the nearest example.

    Attributes:
        name: the name that results show.
        examples: three or more texts about the topic.
        threshold: the lowest similarity that counts as a mention.

    Raises InputError for a name or an example without a letter or digit, for a category without
    examples, and for a threshold that is not between 0 and 1.
    """

    name: str
    examples: Sequence[str]
    threshold: float = THRESHOLD

    def __post_init__(self) -> None:
        texts, category = self.examples, f"category {shown(self.name, 60)}"
        if isinstance(texts, str) or not isinstance(texts, Sequence) or not texts:
            expected = f"expected a list of examples, {_EXAMPLE}"
            raise InputError(f"{category}: {expected}, found {shown(texts)}")
        for what, text in (("a name", self.name), *(("an example", text) for text in texts)):
            if not (isinstance(text, str) and any(map(str.isalnum, text))):
                problem = f"expected {what} with a letter or digit, {_EXAMPLE}"
                raise InputError(f"{category}: {problem}; found {shown(text)}")
        if not (isinstance(self.threshold, float | int | np.floating) and 0 < self.threshold < 1):
            expected = f"expected a threshold between 0 and 1, such as {THRESHOLD}"
            raise InputError(f"{category}: {expected}, found {shown(self.threshold)}")
        object.__setattr__(self, "examples", tuple(texts))


_ENCODED = WeakKeyDictionary["Predictor", dict[tuple[str, ...], NDArray[np.float32]]]()


def nearest_phrase(nodes: ClauseNodes, category: Category) -> tuple[int, float] | None:
    """Return the phrase of a sentence most similar to a category, extended by surrounding words
    that barely change the similarity, and the similarity; None if it is below the threshold.
    Examples are encoded once per model. Raises InputError for a model without vectors, and for a
    sentence without a predictor."""
    sentence = nodes.sentence
    vectors = unit(stored(sentence.vectors))
    if sentence.predictor is None:
        raise InputError(f"{LOST}__call__(text).about(...)")
    readable = [
        node
        for node, (start, end) in enumerate(nodes.spans)
        if (end - start <= _WIDEST or nodes.parents[node] < 0) and nodes.is_shown(node)
    ]
    if not readable:
        return None
    encoded, texts = _ENCODED.setdefault(sentence.predictor, {}), tuple(category.examples)
    if texts not in encoded:
        encoded[texts] = sentence.predictor.encode(texts)
    nearest = (vectors[readable] @ encoded[texts].T).max(axis=1)
    similarity = (nearest + (vectors[-1] @ encoded[texts].T).max()) / 2
    best = int(similarity.argmax())
    value = float(similarity[best])
    if value < category.threshold:
        return None
    near = dict(zip(readable, similarity.tolist(), strict=True))
    node = around = readable[best]
    while (around := nodes.parents[around]) >= 0 and near.get(around, value) >= _CLIMB * value:
        node = around if around in near else node
    return node, value
