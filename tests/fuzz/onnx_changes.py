"""ONNX files that are like a given one but for a few changes of their structure."""

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper

from thinstack.bundle.gate.onnx_gate import OPERATORS

Random = np.random.Generator
NUMBERS = (0, 1, -1, 2, -2, 3, 7, 64, 1 << 20, 1 << 31, (1 << 31) - 1, -(1 << 31), 1 << 40)
NUMBERS += (1 << 62, (1 << 63) - 1, -(1 << 63))
FLOATS = (0.0, -1.0, 1e-30, 7e30, -7e30, 3e38, float("inf"), float("-inf"), float("nan"), 0.5)
OTHERS = ["RandomUniformLike", "RandomNormal", "Scan", "Tile", "Pad", "OneHot", "Resize"]
OTHERS += ["Softplus"]
LISTED = sorted(OPERATORS)
TYPES = tuple(TensorProto.DataType.values())


def mutated_onnx(content, random):
    """The file with one to three changes."""
    model = onnx.load_from_string(content)
    for _ in range(int(random.integers(1, 4))):
        graphs = list(_graphs(model.graph))
        graph = graphs[int(random.integers(len(graphs)))]
        _pick(random, CHANGES)(model, graph, random)
    return bytes(model.SerializeToString())


def _graphs(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                yield from _graphs(attribute.g)


def _pick(random, items):
    items = list(items)
    return items[int(random.integers(len(items)))]


def _node(graph, random):
    if not graph.node:
        graph.node.append(helper.make_node("Identity", ["x"], ["made"]))
    return _pick(random, graph.node)


def _names(model):
    """Of values of all graphs."""
    found = ["", "nothing"]
    for graph in _graphs(model.graph):
        found += [value.name for value in graph.input] + [each.name for each in graph.initializer]
        found += [name for node in graph.node for name in node.output]
    return found


def drop_node(model, graph, random):
    graph.node.remove(_node(graph, random))


def duplicate_node(model, graph, random):
    graph.node.append(_node(graph, random))


def change_operator(model, graph, random):
    names = OTHERS if random.random() < 0.05 else LISTED
    _node(graph, random).op_type = _pick(random, names)


def change_input(model, graph, random):
    node, name = _node(graph, random), _pick(random, _names(model))
    if not node.input or random.random() < 0.2:
        node.input.append(name)
    else:
        node.input[int(random.integers(len(node.input)))] = name


def drop_input(model, graph, random):
    node = _node(graph, random)
    if node.input:
        del node.input[int(random.integers(len(node.input)))]


def change_output(model, graph, random):
    node = _node(graph, random)
    match int(random.integers(3)):
        case 0:
            node.output.append(f"more{len(node.output)}")
        case 1 if node.output:
            del node.output[int(random.integers(len(node.output)))]
        case 2 if node.output:
            node.output[int(random.integers(len(node.output)))] = _pick(random, _names(model))


def change_attribute(model, graph, random):
    """To another value of its type."""
    nodes = [node for node in graph.node if node.attribute]
    if not nodes:
        return
    attribute = _pick(random, _pick(random, nodes).attribute)
    match attribute.type:
        case AttributeProto.INT:
            attribute.i = _pick(random, NUMBERS)
        case AttributeProto.FLOAT:
            attribute.f = _pick(random, FLOATS)
        case AttributeProto.INTS:
            attribute.ints[:] = [_pick(random, NUMBERS) for _ in range(int(random.integers(5)))]
        case AttributeProto.STRING:
            attribute.s = _pick(random, [b"", b"mul", b"max", b"\xff\xff", b"i,j->ij", b"ii->"])
        case AttributeProto.TENSOR:
            _change_tensor(attribute.t, random)
        case AttributeProto.GRAPH:
            change_values(model, attribute.g, random)


def change_weight(model, graph, random):
    if graph.initializer:
        _change_tensor(_pick(random, graph.initializer), random)


def _change_tensor(tensor, random):
    match int(random.integers(5)):
        case 0 if tensor.dims:
            tensor.dims[int(random.integers(len(tensor.dims)))] = _pick(random, NUMBERS)
        case 1:
            tensor.data_type = _pick(random, TYPES)
        case 2:
            tensor.dims[:] = tensor.dims[::-1]
        case 3:
            tensor.dims.append(1)
        case _:
            _change_numbers(tensor, random)


def _change_numbers(tensor, random):
    """Some of the numbers, or all of them."""
    try:
        array = onnx.numpy_helper.to_array(tensor).copy()
    except (TypeError, ValueError):
        return
    if not array.size or array.dtype.kind not in "iuf":
        return
    flat = array.reshape(-1)
    first = int(random.integers(flat.size))
    last = flat.size if random.random() < 0.3 else first + 1
    number = _pick(random, FLOATS if array.dtype.kind == "f" else NUMBERS)
    with np.errstate(all="ignore"):
        flat[first:last] = np.array(number).astype(array.dtype)
    tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))


def change_values(model, graph, random):
    """The declared inputs, outputs and other values."""
    values = _pick(random, [graph.input, graph.output, graph.value_info])
    if not values:
        return
    value = _pick(random, values)
    dims = value.type.tensor_type.shape.dim
    match int(random.integers(6)):
        case 0:
            value.type.tensor_type.elem_type = _pick(random, TYPES)
        case 1 if dims:
            dims[int(random.integers(len(dims)))].dim_value = _pick(random, NUMBERS)
        case 2:
            values.remove(value)
        case 3:
            values.append(value)
        case 4:
            dims.add().dim_param = "N"
        case 5:
            value.name = f"{value.name}_"


def change_version(model, graph, random):
    if random.random() < 0.5:
        model.opset_import[0].version = _pick(random, (*range(1, 27), 0, -1, 1 << 40))
    else:
        model.ir_version = _pick(random, (*range(14), 1 << 40))


def change_metadata(model, graph, random):
    entry = _pick(random, model.metadata_props) if model.metadata_props else None
    values = ("", "[]", "9" * 5000, "null", "roots", "nodes", "true", "int8", "\ud7ff", "a" * 10**5)
    if entry is None or random.random() < 0.3:
        model.metadata_props.add(key=_pick(random, ["max_pieces", "reads", ""]), value="1" * 4)
    else:
        entry.value = _pick(random, values)


CHANGES = (
    *(drop_node, duplicate_node, change_operator, change_operator, change_input, change_input),
    *(drop_input, change_output, change_attribute, change_attribute, change_weight, change_weight),
    *(change_values, change_version, change_metadata),
)
"""Those that files survive most often are there twice."""
