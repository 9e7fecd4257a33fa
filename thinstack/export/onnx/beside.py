"""Removal of weights from an ONNX file for GPUs that the bundle's file for CPUs contains."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from thinstack.bundle.gate.onnx_gate import initializers
from thinstack.bundle.gpu_file import BESIDE, digest
from thinstack.bundle.weights import LEVELS, SCALE
from thinstack.export.onnx.graph import serialized, set_nodes, walk

SMALL: Final = 1024
"""Weights of fewer bytes stay in the file."""
OWN: Final = "gpu."
"""Prefix of the names of the weights in the file, because both files are loaded together."""

Array = NDArray[Any]


def left_out(exported: bytes, beside: bytes) -> bytes:
    """Return a file without the weights that can be computed from those of the file `beside`, once,
    when a runtime loads both together (`thinstack.bundle.gpu_file.joined`)."""
    model, held = onnx.load_model_from_string(exported), initializers(beside)
    stored, nodes = list[onnx.TensorProto](), list[onnx.NodeProto]()
    for weight in model.graph.initializer:
        new_name, array = OWN + weight.name, numpy_helper.to_array(weight)
        source = next(_sources(array, held), None) if array.nbytes >= SMALL else None
        if source is None:
            stored.append(numpy_helper.from_array(array, new_name))
        else:
            nodes += _made(new_name, *source, held)
    names = {weight.name: OWN + weight.name for weight in model.graph.initializer}
    for node in walk(model.graph.node):
        for place, name in enumerate(node.input):
            node.input[place] = names.get(name, name)
    set_nodes(model.graph, [*nodes, *model.graph.node])
    del model.graph.initializer[:]
    model.graph.initializer.extend(stored)
    model.metadata_props.add(key=BESIDE, value=digest(beside))
    return serialized(model)


def _sources(array: Array, held: Mapping[str, Array]) -> Iterator[tuple[str, Array | None]]:
    """Return the names of weights that yield an array, with the factors of its rows if needed."""
    for name, candidate in held.items():
        if candidate.shape != array.shape:
            continue
        scale = held.get(name.removesuffix(LEVELS) + SCALE) if name.endswith(LEVELS) else None
        full = candidate.astype(np.float32) * (1 if scale is None else scale)
        if np.array_equal(full, array):
            yield name, None
        elif scale is not None and array.ndim == 2 and full.any():
            column = np.argmax(np.abs(full), 1, keepdims=True)
            wanted, held_there = (np.take_along_axis(values, column, 1) for values in (array, full))
            factors = np.ones_like(held_there)
            np.divide(wanted, held_there, where=held_there != 0, out=factors)
            if np.array_equal(full * factors, array):
                yield name, factors.astype(np.float32)


def _made(
    name_here: str, name: str, factors: Array | None, held: Mapping[str, Array]
) -> list[onnx.NodeProto]:
    """Return nodes that compute a weight from one of the other file."""
    nodes: list[onnx.NodeProto] = []

    def add(kind: str, *inputs: str, **attributes: Any) -> str:
        output = f"{name_here}.{len(nodes)}"
        nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    scale, value = name.removesuffix(LEVELS) + SCALE, add("Cast", name, to=TensorProto.FLOAT)
    if name.endswith(LEVELS) and scale in held:
        value = add("Mul", value, scale)
    if factors is not None:
        add("Mul", value, add("Constant", value=numpy_helper.from_array(factors)))
    nodes[-1].name = nodes[-1].output[0] = name_here
    return nodes
