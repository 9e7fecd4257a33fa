"""TorchScript: the model as one file for libtorch.

torch deprecates TorchScript (since 2.13 each of its functions warns). It works, and its warnings are silenced here, but this
export will go when torch drops it; all that depends on it is in this file.
"""

import copy
import io
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from thinstack.errors import ExportError
from thinstack.export.samples import eager_scores, sample_batches, sample_inputs, signature
from thinstack.models import TreeModel

__all__ = ["export_torchscript"]


def export_torchscript(model: TreeModel, *, tolerance: float = 1e-5) -> bytes:
    """Script and freeze a copy of the model in evaluation mode, for `torch.jit.load` and libtorch's `torch::jit::load`.

    Its inputs, int64, and outputs are those of the ONNX export. It is compared with the model on trees of many sizes at once.
    Raises ExportError if the model cannot be scripted (and what TorchScript says of it), or its scores differ.
    """
    evaluated = copy.deepcopy(model).cpu().float().eval()
    buffer = io.BytesIO()
    with _deprecated():
        try:
            frozen = torch.jit.freeze(torch.jit.script(evaluated))
            _without_gradients(frozen.graph)
            torch.jit.save(frozen, buffer)
        except (RuntimeError, torch.jit.Error) as error:
            cell = type(model.encoder.executor.cell).__name__
            raise ExportError(f"a model over {cell} cannot be scripted: {str(error).strip():.2000}") from error
        exported = _without_sources(buffer.getvalue())
        scripted = torch.jit.load(io.BytesIO(exported))  # type: ignore[no-untyped-call]
    _verify(scripted, evaluated, tolerance)
    return exported


def _without_gradients(graph: Any) -> None:
    """Settle each `torch.is_grad_enabled()` as False: a frozen model has none, and an autograd.Function cannot be saved."""
    for node in graph.findAllNodes("aten::is_grad_enabled"):
        false = graph.insertConstant(False)
        false.node().moveBefore(node)
        node.output().replaceAllUsesWith(false)
    torch._C._jit_pass_constant_propagation(graph)
    torch._C._jit_pass_dce(graph)


def _without_sources(archive: bytes) -> bytes:
    """The archive without its debug records, which hold source text and the paths of this machine."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(buffer, "w") as target:
        for item in source.infolist():
            if not item.filename.endswith(".debug_pkl"):
                target.writestr(zipfile.ZipInfo(item.filename), source.read(item))
    return buffer.getvalue()


def _verify(scripted: Callable[..., tuple[Tensor, Tensor]], model: TreeModel, tolerance: float) -> None:
    generator = np.random.default_rng(0)
    for trees in sample_batches(generator):
        inputs = sample_inputs(model, trees, generator)
        with torch.no_grad():
            found = scripted(*(torch.from_numpy(inputs[name]) for name in signature(model)))
        for got, expected in zip(found, eager_scores(model, inputs), strict=True):
            error = np.abs(got.numpy() - expected).max(initial=0) if got.shape == expected.shape else np.inf
            if not error <= tolerance:
                raise ExportError(
                    f"TorchScript gives scores that differ by {error:.2g} from the model's; allowed {tolerance:.0e}"
                )


@contextmanager
def _deprecated() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*torch.jit", category=DeprecationWarning)
        yield
