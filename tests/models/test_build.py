"""Models from their configuration."""

import pytest
import torch

from thinstack.config import ModelConfig
from thinstack.core.cell import Cell
from thinstack.errors import ConfigError, UnknownNameError
from thinstack.models import Model, build_model
from thinstack.models.tree_encoder import Layer
from thinstack.plugins.cells.lexicalized_lstm import LexicalizedLSTM
from thinstack.plugins.cells.nary_lstm import NaryLSTM
from thinstack.plugins.cells.sdt_rnn import SDTRNN
from thinstack.plugins.cells.top_down_lstm import TopDownLSTM
from thinstack.plugins.embeddings.wordpieces import WordpieceEmbedding
from thinstack.plugins.embeddings.words import WordEmbedding
from thinstack.plugins.heads.node_classifier import NodeClassifier
from thinstack.plugins.heads.tree_ranker import TreeRanker

X, H, DOWN = 6, 5, 4
TOP_DOWN = {"name": "top_down_lstm.v1", "hidden_size": DOWN}
LEXICALIZED = {"name": "lexicalized_lstm.v1"}
CHILD_SUM = {"name": "child_sum_lstm.v1"}
CHILD_SUM_DOWN = {"name": "child_sum_lstm.v1", "hidden_size": DOWN}
RANKER = {"name": "tree_ranker.v1", "options": {}}


def config(
    kind: str = "words", cell: dict | None = None, head: dict | None = None, **fields: object
) -> ModelConfig:
    data = {
        "labels": ["bad", "good", "best"],
        "embedding": {"kind": kind, "size": X, "dropout": 0.2},
        "cell": {"name": "nary_lstm.v1", "hidden_size": H, **(cell or {})},
        "head": {"name": "node_classifier.v1", "options": {"dropout": 0.5}, **(head or {})},
    }
    return ModelConfig.parse(data | fields, source="test")


def layers_of(model: Model) -> list[Layer]:
    return model.encoder.stack()


def widths(cell: Cell) -> tuple[int, int, int]:
    return cell.input_size, cell.inner_size, cell.hidden_size


@pytest.mark.parametrize(
    ("kind", "embedding"), [("words", WordEmbedding), ("wordpieces", WordpieceEmbedding)]
)
def test_all_sizes_and_options_arrive(kind: str, embedding: type) -> None:
    model = build_model(config(kind), entries=7)
    assert type(model.embedding) is embedding
    assert model.embedding.table.shape == (7, X)
    assert model.embedding.dropout.p == 0.2
    [layer] = layers_of(model)
    assert isinstance(layer.up.cell, NaryLSTM)
    assert (*widths(layer.up.cell), layer.up.cell.arity) == (X, 0, H, 2)
    assert layer.down is None
    assert isinstance(model.head, NodeClassifier)
    assert (model.head.hidden_size, model.head.classes, model.head.dropout.p) == (H, 3, 0.5)


@pytest.mark.parametrize(
    ("trees", "cell", "structure", "inner_size"),
    [
        ("binary", {}, "transitions", 0),
        ("binary", CHILD_SUM, "transitions", 0),
        ("constituency", CHILD_SUM, "parents", 0),
        ("constituency", {"options": {"arity": 4}}, "parents", 0),
        ("dependency", CHILD_SUM, "parents", X),
        ("dependency", {"options": {"arity": 4}}, "parents", X),
        ("sequence", {"options": {"arity": 1}}, "lengths", X),
        ("sequence", {"name": "peephole_lstm.v1"}, "lengths", X),
        ("sequence", CHILD_SUM, "lengths", X),
    ],
)
def test_kinds_of_trees(trees: str, cell: dict, structure: str, inner_size: int) -> None:
    model = build_model(config(cell=cell, trees=trees), entries=7)
    assert model.encoder.structure == structure
    assert model.encoder.words_at_leaves == (inner_size == 0)
    assert widths(layers_of(model)[0].up.cell) == (X, inner_size, H)


def test_relations_are_the_kinds_of_edges() -> None:
    fields = {"cell": {"name": "sdt_rnn.v1"}, "trees": "dependency"}
    model = build_model(config(**fields, relations=["nsubj", "det"]), entries=7)
    [layer] = layers_of(model)
    assert isinstance(layer.up.cell, SDTRNN)
    assert layer.up.cell.kinds == 3
    assert model.input_names == ["token_ids", "parents", "kinds"]
    assert build_model(config(**fields), entries=7).input_names == ["token_ids", "parents"]


def test_the_layers_of_a_deep_encoder() -> None:
    model = build_model(config(encoder={"layers": 3}), entries=7)
    expected = [(X, 0, H), (H, H, H), (H, H, H)]
    assert [widths(layer.up.cell) for layer in layers_of(model)] == expected
    assert model.head.hidden_size == H


