"""The statistics of reports, beside published tables and scipy; terms and phrases as they are
counted."""

import math

import numpy as np
import pytest
from scipy import stats

from thinstack.integrations.report.collect import (
    no_topic,
    normalised,
    said_phrase,
    says_more,
    singular,
)
from thinstack.integrations.report.findings import LEAST_EXPECTED, adjusted, probability, two_shares
from thinstack.integrations.report.tally import Figures, share_interval, typical


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0),
    ],
)
def test_intervals_of_shares_are_those_of_newcombe(count, of, low, high):
    """Newcombe 1998, Table I, method 3; the last row is its third, turned round."""
    interval = share_interval(count, of)
    assert interval.value == count / of
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


def test_the_test_of_two_shares_is_pearsons():
    rng, compared = np.random.default_rng(0), 0
    for _ in range(300):
        (of, other), share = rng.integers(5, 400, 2), rng.random()
        counts = rng.binomial([of, other], share).tolist()
        table = [[counts[0], of - counts[0]], [counts[1], other - counts[1]]]
        filled = min(map(sum, zip(*table, strict=True))) > 0
        expected = stats.contingency.expected_freq(table).min() if filled else 0
        z = two_shares(counts[0], int(of), counts[1], int(other))
        if expected < LEAST_EXPECTED:
            assert z is None
        else:
            compared += 1
            expected = stats.chi2_contingency(table, correction=False)
            assert z * z == pytest.approx(expected.statistic)
            assert probability(z) == pytest.approx(expected.pvalue)
    assert compared > 100


def test_adjusted_values_are_those_of_benjamini_and_hochberg():
    """The example of their paper, section 4.1: four of fifteen are rejected at 0.05."""
    paper = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240]
    paper += [0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert [value <= 0.05 for value in adjusted(paper)] == [True] * 4 + [False] * 11
    values = np.random.default_rng(1).permutation([*paper, *paper]).tolist()
    np.testing.assert_allclose(adjusted(values), stats.false_discovery_control(values))
    assert adjusted([]) == []


@pytest.mark.parametrize("n", [10, 11, 30, 1000])
def test_the_interval_of_a_mean_is_students(n):
    numbers = np.random.default_rng(n).normal(0.3, 0.5, n)
    figures = Figures()
    for number in numbers.tolist():
        figures.add(1, number)
    value, low, high = figures.polarity
    spread = stats.sem(numbers)
    expected = stats.t.interval(0.95, n - 1, loc=numbers.mean(), scale=spread)
    assert value == pytest.approx(numbers.mean())
    assert (low, high) == pytest.approx(expected, abs=0.005 * spread)


def test_few_numbers_have_a_mean_without_an_interval():
    figures = Figures()
    assert figures.polarity is None
    for number in [0.25, 0.5, 0.75] * 3:
        figures.add(1, number)
    assert figures.polarity == (0.5, None, None)


def test_figures_of_parts_make_the_figures_of_all():
    numbers = np.random.default_rng(2).normal(size=60).tolist()
    whole, parts = Figures(), [Figures(), Figures(), Figures(), Figures()]
    for place, number in enumerate(numbers):
        side = (number > 0.4) - (number < -0.4)
        whole.add(side, number)
        parts[place % 3].add(side, number)
    for part in parts[1:]:  # the last one is empty
        parts[0].merge(part)
    assert (parts[0].counts, parts[0].texts) == (whole.counts, 60)
    assert parts[0].polarity == pytest.approx(whole.polarity)
    assert math.isclose(whole.polarity.value, np.mean(numbers))


@pytest.mark.parametrize(
    ("term", "counted"),
    [
        ("The Battery", "battery"),
        ("  battery\n life. ", "battery life"),
        ("my staff's", "staff's"),
        ("THE", "the"),
        ("a the menu", "menu"),
        ("...", ""),
        ("café", "café"),
        ("cafe\u0301", "café"),
        ("#BatteryLife", "battery life"),
        ("alexa&#34", "alexa"),
        ("wi\u2011fi", "wi-fi"),
    ],
)
def test_a_term_is_counted_in_lower_case_without_articles_and_marks(term, counted):
    assert normalised(term) == counted


@pytest.mark.parametrize(
    ("term", "other", "counted"),
    [
        ("waiters", "waiter", "waiter"),
        ("batteries", "battery", "battery"),
        ("news", "menu", "news"),
        ("wine lists", "wine list", "wine list"),
        ("glass", "glas s", "glass"),
        ("as", "a", "as"),
        ("lens", "len", "lens"),
    ],
)
def test_a_plural_is_counted_with_its_singular_if_that_is_there(term, other, counted):
    assert singular(term, {other}) == counted
    assert singular(term, set()) == term


@pytest.mark.parametrize(
    ("phrase", "counted"),
    [
        ("is really friendly .", "friendly"),
        ("Friendly", "friendly"),
        ("not bad", "not bad"),
        ("was n't good", "not good"),
        ("isn’t good", "not good"),
        ("isn&#39;t good", "not good"),
        ("is too loud", "too loud"),
        ("n't", ""),
        ("not", ""),
        ("it was", ""),
        ("broke down", "broke down"),
        (", but slow", "slow"),
        ("one two three four five six", "two three four five six"),
        ("seven words of which each counts here now", ""),
    ],
)
def test_phrases_that_say_the_same_are_counted_together(phrase, counted):
    assert said_phrase(phrase) == counted


def test_typical_phrases_are_none_inside_another():
    times = {"great": 5, "really great food": 2, "great food": 3, "eat": 4, "slow": 1, "grea": 1}
    assert typical(times, 9) == (("great", 10), ("eat", 4))
    assert typical(times, 1) == (("great", 10),)
    assert ("slow", 1) in typical(times, 9, least=1)
    longer_first = {"friendly staff": 4, "friendly": 2, "staff": 2}
    assert typical(longer_first, 9) == (("friendly staff", 8),)
    assert typical({}, 3) == ()


@pytest.mark.parametrize(
    ("phrase", "term", "more"),
    [
        *(("use", "use", False), ("speakers", "speaker", False), ("set", "set-up", False)),
        *(("set up", "setup", False), ("easy to set up", "setup", True)),
        *(("great", "sound", True), ("to the", "sound", False), ("", "sound", False)),
    ],
)
def test_a_phrase_says_more_than_its_term(phrase, term, more):
    assert says_more(phrase, term) == more


def test_words_of_everything_are_no_topics():
    words = {"uses": "use", "work": "work", "things": "thing", "battery": "", "workshop": ""}
    assert {word: no_topic(word) for word in words} == words
