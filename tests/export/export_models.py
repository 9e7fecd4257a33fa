"""Small models to export, with every weight, biases too, drawn at random."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links, sum_by_owner
from thinstack.core.config import ModelConfig
from thinstack.core.forest import Forest, join
from thinstack.core.model.model import Model
from thinstack.core.model.tree_encoder import Layer, TreeEncoder
from thinstack.export import samples
from thinstack.export.onnx.verify import DequantizeLinear
from thinstack.plugins.cells.nary_lstm import NaryLSTM
from thinstack.plugins.embeddings.wordpieces import WordpieceEmbedding
from thinstack.plugins.embeddings.words import WordEmbedding
from thinstack.plugins.heads.node_classifier import NodeClassifier

Arrays = dict[str, NDArray[Any]]
Run = Callable[[Arrays], Arrays]
M = TypeVar("M", bound=Model)

V, X, H, C = 50, 6, 5, 3
LABELS = ("bad", "so-so", "schön")
TRACES = (str(Path(__file__).parents[2]), tempfile.gettempdir(), "/home", "site-packages")
"""Of the machine that exports, in no file."""


@dataclass(frozen=True)
class Exported:
    """A model and its ONNX file."""

    model: Model
    config: ModelConfig
    quantize: str
    file: bytes

    def runs(self) -> list[Run]:
        """The file in onnxruntime and in onnx's reference evaluator."""
        session = self.session()
        types = {value.name: value.type[len("tensor(") : -1] for value in session.get_inputs()}
        names = [value.name for value in session.get_outputs()]

        def scores(run: Callable[..., list[NDArray[Any]]], inputs: Arrays) -> Arrays:
            typed = {name: array.astype(types[name]) for name, array in inputs.items()}
            return dict(zip(names, run(names, typed), strict=True))

        return [partial(scores, run) for run in runtimes(self.file)]

    def session(self) -> onnxruntime.InferenceSession:
        return session_of(self.file)

    def proto(self) -> onnx.ModelProto:
        return onnx.load_from_string(self.file)


def session_of(file: bytes) -> onnxruntime.InferenceSession:
    """On one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def runtimes(file: bytes) -> list[Callable[..., list[NDArray[Any]]]]:
    """`run` of a file in onnxruntime and in onnx's reference evaluator."""
    reference = ReferenceEvaluator(onnx.load_from_string(file), new_ops=[DequantizeLinear])
    return [session_of(file).run, reference.run]


def stored(model: onnx.ModelProto) -> dict[str, str]:
    """The metadata."""
    return {entry.key: entry.value for entry in model.metadata_props}


def close(found: Arrays, expected: Arrays) -> None:
    """The same names and shapes, numbers within 1e-5, and the very same trees."""
    assert list(found) == list(expected)
    for name, wanted in expected.items():
        assert found[name].shape == wanted.shape
        atol = 0 if name == "parse" else 1e-5
        np.testing.assert_allclose(found[name], wanted, rtol=0, atol=atol, err_msg=name)


def eager_scores(model: Model, arrays: Arrays) -> Arrays:
    """What the model gives for arrays by name."""
    return samples.eager_scores(model, Forest(**arrays))


def arrays_of(model: Model, forest: Forest) -> Arrays:
    """The inputs of a model, by name."""
    return forest.inputs(model.input_names)


class ChildSum(Cell):
    """tanh(U W x), and tanh(sum over children of (U h / 2 + the vector of the edge's type)); it
    overwrites its children."""

    def __init__(self) -> None:
        super().__init__(
            input_size=X, inner_size=0, hidden_size=H, state_sizes=[H], arity=0, kinds=2
        )
        self.w = nn.Parameter(torch.empty(X, H))
        self.u = nn.Parameter(torch.empty(H, H))
        self.types = nn.Parameter(torch.empty(3, H))

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [torch.tanh(inputs @ self.w @ self.u)]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        children[0].mul_(0.5)
        messages = children[0] @ self.u + self.types.index_select(0, links.kind)
        return [torch.tanh(sum_by_owner(messages, links.owner, inputs.shape[0]))]


def make_model(kind: str, cell: Cell | None = None, *, seed: int = 0) -> Model:
    """A word or wordpiece model, in training mode."""
    torch.manual_seed(seed)
    cell = cell or NaryLSTM(input_size=X, hidden_size=H)
    head = NodeClassifier(hidden_size=cell.hidden_size, classes=C, dropout=0.5)
    table = {"words": WordEmbedding, "wordpieces": WordpieceEmbedding}[kind]
    embedding = table(entries=V, size=cell.input_size, dropout=0.3)
    return randomised(Model(embedding=embedding, encoder=TreeEncoder([Layer(cell)]), head=head))


def randomised(model: M, std: float = 1.0) -> M:
    """The model, with every weight drawn at random; seed torch first. Deep models of great weights
    make much of rounding."""
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=std)
    return model


def make_config(
    kind: str, cell: str = "nary_lstm.v1", labels: Sequence[str] = LABELS, **more: object
) -> ModelConfig:
    return ModelConfig.parse(
        {
            "labels": list(labels),
            "embedding": {"kind": kind, "size": X},
            "cell": {"name": cell, "hidden_size": H},
            "head": {"name": "node_classifier.v1"},
            "tree_source": "left",
            **more,
        },
        source="test",
    )


def inputs_of(model: Model, words: Sequence[int], seed: int = 0) -> Arrays:
    """Random trees of so many words each, or pairs of them for a head that reads pairs."""
    random = np.random.default_rng(seed)
    trees = [samples.random_tree(number, random) for number in words]
    return arrays_of(model, join(samples.sample_trees(model, trees, random)))


def without_trees(inputs: Arrays) -> Arrays:
    """For a parser to make them."""
    return inputs | {"transitions": np.zeros(0, np.int64)}
