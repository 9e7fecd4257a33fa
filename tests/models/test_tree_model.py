"""Models of every kind of trees and of task head against the reference recursion, in float64."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from thinstack.config import ModelConfig
from thinstack.core import Forest, Tree
from thinstack.core.cell import Cell
from thinstack.core.encoder import Structure
from thinstack.core.head import TaskHead
from thinstack.models import Model, build_model
from thinstack.models.tree_encoder import Layer, TreeEncoder
from thinstack.plugins.cells.child_sum_lstm import ChildSumLSTM
from thinstack.plugins.cells.lexicalized_lstm import LexicalizedLSTM
from thinstack.plugins.cells.nary_lstm import NaryLSTM
from thinstack.plugins.cells.sdt_rnn import SDTRNN
from thinstack.plugins.cells.top_down_lstm import TopDownLSTM
from thinstack.plugins.embeddings.wordpieces import WordpieceEmbedding
from thinstack.plugins.embeddings.words import WordEmbedding
from thinstack.plugins.heads.entailment import Entailment
from thinstack.plugins.heads.node_classifier import NodeClassifier
from thinstack.plugins.heads.root_classifier import RootClassifier
from thinstack.plugins.heads.tree_ranker import TreeRanker
from thinstack.testing import reference

X, H, CLASSES, V = 3, 4, 5, 9
KINDS = {"words": ["token_ids"], "wordpieces": ["piece_ids", "pieces_per_word"]}
SCRIPT_WARNING = "ignore:`torch.jit.script` is:DeprecationWarning"
READ_NODES = ["node_scores", "root_scores"]
READ_PAIRS = ["pair_scores", "sentence_vectors"]
READ_CANDIDATES = ["node_scores", "tree_scores"]


def forest(
    parents: list[int], slots: list[int] | None = None, kinds: list[int] | None = None
) -> Forest:
    rest = (slots or [0] * len(parents), kinds or [1] * len(parents))
    return Forest(
        *(np.array(part, np.int64) for part in (parents, *rest)), sizes=np.array([len(parents)])
    )


BINARY = Forest.of(
    [Tree.left(["a"]), Tree.right(["b", "c", "d"]), Tree.balanced(["e", "f"]), Tree.left(["g"] * 4)]
)
MISSING = forest(
    [3, 3, 3, 9, -1, 7, 7, 9, 9, -1, -1], [0, 1, 2, 2, 0, 2, 0, 1, 0, 0, 0]
)  # arity 3, children missing
HEADS = forest(
    [1, -1, 1, 2, -1, 6, -1, 6, -1], [1, 0, 2, 0, 0, 2, 0, 0, 0], [2, 1, 3, 1, 1, 3, 1, 2, 1]
)
SENTENCES = forest([1, 2, -1, -1, 5, -1, 7, 8, 9, -1])


class Case(NamedTuple):
    """The names of the trees' inputs, a forest and a cell that takes it."""

    names: list[str]
    forest: Forest
    cell: Callable[[], Cell]
    words_at_leaves: bool

    @property
    def structure(self) -> Structure:
        return self.names[0]


def case(names: list[str], trees: Forest, cell: type[Cell], *, inner: bool, **more: int) -> Case:
    sizes = {"input_size": X, "inner_size": X} if inner else {"input_size": X}
    return Case(names, trees, lambda: cell(**sizes, hidden_size=H, **more), not inner)


CASES = {
    "binary": case(["transitions"], BINARY, NaryLSTM, inner=False),
    "binary_any": case(["transitions"], BINARY, ChildSumLSTM, inner=False),
    "any": case(["parents"], MISSING, ChildSumLSTM, inner=False),
    "slots": case(["parents", "slots"], MISSING, NaryLSTM, inner=False, arity=3),
    "heads": case(["parents"], HEADS, ChildSumLSTM, inner=True),
    "heads_slots": case(["parents", "slots"], HEADS, NaryLSTM, inner=True, arity=3),
    "heads_kinds": case(["parents", "kinds"], HEADS, SDTRNN, inner=True, kinds=3),
    "sentences": case(["lengths"], SENTENCES, NaryLSTM, inner=True, arity=1),
}


def assemble(
    layer: Layer,
    head: TaskHead,
    structure: Structure,
    *,
    kind: str = "words",
    words_at_leaves: bool = True,
) -> Model:
    """A model in float64 and evaluation mode, with weights far from zero."""
    embedding = (WordEmbedding if kind == "words" else WordpieceEmbedding)(entries=V, size=X)
    encoder = TreeEncoder(
        [layer], structure=structure, words_at_leaves=words_at_leaves, readout=("up", "down")
    )
    model = Model(embedding=embedding, encoder=encoder, head=head).double().eval()
    torch.manual_seed(1)
    for weights in model.parameters():
        torch.nn.init.uniform_(weights, -0.9, 0.9)
    return model


