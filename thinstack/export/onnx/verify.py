"""Compare an exported ONNX file with the model it came from, in two independent runtimes."""

import dataclasses
import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack, cast

import numpy as np
import onnx
import torch
from onnx.reference import ReferenceEvaluator
from onnx.reference.ops.op_dequantize_linear import DequantizeLinear_25
from threadpoolctl import ThreadpoolController

from thinstack._onnxruntime import import_onnxruntime
from thinstack._version import __version__
from thinstack.core.config import ModelConfig
from thinstack.core.forest import Forest, join
from thinstack.core.model.model import Model
from thinstack.errors import BundleError, ExportError
from thinstack.export.compare import Run, RuntimeReport, compare
from thinstack.export.onnx.graph import serialized, walk
from thinstack.export.onnx.model import Options, export_stages
from thinstack.export.quantize import Quantize, dequantised
from thinstack.export.samples import (
    Scores,
    eager_scores,
    makes_trees,
    sample_shapes,
    sample_trees,
    sampled,
)
from thinstack.runtime.interface import INDEX_TYPES
from thinstack.runtime.reference import INT8_TOLERANCE, TOLERANCE, distance
from thinstack.runtime.session import open_session

LONGEST = {"onnxruntime": 512, "onnx.reference": 64}  # words of a tree; the second is slow


class DequantizeLinear(DequantizeLinear_25):
    """What whole numbers stand for. onnx's reference evaluator has it only for later opsets."""

    op_domain = ""


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """The results of a comparison of an ONNX file with its model.

    Attributes:
        tolerance: the largest difference (`runtime.reference.distance`) that was allowed in
            `runtimes`, `development` and `neighbour_error`, but for batches in which the model
            itself rounds more (`thinstack.export.compare.compare`). For a file that computes in 8
            bits it is the largest mean difference, and `neighbour_error` may be as large.
        runtimes: each runtime against the model on sampled trees and words. The model's weights are
            rounded as the file stores them.
        development: the same on the real inputs that were given; empty without them.
        neighbour_error: the largest difference between a tree that is scored by itself and in a
            batch (onnxruntime).
        quantization: how weights are stored.
        int8_products: how many of the products with matrices are computed in 8 bits, such as "2 of
            3"; empty if all are in float32.
        max_deviation, mean_deviation: what quantisation costs: the differences from the scores of
            the model with its own weights, over given trees.
        opset, ir_version, operators: what a runtime must support; the operators in alphabetical
            order.
        provider: execution provider of the session of onnxruntime.
        versions: of thinstack, torch, onnx, numpy and Python.
    """

    tolerance: float
    runtimes: tuple[RuntimeReport, ...]
    development: tuple[RuntimeReport, ...]
    neighbour_error: float
    quantization: str
    int8_products: str
    max_deviation: float
    mean_deviation: float
    opset: int
    ir_version: int
    operators: tuple[str, ...]
    provider: str
    versions: dict[str, str]


def export_verified_onnx(
    model: Model,
    config: ModelConfig,
    *,
    vocabulary_digest: str,
    development: Sequence[Forest] = (),
    **options: Unpack[Options],
) -> tuple[bytes, VerificationReport]:
    """The file of `export_onnx`, verified by `verify_onnx`, and the report. The metadata of the
    file hold the report too, as `verification` (JSON).

    With `quantize` "int8", the same graph is first verified with products in float32, to the
    tolerance for float32. Raises what `export_onnx` and `verify_onnx` raise.
    """
    stages = export_stages(model, config, vocabulary_digest=vocabulary_digest, **options)
    for file in stages[:-1]:
        rounded = dequantised(model, options.get("quantize", "none"))
        verify_onnx(file, model, runtimes=("onnxruntime",), rounded=rounded)
    report = verify_onnx(stages[-1], model, development=development)
    return with_report(stages[-1], report), report


def with_report(exported: bytes, report: VerificationReport) -> bytes:
    """An ONNX file with a report in its metadata, as `verification` (JSON)."""
    proto = onnx.load_model_from_string(exported)
    written = json.dumps(dataclasses.asdict(report))
    proto.metadata_props.add(key="verification", value=written)
    return serialized(proto)


