"""Products of matrices for eager models, by whichever library is faster.

For float32 on a CPU this is oneDNN, which on our AMD processor was twice as fast as `torch.addmm`
(MKL). A model that is traced, exported or scripted has plain operations, and
`torch.backends.mkldnn.enabled = False` turns oneDNN off.
"""

from typing import Any

import torch
from torch import Tensor

# A private name, since torch offers oneDNN to plain tensors by no public one; None: `torch.addmm`.
_LINEAR: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
# Rows from which oneDNN pays; without AVX-512 MKL is as fast up to there.
_LEAST_ROWS = 2 if torch.backends.cpu.get_cpu_capability() == "AVX512" else 2048
# A product of fewer multiplications, by a smaller matrix, gains nothing from oneDNN and loses what
# that spends on a new shape.
_SMALL_PRODUCT, _SMALL_MATRIX = 1 << 22, 1 << 18


def product(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The product (n, W) of `rows` (n, K) and `weight` (K, W), plus `bias` (W,) in every row."""
    if suits_onednn(rows, weight):
        result: Tensor = _LINEAR(_dense(rows), _dense(weight).t(), bias, "none", [], "")
        return result
    return rows @ weight if bias is None else torch.addmm(bias, rows, weight)


def suits_onednn(rows: Tensor, weight: Tensor) -> bool:
    """Whether oneDNN multiplies these, for it is faster."""
    if _LINEAR is None or not is_eager_float32(rows) or rows.shape[0] < _LEAST_ROWS:
        return False
    size = weight.numel()
    return size >= _SMALL_MATRIX or rows.shape[0] * size >= _SMALL_PRODUCT


def _dense(matrix: Tensor) -> Tensor:
    """The same without gaps, with which oneDNN is a thousand times slower."""
    return matrix if matrix.is_contiguous() or matrix.t().is_contiguous() else matrix.contiguous()


def is_eager() -> bool:
    """Whether values are computed right now, not recorded, and the detours are on."""
    return (
        bool(torch.backends.mkldnn.enabled)
        and not torch.compiler.is_compiling()
        and not torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    )


def is_eager_float32(values: Tensor) -> bool:
    """Whether these are float32 on a CPU, computed right now and not under autocast."""
    return (
        values.is_cpu
        and values.dtype == torch.float32
        and is_eager()
        and not torch.is_autocast_enabled("cpu")
    )


def computed_dtype(rows: Tensor) -> torch.dtype:
    """The type in which a product of `rows` is computed; autocast may have another than theirs."""
    kind = rows.device.type
    lower = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
    return torch.get_autocast_dtype(kind) if lower else rows.dtype
