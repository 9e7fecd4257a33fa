"""`lab/benchmarks/placement.py`: where nodes run, what is copied, and what that costs."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from onnx import TensorProto, helper

ROOT = Path(__file__).parents[2]
TREES = ["(3 (2 A) (4 (4 wonderful) (2 film)))", "(1 (2 (2 It) (2 is)) (1 dull))"]
NAMES = ("batches", "counts", "graph", "kernels", "page", "plan", "run")


@pytest.fixture(scope="module")
def modules():
    """The benchmark's modules, by the end of their names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "lab" / "benchmarks")
        import placement
        import placement_batches
        import placement_counts
        import placement_graph
        import placement_kernels
        import placement_plan
        import placement_run

        found = (placement_batches, placement_counts, placement_graph, placement_kernels)
        yield dict(zip(NAMES, (*found, placement, placement_plan, placement_run), strict=True))


@pytest.fixture(scope="module")
def webgpu(modules):
    return modules["kernels"].Kernels.read("webgpu")


def value(name, kind=TensorProto.FLOAT, sides=None):
    return helper.make_tensor_value_info(name, kind, sides)


def model_of(nodes, inputs, outputs, **constants):
    tensors = [helper.make_tensor(name, *rest) for name, rest in constants.items()]
    graph = helper.make_graph(nodes, "main", inputs, outputs, tensors)
    for number, node in enumerate(graph.node):
        node.name = f"n{number}"
    imports = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def test_shapes_stay_on_the_host(modules, webgpu):
    """What follows a Shape stays there, with small constants; what also reads the GPU does not."""
    nodes = [
        helper.make_node("Relu", ["x"], ["y"]),
        helper.make_node("Shape", ["y"], ["sides"]),
        helper.make_node("Cast", ["sides"], ["whole"], to=TensorProto.INT32),
        helper.make_node("Mul", ["whole", "two"], ["twice"]),  # WebGPU has a kernel of it
        helper.make_node("Cast", ["y"], ["z"], to=TensorProto.INT32),
        helper.make_node("Add", ["twice", "z"], ["sum"]),
    ]
    model = model_of(
        nodes,
        [value("x", sides=["a"])],
        [value("sum", TensorProto.INT32)],
        two=(TensorProto.INT32, [1], [2]),
    )
    kernels = dataclasses.replace(webgpu, follows_host=True)
    main = modules["graph"].place(model, kernels)
    on_gpu = [placed.node.op_type for placed in main.nodes if placed.gpu]
    assert on_gpu == ["Relu", "Shape", "Cast", "Add"]
    assert (main.to_gpu, main.to_host) == (["twice"], [])
    # A plugin's own rule: the Cast from int64 has no kernel, and what reads it may have one.
    main = modules["graph"].place(model, webgpu)
    assert [placed.gpu for placed in main.nodes] == [True, True, False, True, True, True]
    assert (main.to_gpu, main.to_host) == (["whole"], [])


def test_a_kernel_takes_a_shape_from_the_host(modules, webgpu):
    """A node that reads sides where its kernel wants them, on the host, stays on the GPU."""
    nodes = [
        helper.make_node("Shape", ["x"], ["sides"]),
        helper.make_node("Expand", ["one", "sides"], ["ones"]),
    ]
    one = (TensorProto.FLOAT, [1], [1.0])
    model = model_of(nodes, [value("x", sides=["a"])], [value("ones")], one=one)
    main = modules["graph"].place(model, webgpu)
    assert [placed.gpu for placed in main.nodes] == [True, True]
    assert (main.to_gpu, main.to_host) == ([], [])


def test_an_input_of_both_sides_is_copied_once(modules, webgpu):
    nodes = [helper.make_node(name, ["x"], [name]) for name in ("Relu", "Tanh", "Round")]
    model = model_of(nodes, [value("x", sides=["a"])], [value("Relu"), value("Round")])
    main = modules["graph"].place(model, webgpu)
    assert (main.to_gpu, main.to_host) == (["x"], [])
    crossing = [(each.value, each.to_gpu) for each in modules["graph"].crossings(main)]
    assert crossing == [("Relu", False)]  # a result; what Tanh gives is no one's


@pytest.fixture
def looped(modules):
    """Three steps of h = round(h @ w): a product on the GPU and a Round on the host."""
    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["h", "w"], ["product"], name="product"),
            helper.make_node("Round", ["product"], ["next"], name="round"),
            helper.make_node("Identity", ["go"], ["on"], name="going"),
        ],
        "body",
        [value("i", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("h")],
        [value("on", TensorProto.BOOL, []), value("next")],
    )
    nodes = [helper.make_node("Loop", ["count", "true", "x"], ["y"], body=body)]
    return model_of(
        nodes,
        [value("x", sides=["a", 4])],
        [value("y")],
        count=(TensorProto.INT64, [], [3]),
        true=(TensorProto.BOOL, [], [True]),
        w=(TensorProto.FLOAT, [4, 4], [0.5] * 16),
    )


