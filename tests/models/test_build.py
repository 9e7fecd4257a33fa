"""Models from their configuration."""

import pytest

from thinstack.config import ModelConfig
from thinstack.core.cell import Cell
from thinstack.errors import ConfigError, UnknownNameError
from thinstack.models import WordModel, WordpieceModel, build_model
from thinstack.models.build import misfit
from thinstack.plugins.cells.nary_lstm import NaryLSTM
from thinstack.plugins.heads.node_classifier import NodeClassifier


def config(kind: str = "words", cell: dict | None = None, head: dict | None = None) -> ModelConfig:
    data = {
        "labels": ["bad", "good", "best"],
        "embedding": {"kind": kind, "size": 6, "dropout": 0.2},
        "cell": {"name": "nary_lstm.v1", "hidden_size": 5, **(cell or {})},
        "head": {"name": "node_classifier.v1", "options": {"dropout": 0.5}, **(head or {})},
    }
    return ModelConfig.parse(data, source="test")


@pytest.mark.parametrize(("kind", "model_type"), [("words", WordModel), ("wordpieces", WordpieceModel)])
def test_all_sizes_and_options_arrive(kind: str, model_type: type) -> None:
    model = build_model(config(kind), entries=7)
    assert type(model) is model_type
    assert model.embedding.table.shape == (7, 6)
    assert model.embedding.dropout.p == 0.2
    cell = model.encoder.executor.cell
    assert isinstance(cell, NaryLSTM)
    assert (cell.input_size, cell.hidden_size, cell.arity) == (6, 5, 2)
    assert isinstance(model.head, NodeClassifier)
    assert (model.head.hidden_size, model.head.classes, model.head.dropout.p) == (5, 3, 0.5)


def test_names_that_are_not_registered() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown cell 'nary_lstm.v9'; known: .*nary_lstm\.v1"):
        build_model(config(cell={"name": "nary_lstm.v9"}), entries=7)
    with pytest.raises(UnknownNameError, match=r"unknown head 'classifier'; known: .*node_classifier\.v1"):
        build_model(config(head={"name": "classifier"}), entries=7)


@pytest.mark.parametrize("arity", [1, 3])
def test_a_cell_for_other_than_binary_trees(arity: int) -> None:
    message = (
        rf"model\.cell: NaryLSTM has arity {arity} and inner_size 0; a model of binary trees needs arity 2 \(or 0, any number\)"
    )
    with pytest.raises(ConfigError, match=message):
        build_model(config(cell={"options": {"arity": arity}}), entries=7)


def test_cells_that_fit_binary_trees() -> None:
    sizes = {"input_size": 4, "hidden_size": 5, "state_sizes": [5], "kinds": 2}
    assert misfit(Cell(arity=0, inner_size=0, **sizes)) == misfit(Cell(arity=2, inner_size=0, **sizes)) == ""
    assert "arity 2 and inner_size 4" in misfit(Cell(arity=2, inner_size=4, **sizes))


def test_options_that_are_not_taken() -> None:
    with pytest.raises(ConfigError, match=r"nary_lstm\.v1.*arityy"):
        build_model(config(cell={"options": {"arityy": 2}}), entries=7)
    with pytest.raises(ConfigError, match=r"node_classifier\.v1.*dropout"):
        build_model(config(head={"options": {"dropout": 2}}), entries=7)
