"""Lists of the kernels that a provider of onnxruntime has: for which operator and types, and which
inputs and outputs of a kernel lie on the host.

    python lab/benchmarks/placement_kernels.py lab/benchmarks/kernels/webgpu.json

asks the plugin package of WebGPU, which it needs: it makes a model of one node for every operator
of the gate and all types, and sees where onnxruntime places it. A software GPU will do.
`kernels/cuda.json` is taken from docs/OperatorKernels.md of onnxruntime.
"""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import onnx
import typer
from onnx import defs, helper
from onnx.defs import OpSchema
from placement_webgpu import versions, webgpu_session

from thinstack._onnxruntime import import_onnxruntime
from thinstack.bundle.gate.onnx_gate import OPERATORS

errors = import_onnxruntime().capi.onnxruntime_pybind11_state

FOLDER: Final = Path(__file__).parent / "kernels"
OPSET: Final = 18
TYPES: Final = ("float", "float16", "int32", "int64", "bool", "int8", "uint8")
_FREE: Final = {"If", "Loop"}  # take and give values of any type
_ATTRIBUTES: Final[dict[str, dict[str, Any]]] = {
    "Concat": {"axis": 0},
    "Einsum": {"equation": "ij,jk->ik"},
    "LSTM": {"hidden_size": 4},
}
_INPUTS: Final = {"LSTM": 4, "MatMulInteger": 3}  # that files of thinstack have at most
_OUTPUTS: Final = {"BatchNormalization": 1, "LSTM": 1, "LayerNormalization": 1}


@dataclass(frozen=True)
class Kernel:
    """A kernel: the types that each of ONNX's type variables may have, and the positions of the
    inputs and outputs that lie on the host."""

    types: Mapping[str, frozenset[str]]
    host_inputs: frozenset[int]
    host_outputs: frozenset[int]

    def takes(self, types: Mapping[str, str]) -> bool:
        return all(types[name] in allowed for name, allowed in self.types.items() if name in types)


@dataclass(frozen=True)
class Kernels:
    """The kernels of a provider.

    Attributes:
        source: what they were taken from.
        follows_host: whether a node without a kernel hands on that its values are of the host. The
            providers inside onnxruntime do so, plugin packages do not.
        takes_names: whether the provider can be told which nodes to leave to the host.
    """

    source: str
    follows_host: bool
    by_operator: Mapping[str, Kernel]
    takes_names: bool = False

    @classmethod
    def read(cls, device: str) -> "Kernels":
        """The list of a device: "webgpu" or "cuda"."""
        found = json.loads((FOLDER / f"{device}.json").read_text("utf-8"))
        kernels = {
            name: Kernel(
                {variable: frozenset(names) for variable, names in row["types"].items()},
                frozenset(row["host_inputs"]),
                frozenset(row["host_outputs"]),
            )
            for name, row in found["kernels"].items()
        }
        return cls(found["source"], found["follows_host"], kernels, device == "webgpu")

    def of(self, operator: str, inputs: Sequence[str], outputs: Sequence[str]) -> Kernel | None:
        """The kernel of a node with these types ("" for an input that is left out), if any."""
        kernel = self.by_operator.get(operator)
        if kernel is None:
            return None
        schema = defs.get_schema(operator, OPSET, "")
        types = variables(schema.inputs, inputs) | variables(schema.outputs, outputs)
        return kernel if kernel.takes(types) else None


def variables(formal: Sequence[OpSchema.FormalParameter], types: Sequence[str]) -> dict[str, str]:
    """The type of each of ONNX's type variables."""
    return {each.type_str: name for each, name in zip(formal, types, strict=False) if name}


def _assignments(schema: OpSchema) -> Iterator[dict[str, str]]:
    """All that the type variables of an operator may be."""
    if schema.name in _FREE:
        yield {}
        return
    used = {each.type_str for each in (*schema.inputs, *schema.outputs)}
    variables = {
        each.type_param_str: [name for name in TYPES if f"tensor({name})" in each.allowed_type_strs]
        for each in schema.type_constraints
        if each.type_param_str in used
    }
    for chosen in itertools.product(*variables.values()):
        yield dict(zip(variables, chosen, strict=True))


def _number(name: str) -> int:
    return int(onnx.TensorProto.DataType.Value(name.upper()))


def _values(
    formal: Sequence[OpSchema.FormalParameter],
    types: Mapping[str, str],
    most: int | None,
    prefix: str,
) -> list[onnx.ValueInfoProto]:
    """A value for each parameter, two for one that may be many."""
    many = OpSchema.FormalParameterOption.Variadic
    each = [one for one in formal for _ in range(2 if one.option == many else 1)][:most]
    names = [types.get(one.type_str, one.type_str[len("tensor(") : -1]) for one in each]
    return [
        helper.make_tensor_value_info(f"{prefix}{position}", _number(name), None)
        for position, name in enumerate(names)
    ]


