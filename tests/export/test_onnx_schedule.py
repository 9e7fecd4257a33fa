"""The schedule in the graph: torch's own functions over values instead of tensors."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
import torch
from export_models import Arrays, random_parents, random_tree, runtimes, session_of

from thinstack.core import schedule as core
from thinstack.core import stack_schedule
from thinstack.core import transitions as shapes
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.passes import Plan, bounds, schedule_parents
from thinstack.export.onnx.tree_encoder import chains

INT64 = onnx.TensorProto.INT64


def file_of(inputs: list[str], make: Callable[..., Plan]) -> bytes:
    g = Graph("g")
    plan = make(*(g.input(name, INT64, [name]) for name in inputs))
    leaf, inner = plan.leaf_counts, plan.inner_counts
    every = plan._asdict() | {
        "bounds": bounds([leaf[:-1], inner[1:], (leaf + inner)[:-1]]),
        "trees": core.tree_numbers(plan.stacked, plan.roots),
    }
    for name, value in every.items():
        rank = 2 if name == "bounds" or name.startswith("child") else 1
        g.output(value, f"_{name}", INT64, [f"{name}_{k}" for k in range(rank)])
    return g.model({})


def binary_plan(transitions) -> Plan:
    parents, slots = core.parents_of_transitions(transitions)
    return schedule_parents(parents, slots, parents.ones_like(), 2)


def check(file: bytes, inputs: Arrays, expected: core.Schedule) -> None:
    """In both runtimes."""
    wanted = {name: values.numpy() for name, values in expected._asdict().items()}
    leaf, inner = wanted["leaf_counts"], wanted["inner_counts"]
    leaf_end, inner_end, end = np.cumsum(leaf), np.cumsum(inner), np.cumsum(leaf + inner)
    starts = [(leaf_end - leaf)[:-1], (inner_end - inner)[1:], (end - leaf - inner)[:-1]]
    wanted["bounds"] = np.stack([*starts, leaf_end[:-1], inner_end[1:], end[:-1]], 1)
    wanted["trees"] = core.tree_numbers(expected.stacked, expected.roots).numpy()
    names = [value.name.removeprefix("_") for value in session_of(file).get_outputs()]
    for run in runtimes(file):
        for name, found in zip(names, run(None, inputs), strict=True):
            np.testing.assert_array_equal(found, wanted[name], err_msg=name)


@pytest.fixture(scope="module")
def binary():
    return file_of(["transitions"], binary_plan)


FORESTS = [
    [],
    [[0]],
    [[0], [0], [0]],
    [shapes.left(40)],
    [shapes.right(40)],
    [shapes.balanced(21), [0], shapes.left(3)],
    [random_tree(size, seed) for seed, size in enumerate((1, 30, 2, 17, 1, 9))],
]


@pytest.mark.parametrize("forest", FORESTS)
def test_transitions(binary, forest):
    steps = np.concatenate([np.zeros(0, np.int64), *(np.asarray(tree) for tree in forest)])
    steps = steps.astype(np.int64)
    check(binary, {"transitions": steps}, core.schedule_transitions(torch.from_numpy(steps)))


@pytest.fixture(scope="module")
def sentences():
    return file_of(["lengths", "words"], lambda lengths, words: chains(lengths, words))


@pytest.mark.parametrize("lengths", [[], [1], [1, 1], [30], [3, 1, 8, 2]])
def test_lengths(sentences, lengths):
    given = np.array(lengths, np.int64)
    inputs = {"lengths": given, "words": np.zeros(sum(lengths), np.int64)}
    check(sentences, inputs, core.schedule_lengths(torch.from_numpy(given)))


def test_lengths_beyond_the_words_are_an_error_and_not_that_much_memory(sentences):
    session = session_of(sentences)
    with pytest.raises(Exception, match="indices element out of data bounds"):
        session.run(None, {"lengths": np.array([2, 10**11]), "words": np.zeros(5, np.int64)})


@pytest.fixture(scope="module", params=[0, 1, 2, 3])
def trees(request):
    """Arity, and the schedule of parents for it."""
    names = ["parents", "slots", "kinds"]
    return request.param, file_of(names, lambda *inputs: schedule_parents(*inputs, request.param))


@pytest.mark.parametrize("nodes", [0, 1, 2, 7, 12, 60])
@pytest.mark.parametrize("seed", range(3))
def test_parents_with_missing_children_and_any_order(trees, nodes, seed):
    (arity, file), random = trees, np.random.default_rng(seed)
    parents, slots = random_parents(nodes, 1 + int(random.integers(4)), arity, random)
    if not arity:  # told on, though no table is made of them
        slots = random.integers(0, 5, nodes)
    inputs = {"parents": parents, "slots": slots, "kinds": random.integers(1, 4, nodes)}
    tensors = (torch.from_numpy(array) for array in inputs.values())
    check(file, inputs, core.schedule_parents(*tensors, arity))


@pytest.mark.parametrize("forest", FORESTS)
def test_sentence_lengths(forest):
    g = Graph("g")
    found = stack_schedule.sentence_lengths(g.input("transitions", INT64, ["N"]))
    g.output(found, "lengths", INT64, ["B"])
    file = g.model({})
    steps = np.array([step for tree in forest for step in tree], np.int64)
    for run in runtimes(file):
        (lengths,) = run(None, {"transitions": steps})
        assert lengths.tolist() == [(len(tree) + 1) // 2 for tree in forest]
