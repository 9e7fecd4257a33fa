"""Models that passed the gate before they were distributed: listed, and not checked again."""

import hashlib
import re
import shutil
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from bundle_folders import replaced, resealed
from onnx import TensorProto, helper

from thinstack.bundle import open_bundle
from thinstack.bundle.gate import onnx_gate
from thinstack.bundle.gate.passed import PASSED, has_passed
from thinstack.bundle.opening import BUNDLED
from thinstack.errors import BundleError
from thinstack.runtime.predictor import Predictor

ROOT = Path(__file__).parents[2]
ONNX = "onnx/model.onnx"


@pytest.fixture
def checked(monkeypatch):
    """The digest of each file that passes through the gate."""
    found, real = [], onnx_gate.check_onnx

    def recorded(content, **more):
        found.append(hashlib.sha256(content).hexdigest())
        real(content, **more)

    monkeypatch.setattr(onnx_gate, "check_onnx", recorded)
    return found


def test_every_model_of_the_repository_is_listed_and_passes():
    spec = spec_from_file_location("passed_models", ROOT / "scripts" / "passed_models.py")
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    again = "run python scripts/passed_models.py"
    assert PASSED.read_text(encoding="utf-8") == script.passed(), again


def test_a_listed_model_is_not_checked_again_wherever_it_lies(checked, tmp_path):
    copy = shutil.copytree(BUNDLED / "sentiment", tmp_path / "copy")
    for folder in (BUNDLED / "sentiment", copy):
        assert Predictor(open_bundle(folder), isolated=False)("A good film.").label == "positive"
    assert checked == []


def test_another_model_in_its_folder_is_checked(checked, tmp_path):
    """Whoever can write to the folder of a bundle writes its manifest too."""
    folder = shutil.copytree(BUNDLED / "sentiment", tmp_path / "copy")
    graph = helper.make_graph(
        [helper.make_node("Hardmax", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    hostile = helper.make_model(graph).SerializeToString()
    replaced(ONNX, hostile)(folder)
    with pytest.raises(BundleError, match="Hardmax"):
        Predictor(open_bundle(folder), isolated=False)
    assert checked == [hashlib.sha256(hostile).hexdigest()]


def test_a_listed_digest_does_not_stand_for_other_bytes(checked, tmp_path):
    folder = shutil.copytree(BUNDLED / "sentiment", tmp_path / "copy")
    content = (folder / ONNX).read_bytes()
    listed = hashlib.sha256(content).hexdigest()
    assert has_passed(listed)
    (folder / ONNX).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    told = {"sha256": listed, "size": len(content)}
    resealed(lambda raw: raw["files"].update({ONNX: told}))(folder)
    with pytest.raises(BundleError, match=re.escape("its SHA-256 is not the one in the manifest")):
        Predictor(open_bundle(folder), isolated=False)


@pytest.mark.parametrize("digest", ["", "  ", "models", "44a8"])
def test_nothing_but_a_whole_digest_is_listed(digest):
    assert not has_passed(digest)
