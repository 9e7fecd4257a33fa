"""The lesson `turning.v1`."""

from collections import Counter

import numpy as np
import pytest
from own_lessons import treebank

from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import ConfigError
from thinstack.training.lesson import Treebank
from thinstack_lab.lessons.turning import LONGEST, MOST_EXCHANGED, Turning

BETTER = "(2 (1 it) (2 (0 not) (0 (1 a) (0 (0 bad) (1 film)))))"
WORSE = "(0 (1 it) (0 (1 not) (2 (1 a) (2 (2 good) (1 film)))))"
OTHERS = [
    "(0 (1 a) (0 (0 dull) (1 film)))",  # may stand for "a bad film": first word, length and class
    "(0 (0 (0 bad) (1 film)) (1 s))",  # three words as well, but it begins otherwise
    "(2 (1 a) (2 (1 film) (2 good)))",
]


def turning(given, share):
    return Turning(share=share).trees(given, np.random.default_rng(0))


def spelled(one):
    return f"{one.labels[-1]} {' '.join(one.tree.words)}"


@pytest.mark.parametrize("pieces", [False, True])
def test_turned_phrases_and_those_around_are_drawn_both_ways(pieces):
    phrases = treebank(BETTER, WORSE, *OTHERS)
    if pieces:
        vocabulary = WordpieceVocabulary(("[UNK]", *"abdfginost"))
        phrases = Treebank(phrases.trees, 3, vocabulary=vocabulary)
    counts = Counter(map(spelled, turning(phrases, 1000.0)))
    exchanges = {"2": ("a bad film", "a dull film"), "0": ("a good film", "a film good")}
    expected = {
        f"{side} {around}not {part}": 937 if part == parts[0] else 313
        for side, parts in exchanges.items()
        for part in parts
        for around in ("", "it ")
    }
    # A half to the better, a half of these the longer phrase; in every other one the part is
    # exchanged, and that for itself as often as for the other one.
    assert counts.keys() == expected.keys()
    assert all(abs(counts[text] - number) < 90 for text, number in expected.items())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("(2 (2 good) (0 bad))", id="what is positive turns nothing"),
        pytest.param("(2 (0 (0 not) (1 (1 a) (1 it))) (0 bad))", id="three words are no turner"),
        pytest.param("(1 (0 not) (0 bad))", id="neutral is not the other side"),
        pytest.param("(2 (0 bad) (1 film))", id="what is turned stands on the right"),
    ],
)
def test_what_does_not_turn(text):
    with pytest.raises(ConfigError, match="found 0 and 2"):
        turning(treebank(WORSE, text), 4.0)


def test_long_phrases_are_not_drawn_and_long_parts_not_exchanged():
    part, other = "(0 bad)", "(0 bad)"
    for _ in range(MOST_EXCHANGED):
        part, other = f"(0 {part} (1 a))", f"(0 {other} (1 film))"
    around = f"(2 (1 not) {part})"
    for _ in range(LONGEST):
        around = f"(2 {around} (1 it))"
    drawn = turning(treebank(around, other, WORSE), 100.0)
    better = [one.tree.words for one in drawn if one.labels[-1] == 2]
    assert {len(words) for words in better} == set(range(MOST_EXCHANGED + 2, LONGEST + 1))
    assert not any("film" in words for words in better)


def test_labels_follow_an_exchanged_phrase():
    given = treebank(BETTER, WORSE, *OTHERS)
    soft = [
        one._replace(soft=np.full((len(one.labels), 3), place))
        for place, one in enumerate(given.trees)
    ]
    given = treebank(BETTER, WORSE, *OTHERS)
    drawn = turning(Treebank(soft, 3, vocabulary=given.vocabulary), 100.0)
    dull = next(one for one in drawn if spelled(one) == "2 not a dull film")
    assert dull.labels.tolist() == [0, 1, 0, 1, 0, 0, 2]
    assert dull.soft[:, 0].tolist() == [0, 2, 2, 2, 2, 2, 0]
