"""A pretended GPU in the memory of the host: counts transfers, and refuses what would wait."""

import copy
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

M = TypeVar("M", bound=nn.Module)

DEVICE = torch.device("meta")

# Their result is a number for the host, or has a size that depends on values.
WAITS = ["_local_scalar_dense", "is_nonzero", "equal", "nonzero", "masked_select", "_unique2"]
WAITS += ["unique_consecutive", "unique_dim", "repeat_interleave", "bincount"]


class There(Tensor):
    """A tensor on the device, with what it `holds`."""

    holds: Tensor

    @staticmethod
    def __new__(cls, holds):
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            holds.shape,
            strides=holds.stride(),
            storage_offset=holds.storage_offset(),
            dtype=holds.dtype,
            device=DEVICE,
        )
        made.holds = holds
        return made

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
        sent, fetched: how many transfers there were to the device and from it.
        waits: how often else the host waited.
    """

    def __init__(self, *, may_wait=False):
        super().__init__()
        self.may_wait, self.sent, self.fetched, self.waits = may_wait, 0, 0, 0

    @staticmethod
    def copy_of(module):
        """The module, with its weights and buffers on the device."""
        moved = copy.deepcopy(module)
        for part in moved.modules():
            for kept in (part._parameters, part._buffers):
                kept.update({name: _wrapped(value) for name, value in kept.items()})
        return moved

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = func.overloadpacket.__name__
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
        here = [each for each in tensors if not isinstance(each, There)]
        there = len(here) < len(tensors)
        asked = kwargs.get("device")
        to_device = there if asked is None else asked == DEVICE
        if name == "_to_copy" and to_device != there:
            assert there or kwargs.get("non_blocking"), "the host waits for a transfer"
            self.sent, self.fetched = self.sent + to_device, self.fetched + there
        elif there:
            assert not any(each.dim() for each in here), f"{name} of tensors here and there"
            if name in WAITS or _by_mask(name, args):
                assert self.may_wait, f"the host waits for the device: {name}"
                self.waits += 1
        if asked is not None:
            kwargs["device"] = torch.device("cpu")
        args, kwargs = tree_map(held, (args, kwargs))
        found = func(*args, **kwargs)
        return tree_map(_wrapped, found) if to_device else found


def held(value):
    """The values of a tensor on the device; anything else as it is."""
    return value.holds if isinstance(value, There) else value


def _wrapped(value):
    return There(value.detach()) if isinstance(value, Tensor) else value


def _by_mask(name, args):
    """Whether rows are taken where a mask is true, so that their number depends on it."""
    indices = args[1] if name in ("index", "index_put", "index_put_") else []
    return any(each is not None and each.dtype == torch.bool for each in indices)
