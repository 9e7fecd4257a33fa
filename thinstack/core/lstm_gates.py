"""The gates of an LSTM over any number of children: a single node of autograd's graph, or in place
without gradients. The plain operations are used as in `thinstack.core.fast`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from thinstack.core.fast import affine, is_eager


def repeat_forget(gates: Tensor, width: int, times: int) -> Tensor:
    """Repeat f in the columns i, f, o, u, each `width` wide, this many `times`: i, f, .., f, o, u.
    Children share the W_f and the b_f of their node; a leaf has no f."""
    if times == 1:
        return gates
    i, f, others = gates[..., :width], gates[..., width : 2 * width], gates[..., 2 * width :]
    return torch.cat([i] + [f] * times + [others], -1)


def lstm_gates(gates: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    """Return the hidden state and memory cell, each (n, H), of an LSTM over N children.

        c = i * g + sum_k f_k * c_k
        h = o * tanh(c)

    `gates` (n, (3 + N) H), before activation, are i, f_1 .. f_N, o, g, and may be overwritten.
    `cells` (n, N, H) are the children's memory cells c_k.
    """
    if not torch.jit.is_scripting():  # type: ignore[attr-defined]
        eager, recorded = is_eager(), torch.is_grad_enabled()
        if eager and not recorded:
            return _squash(gates, cells)[:2]
        if eager:
            state: tuple[Tensor, Tensor] = _LstmGates.apply(gates, cells)  # type: ignore[no-untyped-call]
            return state
    # Few calls, because their number determines the latency of a small batch.
    width = cells.shape[2]
    squashed, update = torch.split(gates, [gates.shape[1] - width, width], 1)
    return _next_state(squashed.sigmoid(), update.tanh(), cells)


_whole = False


@contextmanager
def whole_products(whole: bool) -> Iterator[None]:
    """Within this block, `lstm_of_product` is one product in graphs, which is faster in 8 bits."""
    global _whole
    before, _whole = _whole, whole
    try:
        yield
    finally:
        _whole = before


def lstm_of_product(
    bias: Tensor, rows: Tensor, weight: Tensor, cells: Tensor
) -> tuple[Tensor, Tensor]:
    """Return `lstm_gates` of the product of `rows` (n, K) and `weight` (K, (3 + N) H), plus a bias
    (4 H,) of i, of all f_k, of o and of g.

    A graph has one product for the sigmoid gates and one for the tanh gate, because onnxruntime
    fuses a product with its activation; see `whole_products`.
    """
    bias = repeat_forget(bias, cells.shape[2], cells.shape[1])
    if not torch.jit.is_scripting():  # type: ignore[attr-defined]
        in_two = torch.compiler.is_compiling() and not _whole
        if in_two:
            split = weight.shape[1] - cells.shape[2]
            squashed = torch.addmm(bias[:split], rows, weight[:, :split]).sigmoid()
            update = torch.addmm(bias[split:], rows, weight[:, split:]).tanh()
            return _next_state(squashed, update, cells)
    return lstm_gates(affine(bias, rows, weight), cells)


def _next_state(squashed: Tensor, update: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    """Return `lstm_gates` of activated gates i, f_1 .. f_N, o (n, (2 + N) H) and g (n, H)."""
    children, width = cells.shape[1], cells.shape[2]
    taken, output = torch.split(squashed, [(1 + children) * width, width], 1)
    # Empty at a leaf. A list, because tracing would freeze an `if` on a size.
    inner = [children for _ in range(children)][:1]
    cell = update
    for _ in inner:
        cell = torch.cat([cell, cells.flatten(1)], 1)
    cell = taken * cell
    for count in inner:
        cell = cell.view(-1, 1 + count, width).sum(1)
    return output * cell.tanh(), cell


def _squash(gates: Tensor, cells: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return h, c and tanh(c) of `lstm_gates`; afterwards, `gates` contains the activated gates."""
    width = cells.shape[2]
    split = gates.shape[1] - width
    squashed, update = gates.split_with_sizes([split, width], 1)
    enter, *keep, leave = squashed.sigmoid_().chunk(split // width, 1)  # i, f_1 .. f_N, o
    cell = enter * update.tanh_()
    for k, child in enumerate(cells.unbind(1)):
        cell.addcmul_(keep[k], child)
    tanh = cell.tanh()
    return leave * tanh, cell, tanh


class _LstmGates(torch.autograd.Function):
    """`lstm_gates` as one function, which saves each gate once instead of every intermediate. With
    dh and dc' of the state,

        dc = dc' + dh o (1 - tanh(c)^2), do = dh tanh(c), di = dc g, dg = dc i, df_k = dc c_k

    and dc_k = dc f_k; before activation, times s (1 - s) for a sigmoid s and 1 - g^2 for g.
    """

    @staticmethod
    def forward(ctx: Any, gates: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
        hidden, cell, tanh = _squash(gates, cells)
        ctx.save_for_backward(gates, cells, tanh)
        return hidden, cell

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_hidden: Tensor, grad_last: Tensor) -> tuple[Tensor, Tensor]:
        gates, cells, tanh = ctx.saved_tensors
        aten, width, split = torch.ops.aten, cells.shape[2], gates.shape[1] - cells.shape[2]
        grad_gates, grad_cells = torch.empty_like(gates), torch.empty_like(cells)
        squashed, update = gates.split_with_sizes([split, width], 1)
        grads = grad_gates.split_with_sizes([split, width], 1)
        enter, *keep, leave = squashed.chunk(split // width, 1)
        grad_enter, *grad_keep, grad_leave = grads[0].chunk(split // width, 1)
        grad_cell = aten.tanh_backward(grad_hidden * leave, tanh).add_(grad_last)
        torch.mul(grad_cell, update, out=grad_enter)
        torch.mul(grad_hidden, tanh, out=grad_leave)
        for k, child in enumerate(cells.unbind(1)):
            torch.mul(grad_cell, child, out=grad_keep[k])
            torch.mul(grad_cell, keep[k], out=grad_cells[:, k])
        aten.sigmoid_backward.grad_input(grads[0], squashed, grad_input=grads[0])
        torch.mul(grad_cell, enter, out=grads[1])
        aten.tanh_backward.grad_input(grads[1], update, grad_input=grads[1])
        return grad_gates, grad_cells
