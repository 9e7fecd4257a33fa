"""`thinstack doctor`, on what is installed here and on models that are as they should be or not."""

import json
import shutil
import sys

import numpy as np
import onnxruntime
import pytest
from bundle_folders import GOLDEN, replaced
from distributions import install

from thinstack.bundle import open_bundle
from thinstack.bundle.opening import BUNDLED
from thinstack.cli.checks import Check, exit_code
from thinstack.errors import DeviceError
from thinstack.plugins.manager import manager
from thinstack.runtime import reference

WORDS = GOLDEN / "words"


@pytest.fixture(autouse=True)
def _no_packages(monkeypatch):
    """Other tests are of these, and torch and spaCy take seconds."""
    monkeypatch.setattr("thinstack.cli.checks.package_checks", lambda: iter(()))


@pytest.fixture(autouse=True)
def _no_plugins(monkeypatch):
    """What is installed for GPUs differs by machine."""
    monkeypatch.setattr("thinstack.runtime.devices.find_spec", lambda name: None)


@pytest.fixture
def golden(tmp_path):
    """A copy of a bundle that has reference cases, to be damaged."""
    return shutil.copytree(WORDS, tmp_path / "model")


def found(answer):
    """The checks of `--json`, by name."""
    listed = json.loads(answer.out)
    assert listed["exit_code"] == answer.code
    return {one["name"]: one for one in listed["checks"]}


def test_what_it_says_of_the_bundled_model_is_so(cli):
    answer = cli("doctor", "--json")
    assert answer.code == 0
    checks = found(answer)
    manifest = (BUNDLED / "sentiment" / "manifest.json").read_bytes()
    assert checks["model"]["details"]["digest"] == json.loads(manifest)["digest"]
    assert checks["providers"]["details"]["providers"] == onnxruntime.get_available_providers()
    prediction = checks["prediction"]["details"]
    apart = np.concatenate(list(differences(open_bundle("sentiment"))))
    assert prediction["cases"] == prediction["compared"] == 7
    # Numbers that are as they were but for rounding.
    assert prediction["largest"] == pytest.approx(apart.max(), rel=1e-6)
    assert prediction["mean"] == pytest.approx(apart.mean(), rel=1e-6)
    assert 0 < prediction["largest"] < 1e-6


def differences(bundle):
    """By onnxruntime alone: how far each output is from that of its case; none exceeds 1 by far."""
    session = onnxruntime.InferenceSession(bundle.read("onnx/model.onnx"))
    for case in json.loads(bundle.read("cases.json"))["cases"]:
        feeds = {name: np.array(values, np.int32) for name, values in case["inputs"].items()}
        outputs = session.run(list(case["outputs"]), feeds)
        for name, values in zip(case["outputs"], outputs, strict=True):
            yield np.abs(values - np.array(case["outputs"][name])).ravel()


def test_a_line_a_check(cli):
    answer = cli("doctor")
    assert (answer.code, answer.err) == (0, "")
    lines = [line.split(maxsplit=2)[:2] for line in answer.out.splitlines()[2:]]
    names = ["threads", "providers", "telemetry", "plugins", "model", "prediction"]
    assert lines[: len(names)] == [["ok", name] for name in names]
    assert answer.out.endswith("\n\nAll checks passed.\n")


def test_a_model_that_answers_otherwise_is_wrong(cli, golden):
    assert found(cli("doctor", "--json", "--model", golden))["prediction"]["status"] == "ok"
    cases = json.loads((golden / "cases.json").read_bytes())
    cases["cases"][1]["outputs"]["root_scores"][0][0] += 2e-4
    replaced("cases.json", json.dumps(cases).encode())(golden)
    answer = cli("doctor", "--json", "--model", golden)
    prediction = found(answer)["prediction"]
    assert (answer.code, prediction["status"]) == (1, "wrong")
    assert prediction["details"]["largest"] == pytest.approx(2e-4, rel=0.01)
    assert "the scores are wrong" in prediction["found"]


OF_ANOTHER_MODEL = "not the reference cases of this model"
UNUSABLE = {
    "a list": (lambda cases: [], OF_ANOTHER_MODEL),
    "labels": (lambda cases: cases | {"labels": ["a", "b"]}, "they have the labels"),
    "bytes": (lambda cases: b"\xff", OF_ANOTHER_MODEL),
    "empty": (lambda cases: cases | {"cases": []}, "no reference case could be compared"),
    "shape": (lambda cases: cases["cases"][0]["outputs"].update(root_scores=[[0.5, 0.5]]), ""),
    "input": (lambda cases: cases["cases"][0]["inputs"].pop("transitions") and None, ""),
    "id": (lambda cases: cases["cases"][0]["inputs"].update(token_ids=[10**6]), ""),
    "too large": (lambda cases: cases["cases"][0]["inputs"].update(token_ids=[10**30]), ""),
    "infinite": (lambda cases: cases["cases"][0]["inputs"].update(token_ids=[float("inf")]), ""),
}
"""Changes of the cases, which give others or change them, and what is said of it."""


@pytest.mark.parametrize("name", UNUSABLE)
def test_cases_that_cannot_be_run_or_compared_are_wrong(cli, golden, name):
    change, problem = UNUSABLE[name]
    cases = json.loads((golden / "cases.json").read_bytes())
    others = change(cases)
    others = cases if others is None else others
    content = others if isinstance(others, bytes) else json.dumps(others).encode()
    replaced("cases.json", content)(golden)
    answer = cli("doctor", "--json", "--model", golden)
    assert (answer.code, found(answer)["prediction"]["status"]) == (1, "wrong")
    assert problem in found(answer)["prediction"]["found"]


