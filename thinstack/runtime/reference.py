"""The reference cases of a bundle: compare the model with them, and create those of an 8-bit
file."""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import Bundle
from thinstack.bundle.manifest import CASES_FILE, MEND, ONNX_FILE
from thinstack.bundle.origin import is_isolated
from thinstack.core.config import Device
from thinstack.errors import BundleError
from thinstack.runtime.interface import INDEX_TYPES, PARSE_OUTPUT
from thinstack.runtime.session import open_session

TOLERANCE: Final = 1e-4
"""Runtimes round differently: over 512 words, a well-trained cell differs by 4e-6 from its float64
scores in torch, and by 1e-5 between torch and onnxruntime. A wrong graph differs by far more."""
INT8_TOLERANCE: Final = 2e-2
"""Tolerance of the mean difference for 8-bit products."""
INT8_ROUNDING: Final = 1e-3
"""Difference of an 8-bit file between runtimes: the last digit of a state can change the integer it
rounds to."""
ENCODER_ROUNDING: Final = 5e-2
"""The same for a file with a pretrained encoder, where differences add up (0.04 in WebAssembly)."""

_NO_CASES = ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError


class Agreement(NamedTuple):
    """The differences between a model's outputs and its reference cases.

    Attributes:
        cases: the number of cases.
        compared: the number of cases compared. An 8-bit model may parse a case differently; its
            scores then belong to other phrases and cannot be compared.
        largest, mean: the largest and the mean `distance` of a score from its case.
        tolerance: the upper limit of `largest`, or of `mean` if `on_average`.
        on_average: whether the tolerance applies to the mean, as for 8-bit products.
    """

    cases: int
    compared: int
    largest: float
    mean: float
    tolerance: float
    on_average: bool

    @property
    def holds(self) -> bool:
        """Whether the differences are within the tolerance."""
        return (self.mean if self.on_average else self.largest) <= self.tolerance


def distance(scores: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.float64]:
    """Return the difference of each score from the expected one. For scores above 1, such as the
    score of a whole tree, it is relative, because rounding errors grow with the score."""
    exact = wanted.astype(np.float64)
    scaled: NDArray[np.float64] = np.abs(scores - exact) / np.maximum(1, np.abs(exact))
    return scaled


def check_cases(
    bundle: Bundle, *, device: Device = "cpu", isolated: bool | None = None
) -> Agreement:
    """Run all reference cases of a bundle in onnxruntime. Every kind of model has cases, even one
    that a predictor cannot run. `isolated` is as in `Predictor`.

    An output of another shape has an infinite difference. Raises BundleError if the bundle lacks
    its ONNX file or its cases, or if they cannot be run; DeviceError if `device` does not work;
    MissingExtraError without onnxruntime.
    """
    session = open_session(
        bundle.read(ONNX_FILE),
        source=str(bundle.path / ONNX_FILE),
        device=device,
        isolated=is_isolated(bundle, isolated),
        gpu=b"" if device == "cpu" else bundle.for_gpu(),
    )
    source, content = bundle.path / CASES_FILE, bundle.read(CASES_FILE)
    try:
        stored = json.loads(content)
        if list(stored["labels"]) != list(bundle.config.labels):
            raise ValueError(f"they have the labels {stored['labels']!r:.200}")
        tolerance = float(stored["tolerance"])
        # Also a GPU's file of floats, beside cases of the 8-bit file for CPUs.
        rough = session.metadata.get("quantization") == "int8" or tolerance > TOLERANCE
        tolerance = INT8_TOLERANCE if rough else tolerance
        by_case = [_errors_of_case(session, case, rough=rough) for case in stored["cases"]]
    except _NO_CASES as error:
        problem = f"not the reference cases of this model: {error!s:.300}"
        raise BundleError(f"{source}: {problem}; {MEND}") from None
    errors = np.concatenate([np.zeros(0), *(errors for errors in by_case if errors is not None)])
    compared = sum(errors is not None for errors in by_case)
    if not errors.size:
        raise BundleError(f"{source}: no reference case could be compared; {MEND}")
    figures = float(errors.max()), float(errors.mean())
    return Agreement(len(by_case), compared, *figures, tolerance, rough)


def numbers(values: NDArray[Any]) -> list[Any]:
    """Return outputs as nested lists for JSON, rounded to seven decimals."""
    rounded = values if values.dtype.kind == "i" else values.astype(float).round(7)
    listed: list[Any] = rounded.tolist()
    return listed


def answer_cases(cases: dict[str, Any], exported: bytes, tolerance: float) -> dict[str, Any]:
    """Return reference cases with the outputs of an exported 8-bit file instead of the model's,
    because ports must agree with the file. `cases` is the return value of
    `thinstack.export.compare.reference_cases`. Raises BundleError for a file that onnxruntime
    cannot run."""
    session = open_session(exported, source="the exported file", device="cpu", isolated=False)
    rows = [
        case | {"outputs": {name: numbers(values) for name, values in _outputs(session, case)}}
        for case in cases["cases"]
    ]
    return cases | {"tolerance": tolerance, "cases": rows}


def _outputs(session: Any, case: dict[str, dict[str, Any]]) -> Iterator[tuple[str, NDArray[Any]]]:
    types = {name: INDEX_TYPES[kind] for name, kind in session.inputs.items()}
    feeds = {name: np.array(case["inputs"][name], kind) for name, kind in types.items()}
    return zip(case["outputs"], session.run(list(case["outputs"]), feeds), strict=True)


def _errors_of_case(
    session: Any, case: dict[str, dict[str, Any]], *, rough: bool
) -> NDArray[np.float64] | None:
    """Return the difference of each output; None if an int8 model parsed the case differently."""
    wanted = {name: np.array(values) for name, values in case["outputs"].items()}
    try:
        outputs = dict(_outputs(session, case))
    except BundleError as error:
        raise ValueError(f"the model cannot run a reference case: {error}") from None
    if any(outputs[name].shape != values.shape for name, values in wanted.items()):
        return np.array([np.inf])
    if rough and PARSE_OUTPUT in wanted and (outputs[PARSE_OUTPUT] != wanted[PARSE_OUTPUT]).any():
        return None
    errors = [distance(outputs[name], values).ravel() for name, values in wanted.items()]
    return np.concatenate(errors)
