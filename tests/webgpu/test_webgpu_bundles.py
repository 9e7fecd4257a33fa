"""Bundles and registered parts on a real provider of GPUs: scores, trees, errors and copies."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from command_line import PATIENCE
from export.export_models import session_of
from onnx import parser
from registered_models import parts_of, registered, registered_models

import thinstack
from thinstack.core import transitions as shapes
from thinstack.core.forest import join, without_trees
from thinstack.errors import DeviceError
from thinstack.export.onnx.model import export_onnx
from thinstack.export.samples import sample_trees

TEXTS = [
    "A wonderful film.",
    "Dull and far too long. I left before the end.",
    "The plot never comes alive, but still, I liked it.",
]
APART, MOST = 2e-3, 2e-2
"""The mean and the largest difference from the CPU's scores, whose file has 8-bit products."""


@pytest.fixture(scope="module")
def here():
    return thinstack.load("sentiment")(TEXTS)


@pytest.fixture(scope="module")
def there():
    return thinstack.load("sentiment", device="webgpu")


def scores_of(results):
    """The scores of every phrase of every sentence."""
    sentences = [sentence for result in results for sentence in result.sentences]
    return [[list(phrase.scores.values()) for phrase in each.phrases] for each in sentences]


def alike(results, wanted):
    assert [each.label for each in results] == [each.label for each in wanted]
    pairs = zip(scores_of(results), scores_of(wanted), strict=True)
    assert all(len(found) == len(scores) for found, scores in pairs)
    for found, scores in zip(scores_of(results), scores_of(wanted), strict=True):
        np.testing.assert_allclose(found, scores, rtol=0, atol=MOST)
        assert np.abs(np.subtract(found, scores)).mean() < APART


def test_texts_have_the_scores_of_the_cpu(here, there):
    assert there.device == "webgpu"
    alike(there(TEXTS), here)


def test_a_process_of_its_own_has_a_gpu_too(here):
    apart = thinstack.load("sentiment", device="webgpu", isolated=True)
    assert apart.device == "webgpu"
    alike(apart(TEXTS), here)


def test_auto_takes_no_program_for_a_gpu():
    """Where the job is run on a real GPU, that is taken."""
    kinds = {
        one.device.type.name
        for one in onnxruntime.get_ep_devices()
        if one.ep_name == "WebGpuExecutionProvider"
    }
    if "GPU" in kinds:
        assert thinstack.load("sentiment", device="auto").device != "cpu"
        return
    with pytest.warns(RuntimeWarning, match="WebGPU: onnxruntime finds only a software GPU"):
        assert thinstack.load("sentiment", device="auto").device == "cpu"


def test_a_corpus(cli, here, tmp_path):
    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    options = ("--output", "documents", "--device", "webgpu", "--jobs", 0)
    answer = cli("predict", "--input", texts, "--out", tmp_path / "out", *options)
    assert answer.code == 0, answer.err
    (part,) = (tmp_path / "out").glob("part-*")
    rows = [json.loads(line) for line in part.read_text("utf-8").splitlines()]
    for row, wanted in zip(rows, here, strict=True):
        assert row["label"] == wanted.label
        assert row["scores"] == pytest.approx(wanted.scores, abs=MOST)


def test_a_pipeline(here):
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    pipe = nlp.add_pipe("tree_sentiment", config={"device": "webgpu", "source": "auto"})
    other = spacy.blank("en")
    other.add_pipe("sentencizer")
    other.add_pipe("tree_sentiment")
    for found, wanted in zip(nlp.pipe(TEXTS), other.pipe(TEXTS), strict=True):
        assert found.cats == pytest.approx(wanted.cats, abs=MOST)
    assert pipe.predictor.device == "webgpu"


def test_doctor_checks_it(cli):
    answer = cli("doctor", "--json")
    checks = {one["name"]: one for one in json.loads(answer.out)["checks"]}
    assert checks["WebGPU"]["status"] == "ok"
    assert checks["WebGPU"]["details"]["mean"] < APART


