"""The Python examples, of OpenVINO and of onnx's reference evaluator, are one program but for the
runtime."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from core.configured import config_of

import thinstack
from thinstack.bundle import open_bundle, write_bundle
from thinstack.core.config import ModelConfig
from thinstack.data.trees.brackets import to_brackets
from thinstack.export.compare import reference_cases
from thinstack.export.onnx.model import export_onnx
from thinstack.plugins.build import build_model

ROOT = Path(__file__).parents[2]
RUNTIMES = {"openvino": "OpenVINO", "reference": "onnx.reference"}
CASES = len(json.loads(open_bundle("sentiment").read("cases.json"))["cases"])


def command(words: list[str], folder: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a command, with the programs of this Python in reach."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "npm_config_update_notifier": "false"}
    how = {"capture_output": True, "text": True, "check": False, "env": environment}
    return subprocess.run(words, cwd=folder, **how, **more)


def run_readme(example: str) -> str:
    """What the line of its README prints, the packages being installed."""
    folder = ROOT / "examples" / example
    readme = (folder / "README.md").read_text("utf-8")
    (line,) = re.findall(r"^```sh\npip install .+ && (.+)\n```$", readme, re.M)
    done = command(["bash", "-c", line], folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def program(example: str) -> ModuleType:
    """The program as a module."""
    path = ROOT / "examples" / example / "predict.py"
    spec = importlib.util.spec_from_file_location(f"{example}_predict", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(module: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    monkeypatch.setattr("sys.argv", ["predict.py", *map(str, arguments)])
    code: int = module.main()
    return code


def assert_phrases(printed: str, sentence: str) -> None:
    """That the phrases are those of the predictor, in the order in which their brackets open,
    indented by depth."""
    first, *lines = printed.splitlines()
    report = re.fullmatch(rf"\S+: {CASES} cases, largest difference (\S+), allowed 0.001", first)
    assert float(report[1]) < 1e-5
    (expected,) = thinstack.load("sentiment").predict([sentence.split()])
    brackets = to_brackets(expected.tree)
    opening = [match.start() for match in re.finditer(r"\(", brackets)]
    depths = [brackets[:place].count("(") - brackets[:place].count(")") for place in opening]
    found = [re.fullmatch(r"(\w[\w ]*?) +(\d\.\d+)  ( *)(.+)", line).groups() for line in lines]
    nodes = expected.to_dict()["nodes"]
    order = sorted(range(len(nodes)), key=lambda i: (nodes[i]["start"], -nodes[i]["end"]))
    wanted = [
        (nodes[node]["label"], "  " * depth, nodes[node]["text"])
        for node, depth in zip(order, depths, strict=True)
    ]
    assert [(label, indent, text) for label, _, indent, text in found] == wanted
    scores = [float(score) for _, score, *_ in found]
    np.testing.assert_allclose(scores, expected.node_scores[order].max(1), rtol=0, atol=6e-4)


def bundle_with_a_wrong_score(path: Path, by: float) -> Path:
    """The bundled model with one score in its cases changed."""
    bundle = open_bundle("sentiment")
    files = {name: bundle.read(name) for name in bundle.manifest.files if name != "config.json"}
    cases = json.loads(files["cases.json"])
    cases["cases"][-1]["outputs"]["root_scores"][1][2] += by
    files["cases.json"] = json.dumps(cases).encode()
    return write_bundle(path, files, config=bundle.config).path


def bundle_of_pairs(path: Path) -> Path:
    """Dependency trees with relations, in pairs; int64."""
    config, files = _pairs()
    return write_bundle(path, files, config=config).path


@cache
def _pairs() -> tuple[ModelConfig, dict[str, bytes]]:
    fields = {"labels": ["1", "2", "3", "4", "5"], "tree_source": "left"}
    fields |= {"trees": "dependency", "relations": ["nsubj", "det"]}
    config = config_of({"name": "sdt_rnn.v1"}, {"name": "similarity.v1"}, **fields)
    torch.manual_seed(0)
    model = build_model(config, entries=50)
    return config, {
        "vocabulary.txt": "".join(f"word{i}\n" for i in range(49)).encode(),
        "onnx/model.onnx": export_onnx(model, config, index_type="int64", vocabulary_digest="none"),
        "cases.json": json.dumps(reference_cases(model, config)).encode(),
    }


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
    message = f"{RUNTIMES[example]}: {tmp_path}: not a bundle (no manifest.json)\n"
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


def test_batches_of_any_size():
    """One compiled model for all; between them an empty batch, whose loops run once or never."""
    pytest.importorskip("openvino", reason="needs openvino")
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
