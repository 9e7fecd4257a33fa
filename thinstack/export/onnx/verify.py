"""Comparison of an exported ONNX file with its model, in two independent runtimes."""

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
    """DequantizeLinear of onnx's reference evaluator, which implements it only for later opsets."""

    op_domain = ""


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """The results of a comparison of an ONNX file with its model.

    Differences are those of `thinstack.runtime.reference.distance`. For products in 8 bits,
    `tolerance` limits their mean; otherwise batches in which the model rounds more may exceed it.
    """

    tolerance: float  # the largest difference allowed
    runtimes: tuple[RuntimeReport, ...]  # on sampled trees, against the model's rounded weights
    development: tuple[RuntimeReport, ...]  # the same on real inputs, if any
    neighbour_error: float  # between trees alone and in a batch
    quantization: str  # how weights are stored
    int8_products: str  # the products in 8 bits, such as "2 of 3"; empty if all are in float32
    max_deviation: float  # from the model without quantization, over given trees
    mean_deviation: float
    opset: int
    ir_version: int
    operators: tuple[str, ...]  # that a runtime must support, sorted
    provider: str  # execution provider of onnxruntime
    versions: dict[str, str]


def export_verified_onnx(
    model: Model,
    config: ModelConfig,
    *,
    vocabulary_digest: str,
    development: Sequence[Forest] = (),
    **options: Unpack[Options],
) -> tuple[bytes, VerificationReport]:
    """Return the file of `export_onnx`, verified by `verify_onnx` and with the report in its
    metadata as `verification` (JSON), and the report. Raises what these functions raise.

    With `quantize` "int8", the same graph is first verified with products in float32, to the
    tolerance for float32.
    """
    stages = export_stages(model, config, vocabulary_digest=vocabulary_digest, **options)
    rounded = dequantised(model, options.get("quantize", "none"))
    for file in stages[:-1]:
        verify_onnx(file, model, runtimes=("onnxruntime",), rounded=rounded)
    report = verify_onnx(stages[-1], model, development=development, rounded=rounded)
    return with_report(stages[-1], report), report


def with_report(exported: bytes, report: VerificationReport) -> bytes:
    """Return an ONNX file with a report in its metadata, as `verification` (JSON)."""
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
    """Compare a file with its model, on trees of other sizes than its examples, and on batches of
    real inputs (`development`), in onnxruntime and onnx's reference evaluator (`onnx.reference`).

    The model has the rounded weights of the file, unless `rounded` is given. The tolerance is 1e-4,
    or 0.02 for the mean difference of products in 8 bits. The cost of rounding is reported
    separately.

    Raises ExportError if scores differ, if a tree's scores depend on other trees in its batch, or
    if `thinstack.load` rejects the file. Raises MissingExtraError without onnxruntime.
    """
    file = _File(exported)
    rough = file.quantize == "int8"
    tolerance = INT8_TOLERANCE if rough else TOLERANCE
    rounded, plain = rounded or dequantised(model, file.quantize), dequantised(model, "none")

    against = partial(
        compare, model=rounded, tolerance=tolerance, outputs=file.outputs, on_average=rough
    )
    wanted = [(name, *file.runtimes[name]) for name in runtimes]
    # The reference evaluator takes minutes for a development file with a transformer.
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
    """An exported file that `thinstack.load` accepts, with its settings and runtimes."""

    def __init__(self, exported: bytes):
        try:
            self.session = open_session(exported, device="cpu", source="the exported file")
        except BundleError as error:
            advice = "use only the operations of built-in parts"
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
            # Sigmoids overflow harmlessly. Products are so small that threads would only wait.
            one_thread = numpy_threads.limit(limits=1, user_api="blas")
            with np.errstate(over="ignore", invalid="ignore"), one_thread:
                return reference.run(*arguments)

        self.runtimes: dict[str, tuple[str, Run]] = {
            "onnxruntime": (import_onnxruntime().__version__, partial(scores, self.session.run)),
            "onnx.reference": (onnx.__version__, partial(scores, evaluated)),
        }


def _neighbour_error(run: Run, model: Model, tolerance: float) -> float:
    """Return the largest difference between scores of trees, or pairs, alone and in a batch."""
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
            f"the limit is {tolerance:.0e}. A cell or task head must treat each row separately in "
            "evaluation mode"
        )
    return error
