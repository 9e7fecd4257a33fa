"""The vectorised schedule against stacks and buffers that are Python lists."""

import numpy as np
import pytest
import torch
from core.stacks import batch_of, mixed_sizes, random_tree

from thinstack.core import transitions as shapes
from thinstack.core.stack_schedule import (
    numbers_by_making,
    schedule_stack,
    sentence_lengths,
    timetable,
)

SIZES = [[], [1], [2], [3], [1, 1, 1], [3, 1, 2], [1, 5, 2, 5, 1], [7, 7, 7]]
SIZES += [mixed_sizes(20, seed) for seed in range(3)]
SHIFT, REDUCE = 0, 1
every_size = pytest.mark.parametrize("sizes", SIZES, ids=str)


def transitions_of(trees):
    return torch.tensor([step for tree in trees for step in tree], dtype=torch.long)


def simulated(trees, numbers):
    """Everything that the schedule holds, by running each sentence's stack and buffer; entries of a
    step by sentence."""
    words = sum(step == SHIFT for tree in trees for step in tree)
    order = sorted(range(len(trees)), key=lambda k: -len(trees[k]))  # sorted() is stable
    stacks, taken = [[] for _ in trees], [0] * len(trees)
    starts = np.cumsum([0, *((len(tree) + 1) // 2 for tree in trees)]).tolist()
    firsts = np.cumsum([0, *map(len, trees)]).tolist()
    names = "places", "times", "pairs", "fronts", "reduce_counts", "reducing", "counts"
    found = {name: [] for name in names}
    free = [0] * firsts[-1]
    for time in range(max(map(len, trees), default=0)):
        going = [k for k in order if len(trees[k]) > time]
        found["counts"].append(len(going))
        found["reduce_counts"].append(sum(trees[k][time] for k in going))
        for rank, k in enumerate(going):
            node, stack, step = firsts[k] + time, stacks[k], trees[k][time]
            front = starts[k] + taken[k]
            found["places"].append(node)
            found["times"].append(time)
            found["pairs"].append([0, 0, *stack][-2:])
            found["fronts"].append(front if front < starts[k + 1] else words)
            free[node] = int(front < starts[k + 1] and len(stack) > 1)
            if step == REDUCE:
                found["reducing"].append(rank)
                del stack[-2:]
            else:
                taken[k] += 1
            stack.append(numbers[node])
    assert all(len(stack) == 1 for stack in stacks)
    return found | {"free": free, "order": order}


@every_size
@pytest.mark.parametrize("shape", ["random", "left", "right"])
def test_against_stacks_and_buffers(sizes, shape):
    random = np.random.default_rng(sum(sizes))
    make = getattr(shapes, shape, lambda size: np.array(random_tree(random, size)))
    trees = [make(size).tolist() for size in sizes]
    lengths, transitions = torch.tensor(sizes, dtype=torch.long), transitions_of(trees)
    table = timetable(lengths)
    by_making = numbers_by_making(transitions, table)
    for numbers in (by_making, torch.from_numpy(1 + random.permutation(len(transitions)))):
        found = {**table._asdict(), **schedule_stack(transitions, numbers, table)._asdict()}
        for name, expected in simulated(trees, numbers.tolist()).items():
            assert found[name].tolist() == expected, name
            assert found[name].dtype == torch.int64, name

    # Numbers by making: words in order, then the others as the steps make them.
    in_order = [node for node in table.places.tolist() if transitions[node] == REDUCE]
    words = [node for node in range(len(transitions)) if transitions[node] == SHIFT]
    assert by_making[words + in_order].tolist() == list(range(1, len(transitions) + 1))

    ends, nodes = np.cumsum(sizes, dtype=int), 2 * np.array(sizes, int) - 1
    assert table.word_ends.tolist() == np.repeat(ends, sizes).tolist()
    assert table.ends.tolist() == np.repeat(ends, nodes).tolist()
    assert table.firsts.tolist() == [int(k == 0) for size in nodes for k in range(size)]
    assert table.roots.tolist() == [2 * end - k - 1 for k, end in enumerate(ends.tolist(), 1)]


@every_size
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_lengths_of_sentences_from_their_transitions(sizes, dtype):
    for make in (None, shapes.left, shapes.right, shapes.balanced):
        shaped = make and transitions_of([make(size).tolist() for size in sizes])
        transitions = shaped if make else batch_of(sizes).transitions
        found = sentence_lengths(transitions.to(dtype))
        assert found.tolist() == sizes
        assert found.dtype == torch.int64
