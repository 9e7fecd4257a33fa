"""A bundle in onnx's reference evaluator: compare it with its cases, then print what it says of the
phrases of a sentence.

python predict.py [BUNDLE [WORD ...]]
"""

import json
import sys
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.ops.op_dequantize_linear import DequantizeLinear_25

from thinstack.errors import ThinstackError
from thinstack.runtime import Bundle, open_bundle, spans_of

Arrays = dict[str, Any]


class DequantizeLinear(DequantizeLinear_25):
    """The evaluator has this operator of 8-bit files only for later opsets."""

    op_domain = ""


class Model:
    """An ONNX file in the reference evaluator: `run` takes and gives arrays by name."""

    def __init__(self, file: bytes):
        proto = onnx.load_model_from_string(file)
        types = {value.name: value.type.tensor_type.elem_type for value in proto.graph.input}
        self.types = {
            name: onnx.helper.tensor_dtype_to_np_dtype(number) for name, number in types.items()
        }
        self.evaluator = ReferenceEvaluator(proto, new_ops=[DequantizeLinear])
        self.outputs = [value.name for value in proto.graph.output]

    def run(self, inputs: Arrays) -> Arrays:
        # Older files, and those of some parsers, have no `breaks`.
        known = {name: values for name, values in inputs.items() if name in self.types}
        feeds = {name: np.array(values, self.types[name]) for name, values in known.items()}
        with np.errstate(over="ignore"):  # of a sigmoid, which is 0 then, as it should be
            found = self.evaluator.run(self.outputs, feeds)
        return dict(zip(self.outputs, found, strict=True))


def largest_difference(model: Model, cases: list[dict[str, Arrays]]) -> float:
    """Between the outputs and the expected ones, relative where those exceed 1; infinite where the
    shapes differ."""
    largest = 0.0
    for case in cases:
        found = model.run(case["inputs"])
        for name, values in case["outputs"].items():
            wanted = np.array(values)
            if found[name].shape != wanted.shape:
                return float("inf")
            largest = max(
                largest,
                float(
                    (np.abs(found[name] - wanted) / np.maximum(1, np.abs(wanted))).max(initial=0)
                ),
            )
    return largest


def print_phrases(model: Model, bundle: Bundle, words: list[str]) -> None:
    """The likeliest label and its probability for each phrase of the tree that the model makes."""
    ids = bundle.vocabulary().ids(words)
    inputs = (
        dict(zip(("piece_ids", "pieces_per_word"), ids, strict=True))
        if isinstance(ids, tuple)
        else {"token_ids": ids}
    )
    found = model.run({**inputs, "lengths": [len(words)], "breaks": [0], "transitions": []})
    spans, scores = spans_of(found["parse"]), found["node_scores"]
    for node in np.lexsort((-spans[:, 1], spans[:, 0])):
        start, end = spans[node]
        depth = int(((spans[:, 0] <= start) & (end <= spans[:, 1])).sum()) - 1
        label = bundle.config.labels[scores[node].argmax()]
        print(f"{label:14} {scores[node].max():.3f}  {'  ' * depth}{' '.join(words[start:end])}")


def main() -> int:
    """Exit code 1: the outputs differ from the cases by more than their tolerance; 2: the bundle
    cannot be read."""
    folder, *words = sys.argv[1:] or ["sentiment"]
    try:
        bundle = open_bundle(folder)
        model, reference = (
            Model(bundle.read("onnx/model.onnx")),
            json.loads(bundle.read("cases.json")),
        )
    except ThinstackError as error:
        print(f"onnx.reference: {error}", file=sys.stderr)
        return 2
    cases, tolerance = reference["cases"], reference["tolerance"]
    difference = largest_difference(model, cases)
    print(
        f"onnx.reference: {len(cases)} cases, largest difference {difference:.1e}, allowed "
        f"{tolerance}"
    )
    if not difference <= tolerance:
        return 1
    if {"parse", "node_scores"} <= set(model.outputs):
        print_phrases(model, bundle, words or ["A", "wonderful", "film"])
    else:
        print("no phrases: for those the model must make its own trees and score nodes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
