"""The schedule in the graph against that of torch."""

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from export_models import Arrays, random_parents, random_tree
from onnx.reference import ReferenceEvaluator

from thinstack.core import schedule as core
from thinstack.core import transitions as shapes
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx_schedule import (
    Forest,
    forest_of_lengths,
    forest_of_transitions,
    schedule,
)

INT64 = onnx.TensorProto.INT64
TABLES = {"children", "child_kinds", "child_rows"}


def finish(g: Graph, forest: Forest, arity: int) -> bytes:
    plan = schedule(g, forest, arity)
    sizes = {"steps": [], "bounds": ["D", 6]} | {name: ["I", "arity"] for name in TABLES}
    for name, value in plan._asdict().items():
        if arity == 0 and name in TABLES:
            continue
        g.output(value, f"_{name}", INT64, sizes.get(name, [name]))
    return g.model({}, producer_version="1")


@pytest.fixture(scope="module")
def binary() -> bytes:
    g = Graph("g")
    return finish(g, forest_of_transitions(g, g.input("transitions", INT64, ["N"])), 2)


@pytest.fixture(scope="module")
def chains() -> bytes:
    g = Graph("g")
    return finish(
        g, forest_of_lengths(g, g.input("lengths", INT64, ["B"]), g.input("words", INT64, ["L"])), 1
    )


@pytest.fixture(scope="module", params=[0, 1, 2, 3])
def trees(request: pytest.FixtureRequest) -> tuple[int, bytes]:
    """Arity, and the schedule of parents for it."""
    g = Graph("g")
    parents, slots, kinds = (g.input(name, INT64, ["N"]) for name in ("parents", "slots", "kinds"))
    return request.param, finish(g, Forest(parents, slots, kinds), request.param)


def runs(file: bytes, inputs: Arrays) -> list[Arrays]:
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    reference = ReferenceEvaluator(onnx.load_from_string(file))
    names = [value.name.removeprefix("_") for value in session.get_outputs()]
    return [
        dict(zip(names, run(None, inputs), strict=True)) for run in (session.run, reference.run)
    ]


def check(found: Arrays, expected: core.Schedule, parents: np.ndarray, slots: np.ndarray) -> None:
    """Compare all fields but `trees`; `parents` and `slots` are of the same forest."""
    wanted = {name: values.numpy() for name, values in expected._asdict().items()}
    leaf, inner = wanted["leaf_counts"], wanted["inner_counts"]
    leaf_end, inner_end, all_end = np.cumsum(leaf), np.cumsum(inner), np.cumsum(leaf + inner)
    columns = [(leaf_end - leaf)[:-1], leaf_end[:-1], (inner_end - inner)[1:], inner_end[1:]]
    columns += [(all_end - leaf - inner)[:-1], all_end[:-1]]
    wanted["steps"], wanted["bounds"] = len(leaf) - 1, np.stack(columns, 1)
    last = len(parents) - (leaf + inner)[-1]
    wanted["last"], wanted["last_leaves"] = [last], [leaf.sum() - leaf[-1]]
    wanted["root_rows"], wanted["roots"] = wanted["roots"], np.flatnonzero(parents < 0)
    wanted["places"] = np.argsort(wanted["rows"])
    if wanted["children"].shape[1]:
        rows = np.zeros((len(parents), wanted["children"].shape[1]), np.int64)
        for child in np.flatnonzero(parents >= 0):
            rows[parents[child], slots[child]] = wanted["stacked"][child]
        wanted["child_rows"] = rows[wanted["inner"]]
    for name in found.keys() - {"trees"}:
        part = (
            slice(last) if name == "owners" else ...
        )  # the last step's nodes are roots, which have no owner
        np.testing.assert_array_equal(
            found[name][part], np.asarray(wanted[name])[part], err_msg=name
        )


def parents_of_chains(lengths: list[int]) -> np.ndarray:
    ends = np.cumsum(lengths) - 1
    return np.where(np.isin(np.arange(sum(lengths)), ends), -1, np.arange(sum(lengths)) + 1)


@pytest.mark.parametrize(
    "forest",
    [
        [],
        [[0]],
        [[0], [0], [0]],
        [shapes.left(40)],
        [shapes.right(40)],
        [shapes.balanced(21), [0], shapes.left(3)],
        [random_tree(size, seed) for seed, size in enumerate((1, 30, 2, 17, 1, 9))],
    ],
)
def test_transitions(binary: bytes, forest: list) -> None:
    steps = np.concatenate(
        [np.zeros(0, np.int64), *(np.asarray(tree, np.int64) for tree in forest)]
    )
    expected = core.schedule_transitions(torch.from_numpy(steps))
    for found in runs(binary, {"transitions": steps}):
        check(found, expected, *shapes.parents_of(steps))
        np.testing.assert_array_equal(
            found["trees"], np.repeat(np.arange(len(forest)), [len(tree) for tree in forest])
        )
        if forest:
            np.testing.assert_array_equal(found["child_rows"], core.child_rows(expected).numpy())


def test_lengths_beyond_the_words_are_an_error_and_not_that_much_memory(chains: bytes) -> None:
    session = onnxruntime.InferenceSession(chains, providers=["CPUExecutionProvider"])
    with pytest.raises(Exception, match="indices element out of data bounds"):
        session.run(None, {"lengths": np.array([2, 10**11]), "words": np.zeros(5, np.int64)})


@pytest.mark.parametrize("lengths", [[], [1], [1, 1], [30], [3, 1, 8, 2]])
def test_lengths(chains: bytes, lengths: list[int]) -> None:
    given = np.array(lengths, np.int64)
    expected = core.schedule_lengths(torch.from_numpy(given))
    parents = parents_of_chains(lengths)
    for found in runs(chains, {"lengths": given, "words": np.zeros(sum(lengths), np.int64)}):
        check(found, expected, parents, np.zeros_like(parents))
        np.testing.assert_array_equal(found["trees"], np.repeat(np.arange(len(lengths)), lengths))


@pytest.mark.parametrize("nodes", [0, 1, 2, 7, 12, 60])
@pytest.mark.parametrize("seed", range(3))
def test_parents_with_missing_children_and_any_order(
    trees: tuple[int, bytes], nodes: int, seed: int
) -> None:
    arity, file = trees
    random = np.random.default_rng(seed)
    parents, slots = random_parents(nodes, 1 + int(random.integers(4)), arity, random)
    slots = (
        slots if arity else random.integers(0, 5, nodes)
    )  # told on, though no table is made of them
    kinds = random.integers(1, 4, nodes)
    expected = core.schedule_parents(
        *(torch.from_numpy(array) for array in (parents, slots, kinds)), arity
    )
    for found in runs(file, {"parents": parents, "slots": slots, "kinds": kinds}):
        check(found, expected, parents, slots)


def test_edges_are_of_kind_1_where_none_is_given() -> None:
    g = Graph("g")
    parents = g.input("parents", INT64, ["N"])
    file = finish(g, Forest(parents, parents), 0)
    for found in runs(file, {"parents": np.array([1, -1, 1])}):
        np.testing.assert_array_equal(found["kinds"], [1, 1, 1])
