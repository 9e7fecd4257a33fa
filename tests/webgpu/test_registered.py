"""Every registered cell, head, embedding, encoder and parser answers on WebGPU as on the CPU."""

from pathlib import Path

import numpy as np
import torch
from core.configured import LEXICALIZED, SPINN, build, config_of
from export.export_models import session_of
from tiny_encoder import MPNET, OPTIONS, WIDTH

from thinstack.core import transitions as shapes
from thinstack.core.forest import join, without_trees
from thinstack.export.onnx.model import export_onnx
from thinstack.export.samples import sample_trees
from thinstack.plugins.manager import manager

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TREES = [shapes.left(4), shapes.left(1), shapes.balanced(6)]
PIECES = {"kind": "wordpieces", "size": 3}
BERT = PIECES | {"name": "transformer.v1", "size": 2 * WIDTH, "options": OPTIONS | {"rows": True}}
MPNET_STATIC = BERT | {"size": WIDTH + 3, "options": MPNET | {"static": 3}}
DISTANCES = {"name": "distances.v1", "options": {"width": 4, "lstm": 3, "hidden": 5}}
DOWN = {"top_down": {"name": "top_down_lstm.v1", "hidden_size": 4}}
OTHERS = {
    "wordpieces": {"embedding": PIECES},
    "BERT, rows": {"embedding": BERT},
    "MPNet, static": {"embedding": MPNET_STATIC},
    "wordpieces, a parser": {"embedding": PIECES, "parser": DISTANCES},
    "a parser": {"parser": DISTANCES},
    "SPINN": {"cell": SPINN, "encoder": {"tracker": {"size": 5}}},
    "a tracker beside": {"encoder": {"tracker": {"size": 5, "feeds": False}}},
    "top-down": {"cell": LEXICALIZED, "encoder": DOWN},
}


def others():
    """Models that differ from those of the benchmarks in more than cell, encoder and head."""
    for name, fields in OTHERS.items():
        torch.manual_seed(0)
        yield name, build(entries=60, **fields).eval(), config_of(**fields)


def registered_ones(patch):
    """One of every registered cell, kind of trees, encoder and head, four wide."""
    patch.syspath_prepend(BENCHMARKS)
    from export_subjects import exportables

    for one in exportables(" on ", 4, every=False):
        yield one.name, one.model, one.config


def parts_of(config):
    down = config.encoder.top_down
    parts = [config.cell, config.head, config.parser, down]
    found = {part.name for part in parts if hasattr(part, "name")}
    return found | {config.embedding.registered, *(["spinn.v1"] if config.encoder.tracker else [])}


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


def test_every_registered_part(on_webgpu, monkeypatch):
    differences, parts = {}, set()
    for models in (registered_ones(monkeypatch), others()):
        for name, model, config in models:
            differences[name] = compared(model, config, on_webgpu)
            parts |= parts_of(config)
    assert {name: found for name, found in differences.items() if not found <= 1e-5} == {}
    assert max(differences.values()) > 0, "no number was rounded otherwise: is it another device?"
    kinds = "cell", "head", "embedding", "encoder", "parser"
    assert {each.name for each in manager().records() if each.kind in kinds} <= parts
