"""OpenVINO's answers are onnxruntime's for batches of any size."""

import numpy as np
import onnxruntime
import pytest
from predict_program import program

from thinstack.bundle import open_bundle

pytest.importorskip("openvino", reason="needs openvino")


def test_batches_of_any_size():
    """One compiled model for all; between them an empty batch, whose loops run once or never."""
    file = open_bundle("sentiment").read("onnx/model.onnx")
    model = program("openvino").Model(file)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    generator = np.random.default_rng(0)
    for lengths in ([3], [], [1], [100], [1, 30, 2, 17, 1, 9] * 5, [2]):
        counts = generator.integers(1, 4, sum(lengths))
        pieces = generator.integers(0, 30000, int(counts.sum()))
        right = np.concatenate(
            [np.zeros(0, int), *([0] * words + [1] * (words - 1) for words in lengths)]
        )
        for transitions in (right, right[:0]):
            inputs = {"piece_ids": pieces, "pieces_per_word": counts}
            inputs |= {"lengths": lengths, "breaks": [0] * len(lengths)}
            inputs["transitions"] = transitions
            feeds = {name: np.array(values, np.int32) for name, values in inputs.items()}
            expected = session.run(None, feeds)
            found = model.run(inputs)
            for value, wanted in zip(session.get_outputs(), expected, strict=True):
                np.testing.assert_allclose(found[value.name], wanted, rtol=0, atol=1e-5)
