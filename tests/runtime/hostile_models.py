"""ONNX files that pass the gate and ask a runtime for more than there is, or do not fit together.
Run as a program: what comes of each in isolation.

python hostile_models.py -> one line of JSON, {"outcomes": {name: what is said, or "answers"},
"seconds": of processor time of the slowest, "peak": bytes of the largest process}
"""

import json
import resource
import sys

import numpy as np
from isolated_models import HEAD
from onnx import parser

from thinstack.bundle.gate.onnx_gate import DEEPEST, MOST_NODES, check_onnx
from thinstack.errors import BundleError
from thinstack.runtime.isolated import IsolatedSession

GIVEN = """
    yes = Constant<value=bool {1}>() three = Constant<value=int64 {3}>()
    lengths = Shape(x) n = ReduceMax<keepdims=0>(lengths)
    huge = Constant<value=int64[1] {1099511627776}>() f = Cast<to=1>(x)
    ever = Constant<value=int64 {4611686018427387904}>() zero = Constant<value=float {0.0}>()
    one = Constant<value=float {1.0}>() much = Constant<value=float {1e18}>()
    axis = Constant<value=int64[1] {0}>() pair = Constant<value=float[2] {0.0, 1.0}>()
    tall = Constant<value=int64[2] {200000, 1}>() wide = Constant<value=int64[2] {1, 200000}>()
    column = ConstantOfShape(tall) row = ConstantOfShape(wide)
    bits = Constant<value=int64[1] {134217728}>() many = ConstantOfShape(bits)
    below = Constant<value=int64[1] {-5}>() negative = Mul(below, n)
    z = ReduceMax<keepdims=0>(x) none = Shape(z) """
"""Values that the nodes below may read, beside the input x."""


def loop(steps, on="Identity(go)", inner=""):
    """Of graphs of its own, which give all steps."""
    return f"""y = Loop ({steps}, yes) <body = b (int64 i, bool go{inner}) =>
        (bool on, float made) {{ on = {on} made = Cast<to=1>(i) }}>"""


def state(nodes, kind="float", start="zero"):
    """A loop whose state v becomes w, for ever."""
    return f"""y = Loop (ever, yes, {start}) <body = b (int64 i, bool go, {kind} v) =>
        (bool on, {kind} w) {{ on = Identity(go) {nodes} }}>"""


def branches(outputs="y", given="", other="b () => (float[m] v) { v = Cast<to=1>(x) }"):
    more = f", else_branch = {other}" if other else ""
    return f"""{outputs} = If (yes) <then_branch = a ({given}) => (float[m] u)
        {{ u = Cast<to=1>(x) }}{more}>"""


