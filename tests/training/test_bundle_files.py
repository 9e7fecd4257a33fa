"""The files of a bundle, as all that write one to run make them."""

from pathlib import Path

import pytest

from thinstack.bundle import open_bundle, write_bundle
from thinstack.bundle.weights import load_model
from thinstack.data.words.wordpiece import tokenizer_json
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.reference import check_cases
from thinstack.training.publish.bundle_files import bundle_files

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1"
ALWAYS = {"vocabulary.txt", "onnx/model.onnx", "model.safetensors", "cases.json"}
ALWAYS |= {"verification.json"}


@pytest.mark.parametrize(
    ("kind", "inference_only", "more"),
    [("wordpiece-parser", True, {"tokenizer.json"}), ("words", False, {"torchscript/model.pt"})],
)
def test_a_bundle_is_whole_and_answers(kind, inference_only, more, tmp_path):
    golden = open_bundle(GOLDEN / kind)
    config, vocabulary = golden.config, golden.vocabulary()
    made = bundle_files(load_model(golden), config, vocabulary, inference_only=inference_only)
    assert set(made.files) == ALWAYS | more
    assert not made.unscripted
    if "tokenizer.json" in more:
        assert made.files["tokenizer.json"] == tokenizer_json(vocabulary)
    added = {"distances.json": golden.read("distances.json")} if kind == "words" else {}
    bundle = write_bundle(tmp_path / "model", made.files | added, config=config)
    assert check_cases(bundle).holds
    words = [["the", "film", "is", "good"]]
    (found,), (wanted,) = (
        Predictor(one, isolated=False).predict(words) for one in (bundle, golden)
    )
    assert found.node_scores[-1] == pytest.approx(wanted.node_scores[-1], abs=1e-6)
