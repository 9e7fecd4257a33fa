"""The dynamic oracle against all ways there are to go on."""

from functools import lru_cache

import numpy as np
import pytest
from core.stacks import random_tree

from thinstack.core.transitions import spans_of
from thinstack.training.examples.example import right_transitions


def phrases(steps):
    """Of two words or more."""
    return {(start, end) for start, end in spans_of(steps).tolist() if end - start > 1}


@lru_cache(None)
def reachable(stack, front, words, wanted):
    """How many wanted phrases the best way to go on still makes."""
    ways = [0]
    if front < words:
        ways.append(reachable((*stack, (front, front + 1)), front + 1, words, wanted))
    if len(stack) > 1:
        joined = (stack[-2][0], stack[-1][1])
        ways.append((joined in wanted) + reachable((*stack[:-2], joined), front, words, wanted))
    return max(ways)


@pytest.mark.parametrize("seed", range(8))
def test_it_leaves_most_gold_phrases_within_reach(seed):
    random = np.random.default_rng(seed)
    answers = set()
    for _ in range(50):
        words = int(random.integers(3, 8))
        gold, taken = np.array(random_tree(random, words)), np.array(random_tree(random, words))
        wanted = frozenset(phrases(gold))
        stack = ()
        front = 0
        for step, answer in zip(taken, right_transitions(gold, taken), strict=True):
            shifted = (*stack, (front, front + 1))
            joined = (stack[-2][0], stack[-1][1]) if len(stack) > 1 else None
            reduced = (*stack[:-2], joined)
            if front < words and joined:
                by_shift = reachable(shifted, front + 1, words, wanted)
                by_reduce = (joined in wanted) + reachable(reduced, front, words, wanted)
                assert answer == (-1 if by_shift == by_reduce else int(by_reduce > by_shift))
                answers.add(int(answer))
            stack, front = (reduced, front) if step else (shifted, front + 1)
    assert answers == {-1, 0, 1}


def test_along_the_gold_tree_it_is_the_gold_transition():
    random = np.random.default_rng(0)
    for words in range(1, 30):
        gold = np.array(random_tree(random, words))
        depth = np.concatenate([[0], np.cumsum(1 - 2 * gold)[:-1]])
        free = (depth > 1) & (np.cumsum(gold == 0) - (gold == 0) < words)
        assert (right_transitions(gold, gold) == gold)[free].all()
