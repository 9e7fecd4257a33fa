"""The files of a bundle, as all that write one to run make them."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from thinstack.bundle import open_bundle, write_bundle
from thinstack.bundle.manifest import CASES_FILE, ONNX_FILE
from thinstack.bundle.weights import load_model
from thinstack.data.words.wordpiece import tokenizer_json
from thinstack.errors import ExportError
from thinstack.export.onnx import passes
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.reference import INT8_ROUNDING, answer_cases, check_cases
from thinstack.training.publish import assembly as module
from thinstack.training.publish.assembly import bundle_files

pytestmark = pytest.mark.usefixtures("short_samples")

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1"
ALWAYS = {"vocabulary.txt", "onnx/model.onnx", "model.safetensors", "cases.json"}
ALWAYS |= {"verification.json"}


@pytest.fixture
def words(monkeypatch):
    """The parts of a bundle of words, of which a file for GPUs is made in less time."""
    monkeypatch.setattr(passes, "MOST_UNROLLED", 4)
    golden = open_bundle(GOLDEN / "words")
    return load_model(golden), golden.config, golden.vocabulary()


@pytest.mark.parametrize(
    ("kind", "inference_only", "more"),
    [("wordpiece-parser", True, {"tokenizer.json"}), ("words", False, {"torchscript/model.pt"})],
)
def test_a_bundle_is_whole_and_answers(kind, inference_only, more, tmp_path):
    golden = open_bundle(GOLDEN / kind)
    config, vocabulary = golden.config, golden.vocabulary()
    files, _, unscripted = bundle_files(
        load_model(golden), config, vocabulary, inference_only=inference_only
    )
    assert set(files) == ALWAYS | more
    assert not unscripted
    if "tokenizer.json" in more:
        assert files["tokenizer.json"] == tokenizer_json(vocabulary)
    bundle = write_bundle(tmp_path / "model", files, config=config)
    assert check_cases(bundle).holds
    words = [["the", "film", "is", "good"]]
    (found,), (wanted,) = (
        Predictor(one, isolated=False).predict(words) for one in (bundle, golden)
    )
    assert found.node_scores[-1] == pytest.approx(wanted.node_scores[-1], abs=1e-6)


def test_the_cases_of_a_file_in_8_bits_are_its_own_answers(words):
    files, *_ = bundle_files(*words, quantize="int8")
    stored = json.loads(files[CASES_FILE])
    assert stored["tolerance"] == INT8_ROUNDING
    wrong = [case | {"outputs": dict.fromkeys(case["outputs"], 7)} for case in stored["cases"]]
    again = answer_cases({"tolerance": 1e-4, "cases": wrong}, files[ONNX_FILE], 0.5)
    assert again == {"tolerance": 0.5, "cases": stored["cases"]}
    session = onnxruntime.InferenceSession(files[ONNX_FILE], providers=["CPUExecutionProvider"])
    for case in stored["cases"]:
        feeds = {name: np.array(values, np.int32) for name, values in case["inputs"].items()}
        answers = session.run(list(case["outputs"]), feeds)
        for values, own in zip(answers, case["outputs"].values(), strict=True):
            np.testing.assert_allclose(values, own, rtol=0, atol=1e-7)


def test_a_file_for_gpus_that_answers_otherwise_is_an_error(words, monkeypatch):
    export = module.export_onnx

    def wrong(model, config, **options):
        content = onnx.load_from_string(export(model, config, **options))
        bias = next(each for each in content.graph.initializer if each.name.endswith("bias"))
        array = onnx.numpy_helper.to_array(bias) + np.arange(3, dtype=np.float32)
        bias.CopyFrom(onnx.numpy_helper.from_array(array, bias.name))
        return content.SerializeToString()

    monkeypatch.setattr(module, "export_onnx", wrong)
    with pytest.raises(ExportError, match="scores differ"):
        bundle_files(*words, gpu=True)
