"""`tokenizer.json`, read by the library `tokenizers`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from library_pieces import library_pieces
from tokenizers import Tokenizer

from thinstack.bundle import open_bundle
from thinstack.data.words import ptb
from thinstack.data.words.letters import plain_letters
from thinstack.data.words.readings import reading
from thinstack.data.words.wordpiece import WordpieceVocabulary, tokenizer_json

UNKNOWN = "[UNK]"


@pytest.fixture(scope="module")
def vocabulary():
    return open_bundle("sentiment").vocabulary()


@pytest.fixture(scope="module")
def tokenizer(vocabulary):
    tokenizer = Tokenizer.from_str(tokenizer_json(vocabulary).decode())
    assert tokenizer.get_vocab_size() == len(vocabulary)
    return tokenizer


# Characters whose class has been the same in all versions of Unicode that matter.
TEXT = st.text(
    alphabet="acdeghilnorstuwéİßΣς中日 '-.[UNK]#5\u0301\u00a0\u200b\ufffd«🙂бБ", max_size=40
)


@given(text=TEXT)
def test_a_word_has_the_same_pieces(vocabulary, tokenizer, text):
    plain = reading(plain_letters(ptb.plain(text)))
    entries = set(vocabulary.entries)
    unknown = vocabulary.entries.index(UNKNOWN)
    expected = library_pieces(tokenizer, entries, plain)
    assert vocabulary.pieces_of(text) == (expected or (unknown,))


def test_a_long_word_is_unknown_as_a_whole():
    pieces = WordpieceVocabulary(["[UNK]", "a", "##b", "##a"])
    tokenizer = Tokenizer.from_str(tokenizer_json(pieces).decode())
    for word, ids in (("ab" * 50, [1] + [2, 3] * 49 + [2]), ("ab" * 50 + "a", [0])):
        assert tokenizer.encode(word).ids == list(pieces.pieces_of(word)) == ids
