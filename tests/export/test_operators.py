"""The operators that ONNX files may have: what every registered part needs, and no more."""

import onnx
import onnxruntime
import pytest
from export_models import V, make_config
from pages import ROOT
from registered_models import cell_models, parts_of, registered
from tiny_encoder import PIECES, WIDTH, contextual_recipe

from thinstack.bundle.gate.onnx_gate import OPERATORS, check_onnx
from thinstack.bundle.gpu_file import joined
from thinstack.export.onnx.graph import walk
from thinstack.export.onnx.model import export_onnx
from thinstack.plugins.build import build_model

FILES = [*ROOT.glob("tests/golden/*/*/onnx/*.onnx"), *ROOT.glob("models/*/*/model/onnx/*.onnx")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parents[1].name)
def test_files_that_were_written_before_pass(path):
    content = path.read_bytes()
    if path.name == "model.gpu.onnx":
        content = joined(content, path.with_name("model.onnx").read_bytes(), source=str(path))
    check_onnx(content, source=str(path))


SHIPPED = [path for path in FILES if path.name == "model.onnx" and "golden" not in path.parts]
SHIPPED += ROOT.glob("thinstack/bundle/bundled/*/onnx/model.onnx")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.parents[1].name)
def test_onnxruntime_has_nothing_to_say(path, capfd):
    onnxruntime.InferenceSession(path)
    assert capfd.readouterr().err == ""


def subjects():
    """Models of every registered part, and of every way to store numbers."""
    for _, model, config in cell_models():
        yield model, config, {}
    yield model, config, {"index_type": "int64"}
    parser = {"name": "distances.v1", "options": {"width": 8, "lstm": 6, "hidden": 9}}
    config = make_config("wordpieces", parser=parser, tree_source="self")
    yield build_model(config, entries=V), config, {"quantize": "fp16"}
    config = make_config("words", cell="nary_lstm.v1")
    for quantize in ("int8", "int8-tables"):
        yield build_model(config, entries=V), config, {"quantize": quantize}
    yield build_model(config, entries=V), config, {"outputs": "roots"}
    size = {"size": 2 * WIDTH + 3}
    config = contextual_recipe({"rows": True, "static": 3}, embedding=size).model
    yield build_model(config, entries=len(PIECES)), config, {}
    yield build_model(config, entries=len(PIECES)), config, {"quantize": "int8-tables"}


def operators(content):
    return {node.op_type for node in walk(onnx.load_from_string(content).graph.node)}


def test_every_registered_part_passes_and_every_operator_is_needed():
    parts = set[str]()
    needed = set[str]().union(*(operators(path.read_bytes()) for path in FILES))
    for model, config, options in subjects():
        content = export_onnx(model.eval(), config, vocabulary_digest="", **options)
        check_onnx(content, source=str(sorted(parts_of(config))))
        needed |= operators(content)
        parts |= parts_of(config)
    assert registered("cell", "head", "embedding", "parser") <= parts
    assert needed == OPERATORS