def command(**changed):
    """`thinstack predict` in a process with another environment. None takes a variable away."""
    environment = {**os.environ, **changed}
    return subprocess.run(
        [sys.executable, "-m", "thinstack", "predict", "--device", "webgpu", TEXTS[0]],
        env={name: value for name, value in environment.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_command_line():
    done = command()
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("very positive +0.86")


SOFTWARE = "ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER"


@pytest.mark.skipif(SOFTWARE not in os.environ, reason="of a software GPU")
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"VK_DRIVER_FILES": "/nowhere.json"}, "No supported adapters"),
        ({"LD_LIBRARY_PATH": None}, "No supported adapters"),
        ({SOFTWARE: None}, "onnxruntime finds no GPU"),
    ],
    ids=["driver", "loader", "gpu"],
)
def test_what_is_missing_is_one_message(changed, said):
    done = command(**changed)
    assert (done.returncode, done.stdout) == (2, "")
    # onnxruntime and Vulkan print warnings of their own.
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert line.startswith("error: device 'webgpu' does not work here: ")
    assert said in line
    assert "libvulkan1" in line


LARGE = """<ir_version: 8, opset_import: ["" : 18]>
agraph (float[n, 1] x, float[1, m] y) => (float[n] z) {
    products = Mul(x, y)
    axes = Constant<value_ints = [1]>()
    z = ReduceMax<keepdims = 0>(products, axes)
}
"""


@pytest.mark.skipif(
    SOFTWARE not in os.environ, reason="of a software GPU; others may have the memory"
)
def test_a_batch_larger_than_the_buffers_is_said_and_the_device_lives(on_webgpu):
    session = on_webgpu(parser.parse_model(LARGE).SerializeToString())
    row = np.ones((1, 40 << 10), np.float32)
    few, many = (np.ones((count, 1), np.float32) for count in (3, 8 << 10))
    with pytest.raises(DeviceError, match="larger than the device's buffers: WebGPU") as caught:
        session.run(["z"], {"x": many, "y": row})  # 1.25 GiB a tensor
    assert 'device="cpu"' in str(caught.value)
    (found,) = session.run(["z"], {"x": few, "y": row})
    np.testing.assert_array_equal(found, [1, 1, 1])


SCRIPT = Path(__file__).parents[2] / "lab" / "benchmarks" / "placement.py"
TREE = (
    "(3 (3 (2 It) (3 (2 never) (3 bores))) (2 (2 and) (3 (2 it) (3 (3 (3 moves) (2 you)) (2 .)))))"
)


def test_a_batch_copies_no_more(tmp_path):
    (tmp_path / "sst").mkdir()
    (tmp_path / "sst/dev.txt").write_text(f"{TREE}\n" * 4, encoding="utf-8")
    options = ["--data", tmp_path, "--sentences", 4, "--device", "webgpu", "--json"]
    command = list(map(str, [sys.executable, SCRIPT, "sentiment", *options]))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    own, given = json.loads(done.stdout)
    assert (own["trees"], given["trees"]) == ("own", "given")
    assert 100 < own["kernels"] <= 250
    assert (own["copies_in"] <= 3, own["copies_back"]) == (True, 0)
    assert (given["copies_in"] <= 2, given["copies_back"]) == (True, 0)


TREES = [shapes.left(4), shapes.left(1), shapes.balanced(6)]


def compared(model, config, opened):
    """The greatest difference of numbers, of those beyond 1 in proportion. Shapes and trees are
    equal."""
    content = export_onnx(model, config, vocabulary_digest="", device="gpu")
    there, here, most = opened(content), session_of(content), 0.0
    assert "WebGpuExecutionProvider" in there.get_providers()
    types = {each.name: each.type.removeprefix("tensor(")[:-1] for each in here.get_inputs()}
    names = [each.name for each in here.get_outputs()]
    given = join(sample_trees(model, TREES, np.random.default_rng(0)))
    for forest in (given, without_trees(given)) if model.parses else (given,):
        arrays = forest.inputs(model.input_names)
        feeds = {name: values.astype(types[name]) for name, values in arrays.items()}
        found, wanted = there.run(names, feeds), here.run(names, feeds)
        for name, one, two in zip(names, found, wanted, strict=True):
            assert one.shape == two.shape
            if name == "parse":
                np.testing.assert_array_equal(one, two)
            elif two.size:
                apart = np.abs(one - two) / np.maximum(1, np.abs(two))
                most = max(most, float(apart.max()))
    return most


def test_every_registered_part(on_webgpu):
    differences, parts = {}, set()
    for name, model, config in registered_models():
        parts |= parts_of(config)
        differences[name] = compared(model, config, on_webgpu)
    assert {name: found for name, found in differences.items() if not found <= 1e-5} == {}
    assert max(differences.values()) > 0, "no number was rounded otherwise: is it another device?"
    assert registered("cell", "head", "embedding", "encoder", "parser") <= parts