@pytest.mark.parametrize(
    ("encoder", "ups", "downs", "width"),
    [
        ({}, [(X, X, H)], [(X, X, DOWN)], H + 2 * DOWN),
        ({"readout": ["down", "up"]}, [(X, X, H)], [(X, X, DOWN)], H + DOWN),
        (
            {"layers": 2},
            [(X, X, H), (H + DOWN, H + DOWN, H)],
            [(X, X, DOWN), (H + DOWN, H + DOWN, DOWN)],
            H + 2 * DOWN,
        ),
        (
            {"layers": 3, "separate": True, "readout": ["up"]},
            [(X, X, H), (H, H, H), (H, H, H)],
            [(X, X, DOWN), (DOWN, DOWN, DOWN), (DOWN, DOWN, DOWN)],
            H,
        ),
    ],
)
def test_both_directions(encoder: dict, ups: list, downs: list, width: int) -> None:
    encoder = {"top_down": CHILD_SUM_DOWN} | encoder
    model = build_model(config(cell=CHILD_SUM, trees="dependency", encoder=encoder), entries=7)
    assert [widths(layer.up.cell) for layer in layers_of(model)] == ups
    assert [widths(layer.down.cell) for layer in layers_of(model)] == downs
    assert model.encoder.hidden_size == model.head.hidden_size == width
    inputs = {"token_ids": torch.tensor([0, 6, 3]), "parents": torch.tensor([1, -1, 1])}
    assert model(inputs)["node_scores"].shape == (3, 3)


@pytest.mark.parametrize("trees", ["dependency", "sequence"])
def test_one_cell_for_both_directions(trees: str) -> None:
    cell = CHILD_SUM if trees == "dependency" else {"options": {"arity": 1}}
    model = build_model(
        config(cell=cell, trees=trees, encoder={"layers": 2, "top_down": "shared"}), entries=7
    )
    first, second = layers_of(model)
    assert first.down.cell is first.up.cell
    assert second.down.cell is second.up.cell
    assert widths(second.up.cell) == (2 * H, 2 * H, H)


@pytest.mark.parametrize("trees", ["dependency", "sequence"])
def test_one_cell_for_both_of_two_separate_directions(trees: str) -> None:
    cell = CHILD_SUM if trees == "dependency" else {"options": {"arity": 1}}
    encoder = {"layers": 2, "top_down": "shared", "separate": True}
    model = build_model(config(cell=cell, trees=trees, encoder=encoder), entries=7)
    assert [widths(layer.down.cell) for layer in layers_of(model)] == [(X, X, H), (H, H, H)]


def test_a_pass_down_reads_head_words_and_knows_left_from_right() -> None:
    model = build_model(
        config(cell=LEXICALIZED, head=RANKER, encoder={"top_down": TOP_DOWN}), entries=7
    )
    [layer] = layers_of(model)
    assert isinstance(layer.up.cell, LexicalizedLSTM)
    assert isinstance(layer.down.cell, TopDownLSTM)
    assert (*widths(layer.down.cell), layer.down.cell.kinds) == (X, X, DOWN, 2)
    assert isinstance(model.head, TreeRanker)
    assert model.head.linear.in_features == 2 * (H + 2 * DOWN) + X


@pytest.mark.parametrize(("cell", "kinds"), [(CHILD_SUM, 1), ({"options": {"arity": 3}}, 3)])
def test_a_pass_down_dependency_trees_has_a_kind_for_each_slot(cell: dict, kinds: int) -> None:
    model = build_model(
        config(cell=cell, trees="dependency", encoder={"top_down": TOP_DOWN}), entries=7
    )
    assert layers_of(model)[0].down.cell.kinds == kinds
    every = {"token_ids": [1, 2, 3, 4], "parents": [3, 3, 3, -1], "slots": [2, 0, 1, 0]}
    scores = model({name: torch.tensor(every[name]) for name in model.input_names})
    assert scores["node_scores"].shape == (4, 3)


def test_names_that_are_not_registered() -> None:
    with pytest.raises(UnknownNameError, match=r"cell 'nary_lstm.v9'; known: .*nary_lstm\.v1"):
        build_model(config(cell={"name": "nary_lstm.v9"}), entries=7)
    with pytest.raises(UnknownNameError, match=r"head 'classifier'; known: .*node_classifier\.v1"):
        build_model(config(head={"name": "classifier"}), entries=7)
    down = {"top_down": TOP_DOWN | {"name": "down.v1"}}
    with pytest.raises(UnknownNameError, match=r"unknown cell 'down\.v1'"):
        build_model(config(cell=LEXICALIZED, encoder=down), entries=7)


ARITY_3 = {"options": {"arity": 3}}
PEEPHOLE = {"name": "peephole_lstm.v1"}
ARITY_1 = {"options": {"arity": 1}}
S_LSTM = {"name": "s_lstm.v1"}


