"""Every registered cell, head, embedding, encoder and parser answers on WebGPU as on the CPU."""

import numpy as np
from export.export_models import session_of
from registered_models import parts_of, registered, registered_models

from thinstack.core import transitions as shapes
from thinstack.core.forest import join, without_trees
from thinstack.export.onnx.model import export_onnx
from thinstack.export.samples import sample_trees

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
