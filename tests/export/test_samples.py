"""Inputs that exports are tried on, and the cases stored beside them."""

import json

import numpy as np
import onnxruntime
import pytest
from export_models import LABELS, Exported, V, make_model

from thinstack.core import transitions
from thinstack.errors import ExportError
from thinstack.export.samples import reference_cases, sample_batches, sample_inputs, signature
from thinstack.models import TreeModel


def test_batches_hold_all_sizes_and_shapes_of_valid_trees() -> None:
    batches = list(sample_batches(np.random.default_rng(0)))
    for trees in batches:
        for tree in trees:
            assert transitions.spans_of(transitions.validate(tree))[-1].tolist() == [0, (len(tree) + 1) // 2]
    assert sorted({len(trees) for trees in batches}) == [0, 1, 3, 32]
    singles = [trees[0] for trees in batches if len(trees) == 1]
    assert sorted({(len(tree) + 1) // 2 for tree in singles}) == [1, 2, 7, 64, 512]
    for shape in (transitions.left, transitions.right, transitions.balanced):
        assert any(np.array_equal(tree, shape(512)) for tree in singles)
    assert any(len(tree) == 1 for tree in batches[-1])


def test_inputs_fit_the_trees() -> None:
    generator = np.random.default_rng(0)
    trees = [transitions.left(5), transitions.left(1)]
    words = sample_inputs(make_model("words"), trees, generator)
    assert list(words) == ["token_ids", "transitions"]
    assert len(words["token_ids"]) == 6
    pieces = sample_inputs(make_model("wordpieces"), trees, generator)
    assert list(pieces) == ["piece_ids", "pieces_per_word", "transitions"]
    assert (len(pieces["pieces_per_word"]), len(pieces["piece_ids"])) == (6, pieces["pieces_per_word"].sum())
    for array in (words["token_ids"], pieces["piece_ids"]):
        assert array.dtype == np.int64
        assert 0 <= array.min() <= array.max() < V


def test_cases_are_what_the_exported_file_answers(pieces: Exported) -> None:
    found = json.loads(json.dumps(reference_cases(pieces.model, pieces.config, quantize="int8")))
    assert found["labels"] == list(LABELS)
    assert len(found["cases"]) == 3
    session = onnxruntime.InferenceSession(pieces.file, providers=["CPUExecutionProvider"])
    for case in found["cases"]:
        inputs = {name: np.array(values, np.int64) for name, values in case["inputs"].items()}
        for value, expected in zip(session.run(None, inputs), case["outputs"].values(), strict=True):
            np.testing.assert_allclose(value, expected, rtol=0, atol=1e-5)
    assert list(found["cases"][0]["outputs"]) == ["node_scores", "root_scores"]


def test_a_model_of_another_kind_is_refused() -> None:
    model = make_model("words")
    with pytest.raises(ExportError, match="expected a WordModel or a WordpieceModel, got TreeModel"):
        signature(TreeModel(embedding=model.embedding, cell=model.encoder.executor.cell, head=model.head))