@pytest.mark.parametrize(
    ("trees", "cell", "encoder", "message"),
    [
        ("binary", ARITY_3, {}, r"NaryLSTM has arity 3, .* binary trees needs arity 2"),
        ("binary", PEEPHOLE, {}, r"PeepholeLSTM has arity 1, .* binary trees needs arity 2"),
        ("sequence", {}, {}, r"NaryLSTM has arity 2, .* sequence trees needs arity 1"),
        ("dependency", PEEPHOLE, {}, r"PeepholeLSTM has arity 1, .* dependency .* arity 0"),
        ("constituency", ARITY_1, {}, r"has arity 1, .* constituency trees needs arity 0"),
        ("dependency", S_LSTM, {}, r"SLSTM has .* inner_size 0; .* dependency .* input of width 6"),
        ("binary", S_LSTM, {"layers": 2}, r"SLSTM .* layer 2 .* input of width 5"),
        ("binary", LEXICALIZED, {"layers": 3}, r"layer 2 .* input of width 5"),
    ],
)
def test_a_cell_that_does_not_go_with_the_trees(
    trees: str, cell: dict, encoder: dict, message: str
) -> None:
    with pytest.raises(ConfigError, match=rf"^model\.cell: .*{message}"):
        build_model(config(cell=cell, trees=trees, encoder=encoder), entries=7)


def test_a_cell_that_wants_words_where_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    wants = Cell(input_size=X, inner_size=X, hidden_size=H, state_sizes=[H], arity=0)
    monkeypatch.setattr("thinstack.models.build._create", lambda *_, **__: wants)
    with pytest.raises(ConfigError, match=r"^model\.cell: .* constituency .* inner_size 0$"):
        build_model(config(trees="constituency"), entries=7)


@pytest.mark.parametrize(
    ("trees", "cell", "top_down", "message"),
    [
        ("binary", {}, TOP_DOWN, r".*nary_lstm\.v1 passes none up"),
        ("constituency", CHILD_SUM, "shared", r".*child_sum_lstm\.v1 passes none up"),
        ("dependency", {}, "shared", r"NaryLSTM has arity 2, .* one predecessor"),
        ("binary", LEXICALIZED, "shared", r"LexicalizedLSTM has arity 2, .* one predecessor"),
        (
            "dependency",
            CHILD_SUM,
            S_LSTM | {"hidden_size": 4},
            r"SLSTM has arity 2, input_size 6 and inner_size 0; .* an input of width 6$",
        ),
    ],
)
def test_a_pass_down_that_does_not_go_with_the_pass_up(
    trees: str, cell: dict, top_down: object, message: str
) -> None:
    with pytest.raises(ConfigError, match=rf"^model\.encoder\.top_down: {message}"):
        build_model(config(cell=cell, trees=trees, encoder={"top_down": top_down}), entries=7)


def test_one_cell_cannot_read_two_widths_below() -> None:
    """The head word is as wide as a state, the node's own input as wide as both directions."""

    class Wordy(Cell):
        def __init__(self, input_size: int, inner_size: int):
            sizes = {"input_size": input_size, "inner_size": inner_size, "hidden_size": H}
            super().__init__(**sizes, state_sizes=[H, H], arity=0, word_part=1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "thinstack.models.build._create", lambda _, size, inner, **__: Wordy(size, inner)
        )
        with pytest.raises(ConfigError, match=rf"Wordy .* input_size {X} .* of width {H}"):
            build_model(config(trees="dependency", encoder={"top_down": "shared"}), entries=7)


@pytest.mark.parametrize(
    ("trees", "cell"),
    [("dependency", CHILD_SUM), ("constituency", CHILD_SUM), ("sequence", PEEPHOLE)],
)
def test_a_ranker_wants_binary_trees(trees: str, cell: dict) -> None:
    with pytest.raises(ConfigError, match=rf"^model\.head: tree_ranker\.v1 .*'{trees}'$"):
        build_model(config(cell=cell, head=RANKER, trees=trees), entries=7)


def test_relations_want_dependency_trees() -> None:
    with pytest.raises(ConfigError, match=r"relations .*'binary'"):
        config(relations=["nsubj"])


def test_options_that_are_not_taken() -> None:
    with pytest.raises(ConfigError, match=r"nary_lstm\.v1.*arityy"):
        build_model(config(cell={"options": {"arityy": 2}}), entries=7)
    with pytest.raises(ConfigError, match=r"node_classifier\.v1.*dropout"):
        build_model(config(head={"options": {"dropout": 2}}), entries=7)
    down = {"top_down": TOP_DOWN | {"options": {"inputs": "none"}}}
    with pytest.raises(ConfigError, match=r"top_down_lstm\.v1.*inputs"):
        build_model(config(cell=LEXICALIZED, encoder=down), entries=7)


def test_relations_want_a_cell_that_tells_them_apart() -> None:
    fields = {"trees": "dependency", "relations": ["nsubj"]}
    with pytest.raises(ConfigError, match=r"model\.relations: child_sum_lstm\.v1 tells none apart"):
        build_model(config(cell=CHILD_SUM, **fields), entries=7)
    with pytest.raises(ConfigError, match=r"top_down: sdt_rnn\.v1 tells edge types apart"):
        build_model(
            config(cell={"name": "sdt_rnn.v1"}, encoder={"top_down": "shared"}, **fields), entries=7
        )


@pytest.mark.parametrize("encoder", [{"separate": True}, {"readout": ["leaves"]}])
def test_what_says_how_directions_go_together_wants_two(encoder: dict) -> None:
    with pytest.raises(ConfigError, match=f"{next(iter(encoder))} say how two directions"):
        config(encoder=encoder)
