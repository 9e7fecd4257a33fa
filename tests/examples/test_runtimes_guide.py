"""docs/runtimes.md and its neighbours: their Python runs, their tables name what models take."""

import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest

from thinstack.bundle import open_bundle
from thinstack.bundle.weights import load_model
from thinstack.core.scale import FIVE
from thinstack.export.torchscript import export_torchscript
from thinstack.runtime.views import View

ROOT = Path(__file__).parents[2]
GUIDE = "\n".join(
    (ROOT / "docs" / page).read_text(encoding="utf-8")
    for page in ("runtimes.md", "devices.md", "export.md")
)
# That of pairs needs a model of pairs: `training/test_pair_tables.py` runs one.
ALL = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
OWN = [block for block in ALL if 'open_bundle("sentiment")' in block]
BLOCKS = [block for block in ALL if '"model.' in block]
MODEL = ROOT / "thinstack" / "bundle" / "bundled" / "sentiment" / "onnx" / "model.onnx"


@pytest.mark.filterwarnings("ignore:`torch.jit.load` is:DeprecationWarning")
def test_python(tmp_path, monkeypatch, capsys):
    shutil.copy(MODEL, tmp_path / "model.onnx")
    (tmp_path / "model.pt").write_bytes(export_torchscript(load_model("sentiment"))[0])
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in BLOCKS:
        exec(compile(block, "<devices.md>", "exec"), names)
    assert capsys.readouterr().out.startswith(
        re.search(r"# (.*)$", BLOCKS[0], re.MULTILINE)[1] + "\n"
    )
    script = names["outputs"]  # in float32, where the file computes in 8 bits
    np.testing.assert_array_equal(script["parse"], names["parse"])
    np.testing.assert_allclose(script["node_scores"], names["nodes"], rtol=0, atol=5e-3)


def test_the_file_of_a_bundle(capsys):
    (block,) = OWN
    exec(compile(block, "<runtimes.md>", "exec"), {})
    assert capsys.readouterr().out == re.search(r"# (\(5, 5\).*?):", block)[1] + "\n"


def test_breaks_of_a_balanced_tree():
    names: dict[str, Any] = {}
    exec(next(block for block in ALL if "def breaks" in block), names)
    assert (names["breaks"](4), names["breaks"](5)) == ([2, 4, 2, 0], [2, 3, 5, 2, 0])


def test_labels_that_stand_for_sets_of_classes(capsys):
    sets = {"bad": FIVE[:2], "good": FIVE[3:]}
    view = View.choose(FIVE, None, None, sets, (2.0, 1.0))
    nodes = np.array([[0.1, 0.2, 0.3, 0.3, 0.1], [0, 0.1, 0.2, 0.3, 0.4]], np.float32)
    config = SimpleNamespace(labels=FIVE, class_sets=sets, class_weights=(2.0, 1.0))
    (block,) = [block for block in ALL if "class_sets" in block]
    exec(block, {"bundle": SimpleNamespace(config=config), "nodes": nodes, "np": np})
    shown = re.findall(r"[01]\.\d+", capsys.readouterr().out)
    assert [*map(float, shown)] == pytest.approx(view.scores(nodes)[0][-1].tolist(), abs=1e-6)


def test_the_ids_are_those_of_a_wonderful_film():
    pieces, counts = open_bundle("sentiment").vocabulary().ids(["A", "wonderful", "film"])
    assert (pieces.tolist(), counts.tolist()) == ([1037, 6919, 2143], [1, 1, 1])
    for path in ("docs/devices.md", "examples/java/Predict.java", "examples/csharp/Predict.cs"):
        assert "1037, 6919, 2143" in (ROOT / path).read_text(encoding="utf-8")


def test_the_tables_hold_every_name():
    named = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|(.*?\|)", GUIDE, re.MULTILINE))))
    names = """token_ids piece_ids pieces_per_word transitions lengths parents slots kinds
    constituents node_scores root_scores parse pair_scores sentence_vectors tree_scores"""
    assert set(names.split()) <= named
    assert {entry.key for entry in onnx.load(MODEL).metadata_props} <= named
