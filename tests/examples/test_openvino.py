"""The example of OpenVINO, and that its answers are onnxruntime's for batches of any size."""

import re
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from predict_program import (
    assert_phrases,
    bundle_of_pairs,
    bundle_with_a_wrong_score,
    program,
    run,
    run_readme,
)

from thinstack.bundle import open_bundle

pytest.importorskip("openvino", reason="needs openvino")

PREDICT = program("openvino")


def test_the_line_of_the_readme() -> None:
    assert_phrases(run_readme("openvino"), "A wonderful film")


def test_another_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sentence = "The plot 's crème brûlée never comes alive ."
    assert run(PREDICT, monkeypatch, "sst", *sentence.split()) == 0
    assert_phrases(capsys.readouterr().out, sentence)


def test_a_wrong_case_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(PREDICT, monkeypatch, bundle_with_a_wrong_score(tmp_path / "wrong", 1.5e-4)) == 1
    assert re.fullmatch(
        r"OpenVINO: \d cases, largest difference 1.5e-04, allowed 0.0001\n", capsys.readouterr().out
    )


def test_no_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(PREDICT, monkeypatch, tmp_path) == 2
    assert capsys.readouterr() == (
        "",
        f"OpenVINO: {tmp_path}: not a bundle, it has no manifest.json\n",
    )


def test_a_model_of_another_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(PREDICT, monkeypatch, bundle_of_pairs(tmp_path / "pairs")) == 0
    assert re.fullmatch(
        r"OpenVINO: 3 cases, largest difference \S+e-0[789].*\nno phrases: .*\n",
        capsys.readouterr().out,
    )


def test_batches_of_any_size() -> None:
    """One compiled model for all; between them an empty batch, whose loops run once or never."""
    file = open_bundle("sst").read("onnx/model.onnx")
    model, session = (
        PREDICT.Model(file),
        onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"]),
    )
    generator = np.random.default_rng(0)
    for lengths in ([3], [], [1], [100], [1, 30, 2, 17, 1, 9] * 5, [2]):
        counts = generator.integers(1, 4, sum(lengths))
        pieces = generator.integers(0, 30000, int(counts.sum()))
        right = np.concatenate(
            [np.zeros(0, int), *([0] * words + [1] * (words - 1) for words in lengths)]
        )
        for transitions in (right, right[:0]):
            inputs = {
                "piece_ids": pieces,
                "pieces_per_word": counts,
                "lengths": lengths,
                "transitions": transitions,
            }
            expected = session.run(
                None, {name: np.array(values, np.int32) for name, values in inputs.items()}
            )
            found = model.run(inputs)
            for value, wanted in zip(session.get_outputs(), expected, strict=True):
                np.testing.assert_allclose(found[value.name], wanted, rtol=0, atol=1e-5)
