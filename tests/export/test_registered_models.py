"""Models of registered cells and heads, exported by torch, against a recursion over their
equations."""

import copy
from functools import partial

import numpy as np
from export_models import Arrays, Exported, arrays_of, close, eager_scores, without_trees
from oracle import slow_scores, slow_sentences

from thinstack.core import transitions as shapes
from thinstack.core.forest import join
from thinstack.export.compare import own_rounding
from thinstack.export.quantize import dequantised
from thinstack.export.samples import sample_trees
from thinstack.export.torchscript import export_torchscript


def batches(exported: Exported) -> list[Arrays]:
    random = np.random.default_rng(0)
    mixed = [shapes.balanced(7), shapes.left(1), shapes.left(5), shapes.right(4)]
    drawn = (join(sample_trees(exported.model, trees, random)) for trees in ([mixed[1]], mixed))
    return [arrays_of(exported.model, forest) for forest in drawn]


def check(exported: Exported, inputs: Arrays) -> None:
    """In eager torch and in both runtimes."""
    model = dequantised(exported.model, exported.quantize)
    exact = copy.deepcopy(model).double()
    if model.parses:
        expected = slow_sentences(exact, inputs, inputs["lengths"].tolist())
    else:
        expected = slow_scores(exact, inputs)
    for run in (partial(eager_scores, model), *exported.runs()):
        close(run(inputs), expected)


def test_two_directions(verified):
    for inputs in batches(verified[0]):
        check(verified[0], inputs)


def test_pairs_of_dependency_trees_with_relations(pairs):
    inputs = batches(pairs)[1]
    assert set(inputs["kinds"].tolist()) == {1, 2, 3}
    other = inputs | {"kinds": 1 + inputs["kinds"] % 3}
    model = dequantised(pairs.model, "fp16")
    found, changed = (eager_scores(model, given)["pair_scores"] for given in (inputs, other))
    assert np.abs(found - changed).max() > 1e-3
    for inputs in batches(pairs):
        check(pairs, inputs)


def test_a_parser(parser):
    for inputs in batches(parser):
        check(parser, inputs)
        check(parser, without_trees(inputs))


def test_what_a_model_rounds(verified, pairs, parser):
    """Every kind of model runs in float64 too, which is nearer to the equations."""
    for exported in (verified[0], pairs, parser):
        model = dequantised(exported.model, "none")
        for trees in ([shapes.left(1)], [shapes.balanced(7), shapes.right(4)]):
            forest = join(sample_trees(model, trees, np.random.default_rng(0)))
            assert 0 < own_rounding(model, forest) < 1e-5


def test_torchscript(verified, pairs, parser):
    for exported in (verified[0], pairs, parser):
        assert export_torchscript(exported.model)[1].max_error < 1e-5
