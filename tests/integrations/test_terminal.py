"""Trees in a terminal; `thinstack.render`: what it takes, and the running text that it makes."""

import io
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from drawn import LABELS, predict, uniform
from predictions import prediction_of
from rich.cells import cell_len
from rich.console import Console

import thinstack
from thinstack.core import transitions
from thinstack.errors import InputError, TreeError
from thinstack.integrations.show.heat import heat
from thinstack.integrations.show.svg import page, svg
from thinstack.integrations.show.terminal import Drawing
from thinstack.runtime.highlights import MAX_DEPTH
from thinstack.runtime.views import View
from thinstack.runtime.why import Contribution

BRACKETS = (
    "(1 (3 (3 (2 (2 The) (2 acting)) (3 (2 is) (4 superb))) (2 ,))"
    " (1 (2 but) (1 (1 (2 (2 the) (2 plot)) (1 (0 never) (2 (2 comes) (3 alive)))) (2 .))))"
)


def draw(prediction, width=80, encoding="utf-8", why=(), **options):
    """What a file of this encoding gets: exactly the bytes, decoded again."""
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    Console(file=file, width=width, **options).print(Drawing(prediction, why))
    file.flush()
    return raw.getvalue().decode(encoding)


def test_a_sentence_of_twelve_words_reads_without_colour():
    lines = draw(predict(BRACKETS)).splitlines()
    assert lines[0] == "negative -0.25: The acting is superb , but the plot never comes alive ."
    classes = [" ".join(line.split()[:-2]) for line in lines[2:7] if "60%" not in line]
    assert classes == ["-- very negative", "0 neutral", "+ positive", "++ very positive"]
    assert lines[3].split()[:3] == ["-", "negative", "60%"]
    assert lines[3].count("━") == 6 * lines[4].count("━")
    assert lines[8:] == [
        "   -  The acting is superb , but the plot never comes alive .",
        "   +  ├╴The acting is superb ,",
        "   +  │ ├╴The acting is superb",
        "   0  │ │ ├╴The acting",
        "   0  │ │ │ ├╴The",
        "   0  │ │ │ └╴acting",
        "   +  │ │ └╴is superb",
        "   0  │ │   ├╴is",
        "  ++  │ │   └╴superb",
        "   0  │ └╴,",
        "   -  └╴but the plot never comes alive .",
        "   0    ├╴but",
        "   -    └╴the plot never comes alive .",
        "   -      ├╴the plot never comes alive",
        "   0      │ ├╴the plot",
        "   0      │ │ ├╴the",
        "   0      │ │ └╴plot",
        "   -      │ └╴never comes alive",
        "  --      │   ├╴never",
        "   0      │   └╴comes alive",
        "   0      │     ├╴comes",
        "   +      │     └╴alive",
        "   0      └╴.",
    ]


def test_a_terminal_gets_colour_and_a_pipe_does_not():
    coloured = draw(predict(BRACKETS), force_terminal=True, color_system="256")
    assert "\x1b[" in coloured
    assert "\x1b" not in draw(predict(BRACKETS))
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == draw(predict(BRACKETS))


@pytest.mark.parametrize("width", [1, 5, 12, 20, 40, 80, 200])
@pytest.mark.parametrize(
    "labels", [LABELS, ("alpha", "beta", "a rather long name of a class", "delta", "epsilon")]
)
def test_no_line_is_wider_than_the_console(width, labels):
    shown = draw(predict(BRACKETS, labels), width=width)
    assert max(map(cell_len, shown.splitlines())) <= width


def test_a_narrow_console_keeps_one_phrase_a_line_and_counts_the_rest():
    lines = draw(predict(BRACKETS), width=40).splitlines()
    sentence = next(line for line in lines if " … " in line)
    assert re.fullmatch(r"   -  The acting is … .*comes alive \.", sentence)
    assert 30 <= len(sentence) <= 40
    assert sum(bool(re.match(r" +(--|-|0|\+|\+\+)  ", line)) for line in lines) == 23 + 5
    shown = draw(predict(BRACKETS), width=20)
    hidden = sum(map(int, re.findall(r"\(\+(\d+)\)", shown)))
    tree = shown.split("\n\n")[2].splitlines()
    assert hidden > 0
    assert len(tree) + hidden == 23
    assert f"({hidden} of 23)" in " ".join(shown.split())


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_encoding_without_lines_gets_ascii_guides_and_escaped_words(encoding):
    brackets = BRACKETS.replace("superb", "superb\u2026日").replace("plot", "plöt")
    shown = draw(predict(brackets), width=60, encoding=encoding)
    assert r"`-superb\u2026\u65e5" in shown
    assert ("plöt" if encoding == "latin-1" else r"pl\xf6t") in shown
    assert "   0  | | | |-The\n" in shown
    assert "###" in shown
    narrow = draw(predict(BRACKETS), width=30, encoding=encoding)
    assert " ... " in narrow


def test_words_are_never_markup_nor_terminal_codes():
    brackets = "(2 (2 [bold]x[/bold]) (2 (2 \x1b]0;owned\x07) (2 (2 [/]) (2 \x9b31m:smile:))))"
    labels = ("[red]a[/red]", "b", "\x1b[2Jc")
    shown = draw(predict(brackets, labels), force_terminal=True, color_system=None)
    texts = ["[bold]x[/bold]", r"\x1b]0;owned\x07", "[/]", r"\x9b31m:smile:"]
    for text in (*texts, "[red]a[/red]", r"\x1b[2Jc"):
        assert text in shown
    assert not set(re.sub(r"\x1b\[\d*(;\d+)*m", "", shown)) & set("\x1b\x07\x9b")


