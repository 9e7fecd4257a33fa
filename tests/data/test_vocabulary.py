"""Vocabularies of words and of word pieces, and treebank escapes."""

import hashlib
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from library_pieces import library_pieces
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from thinstack.data.trees.treebank import read_trees
from thinstack.data.words import ptb
from thinstack.data.words.vectors import read_vectors
from thinstack.data.words.vocabulary import Cache, WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import DataError


def test_lookup_tries_exact_then_lower_case_then_without_escapes():
    vocabulary = WordVocabulary(["film", "Film", "mary", "(", "-lrb-", "and/or", '"', "``", "n/a"])
    number = {word: i for i, word in enumerate(vocabulary.entries, start=1)}
    expected = {"Film": "Film", "FILM": "film", "Mary": "mary", "-LRB-": "-lrb-", "(": "("}
    expected |= {r"and\/or": "and/or", r"N\/A": "n/a", "``": "``", "''": '"'}
    assert {word: vocabulary.lookup(word) for word in expected} == {
        word: number[entry] for word, entry in expected.items()
    }
    assert vocabulary.lookup("acting") == WordVocabulary.UNKNOWN == 0
    assert vocabulary.lookup("") == 0
    assert len(vocabulary) == 10


def test_lookup_tries_plain_letters_last():
    vocabulary = WordVocabulary(["film", "ﬁlm", "café", "fine"])
    forms = ["ﬁlm", "ﬁne", "FI\u200bLM", "Cafe\u0301", "ｆｉｎｅ", "ﬁ"]
    assert [vocabulary.lookup(form) for form in forms] == [2, 4, 1, 3, 4, 0]


def test_ids_are_the_lookups_also_once_seen():
    vocabulary = WordVocabulary(["a", "b"])
    for _ in range(2):
        assert vocabulary.ids(["B", "x" * 500, "a", "b"]).tolist() == [2, 0, 1, 2]
    assert vocabulary.ids([]).shape == (0,)
    assert vocabulary.ids([]).dtype == np.int64


def test_the_cache_is_bounded_and_keeps_no_long_words():
    calls = []
    cache = Cache(lambda word: calls.append(word) or len(word), limit=3)
    words = ["a", "bb", "a", "c", "d", "e", "x" * 200, "x" * 200]
    assert [cache[word] for word in words] == list(map(len, words))
    assert calls == ["a", "bb", "c", "d", "e", "x" * 200, "x" * 200]
    assert set(cache) == {"d", "e"}


def test_text_round_trip_keeps_odd_separators_and_the_digest_is_the_file_s(tmp_path):
    vocabulary = WordVocabulary(["2\u00a01/2", "a\u2028b", "c\x85d", "e\rf", "g\x0bh", " ", "é"])
    (tmp_path / "words.txt").write_bytes(vocabulary.to_bytes())
    again = WordVocabulary.load(tmp_path / "words.txt")
    assert again == vocabulary
    assert again.entries == vocabulary.entries
    assert vocabulary.digest() == hashlib.sha256((tmp_path / "words.txt").read_bytes()).hexdigest()
    assert WordVocabulary(vocabulary.entries[::-1]).digest() != vocabulary.digest()
    assert pickle.loads(pickle.dumps(vocabulary)).ids(["é", "x"]).tolist() == [7, 0]


@pytest.mark.parametrize("words", [["a", "b\nc"], ["a", ""], ["a", "b", "a"]])
def test_entries_without_a_line_of_their_own_are_refused(words):
    with pytest.raises(DataError, match="vocabulary entry"):
        WordVocabulary(words)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty file"),
        (b"a\n\nb\n", "entry 1"),
        (b"a\na\n", "occurs twice"),
        (b"\xff\n", "cannot be read"),
    ],
)
def test_broken_files_are_refused_by_name(tmp_path, data, message):
    path = tmp_path / "words.txt"
    path.write_bytes(data)
    with pytest.raises(DataError, match=message) as caught:
        WordVocabulary.load(path)
    assert str(path) in str(caught.value)


# -- escapes


BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
OTHERS = {"-lrb-": "(", "-rcb-": "}", r"and\/or": "and/or", r"\*\*\*": "***", ":-RRB-": ":)"}
OTHERS |= {word: word for word in ("well-made", "``", "")}


@pytest.mark.parametrize(("word", "text"), (BRACKETS | OTHERS).items())
def test_unescape(word, text):
    assert ptb.unescape(word) == text


def test_plain_turns_treebank_quotes_into_double_quotes():
    words = {"``": '"', "''": '"', "'": "'", "`": "`", "-LRB-": "(", "it": "it"}
    assert [ptb.plain(word) for word in words] == list(words.values())


@given(st.text(alphabet="ab.:'()[]{}/*"))
def test_escape_is_undone_and_leaves_nothing_that_brackets_would_misread(text):
    escaped = ptb.escape(text)
    assert ptb.unescape(escaped) == text
    assert not set(escaped) & set("()[]{}")


