"""The schedule in the graph against that of torch."""

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from export_models import random_tree
from onnx.reference import ReferenceEvaluator

from thinstack.core import transitions as shapes
from thinstack.core.schedule import schedule_parents, schedule_transitions
from thinstack.export.onnx_graph import Graph
from thinstack.export.onnx_schedule import Forest, Schedule, forest_of_transitions, schedule

INT64 = onnx.TensorProto.INT64


def finish(g: Graph, plan: Schedule) -> bytes:
    shapes = {"steps": [], "bounds": ["D", 6], "children": ["I", "arity"]}
    for name, value in plan._asdict().items():
        if value:
            g.output(value, name, INT64, shapes.get(name, [name]))
    return g.model({}, producer_version="1")


@pytest.fixture(scope="module")
def binary() -> bytes:
    g = Graph("g")
    steps = g.input("transitions", INT64, ["N"])
    return finish(g, schedule(g, forest_of_transitions(g, steps), 2))


def runs(file: bytes, inputs: dict[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    reference = ReferenceEvaluator(onnx.load_from_string(file))
    names = [value.name for value in session.get_outputs()]
    return [dict(zip(names, run(None, inputs), strict=True)) for run in (session.run, reference.run)]


def check(found: dict[str, np.ndarray], expected, arity: int) -> None:
    leaf, inner = expected.leaf_counts.numpy(), expected.inner_counts.numpy()
    leaf_end, inner_end, all_end = np.cumsum(leaf), np.cumsum(inner), np.cumsum(leaf + inner)
    assert found["steps"] == len(leaf) - 1
    columns = [(leaf_end - leaf)[:-1], leaf_end[:-1], (inner_end - inner)[1:], inner_end[1:]]
    columns += [(all_end - leaf - inner)[:-1], all_end[:-1]]
    np.testing.assert_array_equal(found["bounds"], np.stack(columns, 1))
    np.testing.assert_array_equal(found["leaf_words"], expected.leaf_words.numpy())
    np.testing.assert_array_equal(found["inner"], expected.inner.numpy())
    np.testing.assert_array_equal(found["stacked"], expected.stacked.numpy())
    if arity:
        np.testing.assert_array_equal(found["children"], expected.children.numpy())
    owned = [0, *all_end][-2]  # the last step's nodes are roots, which have no owner
    np.testing.assert_array_equal(found["owners"][:owned], expected.owners.numpy()[:owned])


@pytest.mark.parametrize(
    "trees",
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
def test_transitions(binary: bytes, trees: list) -> None:
    steps = np.concatenate([np.zeros(0, np.int64), *(np.asarray(tree, np.int64) for tree in trees)])
    expected = schedule_transitions(torch.from_numpy(steps))
    for found in runs(binary, {"transitions": steps}):
        if trees:
            check(found, expected, 2)
        np.testing.assert_array_equal(found["roots"], np.cumsum([len(tree) for tree in trees]) - 1)
        assert found["steps"] == len(expected.leaf_counts) - 1


@pytest.mark.parametrize("arity", [0, 3])
def test_parents_with_missing_children_and_any_order(arity: int) -> None:
    parents = np.array([3, 3, -1, 2, 6, -1, 5, 3])  # children of 3: 0, 1, 7; of 2: 3; of 6: 4; of 5: 6
    slots = np.array([0, 1, 0, 2, 1, 0, 0, 2])
    g = Graph("g")
    forest = Forest(g.input("parents", INT64, ["N"]), g.input("slots", INT64, ["N"]))
    file = finish(g, schedule(g, forest, arity))
    expected = schedule_parents(*(torch.from_numpy(array) for array in (parents, slots, np.ones(8, np.int64))), arity)
    inputs = {"parents": parents, "slots": slots}
    for found in runs(file, inputs):
        check(found, expected, arity)
        np.testing.assert_array_equal(found["roots"], [2, 5])
