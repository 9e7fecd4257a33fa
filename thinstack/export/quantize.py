"""Weights in fewer bits, and the model that results from them."""

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

- `none`: as they are.
- `fp16`: in half precision.
- `int8-tables`: the leaf table in 8 bits and matrices in half precision.
- `int8`: as `int8-tables`, and products with matrices are computed in 8 bits where that is
  possible.

Everything else is computed in float32.
"""

# Not 127: where a processor adds two products of 8 bits in 16, larger ones would overflow.
WEIGHT_LEVELS = 64


def quantize_rows(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A table (V, X) in 8 bits, and the scale (V, 1) of each row. Their product is the table, to
    half a scale."""
    return _whole_numbers(table, 127, axis=1)


def quantize_columns(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A matrix (K, W) in whole numbers from -64 to 64, and the scale (W,) of each column. Their
    product is the matrix, to half a scale."""
    levels, scale = _whole_numbers(matrix, WEIGHT_LEVELS, axis=0)
    return levels, scale[0]


def factor_bounds(embedding: Embedding) -> dict[str, NDArray[np.float32]]:
    """Bounds (K,) of what each matrix (K, W) of a pretrained encoder is multiplied with, by the
    name of the matrix in the embedding.

    The absolute values of a column seldom exceed its bound. A matrix for which they were not
    observed is left out.
    """
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
    """A copy of the model, on the CPU in evaluation mode, whose weights are rounded as an export
    stores them.

    - `fp16`: the leaf table and all matrices to half precision.
    - `int8-tables`: the embedding's tables to 8 bits, other matrices to half precision. With lookup
      `none`, its table counts as a matrix.
    - `int8`: as `int8-tables`, and the matrices of `factor_bounds` to 8 bits; without any, those
      that a cell has as its `factors`.

    The copy does not have what `int8` also rounds in the products themselves. Vectors, such as
    biases, stay as they are. Raises ExportError if a weight is not finite, or too large for half
    precision.
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
