"""Which phrases say most: trees and scores written by hand."""

import numpy as np
import pytest
from predictions import prediction_of

from thinstack.core.scale import FIVE
from thinstack.data.trees.brackets import from_brackets
from thinstack.errors import InputError

PLACES = np.array([-1, -0.5, 0, 0.5, 1])


def highlights(brackets, n=3, labels=FIVE, abstain=0.0):
    """`brackets`: each label is the polarity of the node, in percent."""
    tree = from_brackets(brackets)
    rows = []
    for label in tree.labels:
        place = int(label) / 100
        row, end = np.zeros(5), 4 if place > 0 else 0
        if abs(place) > 0.5:
            row[[end, 2]] = abs(place), 1 - abs(place)
        elif abs(place) > 0.1:  # so that the label has a side
            row[[(end + 2) // 2, 2]] = 2 * abs(place), 1 - 2 * abs(place)
        else:
            row[[end, 2]] = abs(place), 1 - abs(place)
        rows.append(row)
    scores = np.array(rows, np.float32)
    np.testing.assert_allclose(
        scores @ PLACES, [int(label) / 100 for label in tree.labels], atol=1e-6
    )
    prediction = prediction_of(tree.words, tree.transitions, scores, labels, abstain=abstain)
    return [phrase.text for phrase in prediction.highlights(n)]


@pytest.mark.parametrize(
    ("brackets", "expected"),
    [
        # The strongest comes first, and none is inside another.
        (
            "(40 (60 (0 so) (60 good)) (-40 (0 but) (-90 (0 too) (-90 long))))",
            ["too long", "so good"],
        ),
        # A phrase comes with the words around it that keep its strength.
        ("(80 (80 (0 The) (0 acting)) (85 (0 is) (90 superb)))", ["The acting is superb"]),
        ("(50 (50 (0 The) (0 acting)) (85 (0 is) (90 superb)))", ["is superb", "The acting"]),
        # What is turned round is no highlight; what stands in contrast is one.
        ("(-60 (-46 not) (90 (0 a) (90 (88 great) (0 film))))", ["not a great film"]),
        ("(-60 (90 (88 great) (0 film)) (-70 (0 but) (-80 dull)))", ["great film", "dull"]),
        # Marks, function words and the ends of typed words are none.
        ("(70 (80 (90 great) (0 film)) (0 .))", ["great film"]),
        ("(60 (0 It) (60 (60 (60 was) (60 and)) (0 it)))", ["It was and it"]),
        ("(0 (0 x) (0 (0 (0 plot) (90 -RRB-)) (0 y)))", []),
        # Neutral says nothing.
        ("(5 (5 a) (5 film))", []),
    ],
)
def test_highlights(brackets, expected):
    assert highlights(brackets) == expected


def test_what_is_turned_round_is_no_highlight_where_the_whole_is_too_uncertain_for_a_label():
    brackets = "(-60 (-46 not) (90 (0 a) (90 (88 great) (0 film))))"
    assert highlights(brackets, abstain=0.5) == ["not a great film"]
    assert highlights(brackets, abstain=0.8) == []
    assert highlights("(0 (60 fun) (90 great))", abstain=0.8) == ["great"]
    assert highlights("(60 fun)", abstain=0.8) == []


def test_there_are_at_most_n():
    text = "(30 (50 (80 good) (0 x)) (30 (70 (70 nice) (0 y)) (60 (60 fine) (0 z))))"
    assert [len(highlights(text, n)) for n in (0, 1, 2, 3)] == [0, 1, 2, 3]
    for odd in (-1, 1.5, None):
        with pytest.raises(InputError, match=f"found {odd}"):
            highlights(text, odd)


def test_a_phrase_with_many_words_does_not_grow():
    words = "w " * 11
    brackets = "(90 great)"
    for word in words.split():
        brackets = f"(90 (0 {word}) {brackets})"
    (text,) = highlights(f"(0 (0 end) {brackets})", 1)
    assert len(text.split()) == 10


def test_of_classes_that_are_no_scale_the_surest_phrases():
    tree = from_brackets("(1 (0 (0 paid) (0 twice)) (1 (1 my) (1 router)))")
    scores = np.full((7, 2), 0.1, np.float32)
    for node, label in enumerate(tree.labels):
        scores[node, int(label)] = 0.9 if node != 2 else 0.95
    prediction = prediction_of(tree.words, tree.transitions, scores, ("billing", "technical"))
    assert [each.text for each in prediction.highlights()][:2] == ["paid twice", "my router"]
