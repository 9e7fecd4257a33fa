"""Weights in fewer bits, and models with such weights."""

import copy
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from thinstack.bundle.weights import smoothing
from thinstack.core.cell import Cell
from thinstack.core.embedding import Embedding
from thinstack.core.model.model import Model
from thinstack.errors import ExportError

Quantize = Literal["none", "fp16", "int8-tables", "int8"]
"""How a file stores weights:

- `none`: in float32.
- `fp16`: in half precision.
- `int8-tables`: the leaf table in 8 bits and matrices in half precision.
- `int8`: as `int8-tables`, with matrix products in 8 bits if possible.

All else is in float32.
"""

# Not 127, because sums of two larger products would overflow the 16 bits of some processors.
WEIGHT_LEVELS = 64


def quantize_rows(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return a table (V, X) in 8 bits and the scale (V, 1) of its rows, to half a scale."""
    return _whole_numbers(table, 127, axis=1)


def quantize_columns(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return a matrix (K, W) as integers up to 64 and the scale (W,) of its columns."""
    levels, scale = _whole_numbers(matrix, WEIGHT_LEVELS, axis=0)
    return levels, scale[0]


def factor_bounds(embedding: Embedding) -> dict[str, NDArray[np.float32]]:
    """Return approximate bounds (K,) of the absolute values in each column that a matrix (K, W) of
    a pretrained encoder is multiplied with, by the matrix's name; observed ones only."""
    return {
        f"{name}.w": module.bound.cpu().numpy()
        for name, module in embedding.named_modules()
        if isinstance(getattr(module, "bound", None), torch.Tensor) and bool(module.bound.any())
    }


def _whole_numbers(
    values: NDArray[np.float32], largest: int, axis: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    scale = np.abs(values).max(axis=axis, keepdims=True, initial=0) / np.float32(largest)
    scale = np.where(scale > 0, scale, np.float32(1)).astype(np.float32)
    return np.rint(values / scale).clip(-largest, largest).astype(np.int8), scale


def dequantised(model: Model, quantize: Quantize) -> Model:
    """Return a copy of the model, on the CPU in evaluation mode, with weights rounded as an export
    stores them. Vectors, such as biases, are not rounded.

    - `fp16`: the leaf table and all matrices to half precision.
    - `int8-tables`: the embedding's tables to 8 bits, other matrices to half precision. With lookup
      `none`, its table counts as a matrix.
    - `int8`: as `int8-tables`, and the matrices of `factor_bounds` to 8 bits, or if there are none
      the `factors` of cells. The rounding of products is not included.

    Raises ExportError for a weight that is not finite, or too large for half precision.
    """
    rounded = copy.deepcopy(model).cpu().float().eval()
    embedding = rounded.embedding
    bounds = factor_bounds(embedding)
    factors = {f"embedding.{name}": smoothing(bound)[:, None] for name, bound in bounds.items()}
    if not factors:
        cells = [(name, cell) for name, cell in rounded.named_modules() if isinstance(cell, Cell)]
        names = [f"{name}.{factor}" for name, cell in cells for factor in cell.factors]
        factors = dict.fromkeys(names, np.ones(1, np.float32))
    tables = [] if embedding.lookup == "none" else [embedding.table]
    tables += [w for w in embedding.parameters(recurse=False) if embedding.lookup == "context"]
    with torch.no_grad():
        for name, tensor in (*rounded.named_parameters(), *rounded.named_buffers()):
            if quantize in ("int8-tables", "int8") and any(tensor is table for table in tables):
                levels, scale = quantize_rows(tensor.numpy())
                tensor.copy_(torch.from_numpy(levels.astype(np.float32) * scale))
            elif quantize == "int8" and name in factors:
                smooth = factors[name]
                levels, scale = quantize_columns(tensor.half().float().numpy() * smooth)
                tensor.copy_(torch.from_numpy(levels.astype(np.float32) * scale / smooth))
            elif quantize != "none" and tensor.dim() > 1 and tensor.is_floating_point():
                tensor.copy_(tensor.half())
            if not bool(torch.isfinite(tensor).all()):
                storage = "" if quantize == "none" else f" once stored as {quantize}"
                raise ExportError(
                    f"weight {name!r} is not finite{storage}; train with finite inputs, or export "
                    "with quantize = 'none'"
                )
    return rounded
