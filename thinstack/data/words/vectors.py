"""Read pretrained vectors of words or pieces: numpy arrays, or the text formats of GloVe, word2vec
and fastText."""

import lzma
import re
import warnings
import zipfile
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.data.files.paths import file_path
from thinstack.data.files.reading import opened_bytes
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import DataError, shown

BUNDLED = Path(__file__).parents[2] / "bundle" / "bundled"

_ZIP_ERRORS = zipfile.BadZipFile, zlib.error, lzma.LZMAError

_SAVE = "save strings and floats with numpy.savez(path, words=WORDS, vectors=VECTORS)"

_SAMPLE = 256  # first lines that determine the number of values per line
_LONGEST = 1 << 24  # maximum bytes of a line
_MARK = "\ufeff"
_BETWEEN = re.compile("[ \t]+")
_HEADER = re.compile("([0-9]{1,9})[ \t]+([0-9]{1,9})")
_NUMBER = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf)", re.IGNORECASE
)


class WordVectors(NamedTuple):
    """Words and their vectors.

    Attributes:
        words: V distinct words, or pieces, in the order of the file.
        vectors: (V, X) float32, all finite.
    """

    words: tuple[str, ...]
    vectors: NDArray[np.float32]


def vectors_file(name: str, folder: Path) -> Path:
    """Return the file of a recipe's vectors. The name `wordpieces` means those bundled with
    thinstack (`bundled/vectors.md`); any other name is a file in the data folder."""
    return BUNDLED / "wordpieces.npz" if name == "wordpieces" else folder / name


def bundled_pieces() -> tuple[str, ...]:
    """Return the pieces of `wordpieces`, which are the vocabulary of the bundled model."""
    return Vocabulary.load(BUNDLED / "sentiment" / "vocabulary.txt").entries


def recipe_vectors(name: str, folder: Path) -> WordVectors:
    """Read the vectors of a recipe from `vectors_file`. Raises the errors of `read_vectors`."""
    words = bundled_pieces() if name == "wordpieces" else None
    return read_vectors(vectors_file(name, folder), words)


def read_vectors(path: str | Path, words: Sequence[str] | None = None) -> WordVectors:
    """Read the words and vectors of a file: an `.npz`, or text of GloVe or word2vec (`word v1 v2
    ...`), possibly compressed.

    An `.npz` contains the arrays `words` (or `pieces`) and `vectors`, without pickle. Vectors may
    be 8-bit, with an array `scale` of one number, or one per row. If the file has no words, pass
    `words`. In text, the last X fields of a line, separated by spaces or tabs, are the vector, so a
    word may contain spaces. A first line `V X` is optional.

    For repeated words, the first vector is kept, and a warning reports their number.

    Raises DataError, with the file and the word or line, for a file that is missing, damaged or
    without vectors. Also for lines of unequal length, values that are not finite, and a column of
    equal values.
    """
    path = file_path(path)
    try:
        table = _read_npz(path, words) if path.suffix == ".npz" else _read_text(path)
    # RuntimeError: an encrypted zip, or an unknown compression.
    except (OSError, EOFError, MemoryError, OverflowError, RuntimeError, *_ZIP_ERRORS) as error:
        raise DataError(f"{path}: cannot be read as word vectors: {error!s:.200}") from None
    return _checked(table, path)


def standardise(vectors: NDArray[np.float32], std: float) -> NDArray[np.float32]:
    """Scale the vectors (V, X) by one factor so that the standard deviation of all their entries is
    `std`. Raises DataError if it was zero or not finite."""
    deviation = float(vectors.std(dtype=np.float64)) if vectors.size else 0.0
    if not np.isfinite(deviation) or deviation == 0:
        problem = f"vectors with standard deviation {deviation} cannot be scaled to {std}"
        raise DataError(f"{problem}; check the file, or drop data.vector_std")
    return (vectors * (std / deviation)).astype(np.float32)


def _read_npz(path: str | Path, stored_apart: Sequence[str] | None) -> WordVectors:
    try:
        with zipfile.ZipFile(path) as archive:
            stored = {name.removesuffix(".npy") for name in archive.namelist()}
        key = next((key for key in ("words", "pieces") if key in stored), None)
        if (key is None and stored_apart is None) or "vectors" not in stored:
            expected = "the arrays 'words' (or 'pieces') and 'vectors'"
            raise DataError(f"{path}: expected {expected}, found {sorted(stored)}; {_SAVE}")
        with np.load(path, allow_pickle=False) as arrays:
            words, vectors = arrays[key] if key else np.array(stored_apart), arrays["vectors"]
            if getattr(vectors, "dtype", None) == np.int8 and "scale" in stored:
                vectors = vectors * arrays["scale"].astype(np.float32)
    except DataError:
        raise
    except ValueError as error:  # an array that requires unpickling, or a damaged header
        raise DataError(f"{path}: contains no plain arrays: {error!s:.200}; {_SAVE}") from None
    if not (isinstance(words, np.ndarray) and isinstance(vectors, np.ndarray)):
        problem = f"contains no plain arrays: expected {key}.npy and vectors.npy"
        raise DataError(f"{path}: {problem}; {_SAVE}")
    fits = vectors.ndim == 2 and vectors.dtype.kind == "f" and len(vectors) == len(words)
    flat = words.ndim == 1 and words.dtype.kind == "U"
    if not (flat and fits):
        expected = f"float vectors ({len(words)}, X)"
        if not flat:
            expected = f"{key!r} to be a flat array of strings"
        odd = vectors if flat else words
        raise DataError(f"{path}: expected {expected}, found {odd.dtype} {odd.shape}; {_SAVE}")
    # Values that overflow float32 become infinite, and `_check` rejects them.
    with np.errstate(over="ignore"):
        return WordVectors(tuple(words.tolist()), vectors.astype(np.float32, order="C"))