def verify_onnx(
    exported: bytes,
    model: Model,
    *,
    development: Sequence[Forest] = (),
    runtimes: Sequence[str] = tuple(LONGEST),
    rounded: Model | None = None,
) -> VerificationReport:
    """The report of a comparison of `exported` with its model. Both run on trees of other sizes
    than the file was exported with, the file in onnxruntime and in onnx's reference evaluator.

    Args:
        exported: the ONNX file.
        model: the model that it came from.
        development: batches of real inputs to compare on as well, such as the batches of a
            development file.
        runtimes: names of the runtimes, `onnxruntime` and `onnx.reference`.
        rounded: a copy of the model with other weights, to compare with in place of the copy below.

    A quantised file is compared with a copy of the model that has the rounded weights, so the
    tolerance (1e-4) is the same. What the rounding costs is reported beside it. For a file that
    computes in 8 bits the tolerance is 0.02, for the mean difference.

    Raises ExportError if the file's scores differ from the model's, if a tree's scores depend on
    the trees beside it, or if `thinstack.load` would refuse the file. Raises MissingExtraError
    without onnxruntime.
    """
    file = _File(exported)
    rough = file.quantize == "int8"
    tolerance = INT8_TOLERANCE if rough else TOLERANCE
    rounded, plain = rounded or dequantised(model, file.quantize), dequantised(model, "none")

    against = partial(
        compare, model=rounded, tolerance=tolerance, outputs=file.outputs, on_average=rough
    )
    wanted = [(name, *file.runtimes[name]) for name in runtimes]
    # An encoder takes the reference evaluator minutes on a development file.
    real = wanted[:1] if model.embedding.lookup == "context" else wanted
    run = file.runtimes["onnxruntime"][1]
    shipped = run if rough else partial(eager_scores, rounded)
    over_trees = (inputs for inputs in sampled(rounded) if not makes_trees(rounded, inputs))
    cost = compare("the file", "", shipped, plain, over_trees, np.inf, outputs=file.outputs)
    return VerificationReport(
        tolerance=tolerance,
        runtimes=tuple(
            against(*one, batches=sampled(rounded, longest=LONGEST[one[0]])) for one in wanted
        ),
        development=tuple(against(*one, batches=development) for one in real if development),
        neighbour_error=_neighbour_error(run, rounded, tolerance),
        quantization=file.quantize,
        int8_products=file.session.metadata.get("int8_products", ""),
        max_deviation=cost.max_error,
        mean_deviation=cost.mean_error,
        opset=next(opset.version for opset in file.proto.opset_import if opset.domain == ""),
        ir_version=file.proto.ir_version,
        operators=tuple(sorted({node.op_type for node in walk(file.proto.graph.node)})),
        provider=file.session.get_providers()[0],
        versions={
            "thinstack": __version__,
            "torch": str(torch.__version__),
            "onnx": onnx.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    )


class _File:
    """An exported file that `thinstack.load` would take: what it tells of itself, and what runs
    it."""

    def __init__(self, exported: bytes):
        try:
            self.session = open_session(exported, device="cpu", source="the exported file")
        except BundleError as error:
            advice = "build it from operations that thinstack's own parts use"
            raise ExportError(f"this model cannot be shipped as ONNX: {error}; {advice}") from None
        self.proto = onnx.load_model_from_string(exported)
        self.quantize = cast(Quantize, self.session.metadata["quantization"])
        self.outputs = self.session.outputs
        types = {name: INDEX_TYPES[kind] for name, kind in self.session.inputs.items()}

        def scores(run: Callable[..., Any], forest: Forest) -> Scores:
            fields = forest.inputs(types)
            inputs = {name: values.astype(types[name]) for name, values in fields.items()}
            return dict(zip(self.outputs, run(self.outputs, inputs), strict=True))

        reference = ReferenceEvaluator(self.proto, new_ops=[DequantizeLinear])
        numpy_threads = ThreadpoolController()

        def evaluated(*arguments: Any) -> Any:
            # Of a sigmoid, which is right. Products are so small that threads wait for each other.
            one = numpy_threads.limit(limits=1, user_api="blas")
            with np.errstate(over="ignore", invalid="ignore"), one:
                return reference.run(*arguments)

        self.runtimes: dict[str, tuple[str, Run]] = {
            "onnxruntime": (import_onnxruntime().__version__, partial(scores, self.session.run)),
            "onnx.reference": (onnx.__version__, partial(scores, evaluated)),
        }


def _neighbour_error(run: Run, model: Model, tolerance: float) -> float:
    """Largest difference between the scores of trees (pairs of trees, where pairs are scored) one
    by one, and in a batch."""
    generator = np.random.default_rng(1)
    *_, forest = sample_shapes(generator, longest=7)
    singles = sample_trees(model, forest, generator)
    alone, together = [run(single) for single in singles], run(join(singles))
    error = max(
        float(distance(np.concatenate([scores[name] for scores in alone]), values).max())
        for name, values in together.items()
        if name != "parse"
    )
    if not error <= tolerance:
        raise ExportError(
            f"the scores of a tree change by {error:.2g} with the other trees in its batch; "
            f"allowed {tolerance:.0e}. A cell or task head must treat each row separately in "
            "evaluation mode"
        )
    return error
