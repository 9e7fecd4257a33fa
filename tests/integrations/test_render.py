"""`thinstack.render`: what it takes, and the running text that it makes."""

import re
from xml.etree import ElementTree

import pytest
from drawn import LABELS, predict, uniform
from predictions import prediction_of

import thinstack
from thinstack.core import transitions
from thinstack.errors import InputError, TreeError
from thinstack.integrations.show.heat import heat
from thinstack.integrations.show.svg import page, svg
from thinstack.runtime.highlights import MAX_DEPTH

BRACKETS = "(1 (3 (2 (2 The) (2 acting)) (3 (2 is) (4 superb))) (1 (2 ,) (1 (2 but) (0 dull))))"


def read(markup):
    """The marked phrases of a text: class, sign, how deep, and text with that of those inside; and
    the whole text."""
    root = ElementTree.fromstring(re.sub("<style>.*?</style>", "", markup, flags=re.DOTALL))
    marked = []

    def visit(element, depth):
        for span in element:
            if span.tag == "span":
                text = "".join(span.itertext())
                marked.append([span.get("class"), span.get("data-sign"), depth + 1, text])
            visit(span, depth + (span.tag == "span"))

    visit(root, 0)
    return marked, "".join(root.itertext())


def test_a_text_marks_phrases_that_differ_from_what_is_around():
    marked, text = read(heat([predict(BRACKETS)]))
    assert marked == [
        ["t1", "−", 1, "The acting is superb , but dull"],
        ["t3", "+", 2, "The acting is superb"],
        ["t4", "++", 3, "superb"],
        ["t0", "−−", 2, "dull"],
    ]
    assert text.strip() == "The acting is superb , but dull"


def test_a_text_keeps_its_characters_and_is_never_markup():
    words = ("<b>", "&lt;", "x\x00", "\ud800")
    marked, text = read(heat([uniform(words, transitions.balanced(4)), predict("(2 plain)")]))
    assert [line for line in text.split("\n") if line] == [r"<b> &lt; x\x00 \ud800", "plain"]
    assert marked == [["t3", "+", 1, r"<b> &lt; x\x00 \ud800"]]


def test_a_text_of_many_turns_is_not_nested_without_end():
    size = 3 * MAX_DEPTH
    prediction = uniform(["a"] * size, transitions.right(size))
    prediction.node_scores[::2] = prediction.node_scores[::2][:, ::-1]
    assert max(depth for _, _, depth, _ in read(heat([prediction]))[0]) == MAX_DEPTH


def test_what_can_be_drawn():
    one, two = predict(BRACKETS), predict("(4 Superb)")
    assert thinstack.render(one) == svg([one]) == one._repr_html_()
    assert thinstack.render([one, two], "text") == heat([one, two])
    drawn = thinstack.render(BRACKETS)
    assert drawn == thinstack.render(thinstack.from_brackets(BRACKETS))
    assert ">negative</text>" in drawn, "labels of a treebank have no probability"
    assert re.findall(r'class="t\d" role="treeitem" data-node="(\d+)"', drawn)[0] == "12"
    assert ">NP</text>" in thinstack.render("(S (NP I) (VP sleep))")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("A good film.", "predict it first"),
        (3, "found int"),
        ([predict("(2 x)"), None], "found NoneType"),
    ],
)
def test_what_cannot_be_drawn(given, message):
    with pytest.raises(InputError, match=message):
        thinstack.render(given)
    with pytest.raises(InputError, match="'tree', 'text'"):
        thinstack.render(BRACKETS, "svg")
    with pytest.raises(TreeError):
        thinstack.render("(2 (1 a) (1 b) (1 c))")


def test_contributions_of_other_sentences_are_refused():
    one, two = predict(BRACKETS), predict("(4 Superb)")
    with pytest.raises(InputError, match="2 predictions, found 1"):
        thinstack.render([one, two], whys=[[]])


def test_nested_data_is_the_tree():
    prediction = predict(BRACKETS)
    data = prediction.to_nested()

    def brackets(node):
        label = LABELS.index(str(node["label"]))
        children = node.get("children")
        inner = " ".join(map(brackets, children)) if isinstance(children, list) else node["text"]
        return f"({label} {inner})"

    assert brackets(data) == BRACKETS
    assert data["text"] == prediction.text
    assert data["children"][1]["start"] == len("The acting is superb ")
    assert data["children"][0]["scores"]["positive"] == pytest.approx(0.6)
    lone = prediction_of(("a", "b"), transitions.left(2), prediction.node_scores[-1:], LABELS)
    assert set(lone.to_nested()) == {"text", "start", "end", "label", "polarity", "scores"}


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_page_holds_the_drawing_of_all_sentences_and_needs_no_other_file(count):
    predictions = [predict(BRACKETS), predict("(4 Superb)"), predict("(0 <b>&)")][:count]
    markup = page(predictions)
    assert not re.search(r"\b(src|href)=", markup)
    assert markup.startswith("<!DOCTYPE html>\n")
    assert "<b>" not in markup
    assert count == 0 or svg(predictions) in markup
    assert ("no sentences" in markup) == (count == 0)
