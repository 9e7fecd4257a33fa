"""ONNX files that do not fit together or have what no model needs: no runtime sees them."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from onnx import helper, numpy_helper, parser

from thinstack.bundle.gate.onnx_gate import LARGEST, MOST_NODES, check_onnx
from thinstack.bundle.gate.onnx_structure import MOST_STEPS
from thinstack.errors import BundleError

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="how it ends depends on the system")
HEAD = '<ir_version: 8, opset_import: ["" : 18]>'


def model(nodes, output="float[m] y"):
    return parser.parse_model(f"{HEAD} g (int64[n] x) => ({output}) {{{nodes}}}")


def refusal(made):
    with pytest.raises(BundleError) as caught:
        check_onnx(made.SerializeToString(), source="a file")
    return str(caught.value)


def passes(made):
    check_onnx(made.SerializeToString(), source="a file")


def split(parts, outputs):
    """A Split of a vector of known size, into more or fewer parts than it says."""
    names = ", ".join(["y", *(f"y{number}" for number in range(1, outputs))])
    made = "s = Constant<value=int64[1] {4}>() v = ConstantOfShape(s)"
    return model(f"{made} {names} = Split<axis=0, num_outputs={parts}>(v)")


def test_a_split_makes_as_many_parts_as_it_says():
    passes(split(2, 2))
    for parts, outputs in ((2, 4), (4, 2), (-1, 2)):
        message = f"'Split' has {outputs} outputs, but is told to make {parts} parts"
        assert message in refusal(split(parts, outputs))


def exit_code(made, path):
    """How a process ends that runs a model on three numbers, and takes errors."""
    path.write_bytes(made.SerializeToString())
    program = f"""
import contextlib, numpy, onnxruntime
with contextlib.suppress(Exception):
    session = onnxruntime.InferenceSession({str(path)!r}, providers=["CPUExecutionProvider"])
    session.run(None, {{"x": numpy.arange(3)}})
