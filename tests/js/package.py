"""The npm package, asked from Python by `js/test/answer.mjs`."""

import json
import shutil
import subprocess
from pathlib import Path

import onnx
import pytest

import thinstack
from thinstack.bundle import write_bundle
from thinstack.bundle.manifest import ONNX_FILE, VOCABULARY_FILE
from thinstack.text.english import EnglishSplitter

JS = Path(__file__).parents[2] / "js"
SST = JS.parent / "thinstack" / "bundle" / "bundled" / "sentiment"
needs_package = pytest.mark.skipif(
    not (shutil.which("node") and (JS / "dist" / "node.js").is_file()),
    reason="needs Node.js and the built package: npm ci && npm run build in js/",
)


def asked(call, **question):
    """The answer of the built package to a call."""
    done = subprocess.run(
        ["node", str(JS / "test" / "answer.mjs")],
        input=json.dumps({"call": call, **question}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def loaded(bundle, options):
    """Python's model with these options of the package."""
    settings = {"max_words" if key == "maxWords" else key: each for key, each in options.items()}
    return thinstack.load(bundle, threads=1, **settings)


def with_metadata(bundle, path, **changes):
    """A copy of a bundle whose file has other metadata."""
    model = onnx.load_from_string(bundle.read(ONNX_FILE))
    for entry in model.metadata_props:
        entry.value = changes.get(entry.key, entry.value)
    files = {VOCABULARY_FILE: bundle.read(VOCABULARY_FILE), ONNX_FILE: model.SerializeToString()}
    return write_bundle(path, files, config=bundle.config)


def utf16(text):
    """For each place in a text, the UTF-16 units before it."""
    found = [0]
    for char in text:
        found.append(found[-1] + 1 + (ord(char) > 0xFFFF))
    return found


def described(text, *, split):
    """The sentences that Python finds, in UTF-16 units."""
    (found,) = EnglishSplitter(sentences=split)([text])
    places = utf16(text)
    return [
        {
            "text": sentence.text,
            "words": sentence.words,
            "offsets": [
                [places[sentence.start + place] - places[sentence.start] for place in pair]
                for pair in sentence.offsets.tolist()
            ],
            "start": places[sentence.start],
        }
        for sentence in found
    ]
