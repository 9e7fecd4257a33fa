"""ONNX files that do harm once they run, and one that ends the process that loads it."""

from onnx import parser

HEAD = '<ir_version: 8, opset_import: ["" : 18]>'

ABORTING = """
    s = Constant<value=int64[1] {4}>() v = ConstantOfShape(s)
    y, z, w = Split<axis=0, num_outputs=2>(v)"""
"""Into more parts than it says."""

ENDLESS = """
    c = Constant<value=bool {1}>() big = Constant<value=int64 {1152921504606846976}>()
    n = Size(x) steps = Mul(n, big) zero = Constant<value=float {0.0}>()
    y = Loop (steps, c, zero) <body = b (int64 i, bool go, float sum) => (bool on, float more) {
        on = Identity(go)
        more = Add(sum, sum)
    }>"""
"""As many steps as 2^60 times the inputs."""

BALLOON = """
    factor = Constant<value=int64[1] {FACTOR}>()
    n = Shape(x) size = Mul(n, factor) y = ConstantOfShape(size)"""
"""FACTOR numbers for each input."""

ADDING = "f = Cast<to=1>(x) y = Add(f, f)"


def onnx_of(nodes: str) -> bytes:
    """A file of these nodes, with the input x (n,) int64 and the output y of float32."""
    text = f"{HEAD} g (int64[n] x) => (float[m] y) {{{nodes}}}"
    return bytes(parser.parse_model(text).SerializeToString())


def balloon(factor: int) -> bytes:
    """A file that makes so many float32 zeros for each of its inputs."""
    return onnx_of(BALLOON.replace("FACTOR", str(factor)))
