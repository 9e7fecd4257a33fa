"""What the shipped models exchange with a GPU at most: a change that adds a copy fails here. Lower
the limits when a change takes one away."""

from pathlib import Path
from types import SimpleNamespace

import onnx
import pytest
from onnx import helper

ROOT = Path(__file__).parents[2]
CONTEXT = ROOT / "models/thinstack-sentiment-context/thinstack_sentiment_context/model"
BUNDLES = {"sentiment": "sentiment", "context": str(CONTEXT)}
PRODUCTS = ("Gemm", "MatMul", "MatMulIntegerToFloat", "LSTM")

FIXED = ("copies", "edges", "copies in loops", "edges of loops", "CPU in loops", "CPU's products")
MOST = {
    ("sentiment", "on_gpu"): (5, 5, 1, 6, 25, 0),
    ("context", "on_gpu"): (4, 7, 1, 10, 25, 0),
    ("sentiment", "content"): (38, 11, 1, 6, 22, 0),
    ("context", "content"): (103, 12, 1, 10, 22, 0),
}
"""The limits of `FIXED`, by bundle and by its file: the one for GPUs, and the one for CPUs, which a
GPU runs where a bundle has no other."""

A_BATCH = ("kernels", "copies_in", "copies_back", "waits")
MOST_OF_A_BATCH = {"sentiment": (204, 3, 0, 1), "context": (456, 3, 0, 1)}
"""The limits of `A_BATCH` for `SENTENCES`, of which the models make the trees themselves."""
SENTENCES = [
    "It never bores and it moves you .",
    "Dull .",
    "A wonderful film that never comes alive , but still , I liked most of what I saw in it .",
]


@pytest.fixture(scope="module")
def benchmark():
    """What the tests need of the benchmark's modules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "lab" / "benchmarks")
        import placement_batches
        import placement_counts
        import placement_graph
        import placement_kernels
        import placement_run

        yield SimpleNamespace(
            File=placement_batches.File,
            foretold=placement_counts.foretold,
            graph=placement_graph,
            run=placement_run,
            webgpu=placement_kernels.Kernels.read("webgpu"),
        )


@pytest.fixture(scope="module")
def files(benchmark):
    return {name: benchmark.File.of(path, "") for name, path in BUNDLES.items()}


def fixed(benchmark, model):
    """What an optimised file has the GPU and host exchange, wherever it stands, and what the host
    computes in loops: counts that depend on no batch."""
    main = benchmark.graph.place(model, benchmark.webgpu)
    levels = list(main.levels())
    copies = [(each.loops > 0, len(each.to_gpu) + len(each.to_host)) for each in levels]
    edges = [each.level for each in benchmark.graph.crossings(main) if each.level is not main]
    host = [(each, placed.node) for each in levels for placed in each.nodes if not placed.gpu]
    return {
        "copies": sum(count for in_loop, count in copies if not in_loop),
        "edges": sum(not each.loops for each in edges),
        "copies in loops": sum(count for in_loop, count in copies if in_loop),
        "edges of loops": sum(each.loops > 0 for each in edges),
        "CPU in loops": sum(each.loops > 0 for each, _ in host),
        "CPU's products": sum(node.op_type in PRODUCTS for _, node in host),
    }


def beyond(found, names, most):
    limits = dict(zip(names, most, strict=True))
    return {name: found[name] for name, limit in limits.items() if found[name] > limit}


@pytest.mark.parametrize("one", MOST, ids=" ".join)
def test_a_file_exchanges_no_more_with_a_gpu(benchmark, files, one):
    name, which = one
    model = benchmark.run.optimised(getattr(files[name], which))
    assert not beyond(fixed(benchmark, model), FIXED, MOST[one])


@pytest.mark.parametrize("name", BUNDLES)
def test_nor_does_a_batch(benchmark, files, name):
    file = files[name]
    feeds = file.feeds([SimpleNamespace(words=each.split()) for each in SENTENCES], given=False)
    model = benchmark.run.optimised(file.on_gpu)
    main = benchmark.graph.place(model, benchmark.webgpu)
    counts = benchmark.foretold(main, benchmark.run.run_on_cpu(model, feeds), feeds)
    found = {each: getattr(counts, each) for each in A_BATCH}
    assert found["kernels"] > 100
    assert not beyond(found, A_BATCH, MOST_OF_A_BATCH[name])


@pytest.mark.parametrize(("which", "kind"), [("content", "Loop"), ("on_gpu", "If")])
def test_one_copy_more_is_found(benchmark, files, which, kind):
    """In a step: WebGPU has no kernel of Round."""
    model = benchmark.run.optimised(getattr(files["sentiment"], which))
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    nodes = [node for node in changed.graph.node if node.op_type == kind]
    bodies = [body for node in nodes for body in benchmark.graph.bodies_of(node)]
    body = next(each for each in bodies if any(n.op_type == "Tanh" for n in each.node))
    place, tanh = next((at, n) for at, n in enumerate(body.node) if n.op_type == "Tanh")
    inner, tanh.output[0], name = "before", "before", tanh.output[0]
    body.node.insert(place + 1, helper.make_node("Round", [inner], [name]))
    before, after = (fixed(benchmark, each) for each in (model, changed))
    copies = "copies in loops" if kind == "Loop" else "copies"
    assert after[copies] == before[copies] + 2
    assert beyond(after, FIXED, MOST["sentiment", which])
