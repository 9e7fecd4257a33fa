"""Measures beside accuracy, against sums worked out by hand."""

from dataclasses import replace
from math import log

import numpy as np
import pytest

from reproduce.cases import Cases
from reproduce.measures import MEASURES, WHOLE, calibration, likelihood, of_seeds


def four():
    """Of four sentences, two are right; the phrase at the end does not count."""
    return Cases(
        gold=np.array([0, 1, 2, 1, 4]),
        predicted=np.array([0, 1, 1, 0, 0]),
        words=np.ones(5),
        depth=np.ones(5),
        whole=np.array([True, True, True, True, False]),
        negated=np.zeros(5, bool),
        likelihood=np.array([0.5, 0.9, 0.25, 0.4, 0.001]),
        confidence=np.array([0.5, 0.9, 0.75, 0.6, 0.9]),
    )


def test_by_hand():
    cases = four()
    found = {name: of_seeds(figure, [cases, cases]) for name, figure in MEASURES.items()}
    nats = -(log(0.5) + log(0.9) + log(0.25) + log(0.4)) / 4
    assert found["negative_log_likelihood"] == pytest.approx([nats, nats])
    points = 100 * (0.5 + 0.1 + 0.75 + 0.6) / 4  # each in a bin of its own
    assert found["calibration_error"] == pytest.approx([points, points])
    assert of_seeds(WHOLE["root_accuracy"], [cases]) == [50.0]


def test_what_is_not_known_is_none():
    old = replace(four(), likelihood=np.full(5, np.nan), confidence=np.full(5, np.nan))
    assert (likelihood(old), calibration(old)) == (None, None)
    assert of_seeds(likelihood, [four(), old]) is None
    assert of_seeds(likelihood, []) is None
    assert likelihood(four().only(np.zeros(5, bool))) is None


def test_a_probability_of_zero_is_finite():
    none = replace(four(), likelihood=np.zeros(5))
    assert likelihood(none) == pytest.approx(-log(2.0**-126))
