"""Curves on cases whose accuracy at every length is known."""

from dataclasses import astuple, replace

import numpy as np
import pytest

from reproduce.cases import Cases
from reproduce.curves import LEAST_CASES, Point, points
from reproduce.shown import Curve


def curve(**changes):
    given = {"name": "length", "title": "", "x": "words", "window": 0, "last": 5, "rows": ["a"]}
    return Curve.model_validate(given | changes)


def cases(right, *, whole=True):
    """At each length so many cases, of which so many are right. They are twice as deep as long."""
    where = np.repeat([*map(float, right)], [count for _, count in right.values()])
    wrong = np.concatenate([np.arange(count) >= good for good, count in right.values()])
    return made(np.zeros(len(where)), wrong.astype(float), where, np.full(len(where), whole))


def made(gold, predicted, words, whole=None):
    known = np.ones(len(gold), bool) if whole is None else whole
    unknown = np.full(len(gold), np.nan)
    return Cases(gold, predicted, words, 2 * words, known, ~known, unknown, unknown)


KNOWN = {1: (40, 40), 2: (30, 40), 3: (20, 40), 4: (10, 40), 5: (0, 40)}


def test_a_window_of_none_takes_each_length_by_itself():
    expected = [Point(x, 125.0 - 25 * x, 0.0, 40) for x in range(1, 6)]
    assert points([cases(KNOWN)], curve()) == expected


def test_a_window_reaches_to_both_sides():
    found = points([cases(KNOWN)], curve(window=1))
    assert [point.mean for point in found] == [100 * 70 / 80, 75.0, 50.0, 25.0, 100 * 10 / 80]
    assert [point.count for point in found] == [80, 120, 120, 120, 80]


def test_the_last_window_holds_the_tail():
    found = points([cases({**KNOWN, 30: (60, 60)})], curve(last=3, window=1))
    assert [(point.x, point.count) for point in found] == [(1, 80), (2, 120), (3, 220)]
    assert found[-1].mean == pytest.approx(100 * (30 + 20 + 10 + 0 + 60) / 220)


def test_half_lengths_of_pairs_lie_in_the_windows_on_both_sides():
    found = points([cases({2.5: (20, 25)})], curve(window=1))
    assert [point.x for point in found] == [2, 3]


def test_depth_is_an_axis_too():
    found = points([cases({2: (10, 40), 3: (20, 40)})], curve(x="depth", last=9))
    assert [(point.x, point.mean) for point in found] == [(4, 25.0), (6, 50.0)]


def grouped(x):
    return Curve.model_validate({"name": "groups", "title": "", "x": x, "rows": ["a"]})


def test_each_class_has_a_point():
    gold = np.repeat([0.0, 2.0], [40, 50])
    predicted = np.concatenate([np.repeat([0.0, 1.0], [10, 30]), np.full(50, 2.0)])
    found = points([made(gold, predicted, np.ones(90))], grouped("class"))
    assert found == [Point(1, 25.0, 0.0, 40), Point(3, 100.0, 0.0, 50)]


def test_sentences_without_a_negation_and_with_one_have_a_point_each():
    negated = np.repeat([True, False], [25, 75])
    right = np.concatenate([np.arange(25) < 10, np.arange(75) < 60])
    one = replace(made(np.ones(100), right.astype(float), np.ones(100)), negated=negated)
    found = points([one], grouped("negation"))
    assert found == [Point(1, 80.0, 0.0, 75), Point(2, 40.0, 0.0, 25)]


@pytest.mark.parametrize("changes", [{"last": 3}, {"window": 1}, {"figure": "pearson"}])
def test_groups_have_no_windows(changes):
    given = {"name": "groups", "title": "", "x": "class", "rows": ["a"]}
    with pytest.raises(ValueError, match="leave out window, last and figure"):
        Curve.model_validate(given | changes)


def test_seconds_are_of_the_row_itself():
    given = {"name": "time", "title": "", "x": "seconds", "rows": ["a"], "variant": "snli"}
    with pytest.raises(ValueError, match="leave out variant"):
        Curve.model_validate(given)


def test_whole_sentences_only_or_all_phrases():
    parts = (astuple(cases({2: (40 * whole, 40)}, whole=whole)) for whole in (True, False))
    both = Cases(*map(np.concatenate, zip(*parts, strict=True)))
    assert points([both], curve()) == [Point(2, 100.0, 0.0, 40)]
    assert points([both], curve(cases="all")) == [Point(2, 50.0, 0.0, 80)]


