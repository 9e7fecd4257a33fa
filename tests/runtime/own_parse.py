"""A parser for hand-made ONNX models, and what it does in plain Python.

It joins all words but the last from the right, and the last one to that: (((a (b c)) d), a tree
that no fixed source makes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, ValueInfoProto, helper

PARSERS = ("capped", "shifts", "long", "floats", "backwards", "misnamed")
"""Parsers: a good one, and others whose output is only SHIFTs, one too many, of the wrong type,
from end to start, misnamed."""


class Parser(NamedTuple):
    """Nodes that take `lengths` and `transitions` (empty: to be made) and give `taken` and an
    output."""

    nodes: list[NodeProto]
    constants: dict[str, NDArray[np.generic]]
    output: ValueInfoProto


def own_parse(words: int) -> list[int]:
    """Transitions of the tree over so many words."""
    return [0] if words == 1 else [0] * (words - 1) + [1] * (words - 2) + [0, 1]


def parser_of(name: str, index: int) -> Parser:
    """The parser of this name; integers are of type `index`."""
    assert name in PARSERS
    node = helper.make_node

    def branch(op: str, inputs: list[str], output: str, **attributes: int) -> object:
        value = helper.make_tensor_value_info(output, index, [None])
        return helper.make_graph([node(op, inputs, [output], **attributes)], output, [], [value])

    nodes = [
        node("Cast", ["lengths"], ["n"], to=TensorProto.INT64),
        node("Mul", ["n", "p_two"], ["n2"]),
        node("Sub", ["n2", "p_one"], ["sizes"]),
        node("CumSum", ["sizes", "p_zero"], ["p_ends"]),
        node("Sub", ["p_ends", "sizes"], ["p_starts"]),
        node("ReduceSum", ["sizes"], ["total"], keepdims=0),
        node("Range", ["p_zero", "total", "p_one"], ["place"]),
        node("Unsqueeze", ["place", "p_axis"], ["p_column"]),
        node("GreaterOrEqual", ["p_column", "p_ends"], ["behind"]),
        node("Cast", ["behind"], ["behind_i"], to=TensorProto.INT64),
        node("ReduceSum", ["behind_i", "p_axis"], ["sentence"], keepdims=0),
        node("Gather", ["n", "sentence"], ["words"]),
        node("Gather", ["p_starts", "sentence"], ["first"]),
        node("Sub", ["place", "first"], ["step"]),
        node("Sub", ["words", "p_one"], ["before_last"]),
        node("GreaterOrEqual", ["step", "before_last"], ["late"]),
        node("Add", ["before_last", "words"], ["size"]),
        node("Sub", ["size", "p_two"], ["last_shift"]),
        node("Equal", ["step", "last_shift"], ["shifts_last"]),
        node("Not", ["shifts_last"], ["not_last"]),
        node("Greater", ["words", "p_one"], ["several"]),
        node("And", ["late", "not_last"], ["late_other"]),
        node("And", ["late_other", "several"], ["reduces"]),
        node("Cast", ["reduces"], ["p_own"], to=index),
        node("Size", ["transitions"], ["given"]),
        node("Equal", ["given", "p_zero"], ["parses"]),
        node(
            "If",
            ["parses"],
            ["taken"],
            then_branch=branch("Cast", ["p_own"], "made", to=index),
            else_branch=branch("Identity", ["transitions"], "kept"),
        ),
        {
            "capped": node("Identity", ["taken"], ["parse"]),
            "shifts": node("Sub", ["taken", "taken"], ["parse"]),
            "long": node("Concat", ["taken", "p_end"], ["parse"], axis=0),
            "floats": node("Cast", ["taken"], ["parse"], to=TensorProto.FLOAT),
            "misnamed": node("Identity", ["taken"], ["trees"]),
            "backwards": node(
                "Slice", ["taken", "p_last", "p_least", "p_first", "p_last"], ["parse"]
            ),
        }[name],
    ]
    whole = helper.tensor_dtype_to_np_dtype(index)
    constants: dict[str, NDArray[np.generic]] = {
        "p_zero": np.array(0),
        "p_one": np.array(1),
        "p_two": np.array(2),
        "p_axis": np.array([1]),
        "p_end": np.ones(1, whole),
        "p_last": np.array([-1]),
        "p_least": np.array([-(2**31)]),
        "p_first": np.array([0]),
    }
    output = helper.make_tensor_value_info(
        nodes[-1].output[0], TensorProto.FLOAT if name == "floats" else index, [None]
    )
    used = {name for item in nodes for name in item.input}
    return Parser(nodes, {name: value for name, value in constants.items() if name in used}, output)
