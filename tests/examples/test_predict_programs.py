"""The Python examples, of OpenVINO and of onnx's reference evaluator, are one program but for the
runtime."""

import re

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

RUNTIMES = {"openvino": "OpenVINO", "reference": "onnx.reference"}


@pytest.fixture(params=RUNTIMES)
def example(request):
    if request.param == "openvino":
        pytest.importorskip("openvino", reason="needs openvino")
    return request.param


@pytest.fixture
def predict(example):
    return program(example)


def test_the_line_of_the_readme(example):
    assert_phrases(run_readme(example), "A wonderful film")


def test_another_sentence(predict, monkeypatch, capsys):
    sentence = "The plot 's crème brûlée never comes alive ."
    assert run(predict, monkeypatch, "sentiment", *sentence.split()) == 0
    assert_phrases(capsys.readouterr().out, sentence)


def test_a_wrong_case_fails(example, predict, tmp_path, monkeypatch, capsys):
    assert run(predict, monkeypatch, bundle_with_a_wrong_score(tmp_path / "wrong", 1.5e-3)) == 1
    line = rf"{RUNTIMES[example]}: \d cases, largest difference 1.5e-03, allowed 0.001\n"
    assert re.fullmatch(line, capsys.readouterr().out)


def test_no_bundle(example, predict, tmp_path, monkeypatch, capsys):
    assert run(predict, monkeypatch, tmp_path) == 2
    message = f"{RUNTIMES[example]}: {tmp_path}: not a bundle, it has no manifest.json\n"
    assert capsys.readouterr() == ("", message)


def test_a_model_of_another_kind(example, predict, tmp_path, monkeypatch, capsys):
    assert run(predict, monkeypatch, bundle_of_pairs(tmp_path / "pairs")) == 0
    lines = rf"{RUNTIMES[example]}: 3 cases, largest difference \S+e-0[789].*\nno phrases: .*\n"
    assert re.fullmatch(lines, capsys.readouterr().out)


@pytest.mark.parametrize(
    ("found", "wanted", "difference"),
    [
        ([[0.5], [0.25]], [[0.5], [0.0]], 0.25),
        ([[3.0]], [[4.0]], 0.25),
        ([[0.5]], [0.5], float("inf")),
    ],
)
def test_the_largest_difference(found, wanted, difference):
    predict = program("reference")
    model = type("Model", (), {"run": lambda self, inputs: {"a": predict.np.array(found)}})()
    cases = [{"inputs": {}, "outputs": {"a": wanted}}]
    assert predict.largest_difference(model, cases) == difference


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
