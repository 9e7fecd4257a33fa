"""Contract checks that a plugin gives the same results when it is exported: a cell in a model, a
task head or parser by itself."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from thinstack._onnxruntime import import_onnxruntime
from thinstack.bundle.gate.onnx_gate import check_onnx
from thinstack.core.cell import Cell
from thinstack.core.config import ModelConfig
from thinstack.core.head import TaskHead
from thinstack.core.model.model import Model
from thinstack.core.model.tree_encoder import Layer, TreeEncoder
from thinstack.core.parser import Parser
from thinstack.errors import needs_extra
from thinstack.export.torchscript import export_torchscript
from thinstack.plugins.manager import manager
from thinstack.testing.method import Draw, Method, require_alike
from thinstack.testing.subject import CellSubject, Subject

ROWS = (7, 1, 0)
FLOAT, INT64 = 1, 7  # in ONNX
# Numbers of nodes of trees.
FORESTS: tuple[tuple[int, ...], ...] = ((12, 1, 7, 2), (), (1,), (1, 1, 25), (3, 1) * 300)
LABELS, WORDS, EMBEDDING, HEAD = ["a", "b", "c"], 40, "words.v1", "node_classifier.v1"


def torchscript_of_cell(subject: CellSubject) -> None:
    """A model over the cell gives the same scores when it is scripted, frozen, saved and loaded.
    Annotate all methods, set attributes in __init__, and use no lambda, super() or getattr in a
    method. Take the number of rows from `inputs`, which freezing keeps."""
    export_torchscript(_model(subject.create(), subject))


def onnx_of_cell(subject: CellSubject) -> None:
    """A model over the cell gives the same scores in onnxruntime, for no tree, one word, and many
    trees. The exporter follows tensors only: use no Python branch or loop over values or rows, and
    the operators of thinstack's own cells."""
    with needs_extra("testing"):
        from thinstack.export.onnx.model import export_onnx
    cell = subject.random(torch.float32)
    model, generator = _model(cell, subject), np.random.default_rng(0)
    config = {
        "labels": LABELS,
        "embedding": {"kind": "words", "size": subject.sizes["input_size"]},
        "cell": {"name": subject.spec.name, "hidden_size": subject.sizes["hidden_size"]},
        "head": {"name": HEAD},
        "trees": "constituency" if model.encoder.words_at_leaves else "dependency",
    }
    parsed = ModelConfig.parse(config, source=subject.spec.name)
    file = export_onnx(model, parsed, index_type="int64", vocabulary_digest="none")
    check_onnx(file, source="the exported file")
    run = in_onnxruntime(file)
    for sizes in FORESTS:
        forest = subject.forest(cell, sizes, len(sizes))
        words = int(forest.leaves.sum()) if model.encoder.words_at_leaves else sum(sizes)
        ids = generator.integers(0, WORDS, words)
        inputs = forest._replace(token_ids=ids).inputs(model.input_names)
        with torch.no_grad():
            scores = model({name: torch.from_numpy(values) for name, values in inputs.items()})
        expected = [scores[name] for name in model.output_names]
        what = f"scores of {len(sizes)} trees of {sizes[:5]} nodes in onnxruntime and torch"
        require_alike(run(inputs), expected, what, 1e-5)


def _model(cell: Cell, subject: CellSubject) -> Model:
    """A model over the cell, in evaluation mode."""
    torch.manual_seed(0)
    size, sizes = subject.sizes["input_size"], {"hidden_size": cell.hidden_size}
    embedding = manager().find("embedding", EMBEDDING).create({}, entries=WORDS, size=size)
    nn.init.normal_(embedding.table)
    nn.init.zeros_(embedding.table[0])  # as unknown words are
    head = manager().find("head", HEAD).create({}, **sizes, classes=len(LABELS))
    encoder = TreeEncoder([Layer(cell)], structure="parents", words_at_leaves=cell.inner_size == 0)
    return Model(embedding=embedding, encoder=encoder, head=head).eval()


class _Scores(nn.Module):
    """What a model exports of its head."""

    def __init__(self, head: TaskHead):
        super().__init__()
        self.head = head

    def forward(self, rows: Tensor) -> Tensor:
        return self.head.scores(rows)


def torchscript(subject: Subject[Any]) -> None:
    """The scripted plugin gives the same results. Annotate all methods, set attributes in
    __init__, and use no lambda, super() or getattr in a method."""
    plugin = subject.random()
    script = torch.jit.script(_Scores(plugin) if isinstance(plugin, TaskHead) else plugin)
    for n in ROWS:
        method = subject.methods(plugin, n)[subject.exported]
        results = [script(*method.values.values())]
        require_alike(results, method(), f"{method.name} of {n} rows in TorchScript and torch")


def onnx(subject: Subject[Any]) -> None:
    """Exported to ONNX, the plugin gives the same results in onnxruntime. The exporter follows
    tensors only: use no Python branch or loop over values or rows."""
    plugin, draw = subject.random(torch.float32), Draw(dtype=torch.float32)
    run = in_onnxruntime(_written(plugin, subject.methods(plugin, 1, draw)[subject.exported]))
    for n in ROWS if isinstance(plugin, TaskHead) else ROWS[:-1]:
        method = subject.methods(plugin, n, draw)[subject.exported]
        (results,) = run({name: part.numpy() for name, part in method.values.items()})
        (expected,) = method()
        if "lengths" in method.values:  # the distance after a last word is not read
            last = method.values["lengths"].cumsum(0) - 1
            results[last] = expected[last] = 0
        what = f"{method.name} of {n} rows in onnxruntime and torch"
        require_alike([results], [expected], what, 1e-4)


def _written(plugin: TaskHead | Parser, method: Method) -> bytes:
    with needs_extra("testing"):
        from thinstack.export.onnx.graph import Graph
        from thinstack.export.onnx.parser import distances
        from thinstack.export.onnx.parts import export_head, inline
    g = Graph(method.name)
    inputs = [
        g.input(name, FLOAT if part.is_floating_point() else INT64, [name, *part.shape[1:]])
        for name, part in method.values.items()
    ]
    if isinstance(plugin, Parser):
        g.output(distances(g, plugin, *inputs), "results", FLOAT, ["words"])
    else:
        (scores,) = inline(g, export_head(plugin, method.values["rows"].shape[1]), inputs)
        g.output(scores, "results", FLOAT, ["rows", plugin.classes])
    return g.model({})


def in_onnxruntime(file: bytes) -> Callable[[dict[str, NDArray[Any]]], list[Tensor]]:
    """A function of the inputs that returns all outputs."""
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    return lambda inputs: [torch.from_numpy(values) for values in session.run(None, inputs)]
