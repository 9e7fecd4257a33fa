"""The C++ example, built and run by the line of its README."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from core.configured import build
from test_predict_programs import command

from thinstack.bundle import open_bundle
from thinstack.core.forest import Forest
from thinstack.export.samples import eager_scores
from thinstack.export.torchscript import export_torchscript

ROOT = Path(__file__).parents[2]
EXPORT = "thinstack export sentiment sentiment.pt && "

pytestmark = pytest.mark.skipif(
    not (shutil.which("cmake") and shutil.which("c++")), reason="needs CMake and a C++ compiler"
)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """A copy of the example with the program built, the model that it ran, and what the line of the
    README printed."""
    folder = tmp_path_factory.mktemp("cpp") / "cpp"
    shutil.copytree(
        ROOT / "examples" / "cpp", folder, ignore=shutil.ignore_patterns("build", "*.pt")
    )
    torch.manual_seed(0)
    model = build(
        embedding={"kind": "wordpieces", "size": 6},
        encoder={"tracker": {"size": 4, "lookahead": 2, "feeds": False}},
        entries=len(open_bundle("sentiment").vocabulary()),
    ).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_()
    (folder / "sentiment.pt").write_bytes(export_torchscript(model)[0])
    (line,) = re.findall(
        r"^```sh\n(.+)\n```$", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert line.startswith(EXPORT)
    done = command(["bash", "-c", line.removeprefix(EXPORT)], folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, model, done.stdout


def predict(folder, text, model="sentiment.pt"):
    return command(["build/predict", model], folder, input=text)


def check(text, model, inputs):
    """Compare the printed outputs, of which other lines may stand before, with the model's."""
    arrays = {name: np.array(values, np.int64) for name, values in inputs.items()}
    expected = eager_scores(model, Forest(**arrays))
    found = outputs(text)
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-5)


def outputs(text):
    found = {}
    for name, shape, values in re.findall(
        r"^(parse|\w+_scores)((?: \d+)+)\n((?:[-\d. e]*\n)*)", text, re.MULTILINE
    ):
        found[name] = np.array(values.split(), float).reshape([int(size) for size in shape.split()])
    return found


def lines(inputs):
    return "".join(" ".join(map(str, [name, *values])) + "\n" for name, values in inputs.items())


def test_the_line_of_the_readme(built):
    pieces, counts = open_bundle("sentiment").vocabulary().ids(["A", "wonderful", "film"])
    inputs = {"piece_ids": pieces.tolist(), "pieces_per_word": counts.tolist(), "lengths": [3]}
    assert (built[0] / "inputs.txt").read_text() == lines(inputs)
    check(built[2], built[1], inputs)


@pytest.mark.parametrize("transitions", [[], [0, 0, 1, 0, 1, 0, 0, 0, 1, 1, 0]])
def test_several_sentences(built, transitions):
    inputs = {
        "piece_ids": [5, 9, 2, 30521, 7, 0, 1, 8, 3, 4],
        "pieces_per_word": [1, 2, 1, 1, 3, 1, 1],
        "lengths": [3, 3, 1],
    }
    inputs["transitions"] = transitions
    check(predict(built[0], lines(inputs)).stdout, built[1], inputs)


@pytest.mark.parametrize(
    ("model", "text", "message"),
    [
        ("none.pt", "", "predict: .*none.pt"),
        (
            "sentiment.pt",
            "lengths 1 x\n",
            "predict: expected a name and integers, found: lengths 1 x",
        ),
        (
            "sentiment.pt",
            "piece_ids 1 2\npieces_per_word 1 1\nlengths 3\n",
            r"(?s)predict: .*expected 3 words, .* found 2",
        ),
    ],
)
def test_what_cannot_be_run(built, model, text, message):
    done = predict(built[0], text, model)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.match(message, done.stderr)
