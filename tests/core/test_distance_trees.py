"""Trees of syntactic distances, against the recursion that defines them."""

import numpy as np
import pytest
import torch

from thinstack.core.distance_trees import trees_of_distances
from thinstack.core.schedule import schedule_transitions
from thinstack.core.transitions import MOST_BREAK, balanced, breaks_of, over, parents_of, right


def cut(*sentences, breaks=(0,)):
    """Transitions of a text, which is cut between its sentences at the greatest break, then at the
    greatest of a sentence's distances. Of equal ones, once they are rounded to 1/16 and cut off at
    127, at the greatest multiple of 2531 modulo 2**12, and then at the first."""
    keys = []
    for distances, behind in zip(sentences, breaks, strict=True):
        keys += [
            (0, round(min(127.0, max(-127.0, float(value))) * 16), place * 2531 % 2**12)
            for place, value in enumerate(distances)
        ]
        keys[-1] = (1, behind, 0)

    def tree(start, end):
        if start == end:
            return [0]
        gap = max(range(start, end), key=keys.__getitem__)
        return [*tree(start, gap), *tree(gap + 1, end), 1]

    return tree(0, len(keys) - 1)


def random_distances(random, words):
    """Of one of the shapes that matter: all different, many alike, falling or rising or equal."""
    kind = random.integers(4)
    if kind == 0:
        return random.normal(0, 3, words).astype(np.float32)
    if kind == 1:
        return random.integers(0, 3, words).astype(np.float32)
    if kind == 2:
        return (random.integers(-3, 3, words) / 32).astype(np.float32)
    return (np.arange(words) * random.choice([-1.0, 0.0, 1.0])).astype(np.float32)


def trees(sentences, breaks=None):
    lengths = torch.tensor([len(each) for each in sentences], dtype=torch.int64)
    flat = torch.from_numpy(np.concatenate([np.zeros(0, np.float32), *sentences]))
    behind = torch.zeros_like(lengths) if breaks is None else torch.tensor(breaks)
    return trees_of_distances(flat, lengths, behind)


def check(sentences, breaks=None):
    """All at once, against each by the recursion. A node is one deeper than its parent, and its
    last word is the last that was shifted."""
    found = trees(sentences, breaks)
    breaks = [0] * len(sentences) if breaks is None else breaks
    ends = [place + 1 for place, behind in enumerate(breaks) if behind == 0]
    steps = [
        np.array(cut(*sentences[start:end], breaks=breaks[start:end]))
        for start, end in zip([0, *ends], ends, strict=False)
    ]
    expected = np.concatenate([np.zeros(0, np.int64), *steps])
    np.testing.assert_array_equal(found.transitions, expected)
    np.testing.assert_array_equal(found.last, np.cumsum(expected == 0) - 1)
    parents, _ = parents_of(expected)
    depths = found.depths.numpy()
    assert (depths[parents < 0] == 0).all()
    np.testing.assert_array_equal(depths[parents >= 0], depths[parents[parents >= 0]] + 1)


def test_ten_thousand_sentences():
    random = np.random.default_rng(0)
    for longest in (2, 5, 9, 14, 20):
        check([random_distances(random, n) for n in random.integers(1, longest + 1, 2_000)])


@pytest.mark.parametrize("lengths", [[], [1], [1, 1, 1], [2], [1, 2, 1, 33, 1], [300, 5]])
def test_lengths(lengths):
    random = np.random.default_rng(1)
    check([random_distances(random, n) for n in lengths])


def random_breaks(random, sentences):
    """Texts of some sentences; some breaks are equal, or as great as can be."""
    breaks = random.choice([0, 0, 1, 1, 2, 3, 60, MOST_BREAK - 1, MOST_BREAK], sentences)
    return [*breaks[:-1].tolist(), 0]


def test_a_thousand_batches_of_texts():
    random = np.random.default_rng(2)
    for _ in range(1_000):
        lengths = random.choice([1, 1, 2, 3, 8, 21], random.integers(1, 12))
        sentences = [random_distances(random, n) for n in lengths]
        check(sentences, random_breaks(random, len(sentences)))


@pytest.mark.parametrize("distance", [-5000.0, 127.0, 5000.0])
def test_the_least_break_is_above_all_distances(distance):
    random = np.random.default_rng(3)
    for words in (1, 2, 4_000):
        sentences = [np.full(words, distance, np.float32), random_distances(random, 3)]
        alone = [trees([each]).transitions.numpy() for each in sentences]
        found = trees(sentences, [1, 0]).transitions
        np.testing.assert_array_equal(found, np.concatenate([*alone, [1]]))


@pytest.mark.parametrize("shape", [balanced, right])
@pytest.mark.parametrize("count", [1, 2, 7, 64, 1_000])
def test_the_breaks_of_a_shape_give_its_tree(shape, count):
    random = np.random.default_rng(count)
    sentences = [random_distances(random, n) for n in random.integers(1, 9, count)]
    alone = [trees([each]).transitions.numpy() for each in sentences]
    breaks = breaks_of(shape(count))
    found = trees([*sentences, *sentences], [*breaks, *breaks]).transitions.numpy()
    expected = over(shape(count), alone)
    np.testing.assert_array_equal(found, np.concatenate([expected, expected]))


@pytest.mark.parametrize("distance", [0.0, -1000.0, 5000.0])
def test_equal_distances_make_no_chain(distance):
    found = trees([np.full(words, distance, np.float32) for words in (10_000, 7)])
    # A random binary search tree of 10,000 keys is some 2 ln n + O(1) = 30 deep.
    assert len(schedule_transitions(found.transitions).leaf_counts) < 40
