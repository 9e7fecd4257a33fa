"""Tree-structured sentence encoders, exported with their tree logic inside."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from thinstack._version import __version__
from thinstack.core.tree import Tree
from thinstack.data.brackets import from_brackets, to_brackets
from thinstack.errors import ThinstackError, TreeError

if TYPE_CHECKING:
    from thinstack.runtime.predictor import Predictor

__all__ = [
    "ThinstackError",
    "Tree",
    "TreeError",
    "__version__",
    "from_brackets",
    "load",
    "to_brackets",
]


def load(
    path_or_name: str | Path = "sst",
    *,
    device: Literal["cpu", "cuda", "auto"] = "cpu",
    threads: int | None = None,
) -> "Predictor":
    """Load a bundle's ONNX model by the path of its folder or the name of one that thinstack brings
    along.

    `device` "cuda" raises DeviceError where CUDA does not work, "auto" warns and takes the CPU.
    `threads` None: as many as the process may use. Raises UnknownNameError, BundleError or
    MissingExtraError (onnxruntime) where there is nothing to load.
    """
    from thinstack.bundle import open_bundle
    from thinstack.runtime.predictor import Predictor

    return Predictor(open_bundle(path_or_name), device=device, threads=threads)