def test_labels_that_are_no_scale_stand_in_full():
    lines = draw(predict("(1 (0 goal) (2 election))", ("sport", "news", "politics"))).splitlines()
    assert lines[0] == "news: goal election"
    shares = [line.split()[:2] for line in lines[2:5]]
    assert shares == [["sport", "20%"], ["news", "60%"], ["politics", "20%"]]
    tree = "  news      goal election\n  sport     ├╴goal\n  politics  └╴election"
    assert lines[6:] == tree.splitlines()


def uncertain(abstain):
    """A sentence of 0.6, and of which one word is less sure."""
    sure = predict("(3 (2 good) (4 film))")
    scores = sure.node_scores.copy()
    scores[0] = 0.2
    return replace(sure, node_scores=scores, view=View.of(LABELS, abstain))


def test_where_it_abstains_no_label_is_drawn():
    lines = draw(uncertain(0.5)).splitlines()
    assert lines[0] == "positive +0.25: good film"
    assert [line.split()[0] for line in lines[8:11]] == ["+", "?", "++"]
    assert lines[-1] == "?: uncertain, no class reaches 50%."
    lines = draw(uncertain(0.7)).splitlines()
    assert lines[0] == "uncertain +0.25: good film"
    assert [line.split()[0] for line in lines[8:11]] == ["?", "?", "?"]
    coloured = draw(uncertain(0.7), force_terminal=True, color_system="256")
    assert len(re.findall(r"\x1b\[2m +\? \x1b\[0m", coloured)) == 3, "in no colour of a class"
    assert "uncertain" not in draw(uncertain(0.0))


@pytest.mark.parametrize(("encoding", "mark"), [("utf-8", " ◄"), ("ascii", " <-")])
@pytest.mark.parametrize("width", [40, 80])
def test_the_phrase_that_turns_the_sentence_is_named_and_marked(encoding, mark, width):
    prediction = predict(BRACKETS)
    node = prediction.spans.tolist().index([8, 9])
    why = [Contribution(node, (8, 9), "never", 1.0, turning=True, start=0, end=4)]
    lines = draw(prediction, width, encoding, why=why).splitlines()
    assert "because of: never" in lines
    (marked,) = (line for line in lines if line.endswith(mark))
    assert marked.removesuffix(mark).endswith("╴never" if mark == " ◄" else "-never")
    assert max(map(cell_len, lines)) <= width
    assert [line for line in draw(prediction, width, encoding).splitlines() if mark in line] == []
    nasty = draw(prediction, width, why=[why[0]._replace(text="x\x1b[31m " * 50)])
    assert r"because of: x\x1b[31m" in nasty
    assert max(map(cell_len, nasty.splitlines())) <= width


SENTENCE = "(1 (3 (2 (2 The) (2 acting)) (3 (2 is) (4 superb))) (1 (2 ,) (1 (2 but) (0 dull))))"


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
    marked, text = read(heat([predict(SENTENCE)]))
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
    one, two = predict(SENTENCE), predict("(4 Superb)")
    assert thinstack.render(one) == svg([one]) == one._repr_html_()
    assert thinstack.render([one, two], "text") == heat([one, two])
    drawn = thinstack.render(SENTENCE)
    assert drawn == thinstack.render(thinstack.from_brackets(SENTENCE))
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
        thinstack.render(SENTENCE, "svg")
    with pytest.raises(TreeError):
        thinstack.render("(2 (1 a) (1 b) (1 c))")


def test_contributions_of_other_sentences_are_refused():
    one, two = predict(SENTENCE), predict("(4 Superb)")
    with pytest.raises(InputError, match=r"expected 2 whys, .*found 1"):
        thinstack.render([one, two], whys=[[]])


def test_nested_data_is_the_tree():
    prediction = predict(SENTENCE)
    data = prediction.to_nested()

    def brackets(node):
        label = LABELS.index(str(node["label"]))
        children = node.get("children")
        inner = " ".join(map(brackets, children)) if isinstance(children, list) else node["text"]
        return f"({label} {inner})"

    assert brackets(data) == SENTENCE
    assert data["text"] == prediction.text
    assert data["children"][1]["start"] == len("The acting is superb ")
    assert data["children"][0]["scores"]["positive"] == pytest.approx(0.6)
    lone = prediction_of(("a", "b"), transitions.left(2), prediction.node_scores[-1:], LABELS)
    assert set(lone.to_nested()) == {"text", "start", "end", "label", "polarity", "scores"}


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_page_holds_the_drawing_of_all_sentences_and_needs_no_other_file(count):
    predictions = [predict(SENTENCE), predict("(4 Superb)"), predict("(0 <b>&)")][:count]
    markup = page(predictions)
    assert not re.search(r"\b(src|href)=", markup)
    assert markup.startswith("<!DOCTYPE html>\n")
    assert "<b>" not in markup
    assert count == 0 or svg(predictions) in markup
    assert ("no sentences" in markup) == (count == 0)
