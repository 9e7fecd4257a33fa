"""Exports of equal modules, made once a run: torch takes a second for each part of a cell."""

import functools
import hashlib
import io
import marshal
import pickle
from contextlib import contextmanager

import pytest
import torch


def key_of(part):
    """What an export follows from: the modules, the code of their classes, and the examples."""
    modules, name, example = dict(part.named_children()), part.name, part.example
    kinds = {kind for module in part.modules() for kind in type(module).__mro__}
    own = sorted((k for k in kinds if not k.__module__.startswith("torch")), key=repr)
    code = [vars(kind)[each].__code__ for kind in own for each in sorted(vars(kind))
            if hasattr(vars(kind)[each], "__code__")]  # fmt: skip
    buffer = io.BytesIO()
    torch.save((name, modules, [tuple(one.shape) for one in example]), buffer)
    return hashlib.sha256(buffer.getvalue() + b"".join(map(marshal.dumps, code))).hexdigest()


def shorten_samples(patch):
    """Verify exports on samples of at most 7 words."""
    from thinstack.export import torchscript
    from thinstack.export.onnx import verify
    from thinstack.export.samples import sampled

    for module in (verify, torchscript):
        patch.setattr(module, "sampled", lambda model, **_: sampled(model, longest=7))


@contextmanager
def exported_once(folder):
    """Answer `export_part` of a module that was exported before from `folder`, which all
    processes of a run share; and keep the tables of operators, which torch builds at every
    export."""
    from torch._export import utils
    from torch.export import decomp_utils, exported_program
    from torch.onnx._internal.exporter import _registration

    from thinstack.data.files.writing import write_atomically
    from thinstack.export.onnx import parts, torch_export

    export = torch_export.export_part

    def once(part):
        try:
            path = folder / key_of(part)
        except (AttributeError, TypeError, pickle.PicklingError):  # a class of no importable module
            return export(part)
        if not path.exists():
            found = export(part)
            write_atomically(path, pickle.dumps(found))
            return found
        return pickle.loads(path.read_bytes())

    table = functools.cache(_registration.ONNXRegistry.from_torchlib)
    with pytest.MonkeyPatch.context() as patch:
        for module in (parts, torch_export):
            patch.setattr(module, "export_part", once)
        if hasattr(utils, "_collect_all_valid_cia_ops"):  # in the later versions
            composite = functools.cache(utils._collect_all_valid_cia_ops)
            for user in (decomp_utils, exported_program):
                patch.setattr(user, "_collect_all_valid_cia_ops", composite)
        patch.setattr(_registration.ONNXRegistry, "from_torchlib", staticmethod(table))
        yield
