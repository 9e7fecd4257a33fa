"""Models from their configuration."""

import pytest
import torch
from core.configured import CHILD_SUM, LEXICALIZED, RANKER, SPINN, H, X, build

from thinstack.core.cell import Cell
from thinstack.errors import ConfigError, UnknownNameError
from thinstack.plugins.cells.nary_lstm import NaryLSTM
from thinstack.plugins.cells.sdt_rnn import SDTRNN
from thinstack.plugins.embeddings.wordpieces import WordpieceEmbedding
from thinstack.plugins.embeddings.words import WordEmbedding
from thinstack.plugins.encoders.spinn import StackEncoder
from thinstack.plugins.heads.node_classifier import NodeClassifier

DOWN = 5
BOTH = H + DOWN
FIRST = (X, X, H), (X, X, DOWN)
"""Widths of the first layer, up and down."""
APART = {"layers": 3, "separate": True, "readout": ["up"]}
TOP_DOWN = {"name": "top_down_lstm.v1", "hidden_size": DOWN}
CHILD_SUM_DOWN = {"name": "child_sum_lstm.v1", "hidden_size": DOWN}
ARITY_1, ARITY_3 = {"options": {"arity": 1}}, {"options": {"arity": 3}}
PEEPHOLE, S_LSTM = {"name": "peephole_lstm.v1"}, {"name": "s_lstm.v1"}
VECTOR = {"name": "vector.v1"}
SDT_RNN = {"name": "sdt_rnn.v1"}


def widths(cell):
    return cell.input_size, cell.inner_size, cell.hidden_size


@pytest.mark.parametrize(
    ("kind", "embedding"), [("words", WordEmbedding), ("wordpieces", WordpieceEmbedding)]
)
def test_all_sizes_and_options_arrive(kind, embedding):
    settings = {"embedding": {"kind": kind, "size": X, "dropout": 0.2}}
    model = build({}, {"options": {"dropout": 0.5}}, **settings, entries=7)
    assert type(model.embedding) is embedding
    assert model.embedding.table.shape == (7, X)
    assert model.embedding.dropout.p == 0.2
    [layer] = model.encoder.stack()
    assert isinstance(layer.up.cell, NaryLSTM)
    assert (*widths(layer.up.cell), layer.up.cell.arity) == (X, 0, H, 2)
    assert layer.down is None
    assert isinstance(model.head, NodeClassifier)
    assert (model.head.hidden_size, model.head.classes, model.head.dropout.p) == (H, 3, 0.5)


def test_relations_are_the_kinds_of_edges():
    model = build(SDT_RNN, trees="dependency", relations=["nsubj", "det"])
    [layer] = model.encoder.stack()
    assert isinstance(layer.up.cell, SDTRNN)
    assert layer.up.cell.kinds == 3
    assert model.input_names == ["token_ids", "parents", "kinds"]
    assert build(SDT_RNN, trees="dependency").input_names == ["token_ids", "parents"]


@pytest.mark.parametrize(
    ("encoder", "ups", "downs", "width"),
    [
        ({}, [FIRST[0]], [FIRST[1]], BOTH + DOWN),
        ({"readout": ["down", "up"]}, [FIRST[0]], [FIRST[1]], BOTH),
        ({"layers": 2}, [FIRST[0], (BOTH, BOTH, H)], [FIRST[1], (BOTH, BOTH, DOWN)], BOTH + DOWN),
        (APART, [FIRST[0], *[(H, H, H)] * 2], [FIRST[1], *[(DOWN, DOWN, DOWN)] * 2], H),
    ],
)
def test_both_directions(encoder, ups, downs, width):
    encoder = {"top_down": CHILD_SUM_DOWN} | encoder
    model = build(CHILD_SUM, trees="dependency", encoder=encoder)
    assert [widths(layer.up.cell) for layer in model.encoder.stack()] == ups
    assert [widths(layer.down.cell) for layer in model.encoder.stack()] == downs
    assert model.encoder.hidden_size == model.head.hidden_size == width
    inputs = {"token_ids": torch.tensor([0, 6, 3]), "parents": torch.tensor([1, -1, 1])}
    assert model(inputs)["node_scores"].shape == (3, 3)


@pytest.mark.parametrize(
    ("cell", "tracker", "inner_size"),
    [
        (SPINN, {}, 7),
        (SPINN, {"lookahead": 3, "parses": False}, 7),
        (SPINN, {"feeds": False}, 0),
        ({}, {"feeds": False, "lookahead": 2, "dropout": 0.3}, 0),
        (CHILD_SUM, {"feeds": False, "parses": False}, 0),
    ],
)
def test_a_tracker_makes_it_spinn(cell, tracker, inner_size):
    model = build(cell, encoder={"tracker": {"size": 7, **tracker}})
    assert type(model.encoder) is StackEncoder
    assert widths(model.encoder.cell) == (X, inner_size, H)
    assert model.encoder.feeds == (inner_size > 0)
    options = {"lookahead": 1, "parses": True, "dropout": 0.0} | tracker
    found = model.encoder.tracker
    assert found.dropout.p == options["dropout"]
    assert (found.input_size, found.size, found.lookahead) == (H, 7, options["lookahead"])
    assert model.parses == found.parses == options["parses"]


def tracked(cell, **tracker):
    return {"cell": cell, "encoder": {"tracker": {"size": 7, **tracker}}}


