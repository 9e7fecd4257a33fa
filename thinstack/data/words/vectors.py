"""Reads tables of pretrained vectors of words or pieces."""

import lzma
import warnings
import zipfile
import zlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.data.files.paths import file_path
from thinstack.data.words.text_vectors import read_text_vectors
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import DataError, shown

BUNDLED = Path(__file__).parents[2] / "bundle" / "bundled"

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
    """The file of a recipe's vectors. The name `wordpieces` stands for those that thinstack brings
    along (`bundled/vectors.md`); any other name is a file in the folder of the data."""
    return BUNDLED / "wordpieces.npz" if name == "wordpieces" else folder / name


def bundled_pieces() -> tuple[str, ...]:
    """The pieces of `wordpieces`, which are stored as the vocabulary of the bundled model."""
    return Vocabulary.load(BUNDLED / "sst" / "vocabulary.txt").entries


def recipe_vectors(name: str, folder: Path) -> WordVectors:
    """The vectors of a recipe, read from `vectors_file`. Raises what `read_vectors` raises."""
    words = bundled_pieces() if name == "wordpieces" else None
    return read_vectors(vectors_file(name, folder), words)


def read_vectors(
    path: str | Path, words: Sequence[str] | None = None, *, only: Collection[str] | None = None
) -> WordVectors:
    """The words and vectors of a file: an `.npz`, or text of GloVe or word2vec (`word v1 v2 ...`),
    which may be compressed.

    An `.npz` has the arrays `words` (or `pieces`) and `vectors`, without pickle. Vectors may be in
    8 bits, with an array `scale` of one number, or of one for each row. If the file stores no
    words, `words` gives them. Text is as `thinstack.data.words.text_vectors.read_text_vectors`
    says: the last X fields of a line are the vector, between spaces or tabs, and a first line `V
    X` may stand before them.

    `only`: the words to keep. Of a word that occurs again the first vector is kept, and a warning
    says how many there were.

    Raises DataError, with the file and the word or line, for a file that is missing, damaged or
    without vectors. Also for lines of unequal length, values that are not finite, and a column of
    equal values.
    """
    path = file_path(path)
    try:
        if path.suffix == ".npz":
            found = _read_npz(path, words)
            if only is not None:
                places = [place for place, word in enumerate(found.words) if word in only]
                kept = tuple(found.words[place] for place in places)
                found = WordVectors(kept, found.vectors[places])
        else:
            known, vectors = read_text_vectors(path, only)
            found = WordVectors(tuple(known), vectors)
    # RuntimeError: a zip that is encrypted or compressed in an unknown way.
    except (OSError, EOFError, MemoryError, OverflowError, RuntimeError, *_ZIP_ERRORS) as error:
        raise DataError(f"{path}: cannot be read as word vectors: {error!s:.200}") from None
    found = _distinct(found, path)
    _check(found, path, only)
    return found


def standardise(vectors: NDArray[np.float32], std: float) -> NDArray[np.float32]:
    """The vectors (V, X), scaled by one factor so that the standard deviation of all their entries
    is `std`. Raises DataError if it was zero or not finite."""
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


def _distinct(found: WordVectors, path: Path) -> WordVectors:
    """The first vector of each word. Warns of the others."""
    places: dict[str, int] = {}
    for place, word in enumerate(found.words):
        places.setdefault(word, place)
    repeated = len(found.words) - len(places)
    if not repeated:
        return found
    again = next(word for place, word in enumerate(found.words) if places[word] != place)
    many = f"{repeated:,} of {len(found.words):,} vectors are of words that occur before"
    kept = "the first vector of each word is kept"
    warnings.warn(f"{path}: {many}, such as {shown(again)}; {kept}", stacklevel=3)
    return WordVectors(tuple(places), found.vectors[list(places.values())])


def _check(found: WordVectors, path: Path, only: Collection[str] | None) -> None:
    words, vectors = found.words, found.vectors
    if not vectors.size:
        what = "one word with its vector" if only is None else f"one of {len(only):,} words"
        raise DataError(f"{path}: expected at least {what}, found none")
    broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if broken.size:
        problem = f"the vector of {words[broken[0]]!r} is not finite"
        raise DataError(f"{path}: {problem}; mend it, or take the word out")
    constant = np.flatnonzero(np.ptp(vectors, axis=0) == 0)
    if constant.size and len(words) > 1:
        place = f"column {constant[0]} (of 0 to {vectors.shape[1] - 1})"
        raise DataError(f"{path}: {place} is the same for all words; remove it")
