"""Map words to ids, by vocabularies stored as text files of one entry per line."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from thinstack.data.files.paths import FileContent, FilePath
from thinstack.data.words import ptb
from thinstack.data.words.letters import plain_letters
from thinstack.data.words.readings import reading, unstretched
from thinstack.errors import DataError

Value = TypeVar("Value")


class Cache(dict[str, Value]):
    """A cache of a function of words: `cache[word]` is `compute(word)`.

    It is cleared at `limit` words. Words of more than `longest` characters are not cached.
    """

    def __init__(self, compute: Callable[[str], Value], limit: int = 1 << 17, longest: int = 100):
        super().__init__()
        self._compute, self._limit, self._longest = compute, limit, longest

    def __missing__(self, word: str) -> Value:
        value = self._compute(word)
        if len(word) <= self._longest:
            if len(self) >= self._limit:
                self.clear()
            self[word] = value
        return value


class Vocabulary:
    """Distinct entries in the order of their ids. The text form is UTF-8, one entry per line; only
    "\\n" separates lines.

    Raises DataError for an entry that is repeated, empty or contains a line break.
    """

    entries: tuple[str, ...]

    def __init__(self, entries: Iterable[str]):
        self.entries = tuple(entries)
        self._position = dict(zip(self.entries, range(len(self.entries)), strict=True))
        distinct = len(self._position) == len(self.entries)
        sound = distinct and "" not in self._position and "\n" not in "".join(self.entries)
        for number, entry in enumerate(() if sound else self.entries):
            place = f"vocabulary entry {number}"
            if not entry or "\n" in entry:
                raise DataError(f"{place}: expected a word without line breaks, found {entry!r}")
            if self._position[entry] != number:
                raise DataError(f"{place}: {entry!r} occurs twice; keep one of them")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.entries == other.entries

    def __hash__(self) -> int:
        return hash(self.entries)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.entries,)

    @classmethod
    def load(cls, path: FilePath) -> Self:
        """Load a vocabulary from a file in the text form. Raises DataError for a file that is
        missing or in another format."""
        try:
            text = FileContent.of(path).content().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: cannot be read as a vocabulary: {error}") from None
        if not text:
            raise DataError(f"{path}: expected one vocabulary entry per line, found an empty file")
        try:
            return cls(text.removesuffix("\n").split("\n"))
        except DataError as error:
            raise DataError(f"{path}: {error}") from None

    def digest(self) -> str:
        """Return the SHA-256 of the text form, in hexadecimal."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def to_bytes(self) -> bytes:
        """Return the text form."""
        return "\n".join((*self.entries, "")).encode()

    def fields(self, words: Sequence[str]) -> dict[str, NDArray[np.int64]]:
        """Return the ids of words as the fields of a `Forest`, by the names in `WORD_FIELDS`."""
        raise NotImplementedError("a Vocabulary must define fields")

    def knows(self, word: str) -> bool:
        """Return whether all parts of a word are known."""
        raise NotImplementedError("a Vocabulary must define knows")

    def holds(self, word: str) -> bool:
        """Return whether a word is an entry, or punctuation splits it into entries."""
        return self.knows(word)


class WordVocabulary(Vocabulary):
    """V words with the ids 1 to V; id 0 is the unknown word. `len()` is V + 1, the number of rows
    of its table.

    A word is looked up unchanged, then in lower case (Teng & Zhang 2016, section 6). Then both are
    tried without Penn Treebank escapes, and with plain letters (`thinstack.data.words.letters`).
    The last resort is the first word of the reading of an emoji, an emoticon, a hashtag, a handle
    or an address, or of a word with stretched letters (`thinstack.data.words.readings`).
    """

    UNKNOWN = 0

    def __init__(self, words: Iterable[str]):
        super().__init__(words)
        self._cache = Cache(self._find)

    def __len__(self) -> int:
        return len(self.entries) + 1

    def lookup(self, word: str) -> int:
        """Return the id of a word, 0 if it is unknown."""
        return self._cache[word]

    def ids(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the ids of L words, (L,)."""
        return np.array(list(map(self._cache.__getitem__, words)), np.int64)

    def fields(self, words: Sequence[str]) -> dict[str, NDArray[np.int64]]:
        return {"token_ids": self.ids(words)}

    def knows(self, word: str) -> bool:
        return self.lookup(word) != self.UNKNOWN

    def _find(self, word: str) -> int:
        bare = ptb.plain(word)
        plain = plain_letters(bare)
        read = reading(plain)
        first = read if read == plain else next(filter(None, read.split(" ")), "")
        for form in chain.from_iterable(
            (form, form.lower())
            for form in (word, bare, plain, first, unstretched(plain.lower(), self._position))
        ):
            if form in self._position:
                return self._position[form] + 1
        return self.UNKNOWN


def mean_unknown(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the table (V + 1, X) of a `WordVocabulary`, from its `vectors` (V, X). Row 0, the
    unknown word, is their mean."""
    mean = vectors.mean(axis=0, dtype=np.float64, keepdims=True).astype(np.float32)
    return np.concatenate([mean, vectors])