def model_of(case: Case, kind: str = "words", head: TaskHead | None = None) -> Model:
    head = head or NodeClassifier(hidden_size=H, classes=CLASSES)
    return assemble(
        Layer(case.cell()), head, case.structure, kind=kind, words_at_leaves=case.words_at_leaves
    )


def ranker_of(*, bidirectional: bool) -> Model:
    down = TopDownLSTM(input_size=X, hidden_size=2) if bidirectional else None
    head = TreeRanker(hidden_size=H + 2 if bidirectional else H, classes=CLASSES, word_size=X)
    return assemble(Layer(LexicalizedLSTM(input_size=X, hidden_size=H), down), head, "transitions")


def inputs_of(model: Model, trees: Forest, dtype: torch.dtype = torch.int64) -> dict[str, Tensor]:
    random = np.random.default_rng(3)
    words = int(trees.leaves.sum()) if model.encoder.words_at_leaves else len(trees.parents)
    pieces = random.integers(1, 4, words)
    every = {
        "token_ids": random.integers(0, V, words),
        "piece_ids": random.integers(0, V, int(pieces.sum())),
        "pieces_per_word": pieces,
        "parents": trees.parents,
        "slots": trees.slots,
        "kinds": trees.kinds,
        "lengths": np.diff(np.flatnonzero(trees.parents < 0), prepend=-1),
        "constituents": random.integers(0, CLASSES, len(trees.parents)),
    }
    if model.encoder.structure == "transitions":
        every["transitions"] = (~trees.leaves).astype(np.int64)
    return {name: torch.from_numpy(every[name]).to(dtype) for name in model.input_names}


def words_of(model: Model, inputs: dict[str, Tensor]) -> Tensor:
    table = model.embedding.table
    if "token_ids" in inputs:
        return table[inputs["token_ids"].long()]
    words = inputs["piece_ids"].long().split(inputs["pieces_per_word"].tolist())
    return torch.stack([table[pieces].mean(0) for pieces in words])


