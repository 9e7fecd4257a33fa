"""Reads tables of pretrained vectors of words or pieces."""

import lzma
import re
import zipfile
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.data.paths import file_path
from thinstack.data.vocabulary import Vocabulary
from thinstack.errors import DataError

__all__ = [
    "WordVectors",
    "bundled_pieces",
    "read_vectors",
    "recipe_vectors",
    "standardise",
    "vectors_file",
]

BUNDLED = Path(__file__).parents[1] / "bundled"

# An array of more than `_UNQUESTIONED` bytes must not be compressed by more than `_DENSEST`:
# vectors never compress so well.
_UNQUESTIONED, _DENSEST = 1 << 28, 4

_ZIP_ERRORS = zipfile.BadZipFile, zlib.error, lzma.LZMAError

_SAVE = "save it by numpy.savez(path, words=WORDS, vectors=VECTORS), strings and floats"


class WordVectors(NamedTuple):
    """Words and their vectors.

    Attributes:
        words: V distinct words, or pieces, in the order of the file.
        vectors: (V, X) float32, all finite.
    """

    words: tuple[str, ...]
    vectors: NDArray[np.float32]


def vectors_file(name: str, folder: Path) -> Path:
    """The file of a recipe's vectors. The name `wordpieces` stands for the vectors that thinstack
    brings along (see `bundled/vectors.md`); any other name is a file in the folder of the data."""
    return BUNDLED / "wordpieces.npz" if name == "wordpieces" else folder / name


def bundled_pieces() -> tuple[str, ...]:
    """The pieces of the vectors `wordpieces`. They are stored once, as the vocabulary of the
    bundled model."""
    return Vocabulary.load(BUNDLED / "sst" / "vocabulary.txt").entries


def recipe_vectors(name: str, folder: Path) -> WordVectors:
    """The vectors of a recipe, read from `vectors_file`. Raises what `read_vectors` raises."""
    words = bundled_pieces() if name == "wordpieces" else None
    return read_vectors(vectors_file(name, folder), words)


def read_vectors(path: str | Path, words: Sequence[str] | None = None) -> WordVectors:
    """The words and vectors of a file: an `.npz`, or text of GloVe or word2vec (`word v1 v2 ...`).

    An `.npz` has the arrays `words` (or `pieces`) and `vectors`, without pickle. Vectors may be in
    8 bits, with an array `scale` of one number, or of one for each row. If the file stores no
    words, `words` gives them. In text, the last X fields of a line are the vector, so a word may
    contain spaces. A first line `V X` is skipped.

    Raises DataError, with the file and the word or line, for a file that is missing, damaged or
    without vectors. Also for a word that occurs twice, lines of unequal length, values that are not
    finite, and a column of equal values.
    """
    path = file_path(path)
    try:
        found = _read_npz(path, words) if path.suffix == ".npz" else _read_text(path)
    except UnicodeDecodeError as error:
        found_bytes = error.object[error.start : error.end]
        raise DataError(
            f"{path}: expected text in UTF-8, found {found_bytes!r}; convert the file"
        ) from None
    # RuntimeError: a zip that is encrypted or compressed in an unknown way.
    except (OSError, EOFError, MemoryError, OverflowError, RuntimeError, *_ZIP_ERRORS) as error:
        raise DataError(f"{path}: cannot be read as word vectors: {error!s:.200}") from None
    _check(found, path)
    return found


def standardise(vectors: NDArray[np.float32], std: float) -> NDArray[np.float32]:
    """The vectors (V, X), scaled by one factor so that the standard deviation of all their entries
    is `std`.

    Raises DataError if their standard deviation is zero or not finite.
    """
    own = float(vectors.std(dtype=np.float64)) if vectors.size else 0.0
    if not np.isfinite(own) or own == 0:
        raise DataError(
            f"vectors of standard deviation {own} cannot be scaled to {std}; check the file, or "
            "leave data.vector_std out"
        )
    return (vectors * (std / own)).astype(np.float32)


