"""Files that score roots alone give the scores of the files that score all nodes."""

import numpy as np
import onnx
import pytest
import torch
from export_models import C, Exported, V, arrays_of, make_config, randomised, stored

from thinstack.core import transitions as shapes
from thinstack.core.forest import join, without_trees
from thinstack.errors import ExportError
from thinstack.export.onnx.model import export_onnx
from thinstack.export.onnx.verify import export_verified_onnx
from thinstack.export.samples import random_tree, sample_trees
from thinstack.plugins.build import build_model

SHAPES = [
    shapes.left(1),
    shapes.balanced(9),
    shapes.left(12),
    random_tree(30, np.random.default_rng(3)),
]


@pytest.fixture(scope="module", params=["words", "child_sum", "verified", "parser"])
def pair(request):
    """A model of one pass, of any arity, of two directions, and with a parser: all nodes' file and
    the roots' file."""
    found = request.getfixturevalue(request.param)
    nodes = found[0] if isinstance(found, tuple) else found
    file = export_onnx(
        nodes.model, nodes.config, quantize=nodes.quantize, outputs="roots", vocabulary_digest="0"
    )
    return nodes, Exported(nodes.model, nodes.config, nodes.quantize, file)


def test_the_same_scores_of_roots(pair):
    nodes, roots = pair
    drawn = sample_trees(nodes.model, SHAPES, np.random.default_rng(0))
    batches = [join(drawn), drawn[0]]
    if nodes.model.parses:
        batches.append(without_trees(batches[0]))
    for forest in batches:
        inputs = arrays_of(nodes.model, forest)
        wanted = nodes.runs()[0](inputs)
        for run in roots.runs():
            found = run(inputs)
            assert list(found) == [name for name in wanted if name != "node_scores"]
            np.testing.assert_allclose(found["root_scores"], wanted["root_scores"], atol=1e-6)


@pytest.mark.usefixtures("short_samples")
def test_they_are_verified(words, pairs):
    file, report = export_verified_onnx(
        words.model, words.config, outputs="roots", vocabulary_digest="0"
    )
    assert max(runtime.max_error for runtime in report.runtimes) < 2e-6
    assert stored(onnx.load_from_string(file))["outputs"] == "roots"
    with pytest.raises(ExportError, match=r"'roots' .* pair_scores"):
        export_onnx(pairs.model, pairs.config, outputs="roots", vocabulary_digest="0")


@pytest.mark.usefixtures("short_samples")
def test_a_head_that_reads_roots():
    torch.manual_seed(0)
    config = make_config("words", head={"name": "root_classifier.v1"})
    model = randomised(build_model(config, entries=V), std=0.5)
    file, _ = export_verified_onnx(model, config, outputs="roots", vocabulary_digest="0")
    (output,) = onnx.load_from_string(file).graph.output
    shape = [d.dim_param or d.dim_value for d in output.type.tensor_type.shape.dim]
    assert (output.name, shape) == ("root_scores", ["B", C])
