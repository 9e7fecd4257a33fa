import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from drawn import LABELS, predict, uniform
from predictions import prediction_of

from thinstack.core import transitions
from thinstack.integrations.show.html import MAX_DEPTH, page
from thinstack.runtime.views import View
from thinstack.runtime.why import Contribution

BRACKETS = "(1 (3 (2 (2 The) (2 acting)) (3 (2 is) (4 superb))) (1 (2 ,) (1 (2 but) (0 dull))))"
VOID = {"meta"}


class Reader(HTMLParser):
    """Reads a page as its phrases and refuses tags that do not match."""

    def __init__(self, markup):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.ids, self.phrases, self.texts = [], [], [], [], []
        self.deepest = 0
        self.feed(markup)
        self.close()
        assert self.open == [], f"left open: {self.open[:5]}"

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "ul":
            assert self.open[-1][0] in ("details", "li")
        if tag == "li":
            assert self.open[-1][0] == "ul"
        if attrs.get("class") == "row":
            lists = sum(name == "ul" for name, _ in self.open)
            self.phrases.append({"depth": lists - 1, "label": "", "title": "", "bdi": ""})
        if tag not in VOID:
            self.open.append((tag, attrs))
            self.deepest = max(self.deepest, len(self.open))

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        path = self.open
        if any(attrs.get("class") == "row" for _, attrs in path):
            if path[-1][0] in ("title", "bdi"):
                self.phrases[-1][path[-1][0]] += data
            elif path[-1][0] == "span":
                self.phrases[-1]["label"] += data.strip()
        if path and path[-1][0] != "style":
            self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)


def test_each_phrase_stands_once_in_its_place_with_its_label():
    found = Reader(page([predict(BRACKETS)])).phrases
    assert [(phrase["depth"], phrase["label"], phrase["bdi"]) for phrase in found] == [
        (0, "negative", "The acting is superb , but dull"),
        (1, "positive", "The acting is superb"),
        (2, "neutral", "The acting"),
        (3, "neutral", "The"),
        (3, "neutral", "acting"),
        (2, "positive", "is superb"),
        (3, "neutral", "is"),
        (3, "very positive", "superb"),
        (1, "negative", ", but dull"),
        (2, "neutral", ","),
        (2, "negative", "but dull"),
        (3, "neutral", "but"),
        (3, "very negative", "dull"),
    ]
    shares = ("10%", "10%", "10%", "60%", "10%")
    assert found[1]["title"] == ", ".join(map(" ".join, zip(LABELS, shares, strict=True)))


def test_the_page_needs_nothing_else_and_is_labelled():
    markup = page([predict(BRACKETS), predict("(4 Superb)")])
    reader = Reader(markup)
    tags = [tag for tag, _ in reader.tags]
    assert markup.startswith("<!DOCTYPE html>\n")
    assert reader.tags[0] == ("html", {"lang": "en"})
    assert not {"script", "link", "img", "iframe", "object", "base"} & set(tags)
    used = {name for _, attrs in reader.tags for name in attrs}
    assert [name for name in used if re.match("src|href|style|on", name)] == []
    assert not re.search(r"url\(|@import", markup)
    assert (tags.count("h1"), tags.count("h2"), tags.count("main")) == (1, 2, 1)
    assert len(set(reader.ids)) == len(reader.ids)
    named = {attrs["aria-labelledby"] for tag, attrs in reader.tags if tag == "section"}
    assert named == set(reader.ids)
    assert "Label: very positive" in reader.text


def test_scores_of_the_sentence_are_numbers_in_a_table():
    markup = page([predict(BRACKETS)])
    rows = re.findall(r"<span>([a-z ]+)</span></span></th><td>(\d+%)</td>", markup)
    assert rows == [(label, "60%" if label == "negative" else "10%") for label in LABELS]


def test_text_and_labels_are_never_markup():
    nasty = ("<script>alert(1)</script>", "&amp;", "\"'onload=x", "</bdi></li>")
    prediction = uniform(nasty, transitions.balanced(4))
    labels = ("<b>", '"', "c", "d", "</style>")
    nasty_labels = prediction_of(nasty, prediction.transitions, prediction.node_scores, labels)
    reader = Reader(page([nasty_labels]))
    assert "script" not in {tag for tag, _ in reader.tags}
    assert [phrase["bdi"] for phrase in reader.phrases if phrase["depth"] == 2] == list(nasty)
    assert {phrase["label"] for phrase in reader.phrases} == {"d"}
    assert '<b> 10%, " 10%, c 10%, d 60%, </style> 10%' in reader.text


def test_control_characters_are_shown_and_the_page_encodes():
    markup = page([uniform(("a\x00b", "\x1b[31m", "\ud800", "日本"), transitions.left(4))])
    markup.encode("utf-8")
    assert r"a\x00b \x1b[31m \ud800 日本" in Reader(markup).text
    assert not re.search("[\x00-\x09\x0b-\x1f]", markup)


