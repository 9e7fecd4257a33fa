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
from pathlib import Path

from bundle_folders import claimed, listed, manifest, replaced, resealed
from onnx import parser
from peak_memory import peak_memory

from thinstack.bundle import open_bundle
from thinstack.errors import BundleError
from thinstack.runtime.predictor import Predictor

READ = ["config.json", "vocabulary.txt", "onnx/model.onnx"]
"""The files that running a model reads."""


class Creating:
    """Pickled, it makes a file when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def use(folder):
    """All that a user does with a bundle without torch."""
    bundle = open_bundle(folder)
    bundle.vocabulary()
    Predictor(bundle, threads=1).predict([["the", "film"]])


def onnx_bomb(nodes):
    """A model that turns a few constants into terabytes while it is loaded."""
    made = (
        "s = Constant<value=int64[1] {1099511627776}>() v0 = Constant<value=float[2] {0.0, 1.0}>()"
    )
    text = f'<ir_version: 8, opset_import: ["" : 18]> g () => (float[n] y) {{{made} {nodes}}}'
    return parser.parse_model(text).SerializeToString()


def zipped(size):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(size))
    return file.getvalue()


def cases(outside):
    """Hostile bundles by name; their pickles would make the folder `outside`."""
    contents = {
        "a pickle": pickle.dumps(Creating(outside)),
        "a zip bomb": zipped(30 << 20),
        "a gzip bomb": gzip.compress(bytes(30 << 20)),
        "deep JSON": b"[" * 200_000,
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
    doubled = " ".join(f"v{i + 1} = Concat<axis=0>(v{i}, v{i})" for i in range(40))
    bombs = ("y = ConstantOfShape(s)", "y = Expand(v0, s)", f"{doubled} y = Identity(v40)")
    wide = ",\n".join(f'"{number}": 1' for number in range(60_000))
    return {
        **found,
        **sizes,
        "1,100 files": listed({f"file{number}": 0 for number in range(1100)}),
        "a wide configuration": replaced("config.json", b'{"labels": [' + b"1," * 120_000 + b"1]}"),
        "many entries": replaced("vocabulary.txt", b"a\n" * 15_000_000),
        "a wide manifest": manifest("{" + wide + "}"),
        "a manifest that grows when it is written": manifest(
            f'{{"digest": "", "files": {{}}, "schema_version": 1, "metrics": {nested}}}'
        ),
        "many wrong records": resealed(
            lambda raw: raw["files"].update({str(number): {} for number in range(990)})
        ),
        **{f"constants {nodes}": replaced("onnx/model.onnx", onnx_bomb(nodes)) for nodes in bombs},
    }


def main(golden, work):
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
