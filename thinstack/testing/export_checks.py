"""Contract checks of the exports of cells and task heads, through the same functions that export a
model."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from thinstack._onnxruntime import import_onnxruntime
from thinstack.bundle.gate.onnx_gate import check_onnx
from thinstack.core import Forest
from thinstack.core.cell import Cell
from thinstack.core.config import ModelConfig
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.core.head import TaskHead
from thinstack.core.model.model import Model
from thinstack.core.model.tree_encoder import Layer, TreeEncoder
from thinstack.errors import BundleError, ExportError, needs_extra
from thinstack.plugins.manager import manager
from thinstack.runtime.session import available_providers
from thinstack.testing.forests import batch_of, by_depth, require_alike
from thinstack.testing.subject import CellSubject, HeadSubject

FORESTS: tuple[tuple[int, ...], ...] = ((12, 1, 7, 2), (), (1,), (1, 1, 25), (3, 1) * 300)
"""Sizes of the trees of some forests."""
ROWS = (7, 1, 0)
LABELS, WORDS, EMBEDDING, HEAD = ["a", "b", "c"], 40, "words.v1", "node_classifier.v1"
FLOAT, INT64 = 1, 7  # in ONNX


class _Scores(nn.Module):
    """What a model exports of its head."""

    def __init__(self, head: TaskHead):
        super().__init__()
        self.head = head

    def forward(self, rows: Tensor) -> Tensor:
        return self.head.scores(rows)


def torchscript(subject: CellSubject) -> None:
    """Scripted, the cell gives what it gives in eager torch; a model over it does, saved and
    loaded."""
    cell = subject.random()
    eager = DepthOrdered(cell)
    scripted = compiled(eager, "cell")
    for sizes in FORESTS:
        batch = batch_of(cell, subject.forest(cell, sizes, len(sizes)))
        for with_gradients in (True, False):
            with torch.set_grad_enabled(with_gradients):
                found, expected = (by_depth(run, cell, batch.copied()) for run in (scripted, eager))
            what = f"scripted, the cell's outputs of trees of {_said(sizes)} nodes"
            require_alike(found, expected, what, OTHERWISE_SCRIPTED)
    _saved(subject)


def torchscript_of_head(subject: HeadSubject) -> None:
    """Scripted, the head gives the scores that it gives in eager torch."""
    head = subject.random()
    scripted = compiled(_Scores(head), "head")
    for n in ROWS:
        rows = subject.rows(head, n)
        what = f"scripted, the scores of {n} rows"
        require_alike([scripted(rows)], [head.scores(rows)], what, OTHERWISE_SCRIPTED)


def compiled(module: nn.Module, what: str) -> Any:
    """The module as TorchScript. Raises AssertionError, naming `what` it is, if it cannot be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return torch.jit.script(module)
        except Exception as error:  # the compiler has many kinds, without a narrower base
            raise AssertionError(
                f"TorchScript cannot compile the {what}: {' '.join(str(error).split()):.600} -- "
                "annotate every method and argument, set attributes in __init__, and use no "
                "lambda, super(), getattr or config object in a method"
            ) from None


OTHERWISE_SCRIPTED = (
    "look for what TorchScript fixes when it compiles: attributes that change, is_scripting() "
    "branches, default arguments"
)


def _said(sizes: tuple[int, ...]) -> str:
    return str(sizes) if len(sizes) < 10 else f"{len(sizes)} trees, of {sizes[:2]}.."


def _saved(subject: CellSubject) -> None:
    from thinstack.export.torchscript import export_torchscript

    try:
        export_torchscript(_model(subject.create(), subject))
    except ExportError as error:
        raise AssertionError(
            f"saved as TorchScript: {error}. Let the cell compute the same in every mode of "
            "running, and start from weights that neither blow up nor vanish over a tree of 512 "
            "words"
        ) from None
    except Exception as error:
        raise AssertionError(
            "saved as TorchScript and loaded, a model over the cell fails: "
            f"{' '.join(str(error).split())[-300:]} -- take the number of rows from `inputs`, the "
            "children or `links`: frozen TorchScript gets that of an affine map wrong"
        ) from None