def _read_npz(path: str | Path, known: Sequence[str] | None) -> WordVectors:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
        stored = {member.filename.removesuffix(".npy") for member in members}
        key = next((key for key in ("words", "pieces") if key in stored), None)
        if (key is None and known is None) or "vectors" not in stored:
            expected = "the arrays 'words' (or 'pieces') and 'vectors'"
            raise DataError(f"{path}: expected {expected}, found {sorted(stored)}; {_SAVE}")
        for member in members:
            if member.file_size > max(_UNQUESTIONED, _DENSEST * member.compress_size):
                sizes = f"{member.compress_size:,} bytes to {member.file_size:,}"
                raise DataError(
                    f"{path}: {member.filename} grows from {sizes}, like a decompression bomb; if "
                    "it is none, save it uncompressed with numpy.savez"
                )
        with np.load(path, allow_pickle=False) as arrays:
            words, vectors = arrays[key] if key else np.array(known), arrays["vectors"]
            if getattr(vectors, "dtype", None) == np.int8 and "scale" in stored:
                vectors = vectors * arrays["scale"].astype(np.float32)
    except DataError:
        raise
    except ValueError as error:  # an array that would need unpickling, or a damaged header
        raise DataError(f"{path}: holds no plain arrays: {error!s:.200}; {_SAVE}") from None
    if not (isinstance(words, np.ndarray) and isinstance(vectors, np.ndarray)):
        problem = f"holds no plain arrays: expected {key}.npy and vectors.npy"
        raise DataError(f"{path}: {problem}; {_SAVE}")
    if words.ndim != 1 or words.dtype.kind != "U":
        found = f"{words.dtype} {words.shape}"
        raise DataError(f"{path}: {key!r} must be a flat array of strings, found {found}; {_SAVE}")
    if vectors.ndim != 2 or vectors.dtype.kind != "f" or len(vectors) != len(words):
        found = f"{vectors.dtype} {vectors.shape}"
        expected = f"float vectors ({len(words)}, X)"
        raise DataError(f"{path}: expected {expected}, found {found}; {_SAVE}")
    # What does not fit float32 becomes infinite, and `_check` refuses it.
    with np.errstate(over="ignore"):
        return WordVectors(tuple(words.tolist()), vectors.astype(np.float32, order="C"))


def _read_text(path: str | Path) -> WordVectors:
    words: list[str] = []
    values = array("f")
    size = 0
    for number, line in _lines(path):
        size = size or _trailing_numbers(line)
        word, *fields = line.rsplit(" ", size)
        try:
            values.extend(map(float, fields))
        except ValueError:
            fields = []
        if len(fields) != size or not size or not word or (" " in word and _trailing_numbers(word)):
            expected = f"a word and {size or 'its'} numbers"
            raise DataError(f"{path}:{number}: expected {expected}, found {line[:60]!r}")
        words.append(word)
    return WordVectors(tuple(words), np.array(values, np.float32).reshape(len(words), size))


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """The lines that hold a vector, with their numbers (1-based)."""
    # Words may hold any other separator of Unicode.
    with open(path, encoding="utf-8-sig", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            line = line.rstrip("\r\n ")
            header = number == 1 and re.fullmatch(r"\d+ \d+", line)
            if line and not header:
                yield number, line


def _trailing_numbers(line: str) -> int:
    """How many of the last fields, the first excepted, are numbers."""
    count = 0
    for field in reversed(line.split(" ")[1:]):
        try:
            float(field)
        except ValueError:
            break
        count += 1
    return count


def _check(found: WordVectors, path: str | Path) -> None:
    words, vectors = found.words, found.vectors
    if not vectors.size:
        raise DataError(f"{path}: expected at least one word with its vector, found none")
    if len(set(words)) < len(words):
        word = next(word for word, count in Counter(words).items() if count > 1)
        raise DataError(f"{path}: the word {word!r} occurs twice; keep one of its vectors")
    broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if broken.size:
        raise DataError(
            f"{path}: the vector of {words[broken[0]]!r} is not finite; mend it, or take the word "
            "out"
        )
    constant = np.flatnonzero(np.ptp(vectors, axis=0) == 0)
    if constant.size and len(words) > 1:
        place = f"column {constant[0]} (of 0 to {vectors.shape[1] - 1})"
        raise DataError(f"{path}: {place} is the same for all words; remove it")
