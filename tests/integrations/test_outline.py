import numpy as np
import pytest
from drawn import uniform
from rich.cells import cell_len

from thinstack.core import transitions
from thinstack.integrations.show.outline import elide, outline, phrase, visible


@pytest.mark.parametrize("shape", [transitions.left, transitions.right, transitions.balanced])
@pytest.mark.parametrize(
    ("depth", "phrases"), [(0, None), (3, None), (50, 10), (50, 1), (50, 0), (4, 8), (50, None)]
)
def test_what_is_drawn_and_what_is_hidden_make_the_whole_tree(shape, depth, phrases):
    prediction = uniform([f"w{i}" for i in range(20)], shape(20))
    rows = outline(prediction, depth=depth, phrases=phrases)
    assert len(rows) + sum(row.hidden for row in rows) == 39
    assert max(row.depth for row in rows) <= depth
    assert phrases is None or len(rows) <= max(phrases, 1)
    drawn = {row.node for row in rows}
    parents, _ = transitions.parents_of(prediction.transitions)
    for parent in drawn:
        assert len(drawn & set(np.flatnonzero(parents == parent).tolist())) in (0, 2)


def test_a_limit_keeps_the_top_of_the_tree():
    prediction = uniform([f"w{i}" for i in range(16)], transitions.balanced(16))
    assert [row.depth for row in outline(prediction, depth=9, phrases=8)] == [0, 1, 2, 2, 1, 2, 2]


def test_control_characters_are_shown_not_sent():
    assert visible("a\x1b[31mb\x07\x9b2J") == r"a\x1b[31mb\x07\x9b2J"
    assert visible("x\u202ey\ud800") == r"x\u202ey\ud800"
    assert visible("a\u200eb\u200fc\u061cd\u200be") == r"a\u200eb\u200fc\u061cd\u200be"
    assert visible("\ufeffa\u2060b\u206fc\U000e0041") == r"\ufeffa\u2060b\u206fc\U000e0041"
    assert visible("pay\u200dpal\u200c") == r"pay\u200dpal\u200c"
    assert visible(" two\r\n\tlines\u2028here ") == "two lines here"
    for shown_as_it_is in ("naïve 日本 👩\u200d🚀 \\n", "❤️\u200d🔥", "می\u200cخواهم"):
        assert visible(shown_as_it_is) == shown_as_it_is


WIDE = ["x" * 50, "日本語の文" * 10, "a" + "\u0301" * 60, "e\u0301 " * 30]


@pytest.mark.parametrize("text", ["one two three four five six seven", *WIDE])
@pytest.mark.parametrize("width", [0, 1, 2, 5, 6, 17, 24])
def test_elided_text_fits(text, width):
    assert cell_len(elide(text, width)) <= width


def test_elision_keeps_whole_words_of_both_ends():
    assert elide("one two three four five six seven", 20) == "one two … six seven"
    assert elide("one two three", 13) == "one two three"
    assert elide("abcdefghijklmno", 9, "...") == "abc...mno"


def test_a_long_phrase_shows_its_own_ends():
    prediction = uniform([f"w{i}" for i in range(1000)], transitions.left(1000))
    assert phrase(prediction, 5, 990, 16) == "w5 w6 … w989"
