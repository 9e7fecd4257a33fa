"""The page of a report: its structure, and its figures beside those of JSON and CSV."""

import base64
import csv
import hashlib
import io
import itertools
import json
import re
from dataclasses import replace
from datetime import date
from html import unescape
from html.parser import HTMLParser

import pytest
from integrations.report_rows import mention, report, row, rows

from thinstack.integrations.report.page import MOST_SHOWN, course_paths
from thinstack.integrations.report.rows import Span
from thinstack.integrations.report.tally import Figures

VOID = {"meta", "br", "rect", "path", "input"}
TEXTS = rows(900)


class Page(HTMLParser):
    """The elements of a page, whose tags must be balanced.

    Attributes:
        elements: of each element in order its tag, its attributes and its text.
    """

    def __init__(self, markup):
        super().__init__()
        self.elements, self._open = [], []
        self.feed(markup)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        item = (tag, dict(attrs), [])
        self.elements.append(item)
        if tag not in VOID:
            self._open.append(item)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self._open.pop()[0] == tag

    def handle_data(self, data):
        for _, _, texts in self._open:
            texts.append(data)

    def all(self, tag):
        """The text of each element of a tag, on one line."""
        return [" ".join("".join(texts).split()) for name, _, texts in self.elements if name == tag]

    def attributes(self, tag):
        return [attributes for name, attributes, _ in self.elements if name == tag]


def percent(share):
    return f"{int(100 * share + 0.5)}%"


def shares(data):
    """What a row of a table says of the figures of JSON."""
    cells = []
    for side in ("negative", "positive"):
        share = data[f"share_{side}"]
        low, high = percent(share["low"])[:-1], percent(share["high"])
        cells.append(f"{percent(share['value'])} ({low}–{high})")
    return [f"{data['texts']:,}", *cells]


def table_cells(markup, caption):
    """The rows of the tables whose caption starts so: the texts of the cells but pictures."""
    tables = re.findall(r"<table.*?</table>", markup, re.DOTALL)
    some = [each for each in tables if f"<caption>{caption}" in each]
    assert some, caption
    lines = []
    for line in re.findall(r"<tr>(.*?)</tr>", "".join(some), re.DOTALL):
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.DOTALL)
        plain = (re.sub(r"<svg.*?</svg>", "", cell, flags=re.DOTALL) for cell in cells)
        texts = (unescape(re.sub(r"<[^>]*>", "", cell)) for cell in plain)
        lines.append([" ".join(text.split()) for text in texts])
    return [[cell for cell in line if cell] for line in lines if line[0] not in ("Aspect", "Store")]


@pytest.fixture(scope="module")
def summary():
    return report(TEXTS)


@pytest.fixture(scope="module")
def markup(summary):
    return summary.html()


