"""Transitions against a stack that is pushed and popped one transition at a time."""

import itertools
import math

import numpy as np
import pytest
from core.random_trees import BINARY, nodes_of
from hypothesis import given
from hypothesis import strategies as st

from thinstack.core import transitions
from thinstack.errors import TreeError


def run(steps):
    """Parents, slots and spans of the nodes of a batch, by running its transitions on one stack."""
    parents, slots, spans, stack, words = [-1] * len(steps), [0] * len(steps), [], [], 0
    for node, step in enumerate(steps):
        if step:
            right, left = stack.pop(), stack.pop()
            parents[left] = parents[right] = node
            slots[right] = 1
            spans.append([spans[left][0], spans[right][1]])
        else:
            spans.append([words, words + 1])
            words += 1
        stack.append(node)
    return parents, slots, spans


def steps_of(trees):
    return [int(node.word is None) for tree in trees for node in nodes_of(tree)]


@given(st.lists(BINARY, max_size=4))
def test_parents_slots_and_spans_of_a_batch(trees):
    steps = steps_of(trees)
    array = transitions.validate(np.array(steps, np.int64))
    assert array.dtype == np.int8
    assert array.tolist() == steps
    parents, slots, spans = run(steps)
    found_parents, found_slots = transitions.parents_of(array)
    assert found_parents.tolist() == parents
    assert found_slots.tolist() == slots
    assert transitions.spans_of(array).tolist() == spans


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5, 8, 13, 100])
def test_left_and_right_branching(words):
    _, _, left = run(transitions.left(words).tolist())
    _, _, right = run(transitions.right(words).tolist())
    wide = range(2, words + 1)
    assert [span for span in left if span[1] - span[0] > 1] == [[0, end] for end in wide]
    expected = [[words - size, words] for size in wide]
    assert [span for span in right if span[1] - span[0] > 1] == expected
    assert len(left) == len(right) == 2 * words - 1


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5, 7, 8, 9, 31, 100, 257])
def test_balanced_halves_differ_by_one_at_most_and_the_left_is_the_greater(words):
    parents, _, spans = run(transitions.balanced(words).tolist())
    assert spans[-1] == [0, words]
    sizes = {}
    for parent, (start, end) in zip(parents, spans, strict=True):
        sizes.setdefault(parent, []).append(end - start)
    for parent, children in sizes.items():
        if parent >= 0:
            total = sum(children)
            assert children == [math.ceil(total / 2), math.floor(total / 2)]


@given(BINARY, st.data())
def test_a_tree_over_trees(tree, data):
    top = steps_of([tree])
    below = [steps_of([data.draw(BINARY)]) for _ in range(top.count(0))]
    found = transitions.over(np.array(top), [np.array(steps) for steps in below])
    ends = np.cumsum([0, *((len(steps) + 1) // 2 for steps in below)]).tolist()
    expected = [
        [ends[start], ends[end]]
        for (start, end), step in zip(run(top)[2], top, strict=True)
        if step
    ]
    for first, steps in zip(ends, below, strict=False):
        expected += [[first + start, first + end] for start, end in run(steps)[2]]
    assert sorted(run(found.tolist())[2]) == sorted(expected)
    alone = [step for steps in below for step in steps]
    assert transitions.sentence_trees(found, np.diff(ends)).tolist() == alone


@given(BINARY)
def test_breaks_are_greater_above(tree):
    steps = steps_of([tree])
    breaks, (parents, _, spans) = transitions.breaks_of(np.array(steps)), run(steps)
    assert sorted(breaks.tolist()) == [*range(spans[-1][1])]
    assert breaks[-1] == 0
    cut = {node: spans[node - 1][0] - 1 for node, step in enumerate(steps) if step}
    for node, gap in cut.items():
        assert parents[node] < 0 or breaks[gap] < breaks[cut[parents[node]]]


def test_a_balanced_tree_handed_out_cannot_be_spoilt_for_the_next_caller():
    with pytest.raises(ValueError, match="read-only"):
        transitions.balanced(5)[0] = 1
    assert transitions.balanced(5).tolist() == [0, 0, 1, 0, 1, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("steps", "words", "message"),
    [
        ([0, 0, 2], None, "transition 2 is 2"),
        ([0, -1, 1], None, "transition 1 is -1"),
        ([1], None, "transition 0 is a REDUCE"),
        ([0, 1, 0], None, "transition 1 is a REDUCE"),
        ([0, 0, 1, 1, 0], None, "transition 3 is a REDUCE"),
        ([0, 0, 1], 3, "3 words has 5 transitions, got 3"),
        ([0, 0], 1, "1 words has 1 transitions, got 2"),
        ([0, 0, 0], 2, "transition 2 is the last, but it leaves 3 nodes"),
        ([0], 0, "got 0"),
        ([[0, 0, 1]], None, r"got shape \(1, 3\)"),
        ([0.0, 0.0, 1.0], None, "float64"),
        ([False, False, True], None, "bool"),
    ],
)
def test_what_is_no_transition_sequence_is_refused(steps, words, message):
    with pytest.raises(TreeError, match=message):
        transitions.validate(steps, words=words)


@pytest.mark.parametrize("shape", [transitions.left, transitions.right, transitions.balanced])
def test_a_tree_without_words_is_refused(shape):
    for words in (0, -1):
        with pytest.raises(TreeError, match=f"got {words}"):
            shape(words)


@pytest.mark.parametrize("size", range(1, 8))
def test_what_few_transitions_are_is_told_alike_by_both(size):
    for steps in itertools.product((0, 1, 2), repeat=size):
        fault = transitions.first_fault(np.array(steps), np.array([size]))
        assert transitions.is_tree(steps) == (fault is None)
