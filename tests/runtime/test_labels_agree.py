"""The label of a scale is on the side of its polarity, in a sentence, a text and rows."""

import numpy as np
import pytest

from thinstack.core.scale import FIVE
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.scored import Scored
from thinstack.runtime.views import View


@pytest.mark.parametrize(
    ("row", "label"),
    [
        # Positive is the most probable class, and the mean is negative (-0.05, counted by hand).
        ([0.25, 0.2, 0.1, 0.4, 0.05], "very negative"),
        ([0.05, 0.4, 0.1, 0.2, 0.25], "very positive"),
        ([0.2, 0.25, 0.1, 0.4, 0.05], "negative"),
        ([0.1, 0.2, 0.1, 0.4, 0.2], "positive"),
        ([0.2, 0.1, 0.4, 0.1, 0.2], "neutral"),
        ([0.4, 0.0, 0.0, 0.2, 0.4], "very positive"),
    ],
)
def test_the_label_is_on_the_side_of_the_polarity(row, label):
    polarity = -row[0] - row[1] / 2 + row[3] / 2 + row[4]
    view = View.of(FIVE)
    sentence = Prediction.of_words(["x"], Scored(np.zeros(1, np.int8), np.array([row])), view)
    assert sentence.label == view.label(row) == label
    assert [phrase.label for phrase in sentence.phrases] == [label]
    assert sentence.polarity == pytest.approx(polarity)
    assert View.of(("a", "b", "c", "d", "e")).label(row) == "abcde"[int(np.argmax(row))]
