"""Runs of an ONNX file that say what each node did: how often it ran, and over what shapes."""

import json
import math
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from placement_graph import HOST, bodies_of
from placement_webgpu import NAME as WEBGPU
from placement_webgpu import webgpu_session

from thinstack._onnxruntime import import_onnxruntime
from thinstack.bundle.gpu_file import host_nodes

onnxruntime = import_onnxruntime()

Feeds = Mapping[str, np.ndarray[Any, Any]]
Shape = tuple[str, tuple[int, ...]]
PROVIDERS: Final = {"webgpu": WEBGPU, "cuda": "CUDAExecutionProvider"}
COPIES: Final = ("MemcpyFromHost", "MemcpyToHost")
LAUNCH_NOTHING: Final = {"If", "Loop", "Shape", "Size", "Reshape", "Squeeze", "Unsqueeze"}
"""Operators whose kernels give the same memory another shape, or a number of the host."""
_SIZES: Final = {"float16": 2, "bool": 1, "int8": 1, "uint8": 1, "float": 4, "int32": 4}


@dataclass(frozen=True)
class Ran:
    """One run of a node: the types and shapes of its inputs and outputs, and when it ran, in
    microseconds."""

    node: str
    operator: str
    provider: str
    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]
    start: int
    end: int

    @property
    def given(self) -> int:
        """Bytes of all outputs."""
        return sum(map(size_of, self.outputs))


def size_of(shape: Shape) -> int:
    """Bytes of a tensor."""
    name, sides = shape
    return _SIZES.get(name, 8) * math.prod(sides)


def optimised(model: bytes) -> onnx.ModelProto:
    """The file as onnxruntime has it when it places nodes, with a name of its own for each node,
    which says whether the file keeps it on the host."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "optimised.onnx")
        options.optimized_model_filepath = file
        onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        found = onnx.load(file)
    hosts = {*host_nodes(model).split("\n")}
    for number, node in enumerate(_nodes(found.graph)):
        node.name = f"{node.op_type}.{number}{HOST * (node.name in hosts)}"
    return found


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for body in bodies_of(node):
            yield from _nodes(body)


def run_on_cpu(model: onnx.ModelProto, feeds: Feeds) -> dict[str, list[Ran]]:
    """The runs of each node of an optimised file in one batch on the CPU, by the node's name."""
    level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    found = defaultdict(list)
    for ran in _profiled(model.SerializeToString(), feeds, level, "cpu"):
        found[ran.node].append(ran)
    return dict(found)


def run_on_gpu(model: bytes, feeds: Feeds, device: str) -> list[Ran]:
    """All runs of nodes in one batch on a GPU, by `PROVIDERS`. onnxruntime's own copies are among
    them."""
    level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    return _profiled(model, feeds, level, device)


def _profiled(model: bytes, feeds: Feeds, level: Any, device: str) -> list[Ran]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level, options.log_severity_level = level, 3
    options.enable_profiling = True
    # Weights that are packed are not listed among the inputs.
    options.add_session_config_entry("session.disable_prepacking", "1")
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = str(Path(folder) / "profile")
        if device == "webgpu":
            session = webgpu_session(model, options)
        else:
            cuda = [("CUDAExecutionProvider", {"use_tf32": 0})] if device == "cuda" else []
            providers = [*cuda, "CPUExecutionProvider"]
            session = onnxruntime.InferenceSession(model, options, providers)
        session.run(None, feeds)
        events = json.loads(Path(session.end_profiling()).read_text("utf-8"))
    return [
        Ran(
            event["name"].removesuffix("_kernel_time"),
            event["args"]["op_name"],
            event["args"]["provider"],
            _shapes(event["args"]["input_type_shape"]),
            _shapes(event["args"]["output_type_shape"]),
            event["ts"],
            event["ts"] + event["dur"],
        )
        for event in events
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time")
    ]


def _shapes(listed: Sequence[Mapping[str, list[int]]]) -> tuple[Shape, ...]:
    return tuple((name, tuple(sides)) for each in listed for name, sides in each.items())


@dataclass(frozen=True)
class Counts:
    """What one batch does.

    Attributes:
        kernels: nodes that start one on the GPU. Copies do not, nor does what moves nothing.
        host_nodes, host_nodes_in_loops: nodes that run on the CPU.
        copies_in, copies_back: by nodes of onnxruntime's, with their bytes. Each copy back is a
            wait: a node of the host needs what it brings.
        edges_in, edges_back: at the edges of the bodies of loops and conditions, where a profile
            shows nothing; without a batch's own inputs and outputs.
    """

    kernels: int
    host_nodes: int
    host_nodes_in_loops: int
    copies_in: int
    copies_back: int
    bytes_in: int
    bytes_back: int
    edges_in: int | None = None
    edges_back: int | None = None

    @property
    def waits(self) -> int:
        return self.copies_back + (self.edges_back or 0)


def counts_of_profile(runs: Sequence[Ran], device: str) -> Counts:
    """What a profile of a GPU shows. What ran while a loop ran lies in it."""
    provider = PROVIDERS[device]
    loops = [(ran.start, ran.end) for ran in runs if ran.operator == "Loop"]
    host = [ran for ran in runs if ran.provider != provider]
    copies = {name: [ran.given for ran in runs if ran.operator == name] for name in COPIES}
    inward, back = (copies[name] for name in COPIES)
    within = [
        ran
        for ran in host
        if any(start <= ran.start and ran.end <= end for start, end in loops)
        and (ran.start, ran.end) not in loops
    ]
    rest = [*COPIES, *LAUNCH_NOTHING]
    kernels = sum(ran.provider == provider and ran.operator not in rest for ran in runs)
    return Counts(kernels, len(host), len(within), len(inward), len(back), sum(inward), sum(back))