def by_recursion(
    model: Model, trees: Forest, inputs: dict[str, Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs of nodes, of roots, and head words."""
    [layer], words = model.encoder.stack(), words_of(model, inputs)
    cell, leaves = layer.up.cell, torch.from_numpy(trees.leaves)
    apart = (words, None) if model.encoder.words_at_leaves else (words[leaves], words[~leaves])
    states = reference.encode(cell, trees, *apart)
    outputs = torch.cat([cell.output(state) for state in states])
    heads = outputs[:, :0]
    if cell.word_part >= 0:
        heads = torch.cat([state[cell.word_part] for state in states])
    if layer.down is not None:
        back = reference.encode_top_down(layer.down.cell, trees, heads)
        outputs = torch.cat([outputs, torch.cat([state[0] for state in back])], 1)
    return outputs, outputs[torch.from_numpy(trees.parents) < 0], heads


def equal(found: dict[str, Tensor], expected: dict[str, Tensor], model: Model) -> None:
    assert list(found) == model.output_names == list(expected)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_scores_of_nodes_and_roots(name: str, kind: str) -> None:
    case = CASES[name]
    model = model_of(case, kind)
    assert model.input_names == [*KINDS[kind], *case.names]
    assert model.output_names == READ_NODES
    inputs = inputs_of(model, case.forest)
    outputs, roots, _ = by_recursion(model, case.forest, inputs)
    weight, bias = model.head.linear.weight.T, model.head.linear.bias
    expected = {
        "node_scores": torch.softmax(outputs @ weight + bias, 1),
        "root_scores": torch.softmax(roots @ weight + bias, 1),
    }
    equal(model(inputs), expected, model)
    equal(model(inputs_of(model, case.forest, torch.int32)), expected, model)
    torch.testing.assert_close(model.logits(inputs), outputs @ weight + bias, rtol=0, atol=1e-12)


def test_a_head_that_reads_roots() -> None:
    head = RootClassifier(hidden_size=H, classes=CLASSES, hidden=6)
    model = model_of(CASES["heads"], head=head)
    inputs = inputs_of(model, HEADS)
    outputs, roots, _ = by_recursion(model, HEADS, inputs)
    expected = {"node_scores": head.scores(outputs), "root_scores": head.scores(roots)}
    equal(model(inputs), expected, model)
    torch.testing.assert_close(model.logits(inputs), head(roots), rtol=0, atol=1e-12)
    assert len(roots) == 4


@pytest.mark.parametrize("name", ["binary", "heads_kinds", "sentences"])
def test_a_head_that_reads_pairs(name: str) -> None:
    """Trees 0 and 1, trees 2 and 3; the head tells premise and hypothesis apart."""
    case = CASES[name]
    head = Entailment(hidden_size=H, classes=CLASSES, layers=1, width=6, batch_norm=False)
    model = model_of(case, head=head)
    inputs = inputs_of(model, case.forest)
    _, roots, _ = by_recursion(model, case.forest, inputs)
    pairs = torch.stack([torch.cat([roots[0], roots[1]]), torch.cat([roots[2], roots[3]])])
    assert model.output_names == READ_PAIRS
    for dtype in (torch.int32, torch.int64):
        found = model(inputs_of(model, case.forest, dtype))
        equal(found, {"pair_scores": head.scores(pairs), "sentence_vectors": roots}, model)
    torch.testing.assert_close(model.logits(inputs), head(pairs), rtol=0, atol=1e-12)
    assert not torch.allclose(head(pairs), head(pairs.roll(H, 1)))


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_head_that_reads_candidates(bidirectional: bool) -> None:
    """(19) and (20) of Teng & Zhang 2017, one constituent at a time."""
    model = ranker_of(bidirectional=bidirectional)
    assert model.input_names == ["token_ids", "transitions", "constituents"]
    assert model.output_names == READ_CANDIDATES
    inputs = inputs_of(model, BINARY)
    outputs, _, heads = by_recursion(model, BINARY, inputs)
    nodes = torch.zeros(len(BINARY.parents), CLASSES, dtype=torch.float64)
    trees = torch.zeros(4, 1, dtype=torch.float64)
    ends = np.flatnonzero(BINARY.parents < 0)
    for node in np.flatnonzero(~BINARY.leaves).tolist():
        left, right = (outputs[child] for child in np.flatnonzero(BINARY.parents == node))
        rows = torch.cat([left, right, heads[node]])
        scored = model.head.linear.weight @ rows + model.head.linear.bias
        nodes[node] = torch.log_softmax(scored.clamp(min=0), 0)
        tree = min(number for number, end in enumerate(ends) if node <= end)
        trees[tree] += nodes[node, inputs["constituents"][node]]
    expected = {"node_scores": nodes, "tree_scores": trees}
    for dtype in (torch.int32, torch.int64):
        equal(model(inputs_of(model, BINARY, dtype)), expected, model)
    torch.testing.assert_close(model.logits(inputs), trees[:, 0], rtol=0, atol=1e-12)
    assert trees[0] == 0


def test_a_ranker_over_a_cell_without_head_words() -> None:
    model = model_of(CASES["binary"], head=TreeRanker(hidden_size=H, classes=CLASSES))
    inputs = inputs_of(model, BINARY)
    outputs, _, _ = by_recursion(model, BINARY, inputs)
    [first] = model.head.scores(
        torch.cat([outputs[6:7], outputs[7:8]], 1)
    )  # the node over the words e and f
    torch.testing.assert_close(model(inputs)["node_scores"][8], first, rtol=0, atol=1e-12)


EVERY_MODEL = {name: lambda case=case: model_of(case) for name, case in CASES.items()} | {
    "pieces": lambda: model_of(CASES["binary"], "wordpieces"),
    "roots": lambda: model_of(CASES["heads"], head=RootClassifier(hidden_size=H, classes=CLASSES)),
    "pairs": lambda: model_of(
        CASES["heads"], head=Entailment(hidden_size=H, classes=CLASSES, width=6)
    ),
    "candidates": lambda: ranker_of(bidirectional=True),
    "plain_candidates": lambda: model_of(
        CASES["binary"], head=TreeRanker(hidden_size=H, classes=CLASSES)
    ),
}
FORESTS = {name: case.forest for name, case in CASES.items()} | {"roots": HEADS, "pairs": HEADS}


@pytest.mark.filterwarnings(SCRIPT_WARNING)
@pytest.mark.parametrize("name", EVERY_MODEL)
def test_scripted_and_no_trees(name: str) -> None:
    model = EVERY_MODEL[name]()
    scripted = torch.jit.script(model)
    trees = FORESTS.get(name, BINARY)
    none = {input_name: torch.zeros(0, dtype=torch.int32) for input_name in model.input_names}
    with torch.no_grad():
        some = inputs_of(model, trees)
        for inputs in (some, inputs_of(model, trees, torch.int32), none, some):
            equal(scripted(inputs), model(inputs), model)
        empty = model(none)
    width = {"sentence_vectors": H, "tree_scores": 1}
    assert {key: tuple(value.shape) for key, value in empty.items()} == {
        key: (0, width.get(key, CLASSES)) for key in model.output_names
    }
    assert len(model.logits(none)) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_weight_gets_a_gradient_and_the_tables_a_sparse_one(kind: str) -> None:
    model = model_of(CASES["binary"], kind)
    inputs = inputs_of(model, BINARY)
    labels = torch.arange(len(BINARY.parents)) % CLASSES
    labels[[3, 8]] = -1
    model.head.loss(model.logits(inputs), labels).backward()
    for name, weights in model.named_parameters():
        assert weights.grad.is_sparse == (name == "embedding.table")
        assert weights.grad.to_dense().abs().sum() > 0, name
    used = set(inputs[KINDS[kind][0]].tolist())
    assert set(model.embedding.table.grad.coalesce().indices()[0].tolist()) == used


def test_a_cycle_is_refused() -> None:
    model = model_of(CASES["heads"])
    with pytest.raises(ValueError, match="cycle"):
        model({"token_ids": torch.zeros(2, dtype=torch.long), "parents": torch.tensor([1, 0])})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("slots", 2, "slots must be from 0 to 1"), ("kinds", 4, "from 1 to 3")],
)
def test_slots_and_kinds_that_the_cell_does_not_have(name: str, value: int, message: str) -> None:
    cell = {"name": "nary_lstm.v1"} if name == "slots" else {"name": "sdt_rnn.v1"}
    trees = (
        {"trees": "constituency"}
        if name == "slots"
        else {"trees": "dependency", "relations": ["a", "b"]}
    )
    data = {
        "labels": ["x", "y"],
        "embedding": {"kind": "words", "size": 3},
        "head": {"name": "node_classifier.v1"},
        **trees,
    }
    model = build_model(
        ModelConfig.parse({**data, "cell": {**cell, "hidden_size": 4}}, source="test"), entries=9
    )
    inputs = {
        "token_ids": torch.tensor([1, 2] if name == "slots" else [1, 2, 3]),
        "parents": torch.tensor([2, 2, -1]),
    }
    inputs[name] = torch.tensor([0, value, 1]) if name == "slots" else torch.tensor([1, value, 1])
    with pytest.raises(ValueError, match=message):
        model(inputs)


def test_an_odd_number_of_trees_is_no_pairs() -> None:
    data = {
        "labels": ["1", "2"],
        "embedding": {"kind": "words", "size": 3},
        "head": {"name": "similarity.v1"},
    }
    config = ModelConfig.parse(
        {**data, "cell": {"name": "nary_lstm.v1", "hidden_size": 4}}, source="test"
    )
    with pytest.raises(ValueError, match="an even number, found 1"):
        build_model(config, entries=9)(
            {"token_ids": torch.tensor([1]), "transitions": torch.tensor([0])}
        )


def model_over(trees: str, cell: str, **head: str) -> Model:
    data = {"labels": ["x", "y"], "embedding": {"kind": "words", "size": 3}, "trees": trees}
    data |= {
        "cell": {"name": cell, "hidden_size": 4},
        "head": {"name": "node_classifier.v1", **head},
    }
    if cell == "nary_lstm.v1" and trees == "sequence":
        data["cell"]["options"] = {"arity": 1}
    return build_model(ModelConfig.parse(data, source="test"), entries=9)


@pytest.mark.parametrize("lengths", [[2, 0, 1], [0, 3], [3, 0]])
def test_a_sentence_without_words_is_refused(lengths: list[int]) -> None:
    model = model_over("sequence", "nary_lstm.v1")
    with pytest.raises(ValueError, match="lengths must be at least 1"):
        model({"token_ids": torch.tensor([1, 2, 3]), "lengths": torch.tensor(lengths)})


def test_two_children_in_one_slot_are_refused() -> None:
    inputs = {
        "token_ids": torch.tensor([1, 2]),
        "parents": torch.tensor([2, 2, -1]),
        "slots": torch.tensor([1, 1, 0]),
    }
    with pytest.raises(ValueError, match="two children of a node in one place"):
        model_over("constituency", "nary_lstm.v1")(inputs)
    inputs["slots"] = torch.tensor([1, 0, 1])  # a root's slot is nobody's
    assert model_over("constituency", "nary_lstm.v1")(inputs)["root_scores"].shape == (1, 2)


@pytest.mark.parametrize(
    ("trees", "structure"),
    [("binary", "transitions"), ("dependency", "parents"), ("sequence", "lengths")],
)
def test_another_number_of_words_is_refused(trees: str, structure: str) -> None:
    model = model_over(trees, {"sequence": "nary_lstm.v1"}.get(trees, "child_sum_lstm.v1"))
    tree = {"transitions": [0, 0, 1], "parents": [1, -1], "lengths": [2]}[structure]
    with pytest.raises(ValueError, match=r"expected 2 words, .* found 3"):
        model({"token_ids": torch.tensor([1, 2, 3]), structure: torch.tensor(tree)})