def test_no_sentence_and_one_of_a_word_on_no_scale():
    reader = Reader(page([]))
    assert "There are no sentences." in reader.text
    assert reader.phrases == []
    reader = Reader(page([predict("(1 goal)", ("sport", "news"))]))
    assert reader.phrases == [
        {"depth": 0, "label": "news", "title": "sport 40%, news 60%", "bdi": "goal"}
    ]
    assert "Tree: 1 phrase" in reader.text
    assert "Tree: 1 phrases" not in reader.text


@pytest.mark.parametrize("shape", [transitions.left, transitions.right])
def test_a_deep_tree_is_nested_so_far_and_then_flat(shape):
    words = [f"w{i}" for i in range(1000)]
    markup = page([uniform(words, shape(1000))])
    reader = Reader(markup)
    assert len(reader.phrases) == 1999
    assert max(phrase["depth"] for phrase in reader.phrases) == MAX_DEPTH + 1
    assert reader.deepest < 128
    hidden = 1999 - 2 * MAX_DEPTH - 1
    assert f"Too deep to nest: the {hidden:,} phrases inside" in reader.text
    leaves = [phrase["bdi"] for phrase in reader.phrases if " " not in phrase["bdi"]]
    assert sorted(leaves) == sorted(words)
    assert len(markup) < 1200 * 1999


def test_a_long_sentence_is_cut_in_its_heading_and_whole_below():
    words = [f"w{i}" for i in range(300)]
    markup = page([uniform(words, transitions.balanced(300))])
    assert f"whole sentence</summary>\n<p><bdi>{' '.join(words)}</bdi></p>" in markup
    heading = re.search(r"<h2 [^>]*><bdi>(.*?)</bdi></h2>", markup)[1]
    assert re.fullmatch(r"w0 w1 .* … .* w299", heading)
    assert len(heading) <= 300
    assert "whole sentence" not in page([predict(BRACKETS)])


def test_the_phrase_that_turns_the_sentence_is_named_and_marked():
    one, other = predict(BRACKETS), predict("(3 (2 <so>) (3 good))")
    whys = [[Contribution(9, (6, 7), "dull", 1.0, turning=True, start=0, end=4)]]
    whys += [[Contribution(0, (0, 1), "<so>", 1.0, turning=True, start=0, end=4)]]
    markup = page([one, other], whys=whys)
    reader = Reader(markup)
    assert re.findall("<mark><bdi>(.*?)</bdi></mark>", markup) == ["dull", "&lt;so&gt;"]
    assert re.findall("Because of: (.*)\n", reader.text) == ["dull", "<so>"]
    assert [phrase["bdi"] for phrase in reader.phrases][-3:] == ["<so> good", "<so>", "good"]
    assert "Because" not in page([one, other], whys=[[], []]) + page([one])


def test_bars_lie_side_by_side():
    markup = page([predict(BRACKETS)])
    bar = re.search(r'<svg class="bar".*?</svg>', markup)[0]
    found = re.findall(r'x="([\d.]+)%" width="([\d.]+)%"', bar)
    blocks = [(float(x), float(width)) for x, width in found]
    assert len(blocks) == 5
    assert sum(width for _, width in blocks) == pytest.approx(100, abs=0.5)
    for (x, width), (following, _) in pairwise(blocks):
        assert x + width == pytest.approx(following, abs=0.2)


def palettes():
    """Of light and of dark pages: background and text of each part, by its name."""
    colour = r"(#[0-9a-f]{6})"
    pairs = re.compile(rf"--(\w+): {colour}; --\1-text: {colour};")
    light, dark = page([]).partition("(prefers-color-scheme: dark)")[::2]
    return [{name: two for name, *two in pairs.findall(part)} for part in (light, dark)]


LIGHT, DARK = palettes()


def luminance(colour):
    """Relative luminance, WCAG 2.2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("name", [name for name in LIGHT if name != "line"])
def test_text_has_contrast(palette, name):
    low, high = sorted(map(luminance, palette[name]))
    assert (high + 0.05) / (low + 0.05) >= 4.5
    assert palette.keys() == LIGHT.keys()


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_strong_tones_stand_out_and_the_two_sides_differ_for_the_colour_blind(palette):
    def channels(name):
        return [int(palette[name][0][i : i + 2], 16) for i in (1, 3, 5)]

    page_colour = luminance(palette["page"][0])
    for names in (("t1", "t0"), ("t3", "t4")):
        weak, strong = (abs(luminance(palette[name][0]) - page_colour) for name in names)
        assert strong > weak
    for negative, positive in (("t0", "t4"), ("t1", "t3")):
        # Red-green blindness leaves blue against yellow: the sides must differ in blue minus red,
        # in opposite directions.
        assert channels(negative)[2] < channels(negative)[0]
        assert channels(positive)[2] > channels(positive)[0]


def test_where_it_abstains_the_page_says_so():
    found = replace(predict("(3 (2 good) (4 film))"), view=View.of(LABELS, 0.7))
    assert [item["label"] for item in Reader(page([found])).phrases] == ["uncertain"] * 3
    assert "Label: <strong>uncertain</strong>" in page([found])
    assert "uncertain" not in page([replace(found, view=View.of(LABELS, 0.5))])
