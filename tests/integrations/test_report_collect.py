"""What reports count, beside a plain count of the same readings."""

import random
from collections import Counter

import pytest
from integrations.report_rows import SIDES, collected, mention, plan, report, row, rows
from scipy import stats

from thinstack.integrations.report import collect
from thinstack.integrations.report.rows import MOST_CHARACTERS, Fault, Quote, Span
from thinstack.integrations.report.tally import MOST_SAID, Figures

TEXTS = rows(900)
NAMES = {"battery": {"battery", "batteries"}, "staff": {"staff"}, "price": {"price"}}


def sides(texts, names):
    """How many texts speak for each side of a term, counted the long way."""
    times = Counter()
    for text in texts:
        of_term = [each.quote.side for each in text.mentions if each.term.lower() in names]
        if of_term:
            total = sum(of_term)
            times[SIDES[(total > 0) - (total < 0)]] += 1
    return {side: times[side] for side in SIDES.values()}


def counts(figures):
    return {side: getattr(figures, side) for side in SIDES.values()}


def test_texts_are_counted_once_for_each_term():
    summary = report(TEXTS)
    assert {aspect.term for aspect in summary.aspects} == {*NAMES}
    assert [aspect.figures.texts for aspect in summary.aspects] == sorted(
        (aspect.figures.texts for aspect in summary.aspects), reverse=True
    )
    for aspect in summary.aspects:
        names = NAMES[aspect.term]
        assert counts(aspect.figures) == sides(TEXTS, names)
        mentions = [each for text in TEXTS for each in text.mentions]
        assert aspect.mentions == sum(each.term.lower() in names for each in mentions)
        assert {*aspect.spellings} == names
        for name, figures in aspect.groups.items():
            some = [text for text in TEXTS if text.group == name]
            assert counts(figures) == sides(some, names)
        assert sum(figures.texts for figures in aspect.periods.values()) == aspect.figures.texts
        for start, figures in aspect.periods.items():
            some = [text for text in TEXTS if text.day.replace(day=1) == start]
            assert counts(figures) == sides(some, names)
    texts = Counter(SIDES[text.side] for text in TEXTS)
    assert counts(summary.figures) == dict(texts)
    assert summary.without == sum(not text.mentions for text in TEXTS)
    assert summary.rare == 1


def test_spellings_of_a_term_are_counted_together():
    written = ["set up", "Setup", "set-up", "set up", "setups", "the set\u2011up"]
    texts = [row(mention(name, 1)) for name in written]
    twice = row(mention("setup", 1), mention("set up", 1))
    for some in (texts, texts[::-1]):
        (aspect,) = report([*some, twice]).aspects
        assert (aspect.term, aspect.figures.texts, aspect.mentions) == ("set up", 7, 8)
        assert {*aspect.spellings} == {"set up", "setup", "set-up", "setups"}


def test_the_order_of_rows_does_not_matter():
    other = TEXTS.copy()
    random.Random(1).shuffle(other)
    first, second = report(TEXTS), report(other)
    assert second.to_csv() == first.to_csv()
    for one, two in zip(first.aspects, second.aspects, strict=True):
        assert two.typical == one.typical
        assert two.quotes == one.quotes


def test_differences_are_those_of_the_test_of_pairs():
    summary = report(TEXTS)
    assert {each.term for each in summary.differences} == {"price"}
    assert summary.differences[0].group == "North"
    for each in summary.differences:
        here = sides([text for text in TEXTS if text.group == each.group], {"price"})
        others = [text for text in TEXTS if text.group not in (each.group, None)]
        there = sides(others, {"price"})
        assert (counts(each.here), counts(each.there)) == (here, there)
        table = [[both[each.side], sum(both.values()) - both[each.side]] for both in (here, there)]
        assert each.p == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)
        assert each.p <= each.adjusted <= 0.05
    assert summary.tests == 2 * 3 * 4, "both sides, three groups, three terms and the whole"


def test_two_groups_are_compared_once():
    texts = [text for text in TEXTS if text.group != "East"]
    summary = report(texts, groups=("South", "North"))
    assert {each.group for each in summary.differences} == {"South"}
    assert summary.tests == 2 * 4
    one = report(texts, groups=("South",))
    assert (one.tests, one.differences) == (0, ())


def test_what_a_user_names_stays_apart_and_stays():
    text = row(mention("price", 1), mention("prices", -1))
    summary = report([text] * 2, about=("prices", "price", "parking"), min_mentions=99)
    texts = {each.term: each.figures.texts for each in summary.aspects}
    assert texts == {"prices": 2, "price": 2, "parking": 0}
    assert summary.aspects[2].figures.share("positive") is None
    assert summary.rare == 0


def test_a_phrase_counts_once_in_a_text_and_a_sentence_is_quoted_once():
    same, longer = mention("price", 1, "so cheap"), mention("price", 1, "cheap and fair")
    (aspect,) = report([row(longer, same, same)] * 3, min_mentions=1).aspects
    assert aspect.typical["positive"] == (("cheap", 3),)
    assert aspect.mentions == 9
    assert {quote.text for quote in aspect.quotes} == {same.quote.text, longer.quote.text}
    assert len(aspect.quotes) == 2


