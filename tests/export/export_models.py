"""Small models to export, with every weight, biases too, drawn at random."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnxruntime
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from thinstack.config import ModelConfig
from thinstack.core.cell import Cell, Links, sum_by_owner
from thinstack.models import TreeModel
from thinstack.models.embedding import WordEmbedding, WordpieceEmbedding
from thinstack.plugins.cells.nary_lstm import NaryLSTM
from thinstack.plugins.heads.node_classifier import NodeClassifier

V, X, H, C = 50, 6, 5, 3
LABELS = ("bad", "so-so", "schön")


@dataclass(frozen=True)
class Exported:
    """A model and its ONNX file."""

    kind: str
    model: TreeModel
    config: ModelConfig
    quantize: str
    file: bytes

    def session(self) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        return onnxruntime.InferenceSession(self.file, options, providers=["CPUExecutionProvider"])


class ChildSum(Cell):
    """tanh(U W x), and tanh(sum over children of (U h / 2 + the vector of the edge's type)); it overwrites its children."""

    def __init__(self) -> None:
        super().__init__(input_size=X, inner_size=0, hidden_size=H, state_sizes=[H], arity=0, kinds=2)
        self.w = nn.Parameter(torch.empty(X, H))
        self.u = nn.Parameter(torch.empty(H, H))
        self.types = nn.Parameter(torch.empty(3, H))

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [torch.tanh(inputs @ self.w @ self.u)]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        children[0].mul_(0.5)
        messages = children[0] @ self.u + self.types.index_select(0, links.kind)
        return [torch.tanh(sum_by_owner(messages, links.owner, inputs.shape[0]))]


def make_model(kind: str, cell: Cell | None = None, *, seed: int = 0) -> TreeModel:
    """A word or wordpiece model, in training mode."""
    torch.manual_seed(seed)
    cell = cell or NaryLSTM(input_size=X, hidden_size=H)
    head = NodeClassifier(hidden_size=H, classes=C, dropout=0.5)
    table = {"words": WordEmbedding, "wordpieces": WordpieceEmbedding}[kind]
    embedding = table(entries=V, size=cell.input_size, dropout=0.3)
    return randomised(TreeModel(embedding=embedding, encoder=Encoder([Layer(cell)]), head=head))


def randomised(model: TreeModel) -> TreeModel:
    """The model, with every weight drawn from a standard normal distribution; seed torch first."""
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_()
    return model


def make_config(kind: str, cell: str = "nary_lstm.v1", labels: Sequence[str] = LABELS) -> ModelConfig:
    return ModelConfig.parse(
        {
            "labels": list(labels),
            "embedding": {"kind": kind, "size": X},
            "cell": {"name": cell, "hidden_size": H},
            "head": {"name": "node_classifier.v1"},
            "tree_source": "left",
        },
        source="test",
    )


def random_tree(words: int, seed: int) -> NDArray[np.int64]:
    """Transitions of a binary tree over so many words, joined at random places."""
    random = np.random.default_rng(seed)
    pieces = [[0] for _ in range(words)]
    while len(pieces) > 1:
        at = int(random.integers(len(pieces) - 1))
        pieces[at : at + 2] = [[*pieces[at], *pieces[at + 1], 1]]
    return np.array(pieces[0], np.int64)


def random_inputs(kind: str, trees: Sequence[Sequence[int] | NDArray[np.int64]], seed: int) -> dict[str, NDArray[np.int64]]:
    """Ids for the words of a forest."""
    random = np.random.default_rng(seed)
    steps = np.concatenate([np.zeros(0, np.int64), *(np.asarray(tree, np.int64) for tree in trees)])
    words = int((steps == 0).sum())
    if kind == "words":
        return {"token_ids": random.integers(0, V, words), "transitions": steps}
    counts = random.choice([1, 2, 3, 7], words).astype(np.int64)
    return {"piece_ids": random.integers(0, V, int(counts.sum())), "pieces_per_word": counts, "transitions": steps}