def test_a_damaged_model_and_one_that_is_not_there_are_wrong(cli, golden):
    (golden / "onnx" / "model.onnx").write_bytes(b"damaged")
    for model, problem in ((golden, "the manifest says"), ("nowhere", "unknown model 'nowhere'")):
        answer = cli("doctor", "--model", model)
        assert answer.code == 1
        (line,) = [line for line in answer.out.splitlines() if line.startswith("wrong")]
        assert line.split()[1] == "model"
        assert problem in line
        assert "prediction" not in answer.out
    assert "model         thinstack plugins\n" in answer.out


def test_a_bundle_without_cases_is_no_fault(cli, last_word):
    answer = cli("doctor", "--json", "--model", last_word.path)
    assert (answer.code, found(answer)["prediction"]["status"]) == (0, "missing")


@pytest.mark.parametrize(("metadata", "tolerance"), [({"quantization": "int8"}, 1e-4), ({}, 1e-3)])
def test_products_in_8_bits_are_allowed_more_on_average(golden, monkeypatch, metadata, tolerance):
    """A session of the golden file that says of itself what one in 8 bits says; and a GPU's, whose
    cases are those of one in 8 bits."""
    real = reference.open_session

    class Rough:
        def __init__(self, *given, **more):
            self.session = real(*given, **more)
            self.metadata = metadata

        def __getattr__(self, name):
            return getattr(self.session, name)

    monkeypatch.setattr(reference, "open_session", Rough)
    cases = json.loads((golden / "cases.json").read_bytes())
    for off, holds in ((0.015, True), (0.025, False)):
        moved = json.loads(json.dumps(cases | {"tolerance": tolerance}))
        for case in moved["cases"]:
            for rows in case["outputs"].values():
                scores = np.array(rows)
                scores += off * np.where(np.arange(scores.size) % 2, 0.5, 1.5).reshape(scores.shape)
                rows[:] = scores.tolist()
        replaced("cases.json", json.dumps(moved).encode())(golden)
        agreement = reference.check_cases(open_bundle(golden))
        assert agreement.on_average
        assert agreement.mean == pytest.approx(off, rel=0.05)
        assert agreement.largest == pytest.approx(1.5 * off, rel=1e-3)
        assert agreement.holds == holds


def test_other_trees_of_products_in_8_bits_are_not_compared():
    bundle = open_bundle(GOLDEN / "wordpiece-parser")
    cases = json.loads(bundle.read("cases.json"))["cases"]
    session = reference.open_session(bundle.read("onnx/model.onnx"), device="cpu", source="golden")
    (case,) = [one for one in cases if len(one["outputs"]["parse"]) == 9][:1]
    same = reference._errors_of_case(session, case, rough=True)
    assert same.max() < 1e-5
    case["outputs"]["parse"][2] ^= 1
    assert reference._errors_of_case(session, case, rough=True) is None
    exact = reference._errors_of_case(session, case, rough=False)
    assert exact.max() == 1


@pytest.mark.parametrize(
    ("name", "provider", "plugin", "mend"),
    [
        ("CUDA", "CUDAExecutionProvider", None, 'pip install "onnxruntime-gpu[cuda,cudnn]"'),
        ("WebGPU", "WebGpuExecutionProvider", None, "libvulkan1"),
        ("WebGPU", "AzureExecutionProvider", "a plugin", "libvulkan1"),
    ],
)
def test_a_gpu_that_does_not_work_is_missing_and_no_fault(
    cli, golden, monkeypatch, name, provider, plugin, mend
):
    def check(bundle, *, device, isolated):
        if device == name.lower():
            raise DeviceError("no driver")
        assert device == "cpu"
        return reference.check_cases(bundle)

    module = "thinstack.cli.checks"
    announced = [provider, "CPUExecutionProvider"]
    monkeypatch.setattr(f"{module}.available_providers", lambda: announced)
    monkeypatch.setattr(f"{module}.check_cases", check)
    monkeypatch.setattr("thinstack.runtime.devices.find_spec", lambda name: plugin)
    answer = cli("doctor", "--json", "--model", golden)
    checks = found(answer)
    check = checks[name]
    assert (answer.code, check["status"], check["found"]) == (0, "missing", "no driver")
    assert mend in check["mend"]
    assert len({"CUDA", "WebGPU"} & set(checks)) == 1


def test_a_plugin_that_fails_is_wrong(cli, tmp_path):
    sys.path.insert(0, str(tmp_path))
    install(tmp_path, "broken", "broken_cell", "raise RuntimeError('no luck')")
    manager.cache_clear()
    try:
        answer = cli("doctor", "--json")
    finally:
        sys.path.remove(str(tmp_path))
        manager.cache_clear()
    plugins = found(answer)["plugins"]
    assert (answer.code, plugins["status"]) == (1, "wrong")
    assert "no luck" in plugins["found"]
    assert plugins["mend"] == "pip install --upgrade broken-cell"


@pytest.mark.parametrize(
    ("status", "needed", "code"),
    [("ok", True, 0), ("missing", False, 0), ("missing", True, 1), ("wrong", False, 1)],
)
def test_exit_codes(status, needed, code):
    others = [Check("a", "ok", ""), Check("b", "missing", "")]
    assert exit_code([*others, Check("c", status, "", needed=needed)]) == code
