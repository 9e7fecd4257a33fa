"""Trees of syntactic distances, against the recursion that defines them."""

import numpy as np
import pytest
import torch

from thinstack.core.distance_trees import trees_of_distances
from thinstack.core.schedule import schedule_transitions
from thinstack.core.transitions import parents_of


def cut(distances):
    """Transitions of a sentence, which is cut at the greatest of its distances. Of equal ones, once
    they are rounded to 1/16 and cut off at 127, at the greatest multiple of 2531 modulo 2**12, and
    then at the first."""
    keys = [
        (round(min(127.0, max(-127.0, float(value))) * 16), place * 2531 % 2**12)
        for place, value in enumerate(distances)
    ]

    def tree(start, end):
        if start == end:
            return [0]
        gap = max(range(start, end), key=keys.__getitem__)
        return [*tree(start, gap), *tree(gap + 1, end), 1]

    return tree(0, len(distances) - 1)


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


def check(sentences):
    """All at once, against each by the recursion, and its parents by those of its transitions; a
    node is one deeper than its parent."""
    lengths = np.array([len(each) for each in sentences], np.int64)
    flat = torch.from_numpy(np.concatenate([np.zeros(0, np.float32), *sentences]))
    found = trees_of_distances(flat, torch.from_numpy(lengths))
    steps = [np.array(cut(each)) for each in sentences]
    expected = np.concatenate([np.zeros(0, np.int64), *steps])
    np.testing.assert_array_equal(found.transitions, expected)
    parents, slots = parents_of(expected)
    np.testing.assert_array_equal(found.parents, parents)
    np.testing.assert_array_equal(found.slots[parents >= 0], slots[parents >= 0])
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


def test_ties_in_a_sentence_longer_than_the_scrambled_places():
    distances = torch.zeros(9_000)
    distances[4_500:] = 1 / 64
    check_one = trees_of_distances(distances, torch.tensor([9_000])).transitions
    np.testing.assert_array_equal(check_one, by_a_stack(distances.tolist()))


def by_a_stack(distances):
    """As `cut`, without recursion: a gap closes all lower ones before it."""
    steps, stack = [0], []
    for place, value in enumerate(distances[:-1]):
        key = (round(value * 16), place * 2531 % 2**12, -place)
        while stack and stack[-1] < key:
            stack.pop()
            steps.append(1)
        stack.append(key)
        steps.append(0)
    return steps + [1] * len(stack)


@pytest.mark.parametrize("distance", [0.0, -1000.0, 5000.0])
def test_equal_distances_make_no_chain(distance):
    lengths = torch.tensor([10_000, 7])
    found = trees_of_distances(torch.full([10_007], distance), lengths)
    # A random binary search tree of 10,000 keys is some 2 ln n + O(1) = 30 deep.
    assert len(schedule_transitions(found.transitions).leaf_counts) < 40


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is:DeprecationWarning")
def test_it_can_be_scripted():
    scripted = torch.jit.script(trees_of_distances)
    distances, lengths = torch.randn(40), torch.tensor([15, 25])
    for found, expected in zip(
        scripted(distances, lengths), trees_of_distances(distances, lengths), strict=True
    ):
        assert torch.equal(found, expected)
