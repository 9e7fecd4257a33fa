"""TorchScript: the model as one file for libtorch.

TorchScript is deprecated and warns since torch 2.13, which is silenced here. This export ends when
torch drops TorchScript, and nothing else depends on this file.
"""

import copy
import io
import warnings
import zipfile
from functools import partial

import torch

from thinstack.core.cell import Cell
from thinstack.core.model.model import Model
from thinstack.errors import ExportError
from thinstack.export.compare import RuntimeReport, compare
from thinstack.export.samples import eager_scores, sampled

TOLERANCE = 1e-5


def export_torchscript(model: Model) -> tuple[bytes, RuntimeReport]:
    """Return a scripted and frozen copy of the model as a file for `torch.jit.load` and libtorch's
    `torch::jit::load`, and a report of its comparison with the model.

    The file maps a dictionary of the inputs of the ONNX export, int64, to a dictionary of its
    outputs. It raises torch.jit.Error for inconsistent inputs. Raises ExportError if scores differ,
    or with TorchScript's reason if the model cannot be scripted.
    """
    # Freezing folds parts of weights, which must not require gradients.
    evaluated = copy.deepcopy(model).cpu().float().eval().requires_grad_(False)
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*torch.jit", category=DeprecationWarning)
        try:
            frozen = torch.jit.freeze(torch.jit.script(evaluated))
            torch.jit.save(frozen, buffer)
        except Exception as error:  # of many types
            cells = [type(one).__name__ for one in model.modules() if isinstance(one, Cell)]
            names = dict.fromkeys(cells or [type(model.encoder).__name__])
            raise ExportError(
                f"a model with {', '.join(names)} cannot be scripted: {str(error).strip():.2000}"
            ) from error
        exported = _without_sources(buffer.getvalue())
        scripted = torch.jit.load(io.BytesIO(exported))  # type: ignore[no-untyped-call]
    run, version = partial(eager_scores, evaluated, by=scripted), str(torch.__version__)
    return exported, compare("TorchScript", version, run, evaluated, sampled(evaluated), TOLERANCE)


def _without_sources(archive: bytes) -> bytes:
    """Return the archive without its debug records, which contain source text and local paths."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(buffer, "w") as target:
        for item in source.infolist():
            if not item.filename.endswith(".debug_pkl"):
                target.writestr(zipfile.ZipInfo(item.filename), source.read(item))
    return buffer.getvalue()
