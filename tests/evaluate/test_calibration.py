"""Calibration error and temperature, against their equations case by case."""

import numpy as np
import pytest
from scipy.special import softmax

from thinstack.evaluate.calibration import BINS, calibration_error, tempered


def by_the_equation(scores, gold):
    """Guo et al. 2017, (1)-(3), bin by bin."""
    total = 0.0
    for m in range(1, BINS + 1):
        inside = [
            (max(row), int(np.argmax(row)) == label)
            for row, label in zip(scores.tolist(), gold.tolist(), strict=True)
            if (m - 1) / BINS < max(row) <= m / BINS
        ]
        if inside:
            acc = sum(right for _, right in inside) / len(inside)
            conf = sum(top for top, _ in inside) / len(inside)
            total += len(inside) / len(gold) * abs(acc - conf)
    return 100 * total


def test_the_error_is_that_of_the_equation():
    draw = np.random.default_rng(0)
    scores, gold = draw.dirichlet([0.5] * 4, size=500), draw.integers(4, size=500)
    assert BINS == 15
    assert calibration_error(scores, gold) == pytest.approx(by_the_equation(scores, gold))
    assert 10 < calibration_error(scores, gold) < 90


def test_errors_of_one_bin_cancel_and_those_of_two_do_not():
    sure = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert calibration_error(sure, np.array([0, 1])) == pytest.approx(50)
    assert calibration_error(np.array([[0.5, 0.5]] * 2), np.array([0, 1])) == pytest.approx(0)
    edge = np.array([[0.6, 0.4], [0.59, 0.41]])  # 0.6 is the upper edge of the bin of 0.59
    assert calibration_error(edge, np.array([0, 1])) == pytest.approx((59 - 40) / 2)
    apart = np.array([[1.0, 0.0], [0.6, 0.4]])
    assert calibration_error(apart, np.array([1, 0])) == pytest.approx((100 + 40) / 2)
    assert calibration_error(np.zeros((0, 2)), np.zeros(0, np.int64)) is None


def test_a_temperature_divides_logits():
    logits = np.random.default_rng(1).normal(0, 3, (20, 5))
    found = tempered(softmax(logits, axis=1), 1.7)
    np.testing.assert_allclose(found, softmax(logits / 1.7, axis=1), atol=1e-12)
    certain = tempered(np.array([[1, 0, 0]], np.float32), 0.1)
    np.testing.assert_allclose(certain, [[1, 0, 0]], atol=1e-12)
