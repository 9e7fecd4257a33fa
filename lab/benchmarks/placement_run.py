"""What a batch of an ONNX file does on a GPU, by the profile of onnxruntime."""

import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from placement_webgpu import NAME as WEBGPU
from placement_webgpu import webgpu_session

from thinstack._onnxruntime import import_onnxruntime

onnxruntime = import_onnxruntime()

Feeds = Mapping[str, np.ndarray[Any, Any]]
PROVIDERS: Final = {"webgpu": WEBGPU, "cuda": "CUDAExecutionProvider"}
COPIES: Final = ("MemcpyFromHost", "MemcpyToHost")
LAUNCH_NOTHING: Final = {"If", "Loop", "Shape", "Size", "Reshape", "Squeeze", "Unsqueeze"}
"""Operators whose kernels give the same memory another shape, or a number of the host."""
_SIZES: Final = {"float16": 2, "bool": 1, "int8": 1, "uint8": 1, "float": 4, "int32": 4}


@dataclass(frozen=True)
class Ran:
    """One run of a node: the bytes of its outputs, and when it ran, in microseconds."""

    operator: str
    provider: str
    written: int
    start: int
    end: int


@dataclass(frozen=True)
class Counts:
    """What one batch does.

    Attributes:
        kernels: nodes that start one on the GPU. Copies do not, nor does what moves nothing.
        host_nodes, host_nodes_in_loops: nodes that run on the CPU.
        copies_in, copies_back: by nodes of onnxruntime's, with their bytes. Each copy back is a
            wait: a node of the host needs what it brings. Copies at the edges of the bodies of
            loops and conditions are in no profile.
    """

    kernels: int
    host_nodes: int
    host_nodes_in_loops: int
    copies_in: int
    copies_back: int
    bytes_in: int
    bytes_back: int


def run_on_gpu(model: bytes, feeds: Feeds, device: str) -> list[Ran]:
    """All runs of nodes in one batch on a GPU, by `PROVIDERS`. onnxruntime's own copies are among
    them."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_profiling = True
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = str(Path(folder) / "profile")
        if device == "webgpu":
            session = webgpu_session(model, options)
        else:
            providers = [(PROVIDERS[device], {"use_tf32": 0}), "CPUExecutionProvider"]
            session = onnxruntime.InferenceSession(model, options, providers)
        session.run(None, feeds)
        events = json.loads(Path(session.end_profiling()).read_text("utf-8"))
    return [
        Ran(
            event["args"]["op_name"],
            event["args"]["provider"],
            sum(
                _SIZES.get(name, 8) * math.prod(sides)
                for output in event["args"]["output_type_shape"]
                for name, sides in output.items()
            ),
            event["ts"],
            event["ts"] + event["dur"],
        )
        for event in events
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time")
    ]


def counts_of_profile(runs: Sequence[Ran], device: str) -> Counts:
    """What a profile of a GPU shows. What ran while a loop ran is in it."""
    provider = PROVIDERS[device]
    loops = [(ran.start, ran.end) for ran in runs if ran.operator == "Loop"]
    host = [ran for ran in runs if ran.provider != provider]
    copies = {name: [ran.written for ran in runs if ran.operator == name] for name in COPIES}
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