def passed_down(cell):
    return {"cell": LEXICALIZED, "encoder": {"top_down": cell}}


RELATED = {"trees": "dependency", "relations": ["nsubj"]}
RANKED = {"cell": CHILD_SUM, "head": RANKER}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cell": {"name": "nary_lstm.v9"}}, r"cell 'nary_lstm.v9'; known: .*nary_lstm\.v1"),
        ({"head": {"name": "classifier"}}, r"head 'classifier'; known: .*node_classifier\.v1"),
        (passed_down(TOP_DOWN | {"name": "down.v1"}), r"'down\.v1'"),
        (tracked({"name": "spinn.v1"}), r"'spinn\.v1'"),
    ],
)
def test_names_that_are_not_registered(fields, message):
    with pytest.raises(UnknownNameError, match=message):
        build(**fields)


def over(trees, cell, **encoder):
    return {"trees": trees, "cell": cell, "encoder": encoder}


TWO_BELOW = ": SLSTM has arity 2, input_size 3 and inner_size 0; .* width 3 at every node$"
DOWN_IS, CELL_IS = r"^model\.encoder\.top_down", r"^model\.cell: .*"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cell": {"options": {"arityy": 2}}}, r"nary_lstm\.v1.*arityy"),
        ({"head": {"options": {"dropout": 2}}}, r"node_classifier\.v1.*dropout"),
        (passed_down(TOP_DOWN | {"options": {"inputs": ""}}), r"top_down_lstm\.v1.*inputs"),
        ({"relations": ["nsubj"]}, "relations .*'binary'"),
        ({**RELATED, "cell": CHILD_SUM}, r"model\.relations: child_sum"),
        ({**RELATED, "cell": SDT_RNN, "encoder": {"top_down": "shared"}}, "top_down: sdt_rnn"),
        ({"encoder": {"separate": True}}, "separate"),
        ({"encoder": {"readout": ["leaves"]}}, "readout"),
        (tracked({}), r"^model\.encoder\.tracker: .* width 7 .*nary_lstm"),
        (tracked(S_LSTM), r"^model\.encoder\.tracker: .* width 7 .*SLSTM"),
        (tracked(ARITY_3, feeds=False), r"^model\.cell: NaryLSTM has arity 3"),
        ({**tracked(SPINN), "head": RANKER}, r"^model\.head: tree_ranker\.v1 .* StackEncoder"),
        ({**RANKED, "trees": "dependency"}, r"^model\.head: tree_ranker\.v1 .*'dependency'$"),
        ({"labels": ()}, r"^model\.labels: .* node_classifier\.v1 and the labels none"),
        ({"head": VECTOR}, r"^model\.labels: .* vector\.v1 and the labels bad, good, best"),
        ({"vectors": {"name": "node_classifier.v1"}}, r"^model\.vectors: .* returns vectors"),
        ({"vectors": VECTOR, "head": RANKER}, r"^model\.vectors needs .* tree_ranker\.v1 reads"),
        (over("binary", ARITY_3), CELL_IS + "NaryLSTM has arity 3, .* binary-tree .* arity 2"),
        (over("dependency", PEEPHOLE), CELL_IS + "has arity 1, .* dependency-tree .* arity 0"),
        (over("constituency", ARITY_1), CELL_IS + "has arity 1, .* constituency-tree .* arity 0"),
        (over("dependency", S_LSTM), CELL_IS + "inner_size 0; .* dependency-tree .* width 3"),
        (over("binary", S_LSTM, layers=2), CELL_IS + "SLSTM .* layer 2 .* input of width 4"),
        (over("binary", {}, top_down=TOP_DOWN), DOWN_IS + ".*nary_lstm.v1 passes none up"),
        (over("constituency", CHILD_SUM, top_down="shared"), DOWN_IS + ".*passes none up"),
        (over("dependency", {}, top_down="shared"), DOWN_IS + ": NaryLSTM .* one predecessor"),
        (over("binary", LEXICALIZED, top_down="shared"), DOWN_IS + ".* one predecessor"),
        (over("dependency", CHILD_SUM, top_down=S_LSTM | {"hidden_size": 4}), DOWN_IS + TWO_BELOW),
    ],
)
def test_what_does_not_go_together(fields, message):
    with pytest.raises(ConfigError, match=message):
        build(**fields)


def test_a_second_head_gives_vectors_beside_the_scores():
    model = build(vectors={"name": "vector.v1", "options": {"size": 5}}).eval()
    ids, steps = torch.tensor([1, 2, 3]), torch.tensor([0, 0, 1, 0])
    outputs = model({"token_ids": ids, "transitions": steps})
    assert list(outputs) == model.output_names
    vectors = outputs["node_vectors"]
    assert vectors.shape == (4, 5)
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(4))
    torch.testing.assert_close(outputs["root_vectors"], vectors[2:])
    alone = build(labels=(), head={"name": "vector.v1", "options": {"size": 5}})
    assert alone.output_names == ["node_vectors", "root_vectors"]


def test_a_cell_that_wants_words_where_there_are_none(monkeypatch):
    wants = Cell(input_size=X, inner_size=X, hidden_size=H, state_sizes=[H], arity=0)
    monkeypatch.setattr("thinstack.plugins.build._create", lambda *_, **__: wants)
    with pytest.raises(ConfigError, match=r"^model\.cell: .* constituency .* inner_size 0$"):
        build(trees="constituency")
