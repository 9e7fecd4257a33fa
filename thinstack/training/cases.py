"""The cases that a trained model was measured on, one by one, with what their accuracy is drawn
against."""

import os
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.tree import depths
from thinstack.errors import DataError

__all__ = ["NEGATIONS", "Cases", "depths_below", "negated"]

NEGATIONS: Final = frozenset(
    (
        "cannot",
        "n't",
        "neither",
        "never",
        "no",
        "nobody",
        "none",
        "nor",
        "not",
        "nothing",
        "nowhere",
        "without",
    )
)
"""Words, in lower case, that negate. Bowman et al. (2016, 4.4) look for "not" and "n't" only."""


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """K labelled nodes, sentences or pairs of sentences; every array is (K,).

    Attributes:
        gold, predicted: class (int64) or rating (float).
        words: words of the phrase; of a pair the mean of both sentences.
        depth: edges from the node to the deepest leaf below it, in the data's own tree; of a pair
            the mean.
        whole: whether it is a whole sentence or pair.
        negated: whether its sentence holds a negation; of a pair, whether the second sentence does
            and the first does not.

    Raises DataError for arrays that are not flat or not of one length.
    """

    gold: NDArray[Any]
    predicted: NDArray[Any]
    words: NDArray[Any]
    depth: NDArray[Any]
    whole: NDArray[np.bool_]
    negated: NDArray[np.bool_]

    def __post_init__(self) -> None:
        shapes = {field.name: getattr(self, field.name).shape for field in fields(self)}
        if len(set(shapes.values())) != 1 or self.gold.ndim != 1:
            raise DataError(f"cases are flat arrays of one length, found {shapes}")

    def __len__(self) -> int:
        return len(self.gold)

    def save(self, path: Path) -> None:
        """Write a compressed `.npz` file, or leave the old one."""
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(path.name + ".partial")
        with temporary.open("wb") as file:
            np.savez_compressed(
                file,
                gold=self.gold,
                predicted=self.predicted,
                words=self.words,
                depth=self.depth,
                whole=self.whole,
                negated=self.negated,
            )
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote, without pickle. Raises DataError for a file that is missing,
        damaged or holds no cases."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return cls(**{field.name: arrays[field.name] for field in fields(cls)})
        except (
            OSError,
            EOFError,
            KeyError,
            TypeError,
            ValueError,
            zipfile.BadZipFile,
            zlib.error,
        ) as error:
            raise DataError(
                f"{path}: cannot be read as cases ({error}); delete it to make it anew"
            ) from None


def depths_below(tree: Tree) -> NDArray[np.int64]:
    """Edges from each node to the deepest leaf below it, (N,): the depth of Zhu et al. 2015, Fig.
    4; a leaf's is 0."""
    parents = tree.parents.tolist()
    below = [0] * len(parents)
    for node in np.argsort(-depths(tree.parents), kind="stable").tolist():  # children first
        parent = parents[node]
        if parent >= 0:
            below[parent] = max(below[parent], below[node] + 1)
    return np.array(below, np.int64)


def negated(words: Iterable[str]) -> bool:
    """Whether one of the words, in any case, is among `NEGATIONS` or ends with "n't", as words of
    untokenised text do."""
    return any(
        word in NEGATIONS or word.endswith("n't")
        for word in (word.lower().replace("’", "'") for word in words)
    )