def test_mean_and_sample_deviation_over_seeds():
    seeds = [cases({2: (good, 40)}) for good in (10, 20, 36)]
    (point,) = points(seeds, curve())
    figures = [25.0, 50.0, 90.0]
    mean = sum(figures) / 3
    assert point.mean == pytest.approx(mean)
    assert point.std == pytest.approx((sum((figure - mean) ** 2 for figure in figures) / 2) ** 0.5)


def test_a_window_of_few_cases_is_left_out():
    enough, few = LEAST_CASES, LEAST_CASES - 1
    one = cases({1: (5, enough), 2: (5, few), 3: (5, enough)})
    assert [point.x for point in points([one], curve())] == [1, 3]
    seeds = [cases({1: (5, enough), 3: (5, few)}), cases({1: (5, enough + 3), 3: (5, enough)})]
    assert [(point.x, point.count) for point in points(seeds, curve())] == [(1, enough)]


def test_correlation_is_that_of_the_window():
    generator = np.random.default_rng(0)
    gold, words = generator.uniform(1, 5, 80), np.repeat([1.0, 2.0], 40)
    noise = np.where(words == 1, 0.1, 2.0) * generator.normal(size=80)
    found = points([made(gold, gold + noise, words)], curve(figure="pearson"))
    halves = slice(0, 40), slice(40, 80)
    by_hand = [np.corrcoef(gold[part], (gold + noise)[part])[0, 1] for part in halves]
    assert [point.mean for point in found] == pytest.approx(by_hand)
    assert found[0].mean > found[1].mean + 0.1


def test_an_undefined_correlation_is_left_out():
    generator = np.random.default_rng(0)
    gold, words = generator.uniform(1, 5, 60), np.repeat([1.0, 2.0], 30)
    seed = made(gold, np.where(words == 1, 3.0, gold), words)
    assert [point.x for point in points([seed], curve(figure="pearson"))] == [2]


def test_no_seed_no_points():
    assert points([], curve()) == []
    assert points([], over_time()) == []


def over_time(**changes):
    return curve(x="seconds", last=0, **changes)


def trace(*epochs):
    """Of seconds, accuracy of sentences, and of phrases."""
    return [
        {"seconds": seconds, "root_accuracy": root, "phrase_accuracy": phrase}
        for seconds, root, phrase in epochs
    ]


def test_seconds_add_up_to_the_end_of_each_epoch():
    seeds = [trace((10, 30.0, 60.0), (5, 40.0, 70.0)), trace((14, 32.0, 64.0), (7, 46.0, None))]
    found = points([cases(KNOWN), cases({1: (9, 30)})], over_time(), seeds)
    assert found == [Point(12.0, 31.0, 2**0.5, 30), Point(18.0, 43.0, 18**0.5, 30)]
    phrases = points([cases(KNOWN)], over_time(cases="all"), seeds[:1])
    assert phrases == [Point(10.0, 60.0, 0.0, 200), Point(15.0, 70.0, 0.0, 200)]


def test_an_epoch_that_a_seed_lacks_is_left_out():
    seeds = [
        trace((1, 1.0, 2.0), (1, 2.0, 3.0), (1, 3.0, 4.0)),
        trace((1, 1.0, 2.0), (1, 2.0, None)),
    ]
    assert [point.x for point in points([cases(KNOWN)] * 2, over_time(), seeds)] == [1, 2]
    assert [point.x for point in points([cases(KNOWN)] * 2, over_time(cases="all"), seeds)] == [1]


def test_of_pairs_the_figure_has_another_name():
    pairs = [{"seconds": 2.0, "accuracy": 55.0, "pearson": 0.5}]
    for figure, expected in (("accuracy", 55.0), ("pearson", 0.5)):
        (point,) = points([cases(KNOWN)], over_time(figure=figure), [pairs])
        assert point.mean == expected


@pytest.mark.parametrize("wrong", [{"x": "seconds", "last": 5}, {"window": 1, "last": 0}])
def test_windows_are_of_lengths(wrong):
    with pytest.raises(ValueError, match="last"):
        curve(**wrong)