# -- word pieces, against the `tokenizers` library


WRITTEN = """[PAD] [UNK] act ##ing ##ed a ##a b ##b ##c c e ##e i ##i ##s s ab abc ##bc
( ) - / ' " ` $ 1 ##1 12 中 ß ##ß σ ##σ ... . ##ба б"""
PIECES = tuple(WRITTEN.split())
# Characters whose class has been the same in all versions of Unicode that matter.
TEXT = st.text(
    alphabet=(
        "abceisABCÉéİßΣςσ12$()-/'\"`. "
        "\t\n\u00a0\u2028\u200b\x00\x07\x7f\ufffd中日\u0301\u0323«»–—…🦷бБ가"
    )
)


def reference(pieces):
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(
        models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100)
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


VOCABULARY, REFERENCE = WordpieceVocabulary(PIECES), reference(PIECES)


@given(TEXT | st.text(alphabet="abc", min_size=98, max_size=103))
def test_parity_on_any_text_and_around_the_longest_word(word):
    expected = library_pieces(REFERENCE, PIECES, ptb.plain(word))
    assert VOCABULARY.pieces_of(word) == (expected or (1,))


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        *(("Acting", "act ##ing"), ("ÀB", "ab"), ("ΣΣ", "σ ##σ"), ("act-z", "act - [UNK]")),
        *(("-LRB-", "("), (r"a\/b", "a / b"), ("``", '"')),
        *((word, "[UNK]") for word in ("actz", "\u200b", "", "a" * 101)),
    ],
)
def test_known_words(word, pieces):
    assert [PIECES[number] for number in VOCABULARY.pieces_of(word)] == pieces.split()


@pytest.mark.parametrize(
    ("word", "plain"), [("ａct", "act"), ("𝐚𝐛", "ab"), ("Ⓐ", "a"), ("ﬀ", "ff"), ("a\u200bb", "ab")]
)
def test_unusual_letters_are_plain_ones(word, plain):
    assert VOCABULARY.pieces_of(word) == VOCABULARY.pieces_of(plain)


def test_a_word_without_end_is_unknown():
    assert len(VOCABULARY.pieces_of("a-" * 2048)) == 4096
    assert VOCABULARY.pieces_of("a-" * 2049) == (1,)


# The first and last of each block of ideographs.
ENDS = (0x3400, 0x4DBF, 0x4E00, 0x9FFF, 0xF900, 0xFAFF, 0x20000, 0x2A6DF, 0x2A700, 0x2B81F)
ENDS += (0x2B920, 0x2CEAF, 0x2F800, 0x2FA1F)


@pytest.mark.parametrize("end", ENDS, ids=hex)
def test_ideographs_are_the_reference_s(end):
    for char in map(chr, (end - 1, end, end + 1)):
        assert VOCABULARY.pieces_of(f"a{char}b") == tuple(REFERENCE.encode(f"a{char}b").ids)


def test_ids_are_the_pieces_of_all_words_and_their_counts():
    pieces, counts = VOCABULARY.ids(["acting", "", "abc", "a-b"])
    assert [PIECES[number] for number in pieces] == ["act", "##ing", "[UNK]", "abc", "a", "-", "b"]
    assert counts.tolist() == [2, 1, 1, 3]
    assert [array.dtype for array in VOCABULARY.ids([])] == [np.int64, np.int64]


def test_a_vocabulary_without_the_unknown_piece_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"lacks \[UNK\]"):
        WordpieceVocabulary(["a", "##b"])


def test_parity_on_every_word_of_the_sentiment_treebank(data_dir):
    pieces = read_vectors(data_dir / "vectors" / "wordpiece.minilm-l6.pca200.npz").words
    vocabulary, tokenizer = WordpieceVocabulary(pieces), reference(pieces)
    files = (data_dir / "sst" / f"{part}.txt" for part in ("train", "dev"))
    words = sorted({word for file in files for tree in read_trees(file) for word in tree.words})
    # Stretched words are read without their surplus letters.
    words = [word for word in words if not re.search(r"([a-z])\1\1", word, re.IGNORECASE)]
    unknown = pieces.index("[UNK]")
    encoded = tokenizer.encode_batch([ptb.plain(word) for word in words], add_special_tokens=False)
    assert len(words) > 15_000
    assert [vocabulary.pieces_of(word) for word in words] == [
        tuple(item.ids) or (unknown,) for item in encoded
    ]


def test_a_word_is_cut_once(monkeypatch):
    real, cut = WordpieceVocabulary._cut, []

    def counted(self, word):
        cut.append(word)
        return real(self, word)

    monkeypatch.setattr(WordpieceVocabulary, "_cut", counted)
    vocabulary, words = WordpieceVocabulary(PIECES), ["acting", "abc", "b", "-LRB-"]
    first = vocabulary.ids(words * 100)
    again = vocabulary.ids(words * 100)
    assert cut == words
    assert all(np.array_equal(*pair) for pair in zip(first, again, strict=True))
