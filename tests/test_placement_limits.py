"""What the shipped models exchange with a GPU at most: a change that adds a copy fails here. Lower
the limits when a change takes one away."""

from pathlib import Path

import onnx
import pytest
from onnx import helper

from thinstack.bundle import open_bundle
from thinstack.bundle.manifest import ONNX_FILE

ROOT = Path(__file__).parents[1]
CONTEXT = ROOT / "models/thinstack-sentiment-context/thinstack_sentiment_context/model"


@pytest.fixture(scope="module")
def modules():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        import placement_graph
        import placement_kernels
        import placement_run

        yield {"graph": placement_graph, "kernels": placement_kernels, "run": placement_run}


@pytest.fixture(scope="module")
def webgpu(modules):
    return modules["kernels"].Kernels.read("webgpu")


def fixed(modules, main):
    """What a file has the GPU and host exchange, wherever it stands, and what the host computes in
    loops: counts that depend on no batch."""
    levels = list(main.levels())
    edges = [each for each in modules["graph"].crossings(main) if each.level is not main]
    return {
        "copies": sum(len(each.to_gpu) + len(each.to_host) for each in levels if not each.loops),
        "edges of conditions": sum(not each.level.loops for each in edges),
        "copies in loops": sum(
            len(each.to_gpu) + len(each.to_host) for each in levels if each.loops
        ),
        "edges of loops": sum(each.level.loops > 0 for each in edges),
        "nodes of the CPU in loops": sum(
            not placed.gpu for each in levels if each.loops for placed in each.nodes
        ),
        "products of the CPU": sum(
            not placed.gpu and placed.node.op_type in ("Gemm", "MatMul", "MatMulInteger", "LSTM")
            for each in levels
            for placed in each.nodes
        ),
    }


@pytest.fixture(scope="module")
def bundled(modules):
    return modules["run"].optimised(open_bundle("sentiment").read(ONNX_FILE))


MOST = {
    "copies": 43,
    "edges of conditions": 9,
    "copies in loops": 1,
    "edges of loops": 6,
    "nodes of the CPU in loops": 22,
    "products of the CPU": 0,
}
MOST_CONTEXT = {
    "copies": 105,
    "edges of conditions": 9,
    "copies in loops": 1,
    "edges of loops": 10,
    "nodes of the CPU in loops": 22,
    "products of the CPU": 36,
}


def beyond(found, most):
    return {name: count for name, count in found.items() if count > most[name]}


def test_the_bundled_model_exchanges_no_more_with_a_gpu(modules, bundled, webgpu):
    assert not beyond(fixed(modules, modules["graph"].place(bundled, webgpu)), MOST)


def test_nor_does_the_one_that_reads_context(modules, webgpu):
    model = modules["run"].optimised(open_bundle(CONTEXT).read(ONNX_FILE))
    assert not beyond(fixed(modules, modules["graph"].place(model, webgpu)), MOST_CONTEXT)


def test_one_copy_more_is_found(modules, bundled, webgpu):
    """In the loop over depths: WebGPU has no kernel of Round."""
    changed = onnx.ModelProto()
    changed.CopyFrom(bundled)
    loop = next(node for node in changed.graph.node if node.op_type == "Loop")
    (body,) = modules["graph"].bodies_of(loop)
    place, tanh = next((at, n) for at, n in enumerate(body.node) if n.op_type == "Tanh")
    inner, tanh.output[0], name = "before", "before", tanh.output[0]
    body.node.insert(place + 1, helper.make_node("Round", [inner], [name]))
    before, after = (
        fixed(modules, modules["graph"].place(each, webgpu)) for each in (bundled, changed)
    )
    assert after["copies in loops"] == before["copies in loops"] + 2
    assert after["nodes of the CPU in loops"] == before["nodes of the CPU in loops"] + 1
    assert beyond(after, MOST)
