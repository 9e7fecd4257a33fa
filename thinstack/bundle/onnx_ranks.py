"""Finds how many dimensions the values of an ONNX file have, as far as the nodes tell.

A value without dimensions is exactly one number. A loop needs one, and
onnxruntime does not check that there is one.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from thinstack.bundle.onnx_sizes import Value
from thinstack.bundle.protobuf import Message

__all__ = ["rank_of"]

_LIKE_FIRST: Final = frozenset({"Abs", "Cast", "Identity", "Not", "Relu", "Round"})
_COMPARED: Final = frozenset({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
_BROADCAST: Final = _COMPARED | {"Add", "And", "Div", "Max", "Min", "Mod", "Mul", "Sub", "Where"}
_REDUCED: Final = frozenset({"ReduceMax", "ReduceSum"})
_MADE: Final = {"Shape": 1, "Size": 0}
_INTEGER: Final = 3  # the field of an attribute


def rank_of(
    operator: str, inputs: Sequence[Value], attributes: Mapping[str, Message]
) -> int | None:
    """The number of dimensions of what a node makes of its inputs, or None if that is unknown."""
    if operator in _MADE:
        return _MADE[operator]
    if operator in _REDUCED:
        told = {name: found.integer(_INTEGER) for name, found in attributes.items()}
        if told.get("keepdims", 1):
            return inputs[0].rank
        return 0 if len(inputs) == 1 and not told.get("noop_with_empty_axes", 0) else None
    ranks = [value.rank for value in inputs]
    if operator == "Concat":  # of values of one rank, which is at least 1
        return max((rank for rank in ranks if rank), default=None)
    if None in ranks:
        return None
    return _of_ranks(operator, [rank for rank in ranks if rank is not None], inputs)


def _of_ranks(operator: str, ranks: list[int], inputs: Sequence[Value]) -> int | None:
    """`rank_of` if all inputs have a known rank."""
    if operator in _LIKE_FIRST:
        return ranks[0]
    if operator in _BROADCAST:
        return max(ranks)
    if len(inputs) < 2:
        return None
    if operator == "Gather":
        return ranks[0] + ranks[1] - 1
    if operator == "Squeeze" and ranks[0] and inputs[1].numbers is not None:
        return ranks[0] - len({axis % ranks[0] for axis in inputs[1].numbers})
    return None