def test_quotes_are_of_the_sides_and_hold_what_decides():
    summary = report(TEXTS)
    for aspect in summary.aspects:
        assert len(aspect.quotes) == 3
        assert len({quote.text for quote in aspect.quotes}) == 3
        most = max(SIDES, key=lambda side: getattr(aspect.figures, SIDES[side]))
        assert sum(quote.side == most for quote in aspect.quotes) >= 1
        for quote in aspect.quotes:
            assert quote.text[slice(*quote.term)].lower() in NAMES[aspect.term]
            if quote.side:
                said = quote.text[slice(*quote.because)]
                assert said in ("so good", "good", "good value", "slow")


def test_sentences_that_are_easily_read_are_quoted_first():
    short = mention("price", 1, before="The")._replace(polarity=0.2)
    long = mention("price", 1, before="word " * 40 + "the")
    plain = [mention("price", 1, before=f"{number} times we had the") for number in range(3)]
    texts = [row(each) for each in (short, long, *plain)]
    (aspect,) = report(texts, min_mentions=1).aspects
    assert {quote.text for quote in aspect.quotes} == {each.quote.text for each in plain}


@pytest.mark.parametrize("words", [(0, 300), (300, 0), (150, 150)])
def test_a_long_sentence_is_cut_around_the_term(words):
    before, behind = ("word " * count for count in words)
    each = mention("price", -1, before=f"{before}the")
    sentence = each.quote.text[:-1] + f" {behind}end."
    each = each._replace(quote=each.quote._replace(text=sentence))
    (aspect,) = report([row(each, side=-1)], min_mentions=1).aspects
    (quote,) = aspect.quotes
    assert len(quote.text) <= MOST_CHARACTERS + 4
    assert quote.text[slice(*quote.term)] == "price"
    assert quote.text[slice(*quote.because)] == "very good"
    assert quote.text.strip("… ") in sentence
    assert quote.text.startswith("… ") == bool(words[0])
    assert quote.text.endswith(" …") == bool(words[1])
    assert {*quote.text.strip("… ").split()} <= {*sentence.split()}, "whole words"


def test_what_decides_is_left_out_of_a_quote_that_cannot_hold_it():
    far = mention("price", -1, before="the")
    text = far.quote.text + " word" * 200 + " bad"
    span = Span(len(text) - 3, len(text))
    far = far._replace(quote=far.quote._replace(text=text, because=span))
    (aspect,) = report([row(far, side=-1)], min_mentions=1).aspects
    (quote,) = aspect.quotes
    assert quote.because is None
    assert quote.text[slice(*quote.term)] == "price"


def test_memory_is_bounded(monkeypatch):
    """What is frequent is counted right though rare terms are forgotten."""
    monkeypatch.setattr(collect, "_MOST_TERMS", 50)
    texts = []
    for number in range(2000):
        mentions = [mention(f"thing{number}", 1, f"phrase {number}")]
        mentions += [mention("battery", 1, f"reason {number}")] * (number % 2)
        texts.append(row(*mentions))
    summary = collected(texts)
    assert len(summary.terms) <= 2 * 50
    assert summary.terms["battery"].figures.texts == 1000
    assert summary.missed >= 1
    assert len(summary.terms["battery"].said[1]) <= MOST_SAID
    said = report(texts, min_mentions=2)
    assert [aspect.term for aspect in said.aspects] == ["battery"]
    assert "rare ones were dropped" in said.html()


def test_what_could_not_be_read_is_counted_with_three_examples():
    foreign = row()._replace(unreadable=Fault("language", "why"))
    faults = {"unreadable": Fault("empty", ""), "faults": (Fault("date", "why"),)}
    missing = row(place="line 9")._replace(**faults)
    language, empty = collected([*[foreign] * 5, missing]).unread()
    assert (language.kind, language.rows, len(language.examples)) == ("language", 5, 3)
    assert (empty.rows, empty.examples) == (1, (("line 9", ""),))


def test_a_day_far_from_the_others_is_counted_without_a_period():
    summary = report([row(day=plan(1).calendar.first.replace(year=1900))])
    assert summary.figures.texts == 1
    assert sum(figures.texts for figures in summary.whole.periods.values()) == 0
    assert summary.unread[0].kind == "date"


def test_terms_that_are_no_topics_are_left_out_and_listed():
    texts = [row(mention("use", 1), mention("battery", 1)), row(mention("uses", -1))] * 5
    summary = report(texts)
    assert [aspect.term for aspect in summary.aspects] == ["battery"]
    assert summary.left_out == {"use": 10}
    assert "because they are not topics: use (10)." in summary.html()
    named = row(mention("use", 1))
    assert report([named] * 5, about=("use",)).aspects[0].figures.texts == 5


def test_a_term_that_is_praised_and_criticised_most_divides_opinions():
    texts = [row(mention("battery", side)) for side in (-1, 1)] * 5
    line = "Opinions differ about battery (50% positive, 50% negative of 10)."
    assert report(texts).in_short[-1] == line


def test_figures_hold_the_lowest_quotes_and_no_more():
    figures = Figures()
    for number in (5, 3, 4, 1, 2):
        figures.quote((0, number), Quote(str(number), None, None, 1, ""), 2)
    assert [quote.text for quote in figures.quotes(1)] == ["1", "2"]
