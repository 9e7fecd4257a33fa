"""Treebank escapes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinstack.data.words import ptb

BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
OTHERS = {"-lrb-": "(", "-rcb-": "}", r"and\/or": "and/or", r"\*\*\*": "***", ":-RRB-": ":)"}


@pytest.mark.parametrize(("word", "text"), (BRACKETS | OTHERS).items())
def test_unescape(word, text):
    assert ptb.unescape(word) == text


@pytest.mark.parametrize("word", ["well-made", "``", ""])
def test_other_words_have_no_escapes(word):
    assert ptb.unescape(word) == word


def test_plain_turns_treebank_quotes_into_double_quotes():
    words = {"``": '"', "''": '"', "'": "'", "`": "`", "-LRB-": "(", "it": "it"}
    assert [ptb.plain(word) for word in words] == list(words.values())


@given(st.text(alphabet="ab.:'()[]{}/*"))
def test_escape_is_undone_and_leaves_nothing_that_brackets_would_misread(text):
    escaped = ptb.escape(text)
    assert ptb.unescape(escaped) == text
    assert not set(escaped) & set("()[]{}")