def test_what_a_loop_copies_counts_each_time(modules, looped, webgpu):
    feeds = {"x": np.ones((5, 4), np.float32)}
    runs = modules["run"].run_on_cpu(looped, feeds)
    main = modules["graph"].place(looped, webgpu)
    found = modules["counts"].foretold(main, runs, feeds)
    # By step: h goes in at the edge; the product comes back by a node, 5 x 4 floats.
    assert found == modules["run"].Counts(
        kernels=3,
        host_nodes=7,
        host_nodes_in_loops=6,
        copies_in=0,
        copies_back=3,
        bytes_in=0,
        bytes_back=3 * 80,
        edges_in=3,
        edges_back=0,
    )
    assert found.waits == 3
    assert modules["counts"].operations(runs) == 3 * 2 * 5 * 4 * 4
    # Each step: the product reads 80 + 64 bytes and gives 80; Round 80 and 80; Identity 1 and 1.
    assert modules["counts"].traffic(runs) == 3 * (224 + 160 + 2)


def test_operations_of_other_products(modules):
    ran = modules["run"].Ran
    gemm = ran("g", "Gemm", "", (("float", (8, 5)), ("float", (8, 3))), (("float", (5, 3)),), 0, 0)
    inputs = tuple(("float", sides) for sides in ((7, 2, 10), (2, 24, 10), (2, 24, 6)))
    lstm = ran("l", "LSTM", "", inputs, (("float", (7, 2, 2, 6)),), 0, 0)
    found = modules["counts"].operations({"g": [gemm], "l": [lstm]})
    # Seven steps of two sentences in two directions: four gates of 6 over 10 inputs and 6 states.
    assert found == 2 * 5 * 3 * 8 + 2 * 7 * 2 * 2 * 4 * 6 * (10 + 6)


def test_counts_of_a_profile(modules):
    gpu, cpu = modules["run"].WEBGPU, "CPUExecutionProvider"

    def ran(operator, provider, start, end):
        return modules["run"].Ran(
            operator, operator, provider, (), (("float", (2, 3)),), start, end
        )

    runs = [
        ran("Gemm", gpu, 0, 5),
        ran("MemcpyToHost", gpu, 5, 6),
        ran("Gather", cpu, 6, 7),
        ran("Slice", cpu, 11, 12),
        ran("MemcpyFromHost", gpu, 12, 13),
        ran("Tanh", gpu, 14, 15),
        ran("Loop", cpu, 10, 20),
    ]
    found = modules["run"].counts_of_profile(runs, "webgpu")
    assert found == modules["run"].Counts(2, 3, 1, 1, 1, 24, 24)


def test_when_a_card_pays(modules):
    plan = modules["plan"]
    counts = modules["run"].Counts(100, 0, 0, 3, 2, 0, 0, 0, 0)
    # 100 launches, 3 + 2 + 2 copies, 2 + 1 waits.
    assert plan.overhead(counts) == pytest.approx(100 * 5e-6 + 7 * 20e-6 + 3 * 50e-6)
    load = plan.Load("one", counts, 2e6, 1e6, 40, core_seconds=1.6e-3)
    card = plan.Card("slow", 1e10, 1e9)  # bytes take longer than products only above 200 GB/s
    assert load.a_sentence(card) == pytest.approx(1e-3)
    assert load.pays_from(card) is None
    fast = plan.Card("fast", 1e12, 1e11)
    sentences = load.pays_from(fast)
    assert load.gpu_seconds(fast, sentences) <= load.cpu_seconds(sentences)
    assert load.gpu_seconds(fast, sentences - 1) > load.cpu_seconds(sentences - 1)
    # 10,000 sentences of 40 nodes are four batches.
    each = load.gpu_seconds(fast, 10_000) - 10_000 * load.a_sentence(fast)
    assert each == pytest.approx(4 * plan.overhead(counts))


@pytest.fixture
def data(tmp_path):
    (tmp_path / "sst").mkdir()
    (tmp_path / "sst/dev.txt").write_text("\n".join(150 * TREES) + "\n", encoding="utf-8")
    return tmp_path


def test_the_command_renews_its_page(modules, data, monkeypatch, capsys):
    page, module = data / "page.md", modules["page"]
    monkeypatch.setattr(modules["batches"], "USUAL_WORDS", range(1, 9))
    page.write_text(f"# Before\n\n{module.BEGIN}\nold\n{module.END}\n\nAfter.\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["placement.py", "one=sentiment", "--data", str(data)])
    sys.argv += ["--sentences", "4", "--depth", "2", "--plan", "--markdown", str(page)]
    with pytest.raises(SystemExit) as ended:
        typer.run(module.main)
    assert ended.value.code == 0
    text = page.read_text("utf-8")
    assert text.startswith(f"# Before\n\n{module.BEGIN}\n\n4 sentences of 3 words")
    assert text.endswith(f"|\n\n{module.END}\n\nAfter.\n")
    rows = [line.split(" | ")[:3] for line in text.splitlines() if line.startswith("| one")]
    devices = ["cuda, foretold", "webgpu, foretold", "cpu, run"]
    assert [row[1:] for row in rows[:6]] == [
        [trees, device] for trees in ("own", "given") for device in devices
    ]
    assert len(rows) == 6 + 1 + 3
    assert capsys.readouterr().out in text.replace(f"{module.BEGIN}\n\n", "")


def test_what_is_missing_is_one_message(modules, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["placement.py", "sentiment", "--data", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        typer.run(modules["page"].main)
    assert ended.value.code == 2
    assert "dev.txt" in capsys.readouterr().err


def test_a_page_without_markers_is_refused(modules):
    with pytest.raises(ValueError, match="expected the lines"):
        modules["page"].renewed("# A page\n", ["a"])