def _checked(table: WordVectors, path: Path) -> WordVectors:
    """Keep the first vector of each word, and warn about repeated words. Raises DataError for
    vectors that are not finite, and for a column of equal values."""
    places: dict[str, int] = {}
    for place, word in enumerate(table.words):
        places.setdefault(word, place)
    if repeated := len(table.words) - len(places):
        again = next(word for place, word in enumerate(table.words) if places[word] != place)
        many = f"{repeated:,} of {len(table.words):,} vectors repeat an earlier word"
        rule = "the first vector of each word is kept"
        warnings.warn(f"{path}: {many}, such as {shown(again)}; {rule}", stacklevel=3)
        table = WordVectors(tuple(places), table.vectors[list(places.values())])
    words, vectors = table
    if not vectors.size:
        raise DataError(f"{path}: expected at least one word with its vector, found none")
    broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if broken.size:
        problem = f"the vector of {words[broken[0]]!r} is not finite"
        raise DataError(f"{path}: {problem}; fix it, or remove the word")
    constant = np.flatnonzero(np.ptp(vectors, axis=0) == 0)
    if constant.size and len(words) > 1:
        column = f"column {constant[0]} (of 0 to {vectors.shape[1] - 1})"
        raise DataError(f"{path}: {column} is the same for all words; remove it")
    return table


def _read_text(path: Path) -> WordVectors:
    """Read the words of a text file, including repeated ones, and their vectors (N, X).

    X comes from a first line `V X`, or is the number of trailing numbers on most of the first
    lines. A word may end in whole numbers (`1 800`).
    """
    lines = _lines(path)
    head = list(islice(lines, _SAMPLE))
    header = _HEADER.fullmatch(head[0][1]) if head else None
    head = head[bool(header) :]
    ends = (reversed(_BETWEEN.split(line)[1:]) for _, line in head)  # without the first fields
    counts = Counter(len(list(takewhile(_NUMBER.fullmatch, fields))) for fields in ends)
    size = int(header[2]) if header else max(counts, key=counts.__getitem__, default=0)
    if head and size < (1 if header else 2):
        number, line = head[0]
        expected = f"expected a word and its numbers, found {line[:60]!r}"
        mend = "put spaces or tabs between them; vectors with one number need a first line 'V 1'"
        raise DataError(f"{path}:{number}: {expected}; {mend}")
    words, values = list[str](), array("f")
    for number, line in chain(head, lines):
        parts = _parts(line, size)
        if parts is None:
            expected = f"expected a word and {size} numbers"
            raise DataError(f"{path}:{number}: {expected}, found {line[:60]!r}")
        words.append(parts[0])
        values.fromlist(parts[1])
    vectors = np.frombuffer(values, np.float32).reshape(len(words), size)
    return WordVectors(tuple(words), vectors)


def _parts(line: str, size: int) -> tuple[str, list[float]] | None:
    """Return the word of a line and the `size` numbers after it; None if there are fewer, or if the
    rest is not a word, for example because it ends in a decimal number."""
    word, *fields = line.rsplit(" ", size)
    if " " in word or "\t" in line:  # rare lines, and lines with several spaces between fields
        word, *fields = _BETWEEN.sub(" ", line).rsplit(" ", size)
    if "_" in line and any("_" in field for field in fields):  # `float` accepts underscores
        return None
    try:
        numbers = list(map(float, fields))
    except ValueError:
        return None
    odd = (part for part in word.split(" ")[1:] if _NUMBER.fullmatch(part) and not part.isdigit())
    return None if len(numbers) != size or any(odd) else (word, numbers)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Iterate over the non-blank lines with their numbers, from 1."""
    with opened_bytes(path) as file:
        for number, content in enumerate(iter(partial(file.readline, _LONGEST), b""), start=1):
            if len(content) == _LONGEST and not content.endswith(b"\n"):
                raise DataError(f"{path}:{number}: expected lines of at most {_LONGEST:,} bytes")
            try:
                text = content.decode()
            except UnicodeDecodeError as error:
                odd = f"found the byte 0x{content[error.start]:02x} in {content[:60]!r}"
                mend = "write the vectors as text in UTF-8"
                expected = f"{path}:{number}: expected text in UTF-8"
                raise DataError(f"{expected}, {odd}; {mend}") from None
            # Words may contain other Unicode line separators.
            text = text.removeprefix(_MARK) if number == 1 else text
            text = text.rstrip("\r\n \t").lstrip(" \t")
            if text:
                yield number, text
