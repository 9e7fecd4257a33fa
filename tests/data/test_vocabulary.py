"""Word vocabularies and treebank escapes."""

import hashlib
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinstack.data.words import ptb
from thinstack.data.words.vocabulary import Cache, WordVocabulary
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
