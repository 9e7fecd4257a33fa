"""The cases that a trained model was measured on, one by one, with what their accuracy is drawn
against."""

import io
import zipfile
import zlib
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from reproduce.target_sizes import TargetSizes
from thinstack.data.files.writing import write_atomically
from thinstack.errors import DataError
from thinstack.evaluate.figures import Figures, percentage
from thinstack.training.loop.measuring import Answers

NEGATIONS: Final = frozenset(
    "cannot n't neither never no nobody none nor not nothing nowhere without".split()  # noqa: SIM905
)
"""Words, in lower case, that negate."""

NOT: Final = frozenset({"not", "n't"})
"""Those that Bowman et al. (2016, 4.4) look for."""

KEPT_LATER: Final = ("likelihood", "confidence")
"""Arrays that cases of older runs do not have."""

UNREADABLE = (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """K labelled nodes or pairs of sentences, as `Answers` has them; every array is (K,).

    `words`, `depth`: as in `TargetSizes`. `negated`: whether the sentence holds a negation; of a
    pair, whether the second sentence does and the first does not. `likelihood`, `confidence`: NaN
    too where a run is of a time when they were not kept. Raises DataError for arrays that are not
    flat or not of one length.
    """

    gold: NDArray[Any]
    predicted: NDArray[Any]
    words: NDArray[Any]
    depth: NDArray[Any]
    whole: NDArray[np.bool_]
    negated: NDArray[np.bool_]
    likelihood: NDArray[Any]
    confidence: NDArray[Any]

    def __post_init__(self) -> None:
        shapes = {field.name: getattr(self, field.name).shape for field in fields(self)}
        if len(set(shapes.values())) != 1 or self.gold.ndim != 1:
            raise DataError(f"cases are flat arrays of one length, found {shapes}")

    def __len__(self) -> int:
        return len(self.gold)

    @classmethod
    def of(cls, answers: Answers, sizes: TargetSizes, negated: NDArray[np.bool_]) -> Self:
        """Of E examples, with `negated` (E,)."""
        found = answers._asdict()
        rows, unknown = found.pop("scores"), np.full(len(answers.gold), np.nan)
        ratings = answers.gold.dtype.kind == "f"
        return cls(
            negated=negated[found.pop("example")],
            likelihood=unknown if ratings else rows[np.arange(len(rows)), answers.gold],
            confidence=unknown if ratings else rows.max(1),
            **sizes._asdict(),
            **found,
        )

    def only(self, places: NDArray[Any]) -> Self:
        """The cases at these places: numbers, or a mask (K,)."""
        return type(self)(*(getattr(self, field.name)[places] for field in fields(self)))

    def figures_at(self, name: str, count: str, places: NDArray[np.bool_]) -> Figures:
        """The accuracy `name` of the cases at these places (K,), in percent (None of no case), and
        the number of cases as `count`."""
        return {name: percentage((self.gold == self.predicted)[places]), count: int(places.sum())}

    def save(self, path: Path) -> None:
        """Write a compressed `.npz` file, or leave the old one."""
        file = io.BytesIO()
        np.savez_compressed(file, **asdict(self))
        write_atomically(path, file.getvalue())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote, without pickle. Raises DataError for a file that is missing,
        damaged or holds no cases."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                unknown = np.full(arrays["gold"].shape, np.nan)
                found = {name: unknown for name in KEPT_LATER if name not in arrays}
                names = [field.name for field in fields(cls) if field.name not in found]
                return cls(**found, **{name: arrays[name] for name in names})
        except UNREADABLE as error:
            raise DataError(
                f"{path}: cannot be read as cases ({error}); delete it to make it anew"
            ) from None


def negated(words: Iterable[str], negations: Collection[str] = NEGATIONS) -> bool:
    """Whether a word is one of `negations`, in any case, or ends with "n't" (untokenised text)."""
    lower = [word.lower().replace("’", "'") for word in words]
    return any(word in negations or word.endswith("n't") for word in lower)
