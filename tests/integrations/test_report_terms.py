"""Terms and phrases as reports count them."""

import pytest

from thinstack.integrations.report.terms import (
    no_topic,
    normalised,
    said_phrase,
    says_more,
    singular,
    typical,
)


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
