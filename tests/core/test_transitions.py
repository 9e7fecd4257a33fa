"""Transitions against a stack that is pushed and popped; `Forest` against nested lists."""

import itertools
import math

import numpy as np
import pytest
from core.random_trees import ANY, BINARY, nodes_of, tree_of
from hypothesis import given
from hypothesis import strategies as st

from thinstack.core import Forest, Tree, transitions
from thinstack.core.forest import join, text_sizes
from thinstack.data.trees.brackets import from_brackets
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
        ([0, 0, 1], 3, "3 words has 5 transitions, found 3"),
        ([0, 0], 1, "1 words has 1 transitions, found 2"),
        ([0, 0, 0], 2, "transition 2 is the last, but leaves 3 nodes"),
        ([0], 0, "found 0"),
        ([[0, 0, 1]], None, r"of shape \(1, 3\)"),
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
        with pytest.raises(TreeError, match=f"found {words}"):
            shape(words)


@pytest.mark.parametrize("size", range(1, 8))
def test_what_few_transitions_are_is_told_alike_by_both(size):
    for steps in itertools.product((0, 1, 2), repeat=size):
        fault = transitions.first_fault(np.array(steps), np.array([size]))
        assert transitions.is_tree(steps) == (fault is None)


@given(st.lists(ANY, max_size=4))
def test_a_forest_is_its_trees_one_after_another(trees):
    forest = Forest.of(tree_of(tree) for tree in trees)
    parents, slots, leaves, offset = [], [], [], 0
    for tree in trees:
        nodes = nodes_of(tree)
        parents += [-1 if node.parent < 0 else node.parent + offset for node in nodes]
        slots += [node.slot for node in nodes]
        leaves += [node.word is not None for node in nodes]
        offset += len(nodes)
    assert forest.parents.tolist() == parents
    assert forest.slots.tolist() == slots
    assert forest.leaves.tolist() == leaves
    assert forest.kinds.tolist() == [1] * offset
    assert forest.sizes.tolist() == [len(nodes_of(tree)) for tree in trees]
    words = [sum(node.word is not None for node in nodes_of(tree)) for tree in trees]
    assert forest.lengths.tolist() == words


@given(st.lists(BINARY, max_size=4))
def test_transitions_of_binary_trees(trees):
    steps = [[int(node.word is None) for node in nodes_of(tree)] for tree in trees]
    found = Forest.of_binary(map(tree_of, trees))
    assert found.transitions.tolist() == [step for tree in steps for step in tree]
    assert found.sizes.tolist() == [len(tree) for tree in steps]
    assert found.lengths.tolist() == [tree.count(0) for tree in steps]
    assert [part.tolist() for part in found.by_tree(found.transitions)] == (steps or [[]])


def test_slots_of_a_dependency_tree_count_from_the_left():
    trees = [
        Tree.from_parents([1, -1, 1, 2, 1], list("abcde")),
        Tree.from_parents([-1, 0, 0], list("fgh")),
    ]
    forest = Forest.of(trees)
    assert forest.parents.tolist() == [1, -1, 1, 2, 1, -1, 5, 5]
    assert forest.slots.tolist() == [0, 0, 1, 0, 2, 0, 0, 1]
    assert forest.lengths.tolist() == forest.sizes.tolist() == [5, 3]


RELATIONS = ("L2", "L0", "absent")


@given(st.lists(ANY, max_size=4))
def test_kinds_follow_the_label_of_the_child(trees):
    expected = []
    for tree in trees:
        for number, node in enumerate(nodes_of(tree)):  # labelled L0, L1, ...
            expected.append({0: 3, 2: 2}.get(number, 1) if node.parent >= 0 else 1)
    assert Forest.of(map(tree_of, trees), RELATIONS).kinds.tolist() == expected


@pytest.mark.parametrize(
    "tree",
    [
        from_brackets("(3 (2 (1 a)) (2 b))"),
        from_brackets("(3 (2 a) (2 b) (2 c))"),
        Tree.from_parents([1, -1, 1], list("abc")),
        Tree.from_parents([1, -1], list("ab")),
    ],
)
def test_other_trees_have_no_transitions(tree):
    with pytest.raises(TreeError, match=r"binarize|only leaves"):
        Forest.of_binary([Tree.left(["x", "y"]), tree])


def test_breaks_are_zeros_where_a_part_has_none():
    sentences = Forest(lengths=np.array([2, 1]))
    text = Forest(lengths=np.array([1, 4, 3]), breaks=np.array([1, 2, 0]))
    assert join([sentences, sentences]).breaks.tolist() == []
    assert join([sentences, text, sentences]).breaks.tolist() == [0, 0, 1, 2, 0, 0, 0]
    assert sentences.inputs(["breaks"])["breaks"].tolist() == [0, 0]
    assert text_sizes(text.lengths, text.breaks).tolist() == [2 * 8 - 1]
    assert text_sizes(text.lengths, np.array([0, 7, 0])).tolist() == [1, 2 * 7 - 1]