def onnx(subject: CellSubject) -> None:
    """A model over the cell, exported to ONNX, gives the model's scores in onnxruntime for no tree,
    one word, and many trees. Its operators are those that an ONNX file may have."""
    available_providers()  # an export takes seconds: not without onnxruntime
    cell = subject.random(torch.float32)
    model = _model(cell, subject)
    exported = _exported(model, subject)
    try:
        check_onnx(exported, source="the exported file")
    except BundleError as error:
        raise AssertionError(f"{error}. {NOT_IN_THE_TABLE}") from None
    run = in_onnxruntime(exported)
    for sizes in FORESTS:
        inputs = _inputs(model, subject.forest(cell, sizes, len(sizes)))
        with torch.no_grad():
            scores = model({name: torch.from_numpy(values) for name, values in inputs.items()})
        expected = [scores[name] for name in model.output_names]
        what = f"in onnxruntime the scores of trees of {_said(sizes)} nodes"
        require_alike(run(inputs), expected, what, OTHERWISE_EXPORTED, 1e-5)


def onnx_of_head(subject: HeadSubject) -> None:
    """Exported to ONNX, the head gives the same scores in onnxruntime for no row, one row, and
    several."""
    available_providers()
    head = subject.random().float()
    run = in_onnxruntime(_exported_head(head, subject.width(head)))
    for n in ROWS:
        rows = subject.rows(head, n).float()
        with torch.no_grad():
            expected = [head.scores(rows)]
        what = f"in onnxruntime the scores of {n} rows"
        require_alike(run({"rows": rows.numpy()}), expected, what, OTHERWISE_EXPORTED, 1e-5)


OTHERWISE_EXPORTED = (
    "the export fixes whatever is not computed from a tensor: use no branch on sizes or values, no "
    "number kept from an earlier call, and no operation that gives other results for float32"
)
NOT_IN_THE_TABLE = "Use operations that thinstack's own cells use"
CANNOT = (
    "The exporter follows tensors only: no Python branch or loop over values or rows, and "
    "operators that ONNX has"
)


def _exported(model: Model, subject: CellSubject) -> bytes:
    with needs_extra("testing"):
        from thinstack.export.onnx.model import export_onnx
    sizes, name = subject.sizes, subject.spec.name
    config = {
        "labels": LABELS,
        "embedding": {"kind": "words", "size": sizes["input_size"]},
        "cell": {"name": name, "hidden_size": sizes["hidden_size"]},
        "head": {"name": HEAD},
        "trees": "constituency" if model.encoder.words_at_leaves else "dependency",
    }
    parsed = ModelConfig.parse(config, source=name)
    try:
        return export_onnx(model, parsed, index_type="int64", vocabulary_digest="none")
    except ExportError as error:
        raise AssertionError(f"{error}. {CANNOT}") from None


def _exported_head(head: TaskHead, width: int) -> bytes:
    with needs_extra("testing"):
        from thinstack.export.onnx.graph import Graph
        from thinstack.export.onnx.parts import export_head, inline
    g = Graph("head")
    rows = g.input("rows", FLOAT, ["n", width])
    try:
        (scores,) = inline(g, export_head(head, width), [rows])
    except ExportError as error:
        raise AssertionError(f"{error}. {CANNOT}") from None
    g.output(scores, "scores", FLOAT, ["n", head.classes])
    return g.model({})


def in_onnxruntime(model: bytes) -> Callable[[dict[str, NDArray[Any]]], list[Tensor]]:
    """A function of the inputs that returns all outputs."""
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda inputs: [torch.from_numpy(values) for values in session.run(None, inputs)]


def _model(cell: Cell, subject: CellSubject) -> Model:
    """A model in evaluation mode whose other weights are drawn at random too."""
    size = subject.sizes["input_size"]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        embedding = manager().find("embedding", EMBEDDING).create({}, entries=WORDS, size=size)
        nn.init.normal_(embedding.table)
        nn.init.zeros_(embedding.table[0])  # as unknown words are
        head = (
            manager()
            .find("head", HEAD)
            .create({}, hidden_size=cell.hidden_size, classes=len(LABELS))
        )
    encoder = TreeEncoder([Layer(cell)], structure="parents", words_at_leaves=cell.inner_size == 0)
    return Model(embedding=embedding, encoder=encoder, head=head).eval()


def _inputs(model: Model, forest: Forest) -> dict[str, NDArray[np.int64]]:
    words = int(forest.leaves.sum()) if model.encoder.words_at_leaves else len(forest.parents)
    ids = np.random.default_rng(0).integers(0, WORDS, words)
    filled = forest._replace(token_ids=ids)
    return filled.inputs(model.input_names)