LARGE = [f"y{number}" for number in range(200)]
BOMBS = {
    "ConstantOfShape": "y = ConstantOfShape(huge)",
    "Expand": "y = Expand(zero, huge)",
    "Range": "y = Range(zero, much, one)",
    "a shape that is computed": "t = Mul(huge, n) y = ConstantOfShape(t)",
    "doubled": "v0 = Identity(pair) "
    + " ".join(f"v{i + 1} = Concat<axis=0>(v{i}, v{i})" for i in range(40))
    + " y = Identity(v40)",
    "doubled in a loop": state("w = Concat<axis=0>(v, v)", "float[n]", "pair"),
    "an outer product": "y = MatMul(column, row)",
    "a sum of all with all": "y = Add(column, row)",
    "Einsum": 'y = Einsum<equation="ia,jb,kc->ijk">(column, column, column)',
    "many that are large": " ".join(f"{name} = ConstantOfShape(bits)" for name in LARGE)
    + f" y = Concat<axis=0>({', '.join(LARGE)})",
    "a loop that gives all of 2^62 steps": loop("ever"),
    "a loop without a number of steps": loop(""),
    "a loop of 2^62 steps": state("w = Add(v, v)"),
    "a loop in a loop": state("""w = Loop (ever, yes, v) <body = d (int64 j, bool up, float u) =>
        (bool down, float t) { down = Identity(up) t = Add(u, u) }>"""),
}
"""Nodes that ask for more than there is. They end in y."""
MISFITS = {
    "a Split into more parts": "v = ConstantOfShape(bits) y, y1, y2 = Split<num_outputs=2>(v)",
    "a Split into fewer parts": "v = ConstantOfShape(axis) y, y1 = Split<num_outputs=4>(v)",
    "a Split of a part below nothing": "y, y1 = Split(f, x)",
    "a Split without sizes": "y, y1 = Split(f)",
    "a Reshape to below nothing": "y = Reshape(f, below)",
    "a Reshape to what is computed": "y = Reshape(f, negative)",
    "a shape below nothing": "y = ConstantOfShape(negative)",
    "an Expand to below nothing": "y = Expand(f, negative)",
    "a Range by nothing": "y = Range(zero, one, zero)",
    "a Gather from elsewhere": "y = Gather(f, huge)",
    "a Gather from no number": "w = Div(zero, zero) i = Cast<to=7>(w) y = Gather(f, i)",
    "an axis that is not there": "y = Softmax<axis=7>(f)",
    "two inputs in place of one": "y = Abs(f, f)",
    "two outputs in place of one": "y, y1 = Abs(f)",
    "an attribute too many": "y = Abs<odd=1>(f)",
    "an attribute twice": "y = Cast<to=1, to=1>(x)",
    "an attribute of another type": "y = Cast<to=1.0>(x)",
    "a value that is made twice": "y = Abs(f) y = Abs(f)",
    "a value that nothing makes": "y = Abs(other)",
    "values that need each other": "y = Abs(f1) f1 = Abs(f2) f2 = Abs(f1)",
    "steps that are none": loop("none"),
    "steps that are several": loop("x"),
    "a condition that is none": loop("n", "Cast<to=9>(none)"),
    "a condition that is several": loop("n", "Cast<to=9>(x)"),
    "a body with an input too many": loop("three", inner=", int64 more"),
    "a body with an input too few": loop("three, yes, n"),
    "a loop without a body": "y = Loop (three, yes)",
    "a branch with an output too few": branches("y, y1"),
    "a branch with an input": branches(given="float[n] w"),
    "a branch that is not there": branches(other=""),
}
"""Nodes that do not fit together. onnxruntime does not check all of it."""


def model(nodes, given="int64[n] x", gives="float[m] y", weights=""):
    return parser.parse_model(f"{HEAD} g ({given}) => ({gives}) {weights} {{{GIVEN}{nodes}}}")


def nested():
    """Loops as deep as they may be: a runtime looks at the innermost once and again."""
    nodes = "w = Identity(zero)"
    for level in range(DEEPEST - 1):
        nodes = f"""w = Loop (three, yes) <body = b (int64 i{level}, bool go{level}) =>
            (bool on{level}, float w) {{ on{level} = Identity(go{level}) {nodes} }}>"""
    return model(nodes.replace("w = ", "y = ", 1))


def cases():
    """Files by what is wrong with them."""
    long = MOST_NODES - 100  # leaves some for what is given
    chain = " ".join(f"v{i + 1} = Add(v{i}, v{i})" for i in range(long))
    square, weights = (
        f"float[{1 << 31}, {1 << 31}] y",
        "<float[1] w = {1.0}, float[2] w = {1.0, 2.0}>",
    )
    made = {name: model(nodes) for name, nodes in (BOMBS | MISFITS).items()} | {
        "loops in loops": nested(),
        "as many nodes as there may be": model(f"v0 = Abs(f) {chain} y = Abs(v{long})"),
        "an output that nothing makes": model("y = Abs(f)", gives="float[m] other"),
        "an output of 2^62 numbers": model("y = Abs(f)", gives=square),
        "an input of 2^40 numbers": model(
            "t = Shape(x) y = ConstantOfShape(t)", "int64[1099511627776] x"
        ),
        "two weights of one name": model("y = Abs(w)", weights=weights),
    }
    return {name: bytes(each.SerializeToString()) for name, each in made.items()}


def outcome(content):
    """What is said of a file, or that it answers."""
    check_onnx(content, source="a file")
    try:
        session = IsolatedSession(content, device="cpu", source="a file")
        session.run(session.outputs, {"x": np.arange(3)})
    except BundleError as error:
        return str(error)
    return "answers"


def spent():
    """Seconds of processor time that the processes of models have taken."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def main():
    outcomes, slowest = {}, 0.0
    for name, content in cases().items():
        before = spent()
        outcomes[name] = outcome(content)
        slowest = max(slowest, spent() - before)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    sys.stdout.write(json.dumps({"outcomes": outcomes, "seconds": slowest, "peak": peak}))


if __name__ == "__main__":
    main()
