"""The example of onnx's reference evaluator."""

import re
from pathlib import Path

import pytest
from predict_program import (
    assert_phrases,
    bundle_of_pairs,
    bundle_with_a_wrong_score,
    program,
    run,
    run_readme,
)

PREDICT = program("reference")


def test_the_line_of_the_readme() -> None:
    assert_phrases(run_readme("reference"), "A wonderful film")


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
        r"onnx.reference: \d cases, largest difference 1.5e-04, allowed 0.0001\n",
        capsys.readouterr().out,
    )


def test_no_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(PREDICT, monkeypatch, tmp_path) == 2
    assert capsys.readouterr() == (
        "",
        f"onnx.reference: {tmp_path}: not a bundle, it has no manifest.json\n",
    )


def test_a_model_of_another_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(PREDICT, monkeypatch, bundle_of_pairs(tmp_path / "pairs")) == 0
    assert re.fullmatch(
        r"onnx.reference: 3 cases, largest difference \S+e-0[789].*\nno phrases: .*\n",
        capsys.readouterr().out,
    )


@pytest.mark.parametrize(
    ("found", "wanted", "difference"),
    [
        ([[0.5], [0.25]], [[0.5], [0.0]], 0.25),
        ([[3.0]], [[4.0]], 0.25),
        ([[0.5]], [0.5], float("inf")),
    ],
)
def test_the_largest_difference(found: list, wanted: list, difference: float) -> None:
    model = type("Model", (), {"run": lambda self, inputs: {"a": PREDICT.np.array(found)}})()
    assert (
        PREDICT.largest_difference(model, [{"inputs": {}, "outputs": {"a": wanted}}]) == difference
    )
