"""The operators that an ONNX file may have: those that the models of thinstack need, as the export
writes them, and no others.

An export that needs another operator fails. `tests/export/test_operators.py` exports every
registered part, and fails if no export needs some row.
"""

import re
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from thinstack.bundle.gate.protobuf import DamagedError, Message

# Attributes are FIELD:TYPE or FIELD:TYPE=VALUE|VALUE.
_TABLE = """
operator           inputs  outputs  size    attributes
Abs                1       1        first
Add                2       1        all
And                2       1        all
ArgMax             1       1        first   axis:int keepdims:int select_last_index:int
BatchNormalization 5       1       first   epsilon:float momentum:float
Cast               1       1        first   to:int
Clip               2-3     1        first
Compress           2       1        -       axis:int
Concat             1-      1        sum     axis:int
Constant           0       1        -       value:tensor
ConstantOfShape    1       1        told    value:tensor
CumSum             2       1        first   exclusive:int reverse:int
DequantizeLinear   2-3     1        first   axis:int=1
Div                2       1        all
Einsum             2       1        all     equation:string
Equal              2       1        all
Erf                1       1        first
Expand             2       1        told
Gather             2       1        all     axis:int
GatherElements     2       1        all     axis:int
GatherND           2       1        all
Gemm               2-3     1        all     alpha:float beta:float transA:int transB:int
Greater            2       1        all
GreaterOrEqual     2       1        all
Identity           1       1        first
If                 1       1-       -       then_branch:graph else_branch:graph
LSTM               4       1        -       hidden_size:int
LayerNormalization 2-3     1        first   axis:int epsilon:float stash_type:int
Less               2       1        all
LessOrEqual        2       1        all
LogSoftmax         1       1        first   axis:int=-1|1
Loop               2-      1-       -       body:graph
MatMul             2       1        all
MatMulInteger      3       1        all
Max                1-      1        all
Min                1-      1        all
Mod                2       1        all
Mul                2       1        all
NonZero            1       1        -
Not                1       1        first
QuantizeLinear     3       1        first
Range              3       1        told
ReduceMax          1-2     1        first   keepdims:int noop_with_empty_axes:int
ReduceSum          1-2     1        first   keepdims:int noop_with_empty_axes:int
Relu               1       1        first
Reshape            2       1        first   allowzero:int
Round              1       1        first
ScatterElements    3       1        first   axis:int reduction:string=add|none
ScatterND          3       1        first   reduction:string=add|none
Shape              1       1        first   start:int end:int
Sigmoid            1       1        first
Size               1       1        first
Slice              3-5     1        first
Softmax            1       1        first   axis:int=-1|1
Split              1-2     2-       first   axis:int num_outputs:int
Squeeze            1-2     1        first
Sub                2       1        all
Tanh               1       1        first
TopK               2       2        -       axis:int largest:int sorted:int
Transpose          1       1        first   perm:ints
Unique             1       4       -       sorted:int
Unsqueeze          2       1        first
Where              3       1        all
"""

_MANY: Final = 1000
# The types of attributes: ONNX's number of it, and the field of the value.
_TYPES: Final = {
    "float": (1, 2),
    "int": (2, 3),
    "string": (3, 4),
    "tensor": (4, 5),
    "graph": (5, 6),
    "ints": (7, 8),
}
_VALUE_FIELDS: Final = frozenset({2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 15, 21, 22, 23})


class UnlistedOperatorError(DamagedError):
    """An operator that OPERATORS does not have."""


class Attribute(NamedTuple):
    """The name of an attribute's type, and the values that it may have: any if none is listed."""

    kind: str
    values: frozenset[str] = frozenset()


class Operator(NamedTuple):
    """What a node of an operator may have.

    Attributes:
        inputs, outputs: how many, at least and at most.
        size: the most numbers that an output has. "first": as many as the first input; "all": the
            product of the sizes of all inputs; "sum": their sum; "told": what the numbers of an
            input say; "-": nothing bounds it.
        attributes: by name.
    """

    inputs: tuple[int, int]
    outputs: tuple[int, int]
    size: str
    attributes: Mapping[str, Attribute]


def check_operator(name: str, inputs: int, outputs: int, attributes: Collection[Message]) -> None:
    """Raise UnlistedOperatorError unless OPERATORS has the operator, and DamagedError unless it may
    have so many inputs and outputs and these attributes."""
    row = OPERATORS.get(name)
    if row is None:
        raise UnlistedOperatorError(
            f"it needs the operator {name!r:.80}, which no model of thinstack needs; "
            f"isolated=True with allow_operators=[{name!r:.80}] runs it in a process of its own"
        )
    for found, (least, most), what in (
        (inputs, row.inputs, "inputs"),
        (outputs, row.outputs, "outputs"),
    ):
        if not least <= found <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise DamagedError(f"node {name!r} has {found} {what}; expected {wanted}")
    seen = set()
    for attribute in attributes:
        key = attribute.text(1)
        if key in seen or key not in row.attributes:
            what = " twice" if key in seen else f"; expected {', '.join(row.attributes) or 'none'}"
            raise DamagedError(f"node {name!r} has the attribute {key!r:.80}{what}")
        seen.add(key)
        _check_attribute(name, key, row.attributes[key], attribute)


def _check_attribute(name: str, key: str, allowed: Attribute, found: Message) -> None:
    number, field = _TYPES[allowed.kind]
    if found.integer(20) != number or not found.fields.keys() & _VALUE_FIELDS <= {field}:
        raise DamagedError(f"attribute {key!r} of node {name!r} is no {allowed.kind}")
    if allowed.values:
        value = found.text(field) if allowed.kind == "string" else str(found.integer(field))
        if value not in allowed.values:
            wanted = " or ".join(sorted(allowed.values))
            raise DamagedError(
                f"attribute {key!r} of node {name!r} is {value!r:.40}; expected {wanted}"
            )


def _row(line: str) -> tuple[str, Operator]:
    name, inputs, outputs, size, *attributes = line.split()
    found = {}
    for text in attributes:
        key, kind, *values = re.split("[:=|]", text)
        found[key] = Attribute(kind, frozenset(values))
    return name, Operator(_range(inputs), _range(outputs), size, found)


def _range(text: str) -> tuple[int, int]:
    least, dash, most = text.partition("-")
    return int(least), int(most or (_MANY if dash else least))


OPERATORS: Final[Mapping[str, Operator]] = dict(map(_row, _TABLE.strip().splitlines()[1:]))
"""The operators by name."""
