"""Contract checks of a cell's exports, through the same functions that export a model."""

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from thinstack.config import ModelConfig
from thinstack.core import Forest
from thinstack.core.cell import Cell
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.errors import ExportError, needs_extra
from thinstack.models import Model
from thinstack.models.tree_encoder import Layer, TreeEncoder
from thinstack.plugins.manager import manager
from thinstack.testing.forests import apart, batch_of, by_depth, random_forest
from thinstack.testing.subject import Subject

__all__ = ["compiled", "onnx", "session_of", "torchscript"]

SCRIPTED, EXPORTED = 1e-10, 1e-5
FORESTS: tuple[tuple[int, ...], ...] = ((12, 1, 7, 2), (), (1,), (1, 1, 25))
"""Sizes of the trees of some forests."""
LABELS, WORDS, EMBEDDING, HEAD = ["a", "b", "c"], 40, "words.v1", "node_classifier.v1"


def torchscript(subject: Subject) -> None:
    """Scripted, the cell gives what it gives in eager torch; a model over it does, saved and
    loaded."""
    cell = subject.random_cell()
    scripted = compiled(DepthOrdered(cell), "cell")
    for sizes in FORESTS:
        batch = batch_of(cell, _forest(cell, subject, sizes))
        for with_gradients in (True, False):
            with torch.set_grad_enabled(with_gradients):
                found, expected = (
                    by_depth(run, cell, batch.copied()) for run in (scripted, DepthOrdered(cell))
                )
            if (difference := apart(found, expected)) > SCRIPTED:
                raise AssertionError(
                    f"scripted, the cell's outputs differ by {difference:.2g} from those of eager "
                    "torch; look for what TorchScript fixes when it compiles: attributes that "
                    "change, is_scripting() branches, default arguments"
                )
    _saved(subject)


def compiled(module: nn.Module, what: str) -> Any:
    """A module in TorchScript; `what` is checked through it. Raises AssertionError where it cannot
    be compiled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return torch.jit.script(module)
        except (
            Exception
        ) as error:  # the compiler has many kinds, some derived from nothing narrower
            raise AssertionError(
                f"TorchScript cannot compile the {what}: {' '.join(str(error).split()):.600} -- "
                "annotate every method and argument, set attributes in __init__, and use no "
                "lambda, super(), getattr or config object in a method"
            ) from None


def _saved(subject: Subject) -> None:
    from thinstack.export.torchscript import export_torchscript

    try:
        export_torchscript(_model(subject.create(), subject))
    except ExportError as error:
        raise AssertionError(
            f"saved as TorchScript: {error}. Let the cell compute the same in every mode of "
            "running, and start from weights "
            "that neither blow up nor vanish over a tree of 512 words"
        ) from None
    except Exception as error:
        raise AssertionError(
            "saved as TorchScript and loaded, a model over the cell fails: "
            f"{' '.join(str(error).split())[-300:]} -- take the number of rows from `inputs`, the "
            "children or `links`: frozen TorchScript gets that of an affine map wrong"
        ) from None


def onnx(subject: Subject) -> None:
    """A model over the cell, exported to ONNX, gives the model's scores in onnxruntime for no tree,
    one word, and many trees.

    Raises MissingExtraError without onnx or onnxruntime.
    """
    cell = subject.random_cell(torch.float32)
    model = _model(cell, subject)
    session = session_of(_exported(model, subject))
    for sizes in FORESTS:
        inputs = _inputs(model, _forest(cell, subject, sizes))
        found = session.run(model.output_names, inputs)
        with torch.no_grad():
            expected = model({name: torch.from_numpy(values) for name, values in inputs.items()})
        wanted = [expected[name] for name in model.output_names]
        if (difference := apart([torch.from_numpy(values) for values in found], wanted)) > EXPORTED:
            raise AssertionError(
                f"in onnxruntime the scores of trees of {list(sizes)} nodes differ by "
                f"{difference:.2g} from the model's. The export fixes whatever is not computed "
                "from a tensor: use no branch on sizes or values, no number kept from an earlier "
                "call, and no operation that gives other results for float32"
            )


def _exported(model: Model, subject: Subject) -> bytes:
    with needs_extra("testing"):
        from thinstack.export.onnx.model import export_onnx
    trees = "constituency" if model.encoder.words_at_leaves else "dependency"
    config = {
        "labels": LABELS,
        "embedding": {"kind": "words", "size": subject.input_size},
        "cell": {"name": subject.spec.name, "hidden_size": subject.hidden_size},
        "head": {"name": HEAD},
        "trees": trees,
    }
    try:
        return export_onnx(
            model,
            ModelConfig.parse(config, source=subject.spec.name),
            index_type="int64",
            vocabulary_digest="none",
        )
    except ExportError as error:
        raise AssertionError(
            f"{error}. The exporter follows tensors only: no Python branch or loop over values or "
            "rows, and operators that ONNX has"
        ) from None


def session_of(model: bytes) -> Any:
    """An onnxruntime session of an ONNX model, on one thread. Raises MissingExtraError without
    onnxruntime."""
    with needs_extra("cpu"):
        import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _model(cell: Cell, subject: Subject) -> Model:
    """A model in evaluation mode whose other weights are drawn at random too."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        embedding = (
            manager().embedding(EMBEDDING).create({}, entries=WORDS, size=subject.input_size)
        )
        nn.init.normal_(embedding.table)
        head = manager().head(HEAD).create({}, hidden_size=cell.hidden_size, classes=len(LABELS))
    encoder = TreeEncoder([Layer(cell)], structure="parents", words_at_leaves=cell.inner_size == 0)
    return Model(embedding=embedding, encoder=encoder, head=head).eval()


def _forest(cell: Cell, subject: Subject, sizes: tuple[int, ...]) -> Forest:
    return random_forest(sizes, arity=cell.arity, kinds=subject.edge_types(cell), seed=len(sizes))


def _inputs(model: Model, forest: Forest) -> dict[str, NDArray[np.int64]]:
    words = int(forest.leaves.sum()) if model.encoder.words_at_leaves else len(forest.parents)
    ids = np.random.default_rng(0).integers(0, WORDS, words)
    filled = forest._replace(token_ids=ids)
    return {name: getattr(filled, name) for name in model.input_names}
