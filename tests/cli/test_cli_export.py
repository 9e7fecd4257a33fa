"""`thinstack export`: a bundle's model as one file, verified before it is written."""

import json
import shutil
from functools import partial

import numpy as np
import onnxruntime
import pytest
import torch
from bundle_folders import GOLDEN

from thinstack.bundle import open_bundle, write_bundle
from thinstack.bundle.gate.onnx_gate import check_onnx
from thinstack.bundle.gpu_file import BESIDE, host_nodes, metadata
from thinstack.bundle.weights import load_model
from thinstack.export.onnx import verify as onnx_verify

TREES = "(1 (0 the) (1 (0 film) (1 good)))\n(0 (0 bad) (0 film))\n"


@pytest.fixture
def run(cli):
    return partial(cli, "export")


def in_onnxruntime(path):
    """Runs a file of ONNX; gives its outputs by name."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    types = {item.name: item.type[7:-1] for item in session.get_inputs()}
    names = [item.name for item in session.get_outputs()]

    def run_file(inputs):
        feeds = {name: np.array(inputs[name], types[name]) for name in types}
        return dict(zip(names, session.run(names, feeds), strict=True))

    return run_file


def scores(bundle, run_file):
    """Differences of a file from the reference cases of the bundle."""
    cases = json.loads((bundle / "cases.json").read_text())["cases"]
    found = []
    for case in cases:
        outputs = run_file(case["inputs"])
        found += [
            np.abs(np.asarray(outputs[name]) - np.array(values))
            for name, values in case["outputs"].items()
            if name in outputs
        ]
    return found


@pytest.mark.parametrize(
    ("name", "options"),
    [("words", []), ("wordpiece-parser", ["--outputs", "roots", "--index-type", "int64"])],
)
def test_every_format_answers_as_the_bundle_does(run, tmp_path, name, options):
    bundle, path = GOLDEN / name, tmp_path / "model.onnx"
    code, out, err = run(bundle, path, *options)
    assert code == 0
    assert err.startswith("exporting; comparing it with the model")
    assert out.startswith(f"{path}: ")
    assert f"{path}: {path.stat().st_size:,} bytes" in out
    assert all(part in out for part in ("onnxruntime", "onnx.reference", "opset 18, IR 8"))
    found = scores(bundle, in_onnxruntime(path))
    assert max(float(part.max(initial=0)) for part in found) < 1e-5
    script = tmp_path / "model.pt"
    assert run(bundle, script)[0] == 0
    with pytest.warns(DeprecationWarning, match="torch.jit"):
        module = torch.jit.load(script)
    tensors = lambda inputs: {n: torch.tensor(v).long() for n, v in inputs.items()}  # noqa: E731
    found = scores(bundle, lambda inputs: module(tensors(inputs)))
    assert max(float(part.max(initial=0)) for part in found) < 1e-5
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model.onnx", "model.pt"]


def test_a_file_for_gpus_is_whole(run, tmp_path):
    """Unlike that of a bundle, which lacks the weights that the file beside it has."""
    path = tmp_path / "gpu.onnx"
    code, out, _ = run(GOLDEN / "words", path, "--device", "gpu")
    assert code == 0
    assert all(part in out for part in ("onnxruntime", "onnx.reference"))
    content = path.read_bytes()
    check_onnx(content, source=str(path))
    assert host_nodes(content)
    assert BESIDE not in metadata(content)
    found = scores(GOLDEN / "words", in_onnxruntime(path))
    assert max(float(part.max(initial=0)) for part in found) < 1e-5


def test_what_quantising_costs_is_told(run, tmp_path):
    (tmp_path / "trees.txt").write_text(TREES)
    report = tmp_path / "report.json"
    options = ("--quantize", "fp16", "--data", tmp_path / "trees.txt", "--report", report)
    code, out, _ = run(GOLDEN / "words", tmp_path / "m.onnx", *options)
    assert code == 0
    found = json.loads(report.read_text())
    assert found["cost"]["fp16"]["bytes"] < found["cost"]["float32"]["bytes"]
    assert found["cost"]["fp16"]["roots"] == 2
    assert found["max_deviation"] > 0
    assert all(part in out for part in ("float32", "fp16", "sentences"))


def test_what_fails_the_verification_is_not_written(run, tmp_path, monkeypatch):
    other = load_model(GOLDEN / "words")
    other.head.linear.bias.data[0] += 0.1
    export = onnx_verify.export_stages
    wrong = lambda model, config, **options: export(other, config, **options)  # noqa: E731
    monkeypatch.setattr(onnx_verify, "export_stages", wrong)
    path = tmp_path / "m.onnx"
    path.write_bytes(b"what was there")
    code, _, err = run(GOLDEN / "words", path)
    assert (code, path.read_bytes()) == (2, b"what was there")
    assert "scores differ from the model's by" in err
    assert [file.name for file in tmp_path.iterdir()] == ["m.onnx"]


@pytest.mark.parametrize("target", ["onnx/model.onnx", "new.onnx", "trees.onnx"])
def test_nothing_that_is_read_is_replaced(run, tmp_path, target):
    bundle, trees = shutil.copytree(GOLDEN / "words", tmp_path / "m"), tmp_path / "trees.onnx"
    trees.write_text(TREES)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    path = trees if target == trees.name else bundle / target
    cases = [(bundle, path), (bundle, tmp_path / "x.onnx", "--report", path)]
    for case in cases:
        assert run(*case, "--data", trees).code == 2
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_bad_requests_are_one_message(run, tmp_path):
    words, trees = GOLDEN / "words", tmp_path / "trees.txt"
    trees.write_text(TREES)
    cases = [
        ((words, tmp_path / "m.bin"), "expected a name that ends in .onnx or .pt"),
        ((words, tmp_path / "m.pt", "--quantize", "fp16"), "data apply only to ONNX files"),
        ((words, tmp_path / "m.pt", "--data", trees), "data apply only to ONNX files"),
        ((words, tmp_path / "m.pt", "--device", "gpu"), "device and data apply only to ONNX files"),
        (("nothing-like-it", tmp_path / "m.onnx"), "unknown model 'nothing-like-it'"),
        ((words, tmp_path / "m.onnx", "--data", tmp_path / "none.txt"), "none.txt"),
    ]
    bare = shutil.copytree(words, tmp_path / "copy")
    source = open_bundle(bare)
    without = {name: source.read(name) for name in ("vocabulary.txt", "onnx/model.onnx")}
    write_bundle(tmp_path / "bare", without, config=source.config)
    cases.append(((tmp_path / "bare", tmp_path / "m.onnx"), "no torch weights"))
    for args, message in cases:
        run(*args).check_refused(message)
    assert not list(tmp_path.glob("m.*"))
