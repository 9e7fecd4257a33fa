"""Split words into pieces of an open vocabulary (WordPiece, as in BERT's uncased models)."""

import json
import string
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinstack.data.words import ptb
from thinstack.data.words.letters import plain_letters
from thinstack.data.words.readings import reading, unstretched
from thinstack.data.words.vocabulary import Cache, Vocabulary
from thinstack.errors import DataError

UNKNOWN = "[UNK]"
LONGEST = 100
LONGEST_WORD = 4096
_IDEOGRAPHS = [range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xF900, 0xFB00)]
_IDEOGRAPHS += [range(0x20000, 0x2A6E0), range(0x2A700, 0x2B820), range(0x2B920, 0x2CEB0)]
_IDEOGRAPHS += [range(0x2F800, 0x2FA20)]


class WordpieceVocabulary(Vocabulary):
    """P pieces in the order of their ids. One of them is `[UNK]`. A piece that continues a word
    starts with `##`.

    Treebank words are unescaped, lower-cased, stripped of control characters and accents, and
    converted to plain letters (`thinstack.data.words.letters`). Emoji, emoticons, hashtags and
    handles become their readings (`thinstack.data.words.readings`). Words are split at punctuation
    and around ideographs. Each part is split greedily into the longest pieces (Devlin et al. 2019).
    A part that cannot be split, or is longer than 100 characters, becomes `[UNK]`; so does a word
    without parts, or of more than 4,096 characters.

    Raises DataError without `[UNK]`.
    """

    def __init__(self, pieces: Iterable[str]):
        super().__init__(pieces)
        if UNKNOWN not in self._position:
            problem = f"the vocabulary of {len(self)} pieces lacks {UNKNOWN}"
            raise DataError(f"{problem}; add it, or use a WordPiece model's vocabulary")
        self._unknown = self._position[UNKNOWN]
        self._cache = Cache(self._cut)

    def __len__(self) -> int:
        return len(self.entries)

    def pieces_of(self, word: str) -> tuple[int, ...]:
        """Return the ids of a word's pieces, at least one."""
        return tuple(memoryview(self._cache[word]).cast("q"))

    def ids(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ids (P,) of the P pieces of L words, concatenated, and the number of pieces of
        each word, (L,)."""
        packed = list(map(self._cache.__getitem__, words))
        flat = np.frombuffer(bytearray().join(packed), np.int64)
        return flat, np.fromiter(map(len, packed), np.int64, len(packed)) // flat.itemsize

    def fields(self, words: Sequence[str]) -> dict[str, NDArray[np.int64]]:
        pieces, counts = self.ids(words)
        return {"piece_ids": pieces, "pieces_per_word": counts}

    def knows(self, word: str) -> bool:
        return self._unknown not in self.pieces_of(word)

    def holds(self, word: str) -> bool:
        pieces = self.pieces_of(word)
        continued = any(self.entries[piece].startswith("##") for piece in pieces)
        return self._unknown not in pieces and not continued

    def _cut(self, word: str) -> bytes:
        """Return the ids of a word's pieces, 8 bytes each, to join those of many words at once."""
        ids: Iterable[int] = ()
        if len(word) <= LONGEST_WORD:
            parts = _parts(reading(plain_letters(ptb.plain(word))))
            ids = chain.from_iterable(map(self._longest_matches, parts))
        return (array("q", ids) or array("q", [self._unknown])).tobytes()

    def _longest_matches(self, part: str) -> list[int]:
        if len(part) > LONGEST:
            return [self._unknown]
        part, pieces, start = unstretched(part, self._position), [], 0
        while start < len(part):
            prefix = "##" if start else ""
            for end in range(len(part), start, -1):
                number = self._position.get(prefix + part[start:end])
                if number is not None:
                    pieces.append(number)
                    start = end
                    break
            else:
                return [self._unknown]
        return pieces


def tokenizer_json(vocabulary: WordpieceVocabulary) -> bytes:
    """Return the content of `tokenizer.json`, for the library `tokenizers` (0.19 and later).

    It splits plain text, or words without treebank escapes such as -LRB-, like the vocabulary, with
    four differences. A word without parts has no piece here, but the unknown piece in the
    vocabulary. The vocabulary, unlike BERT, reads plain letters (`thinstack.data.words.letters`),
    the readings of emoji and hashtags, and words with stretched letters as the entries they mean
    (`thinstack.data.words.readings`). No piece is special: "[UNK]" in a text has three parts, as in
    the vocabulary.
    """
    data: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": True,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": UNKNOWN,
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": LONGEST,
            "vocab": {piece: number for number, piece in enumerate(vocabulary.entries)},
        },
    }
    return (json.dumps(data, ensure_ascii=False) + "\n").encode()


def _parts(text: str) -> list[str]:
    """Split a text like BERT's uncased basic tokenizer, into words and single punctuation marks."""
    chars = unicodedata.normalize("NFD", "".join(map(_cleaned, text)))
    plain = (char.lower() for char in chars if unicodedata.category(char) != "Mn")
    # Lower-case each character separately: the final sigma of a Greek word is not a special case.
    return "".join(map(_isolated, plain)).split()


@lru_cache(maxsize=4096)
def _cleaned(char: str) -> str:
    """Return "" for a control character, " " for white space, an ideograph between spaces."""
    category = unicodedata.category(char)
    if category[0] == "Z" or char in "\t\n\r":
        return " "
    if category in ("Cc", "Cf", "Co", "Cs") or char == "\ufffd":
        return ""
    return f" {char} " if any(ord(char) in block for block in _IDEOGRAPHS) else char


@lru_cache(maxsize=4096)
def _isolated(char: str) -> str:
    """Surround punctuation with spaces; all ASCII symbols count as punctuation."""
    mark = char in string.punctuation or unicodedata.category(char[0])[0] == "P"
    return f" {char} " if mark else char
