"""Raw text to treebank words and back."""

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from thinstack.data.trees.treebank import read_trees
from thinstack.text.raw_text import detokenize, treebank_words


@pytest.fixture(scope="module")
def tokenizer():
    return spacy.blank("en").tokenizer


def words_of(tokenizer, text):
    doc = tokenizer(text)
    return treebank_words(
        [token.text for token in doc], [bool(token.whitespace_) for token in doc]
    )[0]


def test_what_follows_decides_about_full_stops_and_quotes():
    assert treebank_words(["b.s", ".", "it"], [False, True, False])[0] == ["b.s.", "it"]
    assert treebank_words(["b.s", "."], [False, False])[0] == ["b.s", "."]
    assert treebank_words(["'", "it"], [False, False])[0] == ["`", "it"]
    assert treebank_words(["'", "\n", "it"], [False, False, False])[0] == ["'", "it"]


def test_owners_name_the_tokens_of_each_word():
    tokens = ["  ", "well", "-", "made", ",", "\n", "n’t", "(", "'", "60s"]
    spaces = [False, False, False, False, True, False, True, False, False, False]
    words, owners = treebank_words(tokens, spaces)
    assert words == ["well-made", ",", "n't", "-LRB-", "'60s"]
    assert owners.tolist() == [[1, 4], [4, 5], [6, 7], [7, 8], [8, 10]]
    words, owners = treebank_words(["\n"], [False])
    assert (words, owners.shape, owners.dtype) == ([], (0, 2), np.int64)


TOKENS = st.text(alphabet="ab1.-/*'\"()’“” \n", max_size=4)


@given(st.lists(st.tuples(TOKENS, st.booleans()), max_size=12))
def test_every_token_but_white_space_belongs_to_one_word_in_order(pairs):
    tokens, spaces = [token for token, _ in pairs], [space for _, space in pairs]
    words, owners = treebank_words(tokens, spaces)
    covered = [i for first, end in owners.tolist() for i in range(first, end)]
    assert covered == [i for i, token in enumerate(tokens) if token.strip()]
    assert len(words) == len(owners)
    assert all(words)
    assert not set("".join(words)) & set("()")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("It 's `` good '' -LRB- very -RRB- , is n't it ?", "It's \"good\" (very), isn't it?"),
        (r"and\/or can not -- the ` Ring ' ... no", "and/or cannot -- the 'Ring'... no"),
        ("... a $ 9 film in the U.S. .", "... a $9 film in the U.S."),
        ("the characters ' lives : 10 % -LSB- sic -RSB-", "the characters' lives: 10% [sic]"),
        ("`` No ! '' . ...", '"No!"....'),
        ("Ca n't", "Can't"),
        ("", ""),
    ],
)
def test_detokenize(words, text):
    assert detokenize(words.split()) == text


def test_most_treebank_sentences_survive_the_way_through_raw_text(tokenizer, data_dir):
    sentences = [list(tree.words) for tree in read_trees(data_dir / "sst" / "train.txt")[:1000]]
    same = sum(words_of(tokenizer, detokenize(words)) == words for words in sentences)
    assert same >= 0.98 * len(sentences)