def _probe(schema: OpSchema, types: Mapping[str, str]) -> onnx.ModelProto:
    """A model of one node."""
    attributes = dict(_ATTRIBUTES.get(schema.name, {}))
    if schema.name in _FREE:
        return _free_probe(schema.name)
    if schema.name == "Cast":
        attributes["to"] = _number(types["T2"])
    if schema.name == "ConstantOfShape":
        attributes["value"] = helper.make_tensor("value", _number(types["T2"]), [1], [0])
    inputs = _values(schema.inputs, types, _INPUTS.get(schema.name), "i")
    outputs = _values(schema.outputs, types, _OUTPUTS.get(schema.name), "o")
    names = [[each.name for each in values] for values in (inputs, outputs)]
    return _model(helper.make_node(schema.name, *names, **attributes), inputs, outputs)


def _free_probe(name: str) -> onnx.ModelProto:
    """A model of an If or Loop over one number."""
    number, truth = _number("float"), _number("bool")
    inputs = [helper.make_tensor_value_info("cond", truth, [])]
    value = helper.make_tensor_value_info("value", number, ["a", "b"])
    out = helper.make_tensor_value_info("o", number, None)
    relu = helper.make_node("Relu", ["state" if name == "Loop" else "value"], ["o"])
    if name == "If":
        branch = helper.make_graph([relu], "branch", [], [out])
        node = helper.make_node("If", ["cond"], ["r"], then_branch=branch, else_branch=branch)
    else:
        inputs.insert(0, helper.make_tensor_value_info("count", _number("int64"), []))
        body_inputs = [
            helper.make_tensor_value_info("i", _number("int64"), []),
            helper.make_tensor_value_info("go", truth, []),
            helper.make_tensor_value_info("state", number, None),
        ]
        going = helper.make_node("Identity", ["go"], ["on"])
        on = helper.make_tensor_value_info("on", truth, [])
        body = helper.make_graph([going, relu], "body", body_inputs, [on, out])
        node = helper.make_node("Loop", ["count", "cond", "value"], ["r"], body=body)
    result = helper.make_tensor_value_info("r", number, None)
    return _model(node, [*inputs, value], [result])


def _model(
    node: onnx.NodeProto, inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]
) -> onnx.ModelProto:
    graph = helper.make_graph([node], "probe", inputs, outputs)
    imports = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def _on_host(infos: Sequence[Any]) -> frozenset[int]:
    return frozenset(place for place, each in enumerate(infos) if each.name == "Cpu")


def probed(operator: str) -> Kernel | None:
    """The kernel that WebGPU has of an operator. Raises ValueError if its types depend on each
    other, which a list cannot say."""
    schema = defs.get_schema(operator, OPSET, "")
    found, hosts = [], set()
    for types in _assignments(schema):
        try:
            session = webgpu_session(_probe(schema, types).SerializeToString())
        except (errors.NotImplemented, errors.Fail) as error:
            if isinstance(error, errors.Fail) and "is not set" not in str(error):
                raise
            continue  # neither WebGPU nor the CPU has a kernel
        placed = {
            node.op_type: each.ep_name
            for each in session.get_provider_graph_assignment_info()
            for node in each.get_nodes()
        }
        if placed.get(operator) != "WebGpuExecutionProvider":
            continue
        found.append(types)
        inputs, outputs = session.get_input_memory_infos(), session.get_output_memory_infos()
        count = len(inputs) - (operator == "If")  # what its branches read is no input of its own
        hosts.add((_on_host(inputs[:count]), _on_host(outputs)))
    if not found:
        return None
    types = {name: frozenset(each[name] for each in found) for name in found[0]}
    combinations = 1
    for names in types.values():
        combinations *= len(names)
    if combinations != len(found) or len(hosts) > 1:
        raise ValueError(f"{operator}: expected types that are free, found {found}, {hosts}")
    return Kernel(types, *hosts.pop())


def main(file: Annotated[Path, typer.Argument(help="Where to write the list.")]) -> None:
    """Write the list of WebGPU's kernels."""
    names = sorted(OPERATORS - {"Constant"})  # which are weights once a file is loaded
    kernels = {name: kernel for name in names if (kernel := probed(name))}
    rows = {
        name: {
            "types": {key: sorted(names) for key, names in kernel.types.items()},
            "host_inputs": sorted(kernel.host_inputs),
            "host_outputs": sorted(kernel.host_outputs),
        }
        for name, kernel in kernels.items()
    }
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    source = json.dumps(versions())
    head = f'{{"source": {source}, "follows_host": false, "kernels": {{\n'
    file.write_text(f"{head}{lines}\n}}}}\n", "utf-8")


if __name__ == "__main__":
    typer.run(main)
