"""Word and wordpiece models against the reference recursion."""

import pytest
import torch

from thinstack.core import Forest, Tree, reference
from thinstack.models import TreeModel, WordModel, WordpieceModel
from thinstack.models.embedding import WordEmbedding, WordpieceEmbedding
from thinstack.plugins.cells.nary_lstm import NaryLSTM
from thinstack.plugins.heads.node_classifier import NodeClassifier

X, H, CLASSES, V = 3, 4, 5, 9
FOREST = Forest.of([Tree.left(["a"]), Tree.right(["b", "c", "d"]), Tree.balanced(["e", "f"])])
WORDS = [torch.tensor([3, 0, 8, 3, 1, 2])]
PIECES = [torch.tensor([3, 0, 1, 8, 3, 1, 1, 2]), torch.tensor([1, 2, 1, 1, 2, 1])]


def model_of(kind: str) -> TreeModel:
    torch.manual_seed(1)
    cell, head = NaryLSTM(input_size=X, hidden_size=H), NodeClassifier(hidden_size=H, classes=CLASSES)
    if kind == "words":
        return WordModel(embedding=WordEmbedding(entries=V, size=X), cell=cell, head=head)
    return WordpieceModel(embedding=WordpieceEmbedding(entries=V, size=X), cell=cell, head=head)


@pytest.mark.parametrize(("kind", "inputs"), [("words", WORDS), ("wordpieces", PIECES)])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_scores_of_nodes_and_roots_equal_the_recursion(kind: str, inputs: list, dtype: torch.dtype) -> None:
    model = model_of(kind)
    words = model.embedding(*inputs)
    states = reference.encode(model.encoder.executor.cell, FOREST, words)
    logits = torch.cat([state[0] for state in states]) @ model.head.linear.weight.T + model.head.linear.bias
    expected = torch.softmax(logits, 1)
    transitions = torch.from_numpy(FOREST.transitions).to(dtype)
    nodes, roots = model(*(part.to(dtype) for part in inputs), transitions)
    torch.testing.assert_close(nodes, expected, rtol=0, atol=1e-6)
    torch.testing.assert_close(roots, expected[[0, 5, 8]], rtol=0, atol=1e-6)
    assert nodes.shape == (9, CLASSES)
    assert torch.equal(model.embed(inputs), words)
    torch.testing.assert_close(model.node_logits(words, transitions), logits, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("kind", "inputs"), [("words", WORDS), ("wordpieces", PIECES)])
def test_every_weight_gets_a_gradient_and_the_tables_a_sparse_one(kind: str, inputs: list) -> None:
    model = model_of(kind)
    labels = torch.tensor([0, 1, 2, 3, 4, 0, -1, -1, 1])
    logits = model.node_logits(model.embed(inputs), torch.from_numpy(FOREST.transitions))
    model.head.loss(logits, labels).backward()
    for name, weights in model.named_parameters():
        assert weights.grad.is_sparse == (name == "embedding.table")
        assert weights.grad.to_dense().abs().sum() > 0, name
    used = set(inputs[0].tolist())
    assert set(model.embedding.table.grad.coalesce().indices()[0].tolist()) == used


def test_no_trees() -> None:
    model, none = model_of("words"), torch.zeros(0, dtype=torch.int32)
    assert [tuple(part.shape) for part in model(none, none)] == [(0, CLASSES), (0, CLASSES)]
