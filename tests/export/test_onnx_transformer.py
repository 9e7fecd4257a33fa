"""Words in their context as ONNX: the model's scores, and products in 8 bits."""

import numpy as np
import onnx
import pytest
import torch
from export_models import Exported, arrays_of, eager_scores, session_of
from tiny_encoder import MPNET, PIECES, POSITIONS, WIDTH, contextual_recipe

from thinstack.core.forest import join
from thinstack.core.transitions import right
from thinstack.export.onnx.model import export_onnx
from thinstack.export.onnx.verify import export_verified_onnx
from thinstack.export.quantize import dequantised, factor_bounds
from thinstack.export.samples import sample_trees
from thinstack.plugins.build import build_model
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import LabelledForest
from thinstack.training.publish.assembly import OBSERVED, observe_ranges

OPTIONS = {"rows": True, "static": 3}
SIZE = {"size": 2 * WIDTH + 3}
RECIPE = contextual_recipe(OPTIONS, embedding=SIZE)
KINDS = {"bert": RECIPE, "mpnet": contextual_recipe(MPNET | OPTIONS, embedding=SIZE)}
EIGHT_BITS = ("int8-tables", "int8")


def forest(model, sizes, *, seed):
    """Random pieces under right-branching trees."""
    trees = [right(size) for size in sizes]
    return join(sample_trees(model, trees, np.random.default_rng(seed)))


def examples(model, count):
    made = (forest(model, [1 + number % 9], seed=number) for number in range(count))
    return [Example({"gold": LabelledForest(one, np.zeros(1), 0)}) for one in made]


@pytest.fixture(scope="module", params=KINDS)
def config(request):
    return KINDS[request.param].model


@pytest.fixture(scope="module")
def model(config):
    torch.manual_seed(2)
    model = build_model(config, entries=len(PIECES)).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.normal_(std=0.2)
    observe_ranges(model, examples(model, 20))
    return model


@pytest.fixture(scope="module")
def exported(model, config):
    kept = {}

    def export(quantize):
        if quantize not in kept:
            found = export_verified_onnx(model, config, quantize=quantize, vocabulary_digest="0")
            kept[quantize] = Exported(model, config, quantize, found[0]), found[1]
        return kept[quantize]

    return export


@pytest.mark.parametrize("quantize", ["none", *EIGHT_BITS])
def test_files_score_as_the_model_does(model, exported, quantize):
    """Sentences beyond the positions too."""
    file, report = exported(quantize)
    given = arrays_of(model, forest(model, [3, 1, POSITIONS + 4, 7], seed=5))
    expected = eager_scores(dequantised(model, quantize), given)["node_scores"]
    for run in file.runs():
        difference = np.abs(run(given)["node_scores"] - expected)
        assert difference.max() < 1e-5 if quantize != "int8" else 0 < difference.mean() < 0.02
    whole = eager_scores(model, given)["node_scores"]
    assert (np.abs(expected - whole).mean() > 0) == (quantize != "none")
    np.testing.assert_allclose(expected, whole, atol=0.05)
    assert report.neighbour_error < 1e-5
    # Of each layer: query, key, value, mix, wider, narrower; the cell's and the head's stay.
    assert report.int8_products == ("12 of 18" if quantize == "int8" else "")
    stored = {item.name: item for item in file.proto().graph.initializer}
    for name in ("embedding.table", "embedding.static"):
        assert (name in stored) == (quantize == "none")
        assert (f"{name}.int8" in stored) == (quantize != "none")


def test_an_export_is_repeatable_and_reads_int32(model, config, exported):
    first = exported("int8")[0].proto()
    again = export_onnx(model, config, quantize="int8", vocabulary_digest="0")
    assert onnx.load_from_string(again).graph == first.graph
    session = session_of(again)
    assert session.get_modelmeta().custom_metadata_map["max_pieces"] == str(POSITIONS - 2)
    assert {value.name: value.type for value in session.get_inputs()} == dict.fromkeys(
        ["piece_ids", "pieces_per_word", "lengths", "transitions"], "tensor(int32)"
    )


def test_ranges_are_the_greatest_values_that_products_read():
    """Of the data evenly, and anew each time."""
    torch.manual_seed(3)
    model = build_model(RECIPE.model, entries=len(PIECES)).train()
    assert factor_bounds(model.embedding) == {}
    given = examples(model, 2 * OBSERVED + 1)
    layer = model.embedding.encoder.layers[1]
    read = []
    hook = layer.wider.register_forward_pre_hook(lambda _, rows: read.append(rows[0].abs().amax(0)))
    model.eval()
    with torch.no_grad():
        for example in given[::2]:
            model.embed(model.inputs(example.gold.forest))
    hook.remove()
    layer.wider.bound.fill_(1e6)
    observe_ranges(model.train(), given)
    torch.testing.assert_close(layer.wider.bound, torch.stack(read).amax(0))
    found = factor_bounds(model.embedding)
    assert len(found) == 12
    np.testing.assert_array_equal(found["encoder.layers.1.wider.w"], layer.wider.bound.numpy())
