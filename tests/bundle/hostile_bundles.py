"""Bundles that somebody made to do harm, each with digests that fit. Run as a program: what using
all of them costs.

python hostile_bundles.py GOLDEN_BUNDLE FOLDER -> one line of JSON, {"seconds": of the slowest,
"peak": bytes}
"""

import gzip
import io
import json
import os
import pickle
import shutil
import sys
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from bundle_folders import record, reseal
from onnx import TensorProto, helper, numpy_helper
from peak_memory import peak_memory

from thinstack.bundle import open_bundle
from thinstack.errors import BundleError
from thinstack.runtime.predictor import Predictor

Damage = Callable[[Path], None]

READ = ["config.json", "vocabulary.txt", "distances.json", "onnx/model.onnx"]
"""The files that running a model reads."""


class Creating:
    """Pickled, it makes a file when it is loaded."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.path),)


def use(folder: Path) -> None:
    """All that a user does with a bundle without torch."""
    bundle = open_bundle(folder)
    bundle.vocabulary()
    bundle.distances()
    Predictor(bundle, threads=1).predict([["the", "film"]])


def replaced(name: str, content: bytes) -> Damage:
    """Another content in place of a file."""

    def damage(folder: Path) -> None:
        (folder / name).write_bytes(content)
        reseal(folder, lambda raw: raw["files"].update({name: record(content)}))

    return damage


def claimed(name: str, size: int) -> Damage:
    """A file of holes of so many bytes, as the manifest says."""

    def damage(folder: Path) -> None:
        os.truncate(folder / name, size)
        reseal(folder, lambda raw: raw["files"][name].update(size=size))

    return damage


def listed(files: dict[str, int]) -> Damage:
    """A manifest that lists these files too, of these sizes."""

    def damage(folder: Path) -> None:
        records = {name: {**record(b""), "size": size} for name, size in files.items()}
        reseal(folder, lambda raw: raw["files"].update(records))

    return damage


def manifest(text: str) -> Damage:
    return lambda folder: (folder / "manifest.json").write_text(text) and None


def onnx_bomb(*operators: str) -> bytes:
    """A model that turns a few constants into terabytes while it is loaded."""
    nodes, last = [], "w"
    for number, operator in enumerate(operators):
        inputs = {"ConstantOfShape": ["s"], "MatMul": ["c", "r"], "Concat": [last, last]}
        axis = {"axis": 0} if operator == "Concat" else {}
        read, last = inputs.get(operator, [last, "s"]), f"v{number}"
        nodes.append(helper.make_node(operator, read, [last], **axis))
    weights = {
        "s": np.array([1 << 40]),
        "w": np.ones(1024, np.float32),
        "c": np.ones((10**5, 1)),
        "r": np.ones((1, 10**5)),
    }
    made = [helper.make_tensor_value_info(last, TensorProto.FLOAT, None)]
    tensors = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "bomb", [], made, tensors)
    opsets = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def zipped(size: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(size))
    return file.getvalue()


def cases(outside: Path) -> dict[str, Damage]:
    """Hostile bundles by name; their pickles would make the folder `outside`."""
    pickled = [pickle.dumps(Creating(outside), protocol) for protocol in (0, 5)]
    contents = {
        "a pickle": pickled[1],
        "a pickle of text": pickled[0],
        "a zip bomb": zipped(30 << 20),
        "a gzip bomb": gzip.compress(bytes(30 << 20)),
        "deep JSON": b"[" * 200_000,
        "deeper JSON": b'{"a":' * 40_000,
        "a huge number": b"9" * 200_000,
    }
    nested = "[" * 250 + "1," * 400_000 + "1" + "]" * 250
    found = {
        f"{what} for {name}": replaced(name, content)
        for what, content in contents.items()
        for name in READ
    }
    sizes = {
        f"100 GB for {name}": claimed(name, 100 << 30)
        for name in [*READ, "README.md", "cases.json", "model.safetensors"]
    }
    bombs = {"ConstantOfShape": 1, "Expand": 1, "Tile": 1, "Concat": 24, "MatMul": 1}
    wide = ",\n".join(f'"{number}": 1' for number in range(60_000))
    return {
        **found,
        **sizes,
        "1,100 files": listed({f"file{number}": 0 for number in range(1100)}),
        "files of 12 GB together": listed({f"file{number}": 4 << 30 for number in range(3)}),
        "a wide configuration": replaced("config.json", b'{"labels": [' + b"1," * 120_000 + b"1]}"),
        "an infinite number": replaced(
            "distances.json", b'{"schema_version": 1, "window": 3, "words": [], "weights": [1e999]}'
        ),
        "many lists": replaced("distances.json", b"[" + b"[]," * 2_500_000 + b"[]]"),
        "many numbers": replaced("distances.json", b"[" + b"1," * 4_000_000 + b"1]"),
        "many entries": replaced("vocabulary.txt", b"a\n" * 15_000_000),
        "a deep manifest": manifest("[" * 1_000_000),
        "a wide manifest": manifest("{" + wide + "}"),
        "a manifest that grows when it is written": manifest(
            f'{{"digest": "", "files": {{}}, "schema_version": 1, "metrics": {nested}}}'
        ),
        "many wrong records": lambda folder: reseal(
            folder, lambda raw: raw["files"].update({str(number): {} for number in range(990)})
        ),
        "many wrong keys": lambda folder: reseal(
            folder, lambda raw: raw.update(dict.fromkeys(map(str, range(60_000)), 1))
        ),
        **{
            f"constants of {name}": replaced("onnx/model.onnx", onnx_bomb(*[name] * times))
            for name, times in bombs.items()
        },
    }


def main(golden: Path, work: Path) -> None:
    slowest = 0.0
    outside = work / "outside"
    for number, (name, damage) in enumerate(cases(outside).items()):
        folder = work / str(number)
        shutil.copytree(golden, folder)
        damage(folder)
        started = time.process_time()
        try:
            use(folder)
        except BundleError:
            slowest = max(slowest, time.process_time() - started)
        else:
            raise AssertionError(f"{name}: not refused")
        shutil.rmtree(folder)
    assert not outside.exists(), "a pickle was loaded"
    sys.stdout.write(json.dumps({"seconds": slowest, "peak": peak_memory()}))


if __name__ == "__main__":
    warnings.simplefilter("error")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