"""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, check=False, env=os.environ).returncode


@LINUX
def test_such_a_split_would_end_the_process(tmp_path):
    """Else the test above is about nothing."""
    assert exit_code(split(2, 2), tmp_path / "good.onnx") == 0
    assert exit_code(split(2, 4), tmp_path / "model.onnx") != 0


def test_the_sizes_of_parts_are_constant_and_as_many_as_the_parts():
    sizes = "s = Constant<value=int64[2] {1, 2}>()"
    passes(model(f"{sizes} y, z = Split<axis=0>(x, s)"))
    for nodes, message in {
        "y, z = Split<axis=0>(x)": "either num_outputs or the sizes",
        "y, z = Split<axis=0>(x, x)": "either num_outputs or the sizes",
        f"{sizes} y, z = Split<num_outputs=2>(x, s)": "either num_outputs or the sizes",
        f"{sizes} y, z, w = Split(x, s)": "3 outputs, but is told to make 2",
        "s = Constant<value=int64[2] {-1, 5}>() y, z = Split(x, s)": "less than nothing",
    }.items():
        assert message in refusal(model(nodes))


LOOP = """
    y = Loop ({inputs}) <body = b (int64 i, bool go{carried}) => ({outputs}) {{
        on = Identity(go)
        made = Cast<to=1>(i)
    }}>"""


def loop(inputs, carried="", outputs="bool on, float made"):
    told = "c = Constant<value=bool {1}>() k = Constant<value=int64 {3}>()"
    big = f"big = Constant<value=int64 {{{MOST_STEPS + 1}}}>()"
    body = LOOP.format(inputs=inputs, carried=carried, outputs=outputs)
    return model(f"{told} {big} n = Size(x) {body}")


def test_a_loop_has_a_number_of_steps_and_a_body_that_fits():
    passes(loop("k, c"))
    passes(loop("n, c"))
    assert "no number of steps" in refusal(loop(", c"))
    assert f"more than {MOST_STEPS:,} steps" in refusal(loop("big, c"))
    assert "has 3 inputs and 2 outputs; expected 2 and 2" in refusal(loop("k, c", ", int64 more"))
    assert "2 inputs and 1 outputs; expected 2 and 2" in refusal(loop("k, c", outputs="bool on"))
    assert "2 inputs and 2 outputs; expected 3 and 2" in refusal(loop("k, c, n"))


def going(steps, on, given=""):
    """A loop whose number of steps, and the truth value by which it goes on, are computed so."""
    start = f"z = ReduceMax<keepdims=0>(x) c = Constant<value=bool {{1}}>() none = Shape(z) {given}"
    body = f"on = {on} made = Cast<to=1>(i)"
    return model(
        f"{start} k = {steps} y = Loop (k, c) "
        f"<body = b (int64 i, bool go) => (bool on, float made) {{{body}}}>"
    )


@pytest.mark.parametrize(
    ("steps", "on"),
    [
        ("Constant<value=int64 {3}>()", "Identity(go)"),
        ("Size(x)", "Less(i, z)"),
        ("ReduceSum<keepdims=0>(x)", "Cast<to=9>(z)"),
        ("Squeeze(sizes, first)", "Not(told)"),
        ("Gather(sizes, z)", "And(go, go)"),
        ("Squeeze(longest, first)", "Identity(go)"),  # as the export of a parser has it
        # Without axes, of what is one number in any number of dimensions:
        ("Min(z, narrow)", "Identity(go)"),  # as the first bundled models have it
        ("Min(z, cell)", "Squeeze(truth)"),
        ("Squeeze(kept)", "Identity(go)"),
        ("Squeeze(z)", "Identity(go)"),
    ],
)
def test_a_loop_goes_on_by_one_number(steps, on):
    given = "sizes = Shape(x) first = Constant<value=int64[1] {0}>() "
    given += "same = Equal(sizes, first) told = Squeeze(same, first) "
    given += "some = Concat<axis=0>(x, first) most = ReduceMax(some) longest = Min(most, sizes) "
    given += "row = Unsqueeze(x, first) high = Shape<start=0, end=1>(row) "
    given += "doubled = Mul(high, first) widest = Max(doubled, first) "
    given += "narrow = Squeeze(widest) "
    given += "kept = ReduceMax(x) "
    given += "grid = Constant<value=int64[1, 1] {2}>() truth = Cast<to=9>(grid) "
    given += "cell = Squeeze(grid)"
    passes(going(steps, on, given))


WITHOUT_NUMBER = {
    "steps": ("Identity(none)", "Identity(go)", "one number of steps"),
    "condition": ("Size(x)", "Cast<to=9>(none)", "one truth value"),
    "several": ("Identity(x)", "Cast<to=9>(x)", "one number of steps"),
    "broadcast": ("Add(z, x)", "Identity(go)", "one number of steps"),
    "one axis twice": ("Squeeze(pairs, twice)", "Identity(go)", "one number of steps"),
    "along axes": ("Squeeze(along)", "Identity(go)", "one number of steps"),
    "chosen": ("Squeeze(chosen)", "Identity(go)", "one number of steps"),
    "condition of all": ("Size(x)", "Squeeze(truth)", "one truth value"),
}
"""Of what the operators do with the forms of values there are random graphs: `test_onnx_ranks`."""


@pytest.mark.parametrize("name", WITHOUT_NUMBER)
def test_a_loop_that_may_go_on_by_no_number_is_refused(name):
    steps, on, message = WITHOUT_NUMBER[name]
    given = "sizes = Shape(x) grid = Constant<value=int64[1, 1] {0}>() "
    given += "pairs = Gather(sizes, grid) twice = Constant<value=int64[2] {1, -1}>() "
    given += "axis = Constant<value=int64[1] {0}>() row = Unsqueeze(x, axis) "
    given += "along = ReduceMax(row, axis) yes = Constant<value=bool[1] {1}>() "
    given += "chosen = Where(yes, axis, x) truth = Cast<to=9>(x)"
    assert message in refusal(going(steps, on, given))


@LINUX
@pytest.mark.parametrize("name", ["steps", "condition"])
def test_such_a_loop_would_end_the_process(name, tmp_path):
    """By signal 11, in onnxruntime 1.31."""
    steps, on, _ = WITHOUT_NUMBER[name]
    assert exit_code(going("Size(x)", "Identity(go)"), tmp_path / "good.onnx") == 0
    assert exit_code(going(steps, on), tmp_path / "model.onnx") < 0


def test_what_starts_as_one_number_remains_one():
    def counting(after):
        body = f"next = {after} on = Less(count, k)"
        return model(
            "n = Size(x) k = Constant<value=int64 {3}>() c = Constant<value=bool {1}>() "
            "last = Loop (n, c, k) <body = b (int64 i, bool go, int64 count) "
            f"=> (bool on, int64 next) {{{body}}}> y = Cast<to=1>(last)"
        )

    passes(counting("Add(count, i)"))
    assert "which may become none" in refusal(counting("Add(count, x)"))


def test_a_loop_without_a_body_is_none():
    made = loop("k, c")
    del made.graph.node[-1].attribute[:]
    assert "has no body" in refusal(made)


def test_both_branches_give_what_the_node_gives():
    branches = (
        "c = Constant<value=bool {{1}}>() y{more} = If (c) <"
        "then_branch = a ({given}) => (float[m] u) {{ u = Cast<to=1>(x) }}, "
        "else_branch = b () => (float[m] v) {{ v = Cast<to=1>(x) }}>"
    )
    passes(model(branches.format(more="", given="")))
    assert "0 inputs and 1 outputs; expected 0 and 2" in refusal(
        model(branches.format(more=", z", given=""))
    )
    assert "1 inputs and 1 outputs" in refusal(model(branches.format(more="", given="float[n] w")))


def test_an_output_that_nothing_makes_is_refused():
    assert "nothing makes its output 'z'" in refusal(model("y = Cast<to=1>(x)", "float[m] z"))


@pytest.mark.parametrize("shape", [[-2], [-1, -1], [3, -5]])
@pytest.mark.parametrize("operator", ["Reshape(x, s)", "Expand(x, s)"])
def test_a_shape_is_one(operator, shape):
    made = model(f"y = {operator}")
    weight = numpy_helper.from_array(np.array(shape), "s")
    made.graph.initializer.append(weight)
    assert "is told the shape" in refusal(made)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("f = Cast<to=1>(x) y = RandomUniformLike(f)", "operator 'RandomUniformLike', which no"),
        ("f = Cast<to=1>(x) y = Softmax<axis=0>(f)", "'axis' of node 'Softmax' is '0'; expected"),
        ("f = Cast<to=1>(x) y = Abs(f, f)", "'Abs' has 2 inputs; expected 1"),
        ("y, z = Cast<to=1>(x)", "'Cast' has 2 outputs; expected 1"),
        ("y = Cast<to=1, saturate=1>(x)", "has the attribute 'saturate'; expected to"),
        ("y = Cast<to=1.0>(x)", "attribute 'to' of node 'Cast' is no int"),
        ("y = Scan<num_scan_inputs=1>(x)", "operator 'Scan'"),
    ],
)
def test_what_the_table_has_not_is_refused_by_name(nodes, message):
    assert message in refusal(model(nodes))


def test_a_caller_may_allow_more_operators():
    made = model("f = Cast<to=1>(x) y = Softplus(f)").SerializeToString()
    with pytest.raises(BundleError, match=r"allow_operators=\['Softplus'\]"):
        check_onnx(made, source="a file")
    check_onnx(made, source="a file", allow=["Softplus"])


def test_an_attribute_occurs_once():
    made = model("y = Cast<to=1>(x)")
    made.graph.node[0].attribute.append(helper.make_attribute("to", 1))
    assert "has the attribute 'to' twice" in refusal(made)


def test_the_nodes_of_all_graphs_are_counted():
    def chain(length):
        names = ["f", *(f"f{number}" for number in range(1, length)), "y"]
        made = model("f = Cast<to=1>(x) y = Abs(f)")
        del made.graph.node[1:]
        nodes = (helper.make_node("Add", [a, a], [b]) for a, b in itertools.pairwise(names))
        made.graph.node.extend(nodes)
        return made

    passes(chain(MOST_NODES - 1))
    assert f"more than {MOST_NODES:,} nodes" in refusal(chain(MOST_NODES))


def test_declared_sizes_are_bounded():
    passes(model("y = Cast<to=1>(x)", f"float[{LARGEST}] y"))
    message = f"'y' is declared to have {2 * LARGEST:,} numbers"
    assert message in refusal(model("y = Cast<to=1>(x)", f"float[2, {LARGEST}] y"))


def test_names_and_metadata_are_text():
    made = model("y = Cast<to=1>(x)")
    made.metadata_props.add(key="labels", value="MARK")
    content = made.SerializeToString()
    assert content.count(b"MARK") == 1
    with pytest.raises(BundleError, match="utf-8"):
        check_onnx(content.replace(b"MARK", b"\xff\xfe\xfd\xfc"), source="a file")
