"""Exports of equal modules, made once a process: torch takes a second for each part of a cell."""

import copy
import functools
import io
import pickle
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch


@contextmanager
def exported_once() -> Iterator[None]:
    """Answer `parts._export` of a module that was exported before, with the same code, numbers and
    weights, from memory; and keep the table of operators, which torch builds at every export."""
    from torch.onnx._internal.exporter import _registration

    from thinstack.export.onnx import parts

    export, kept = parts._export, {}

    def once(name, wrapper, example, sizes):
        buffer = io.BytesIO()
        try:
            torch.save((wrapper, [tuple(part.shape) for part in example]), buffer)
        except (AttributeError, TypeError, pickle.PicklingError):  # a class of no importable module
            return export(name, wrapper, example, sizes)
        key = (name, buffer.getvalue())
        if key not in kept:
            kept[key] = export(name, wrapper, example, sizes)
        return copy.deepcopy(kept[key])

    table = functools.cache(_registration.ONNXRegistry.from_torchlib)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "_export", once)
        patch.setattr(_registration.ONNXRegistry, "from_torchlib", staticmethod(table))
        yield
