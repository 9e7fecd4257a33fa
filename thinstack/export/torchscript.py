"""TorchScript: the model as one file for libtorch.

torch deprecates TorchScript; since 2.13 each of its functions warns. It works, and the warnings are
silenced here. This export will go when torch drops TorchScript, and all that depends on it is in
this file.
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
    """A scripted and frozen copy of the model as a file for `torch.jit.load` and libtorch's
    `torch::jit::load`, and the report of its verification.

    The file takes a dictionary of the inputs of the ONNX export, int64, and gives a dictionary of
    its outputs. It checks its inputs as the model does, and raises torch.jit.Error if they do not
    fit together. It is compared with the model on trees of many sizes.

    Raises ExportError, with TorchScript's reason, if the model cannot be scripted. Raises it too if
    the scores differ.
    """
    # What freezing folds, such as a part of a weight, keeps no gradient then.
    evaluated = copy.deepcopy(model).cpu().float().eval().requires_grad_(False)
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*torch.jit", category=DeprecationWarning)
        try:
            frozen = torch.jit.freeze(torch.jit.script(evaluated))
            torch.jit.save(frozen, buffer)
        except Exception as error:  # the compiler has many kinds, some narrower than nothing else
            cells = [
                type(module).__name__ for module in model.modules() if isinstance(module, Cell)
            ]
            names = dict.fromkeys(cells or [type(model.encoder).__name__])
            raise ExportError(
                f"a model over {', '.join(names)} cannot be scripted: {str(error).strip():.2000}"
            ) from error
        exported = _without_sources(buffer.getvalue())
        scripted = torch.jit.load(io.BytesIO(exported))  # type: ignore[no-untyped-call]
    run, version = partial(eager_scores, evaluated, by=scripted), str(torch.__version__)
    return exported, compare("TorchScript", version, run, evaluated, sampled(evaluated), TOLERANCE)


def _without_sources(archive: bytes) -> bytes:
    """The archive without its debug records, which hold source text and the paths of this
    machine."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(buffer, "w") as target:
        for item in source.infolist():
            if not item.filename.endswith(".debug_pkl"):
                target.writestr(zipfile.ZipInfo(item.filename), source.read(item))
    return buffer.getvalue()
