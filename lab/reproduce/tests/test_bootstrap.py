"""The paired bootstrap against closed forms and scipy's own."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from reproduce.bootstrap import interval
from reproduce.cases import Cases
from reproduce.measures import WHOLE, accuracy
from reproduce.tests.test_comparison import seed_of

NORMAL = stats.norm.ppf(0.975)


def drawn(share, count, ease, seed):
    """Which of `count` cases are right, where easy ones are right more often."""
    return (np.random.default_rng(seed).random(count) < share * ease).astype(int).tolist()


@pytest.fixture(scope="module")
def pair():
    ease = np.random.default_rng(9).choice([0.4, 1.0], 800)
    return drawn(0.9, 800, ease, 1), drawn(0.8, 800, ease, 2)


def test_one_seed_each_is_scipys_paired_bootstrap(pair):
    whole = stats.bootstrap(
        [np.array(right, float) for right in pair],
        lambda a, b, axis: 100 * (a - b).mean(axis),
        paired=True,
        method="percentile",
        n_resamples=4000,
        rng=np.random.default_rng(5),
    ).confidence_interval
    found = interval([seed_of(pair[0])], [seed_of(pair[1])], accuracy, draws=4000)
    assert found == pytest.approx((whole.low, whole.high), abs=0.1 * (whole.high - whole.low))


def test_seeds_are_drawn_too():
    """All cases of a seed are right, or none: so only the seeds vary."""
    first = [seed_of([right] * 50) for right in [1] * 5 + [0] * 5]
    found = interval(first, [seed_of([0] * 50)], accuracy)
    of_seeds = 100 * stats.binom.ppf([0.025, 0.975], 10, 0.5) / 10
    assert found == pytest.approx(tuple(of_seeds))


def test_the_same_answers_differ_in_nothing():
    assert interval([seed_of([1, 0, 1, 0])], [seed_of([1, 0, 1, 0])], accuracy) == (0, 0)


def test_draws_are_the_same_each_time(pair):
    rows = [seed_of(pair[0])], [seed_of(pair[1])]
    assert interval(*rows, accuracy, draws=50) == interval(*rows, accuracy, draws=50)


def test_phrases_do_not_count():
    whole = [1] * 40 + [0] * 40
    found = interval(
        [seed_of([1] * 80, whole=whole)], [seed_of([1] * 40 + [0] * 40, whole=whole)], accuracy
    )
    assert found == (0, 0)


@pytest.mark.parametrize("other", [[], [seed_of([1, 0])], [seed_of([1, 0, 1], gold=[7, 7, 8])]])
def test_rows_of_other_cases_have_no_interval(other):
    assert interval([seed_of([1, 0, 1])], other, accuracy) is None
    assert interval(other, [seed_of([1, 0, 1])], accuracy) is None


def test_correlations():
    """Fisher's z of one sample, against ratings that another row answers exactly."""
    random = np.random.default_rng(3)
    gold = random.normal(size=600)
    noisy = gold + random.normal(size=600)
    exact, guessed = rated(gold, gold), rated(gold, noisy)
    found = interval([guessed], [exact], WHOLE["pearson"], draws=1000)
    z = np.arctanh(np.corrcoef(gold, noisy)[0, 1])
    expected = np.tanh([z - NORMAL / sqrt(597), z + NORMAL / sqrt(597)]) - 1
    assert found == pytest.approx(tuple(expected), abs=0.01)
    assert interval([rated(gold, 0 * gold)], [exact], WHOLE["pearson"], draws=10) is None


def rated(gold, predicted):
    whole, unknown = np.ones(len(gold), bool), np.full(len(gold), np.nan)
    return Cases(gold, predicted, unknown, unknown, whole, ~whole, unknown, unknown)
