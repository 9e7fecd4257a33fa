"""Treebank escapes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinstack.data import ptb


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("-LRB-", "("),
        ("-RRB-", ")"),
        ("-LSB-", "["),
        ("-RSB-", "]"),
        ("-LCB-", "{"),
        ("-RCB-", "}"),
        ("-lrb-", "("),
        ("-rcb-", "}"),
        (r"and\/or", "and/or"),
        (r"\*\*\*", "***"),
        (":-RRB-", ":)"),
        ("well-made", "well-made"),
        ("``", "``"),
        ("", ""),
    ],
)
def test_unescape(word: str, text: str) -> None:
    assert ptb.unescape(word) == text


def test_plain_turns_treebank_quotes_into_double_quotes() -> None:
    assert [ptb.plain(word) for word in ("``", "''", "'", "`", "-LRB-", "it")] == [
        '"',
        '"',
        "'",
        "`",
        "(",
        "it",
    ]


@given(st.text(alphabet="ab.:'()[]{}/*"))
def test_escape_is_undone_and_leaves_nothing_that_brackets_would_misread(text: str) -> None:
    escaped = ptb.escape(text)
    assert ptb.unescape(escaped) == text
    assert not set(escaped) & set("()[]{}")
