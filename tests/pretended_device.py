"""A pretended GPU in the memory of the host: counts transfers, and refuses what would wait."""

import copy
from collections import Counter
from contextlib import contextmanager, nullcontext

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

DEVICE = torch.device("meta")

# Their result is a number for the host, or has a size that depends on values.
WAITS = ["_local_scalar_dense", "is_nonzero", "equal", "nonzero", "masked_select", "_unique2"]
WAITS += ["unique_consecutive", "unique_dim", "repeat_interleave", "bincount"]
# Of sparse gradients: equal rows are added up, and rows without zeros are found.
WAITS += ["_coalesce", "_to_sparse"]

# What autocast computes in half precision, and what in float32.
LOWER = {"addmm", "mm", "matmul", "__matmul__", "bmm", "linear", "lstm", "lstm_cell"}
EXACT = {"softmax", "log_softmax", "cross_entropy", "layer_norm", "kl_div", "logsumexp"}


class There(Tensor):
    """A tensor on the device, with what it `holds`."""

    holds: Tensor

    @staticmethod
    def __new__(cls, holds):
        sparse = holds.layout == torch.sparse_coo
        placed = {} if sparse else _placed(holds)
        with torch.inference_mode(False):  # views of weights, which are none of inference
            made = torch.Tensor._make_wrapper_subclass(
                cls, holds.shape, dtype=holds.dtype, device=DEVICE, layout=holds.layout, **placed
            )
        made.holds = holds
        return made

    def data_ptr(self):
        """Where it is: two weights are in two places."""
        return self.holds.data_ptr()

    def new(self, indices, values, size):
        """The old way to a sparse tensor, which torch's SparseAdam goes."""
        return torch.sparse_coo_tensor(indices, values, size)

    def tolist(self):
        """A number at a time, each a wait."""
        return [each.item() for each in self.unbind()]

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise AssertionError(f"{func} of a tensor on the device, which is not there any more")


class PretendedDevice(TorchDispatchMode):
    """The device is there while this is entered.

    Args:
        may_wait: count the waits of the host, and refuse none.

    Attributes:
        sent, fetched: how many transfers there were to the device and from it. The host waits for
            each that was fetched.
        waited: how often else the host waited, by the name of what it waited for.
    """

    def __init__(self, *, may_wait=False):
        super().__init__()
        self.may_wait, self.sent, self.fetched, self.waited = may_wait, 0, 0, Counter()
        self._patch = pytest.MonkeyPatch()

    def __enter__(self):
        _know_autocast(self._patch)
        return super().__enter__()

    def __exit__(self, *error):
        self._patch.undo()
        return super().__exit__(*error)

    @property
    def waits(self):
        return self.waited.total()

    def counted(self):
        """What `sent`, `fetched` and `waited` are, which start again from 0."""
        found = {"sent": self.sent, "fetched": self.fetched}
        found |= {f"waits: {name}": count for name, count in self.waited.items()}
        self.sent, self.fetched, self.waited = 0, 0, Counter()
        return {name: count for name, count in found.items() if count}

    @staticmethod
    def copy_of(module):
        """The module, with its weights and buffers on the device."""
        moved = copy.deepcopy(module)
        for part in moved.modules():
            part._buffers.update({name: _wrapped(value) for name, value in part._buffers.items()})
            for name, value in part._parameters.items():
                if value is not None:
                    made = _wrapped(value).requires_grad_(value.requires_grad)
                    made._is_param = True
                    part._parameters[name] = made
        return moved

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if torch.is_inference_mode_enabled():  # where `to` and `item` come as they are
            super().__enter__()
            try:
                found = func.decompose(*args, **kwargs)
            finally:
                super().__exit__(None, None, None)
            if found is not NotImplemented:
                return found
        name = func.overloadpacket.__name__
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
        here = [each for each in tensors if not isinstance(each, There)]
        there = len(here) < len(tensors)
        asked = kwargs.get("device")
        to_device = there if asked is None else asked == DEVICE
        if name == "_to_copy" and to_device != there:
            if not (there or kwargs.get("non_blocking")):
                self._wait("sent")
            self.sent, self.fetched = self.sent + to_device, self.fetched + there
        elif there:
            assert not any(each.dim() for each in here), f"{name} of tensors here and there"
            if name in WAITS or _by_mask(name, args):
                self._wait(name)
        if asked is not None:
            kwargs["device"] = torch.device("cpu")
        args, kwargs = tree_map(held, (args, kwargs))
        found = func(*args, **kwargs)
        return tree_map(_wrapped, found) if to_device else found

    def _wait(self, name):
        assert self.may_wait, f"the host waits for the device: {name}"
        self.waited[name] += 1


def held(value):
    """The values of a tensor on the device; anything else as it is."""
    return value.holds if isinstance(value, There) else value


def _wrapped(value):
    return There(value.detach()) if isinstance(value, Tensor) else value


def _placed(values):
    return {"strides": values.stride(), "storage_offset": values.storage_offset()}


def _by_mask(name, args):
    """Whether rows are taken where a mask is true, so that their number depends on it."""
    indices = args[1] if name in ("index", "index_put", "index_put_") else []
    return any(each is not None and each.dtype == torch.bool for each in indices)


class _Lower(TorchFunctionMode):
    """Products in bfloat16, and in float32 what needs it, as torch's autocast has it."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name, kwargs = getattr(func, "__name__", ""), kwargs or {}
        if name in LOWER | EXACT:
            wanted = torch.bfloat16 if name in LOWER else torch.float32
            args, kwargs = tree_map(lambda each: _cast(each, wanted), (args, kwargs))
        return func(*args, **kwargs)


def _cast(value, dtype):
    floats = isinstance(value, Tensor) and value.dtype in (torch.float32, torch.bfloat16)
    return value.to(dtype) if floats else value


def _know_autocast(patch):
    """Torch's autocast knows the device; `patch` is pytest's."""
    real, on = (torch.autocast, torch.is_autocast_enabled), []

    @contextmanager
    def autocast(kind, dtype, *, enabled):
        there = kind == DEVICE.type
        on.append(there and enabled)
        context = _Lower() if enabled else nullcontext()
        with context if there else real[0](kind, dtype, enabled=enabled):
            yield
        on.pop()

    def is_enabled(kind="cuda"):
        return any(on[-1:]) if kind == DEVICE.type else real[1](kind)

    patch.setattr(torch, "autocast", autocast)
    patch.setattr(torch, "is_autocast_enabled", is_enabled)
    patch.setattr(torch._C, "_is_any_autocast_enabled", lambda: any(on[-1:]), raising=False)
    patch.setattr(torch.amp, "is_autocast_available", lambda kind: True)
    patch.setattr(torch, "get_autocast_dtype", lambda kind: torch.bfloat16)
