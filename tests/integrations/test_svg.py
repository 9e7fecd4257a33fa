"""Trees as pictures: read back as XML, against the brackets that they were drawn from; and the
phrases that are drawn."""

import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import numpy as np
import pytest
from drawn import LABELS, predict, uniform
from predictions import prediction_of
from rich.cells import cell_len

from thinstack.core import transitions
from thinstack.integrations.show.layout import MAX_DEPTH, MAX_PHRASES, NODE, places
from thinstack.integrations.show.marks import Marks, elide, outline, phrase, text_width, visible
from thinstack.integrations.show.svg import svg
from thinstack.runtime.why import Contribution

BRACKETS = "(1 (3 (2 (2 The) (2 acting)) (3 (2 is) (4 superb))) (1 (2 ,) (1 (2 but) (0 dull))))"
SIGNS = ["−−", "−", "0", "+", "++"]
NAMESPACE = {"s": "http://www.w3.org/2000/svg"}


def read(markup):
    return ElementTree.fromstring(markup)


def phrases(root):
    return [group for group in root.iter() if group.get("role") == "treeitem"]


def brackets(item):
    """A drawn phrase as brackets: its sign as a class, then its word or its parts."""
    label = SIGNS.index(item.findtext("s:text[@class='sign']", "", NAMESPACE))
    parts = item.findall("s:g[@role='group']/s:g", NAMESPACE)
    if not parts:
        return f"({label} {item.findtext('s:text[2]', '', NAMESPACE)})"
    return f"({label} {' '.join(map(brackets, parts))})"


def test_a_picture_holds_the_tree():
    root = read(svg([predict(BRACKETS), predict("(4 Superb)")]))
    trees = root.findall("s:g[@role='tree']", NAMESPACE)
    assert [brackets(tree.find("s:g", NAMESPACE)) for tree in trees] == [BRACKETS, "(4 Superb)"]
    assert [tree.findtext("s:text", "", NAMESPACE) for tree in trees] == [
        "negative 60%", "very positive 60%",
    ]  # fmt: skip


def test_a_phrase_says_its_words_and_probabilities():
    item = phrases(read(svg([predict(BRACKETS)])))[1]
    shares = ", ".join(f"{label} {'60%' if label == 'positive' else '10%'}" for label in LABELS)
    assert item.findtext("s:title", "", NAMESPACE) == f"The acting is superb\n{shares}"
    assert item.get("aria-label") == "positive: The acting is superb"
    assert (item.get("class"), item.get("data-node")) == ("t3", "6")
    assert (item.get("aria-expanded"), item.get("tabindex")) == ("true", "0")
    assert item.findtext("s:text[@class='closed']", "", NAMESPACE) == "The acting is superb"


def test_words_stand_in_order_and_do_not_touch():
    given = predict("(2 (2 (2 iii) (2 WWWWWWWWWW)) (2 (2 日本語) (2 .)))")
    found = places(given, Marks(given).signs)
    words = [place for place in found if place.text]
    assert [place.text for place in words] == ["iii", "WWWWWWWWWW", "日本語", "."]
    for left, right in pairwise(words):
        ends = [max(place.width, text_width(place.text)) // 2 for place in (left, right)]
        assert right.x - left.x > sum(ends)
    assert len({place.y for place in words}) == 1
    for place in found:
        parts = [found[part] for part in place.row.parts]
        if parts:
            assert place.x == (parts[0].x + parts[1].x) // 2
            assert place.y <= min(part.y for part in parts) - 2 * NODE


def test_the_phrase_that_turns_the_sentence_is_marked():
    prediction = predict(BRACKETS)
    why = [Contribution(11, (6, 7), "dull", -1.5, turning=True, start=0, end=4)]
    groups = phrases(read(svg([prediction], whys=[why])))
    assert [g.get("data-node") for g in groups if "turning" in g.get("class", "")] == ["11"]


def test_text_is_never_markup():
    words = ("<script>alert(1)</script>", "&amp;", "\"'onload=x", "a\x00b\x1b\ud800")
    nasty = uniform(words, transitions.balanced(4))
    labels = ("<b>", '"', "c", "d", "</style>")
    markup = svg([prediction_of(words, nasty.transitions, nasty.node_scores, labels)])
    markup.encode("utf-8")
    tags = {item.tag.rpartition("}")[2] for item in read(markup).iter()}
    assert tags == {"svg", "style", "rect", "g", "text", "title", "path"}
    texts = [item.findtext("s:text[2]", "", NAMESPACE) for item in phrases(read(markup))]
    assert [text for text in texts if text.startswith("a")] == [r"a\x00b\x1b\ud800"]


def test_uncertain_phrases_and_classes_on_no_scale():
    unsure = predict(BRACKETS)
    unsure = prediction_of(unsure.words, unsure.transitions, unsure.node_scores, LABELS, 0.7)
    items = phrases(read(svg([unsure])))
    assert {item.findtext("s:text[@class='sign']", "", NAMESPACE) for item in items} == {"?"}
    assert {item.get("class") for item in items} == {"plain"}
    (item,) = phrases(read(svg([predict("(1 goal)", ("sport", "news"))])))
    assert item.findtext("s:text[@class='sign']", "", NAMESPACE) == "news"
    assert item.get("class") == "plain"


def test_a_sentence_alone_is_one_node():
    scores = np.full((1, 5), 0.2, np.float32)
    words = ("so", "good")
    (item,) = phrases(read(svg([prediction_of(words, transitions.left(2), scores, LABELS)])))
    assert item.findtext("s:text[2]", "", NAMESPACE) == "so good"
    plain = prediction_of(words, np.zeros(0, np.int8), scores, LABELS)
    assert len(phrases(read(svg([plain])))) == 1


def test_deep_and_long_trees_are_drawn_in_part():
    deep = phrases(read(svg([uniform(["a"] * 3000, transitions.left(3000))])))
    assert len(deep) == 2 * MAX_DEPTH + 1
    assert any(" (+5,798)" in item.findtext("s:text[2]", "", NAMESPACE) for item in deep)
    broad = phrases(read(svg([uniform(["a"] * 3000, transitions.balanced(3000))])))
    assert len(broad) == MAX_PHRASES


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
