"""Models of registered cells and heads, exported by torch, against a recursion over their
equations."""

import copy
from functools import partial

import numpy as np
from export_models import Arrays, Exported, arrays_of, close, eager_scores
from oracle import slow_scores, slow_sentences

from thinstack.core import transitions as shapes
from thinstack.core.forest import join
from thinstack.export.onnx.verify import VerificationReport
from thinstack.export.quantize import dequantised
from thinstack.export.samples import sample_trees
from thinstack.export.torchscript import export_torchscript


def batches(exported: Exported) -> list[Arrays]:
    random = np.random.default_rng(0)
    forests = (
        [shapes.left(1)],
        [shapes.balanced(7), shapes.left(1), shapes.left(5), shapes.right(4)],
    )
    drawn = (join(sample_trees(exported.model, forest, random)) for forest in forests)
    return [arrays_of(exported.model, forest) for forest in drawn]


def check(exported: Exported) -> None:
    rounded = dequantised(exported.model, exported.quantize)
    for inputs in batches(exported):
        expected = slow_scores(copy.deepcopy(rounded).double(), inputs)
        for run in (partial(eager_scores, rounded), *exported.runs()):
            close(run(inputs), expected)


def test_two_directions(verified: tuple[Exported, VerificationReport]) -> None:
    check(verified[0])


def test_pairs_of_dependency_trees_with_relations(pairs: Exported) -> None:
    inputs = batches(pairs)[1]
    assert set(inputs["kinds"].tolist()) == {1, 2, 3}
    other = inputs | {"kinds": 1 + inputs["kinds"] % 3}
    model = dequantised(pairs.model, "fp16")
    found, changed = (eager_scores(model, given)["pair_scores"] for given in (inputs, other))
    assert np.abs(found - changed).max() > 1e-3
    check(pairs)


def test_a_parser(parser: Exported) -> None:
    model = dequantised(parser.model, "int8-tables")
    for given in batches(parser):
        for inputs in (given, given | {"transitions": given["transitions"][:0]}):
            exact, lengths = copy.deepcopy(model).double(), given["lengths"].tolist()
            expected = slow_sentences(exact, inputs, lengths)
            for run in (partial(eager_scores, model), *parser.runs()):
                close(run(inputs), expected)


def test_torchscript(
    verified: tuple[Exported, VerificationReport], pairs: Exported, parser: Exported
) -> None:
    for exported in (verified[0], pairs, parser):
        assert export_torchscript(exported.model)[1].max_error < 1e-5