def test_headings_are_in_order_and_links_lead_somewhere(markup):
    page = Page(markup)
    assert page.all("h3")[1:] == ["battery", "price", "staff"]
    levels = [int(tag[1]) for tag, *_ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    places = {attributes.get("id") for _, attributes, _ in page.elements}
    links = [attributes["href"] for attributes in page.attributes("a")]
    assert links
    assert all(link.startswith("#") and link[1:] in places for link in links)
    names = page.attributes("article")
    assert all(each["aria-labelledby"] in places for each in names)


def test_every_table_has_a_caption_and_scopes_and_every_picture_a_name(markup):
    page = Page(markup)
    tags = [tag for tag, *_ in page.elements]
    assert tags.count("table") == tags.count("caption") > 3
    assert all(each.get("scope") in ("col", "row") for each in page.attributes("th"))
    pictures = re.findall(r"<svg.*?</svg>", markup, re.DOTALL)
    assert len(pictures) > 20
    assert all('role="img"' in each and re.search("<title>.+</title>", each) for each in pictures)


def test_the_page_needs_no_network_and_runs_only_its_own_script(markup):
    (script,) = re.findall("<script>(.*?)</script>", markup, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in markup
    assert script in report([row()]).html(), "nothing of the table is in it"
    assert not re.search(r"https?:|//|@import|url\(", markup.replace("//,", ""))
    assert not {"img", "link", "iframe", "object"} & {tag for tag, *_ in Page(markup).elements}


def test_figures_of_tables_are_those_of_json(summary, markup):
    data = json.loads(summary.to_json())
    aspects = [[each["term"], *shares(each)] for each in data["aspects"]]
    assert table_cells(markup, "Shares of the texts that mention each aspect") == aspects
    groups = [[each["name"], *shares(each)] for each in data["groups"]]
    assert table_cells(markup, "Texts by store") == groups
    periods = [shares(each) for each in data["periods"]]
    assert [row[1:] for row in table_cells(markup, "Texts by month")[1:]] == periods
    cells = {row[0]: row[1:] for row in table_cells(markup, "Share of negative texts per aspect")}
    for each in data["aspects"]:
        figures = [(group["share_negative"]["value"], group["texts"]) for group in each["groups"]]
        expected = [f"{percent(share)}of {texts}" for share, texts in figures]
        assert [re.sub(" [▲▼]", "", cell) for cell in cells[each["term"]]] == expected


def test_what_is_in_short_is_that_of_json(summary, markup):
    data, page = summary.to_dict(), Page(markup)
    mean = data["polarity"]
    value, low, high = (f"{mean[end]:+.2f}".replace("-", "−") for end in ("value", "low", "high"))
    assert page.all("dd") == ["900 of 900 rows", *shares(data)[1:], f"{value} ({low} to {high})"]
    assert page.all("li")[8 : 8 + len(data["in_short"])] == data["in_short"]
    (first,) = data["differences"]
    (said,) = [line for line in data["in_short"] if line.startswith("On price, North is worse")]
    for there in ("here", "there"):
        figures = first[there]
        assert percent(figures[f"share_{first['side']}"]["value"]) in said
        assert f"(of {figures['texts']:,})" in said


def test_cards_have_what_json_has(summary, markup):
    cards = re.findall(r"<article.*?</article>", markup, re.DOTALL)
    for data, card in zip(summary.to_dict()["aspects"], cards, strict=True):
        page = Page(card)
        for side in ("positive", "negative"):
            said = [f"{each['phrase']} × {each['times']}" for each in data["said"][side]]
            listed = re.search(rf'<ul class="said {side}".*?</ul>', card, re.DOTALL)
            assert Page(listed[0]).all("li") == said if said else listed is None
        quotes = [f"{each['text']}{each['side']}; {each['place']}" for each in data["quotes"]]
        assert page.all("blockquote") == quotes
        for each, text in zip(data["quotes"], page.all("mark"), strict=True):
            assert text == (each["because"] or each["term"])
        three = [percent(data[f"share_{side}"]["value"]) for side in ("negative", "neutral")]
        assert f"{data['texts']} texts: {three[0]} negative, {three[1]} neutral" in page.all("p")[0]


def test_the_axis_holds_all_shares_and_pictures_stay_inside(summary, markup):
    shares = [each["share_negative"]["value"] for each in summary.to_dict()["periods"]]
    top, foot = re.findall(r"<span>(\d+)%</span>", markup)[:2]
    assert int(foot) <= 100 * min(shares) < int(foot) + 10
    assert int(top) - 10 < 100 * max(shares) <= int(top)
    heights = re.findall(r"[ML]\d[\d.]* (-?[\d.]+)", " ".join(re.findall(r' d="([^"]*)"', markup)))
    assert len(heights) > 40
    assert all(0 <= float(height) <= 100 for height in heights)


def test_a_period_between_gaps_has_a_band_with_a_width():
    periods = {date(2025, month, 1): Figures(*[11, 0, 9] * (month == 2)) for month in (1, 2, 3)}
    paths = dict(course_paths(periods, "negative", None))
    assert paths["line"] == "M500.0 50.0"
    assert paths["band"] == "M416.7 0.0L583.3 0.0L583.3 100.0L416.7 100.0Z"


def test_csv_has_the_figures_of_json(summary):
    data = summary.to_dict()
    records = csv.DictReader(io.StringIO(summary.to_csv()))
    lines = {(line["aspect"], line["group"], line["period"]): line for line in records}
    expected = {("", "", ""): data}
    for each in [data, *data["aspects"]]:
        term = each.get("term", "")
        expected |= {(term, "", ""): each} if term else {}
        expected |= {(term, group["name"], ""): group for group in each.get("groups", ())}
        expected |= {(term, "", period["name"]): period for period in each.get("periods", ())}
    assert {*lines} == {*expected}
    for key, line in lines.items():
        figures = expected[key]
        assert line["mentions"] == str(figures.get("mentions", ""))
        for name in ("texts", "negative", "neutral", "positive"):
            assert int(line[name]) == figures[name]
        for name in ("share_negative", "share_neutral", "share_positive", "polarity"):
            ends = figures[name] or dict.fromkeys(("value", "low", "high"))
            for column, end in ((name, "value"), (f"{name}_low", "low"), (f"{name}_high", "high")):
                cell = float(line[column]) if line[column] else None
                assert cell == (None if ends[end] is None else pytest.approx(ends[end], abs=1e-6))


NASTY = '<img src=x onerror="alert(1)">&amp;</style><script>alert(2)</script>\u202e\x00'


def test_what_others_wrote_is_text():
    each = mention(f"battery {NASTY}", -1, f"bad {NASTY}")
    texts = [row(each, side=-1, place=f"line {NASTY}", group=NASTY)] * 6
    summary = report(texts, groups=(NASTY, "North"))
    summary = replace(summary, source=NASTY, model=NASTY, by=NASTY)
    markup = summary.html()
    page = Page(markup)
    assert [tag for tag, *_ in page.elements if tag in ("img", "script")] == ["script"]
    assert markup.count("</style>") == markup.count("</script>") == 1
    assert "\u202e" not in markup
    assert "\x00" not in markup
    assert '<img src=x onerror="alert(1)">' in "".join(page.all("article"))
    names = {name for _, attributes, _ in page.elements for name in attributes}
    assert not any(name.startswith("on") for name in names)
    assert json.loads(summary.to_json())["source"] == NASTY
    shown = summary._repr_html_()
    frame = Page(shown).attributes("iframe")
    assert frame[0]["srcdoc"] == markup


def test_a_cell_of_the_csv_is_no_formula():
    assert "'=1+1" in report([row(group="=1+1")], groups=("=1+1",)).to_csv()
    assert '"a\rb"' in report([row(group="a\rb")], groups=("a\rb",)).to_csv(), "one row for csv"


def test_marks_that_cross_keep_their_words():
    each = mention("battery life", 1, "very", before="The")
    text = each.quote.text
    span = Span(start := text.index("life"), start + len("life, very"))
    each = each._replace(quote=each.quote._replace(because=span))
    page = Page(report([row(each)], min_mentions=1).html())
    assert text in page.all("blockquote")[0].replace("positive; line 2", "")
    assert "".join(page.all("mark")).replace(" ", "") == "life,very"
    assert " ".join(page.all("span")).count("battery") == 1


def test_many_aspects_are_cut_and_said():
    terms = [f"thing{number}a" for number in range(MOST_SHOWN + 7)]
    summary = report([row(mention(term, 1)) for term in terms], min_mentions=1)
    page = Page(summary.html())
    assert len(page.all("article")) == MOST_SHOWN
    assert "JSON and CSV reports contain 7 more aspects" in " ".join(page.all("caption"))
    assert len(summary.to_dict()["aspects"]) == MOST_SHOWN + 7


@pytest.mark.parametrize("count", [0, 1])
def test_without_terms_groups_or_differences_the_page_says_so(count):
    text = row(*[mention("price", 1)] * count, group="North")
    markup = report([text], groups=("North",)).html()
    assert "What 1 text says" in markup
    assert "No term is mentioned in 5 texts or more." in markup
    assert "There is only one value of store, so there is nothing to compare." in markup
    assert "Every row could be read." in markup
    few = [row(group=name) for name in ("North", "South")]
    assert "too few texts to compare" in report(few).html()
