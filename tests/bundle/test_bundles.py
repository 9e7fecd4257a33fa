"""Reading bundles: every byte is as it was written, or the bundle is refused."""

import json
import os
from pathlib import Path

import pytest
from bundle_folders import CONFIG, FILES, WRITTEN, replaced, write

import thinstack
from thinstack._version import __version__
from thinstack.bundle import bundled_names, is_installed, open_bundle, opening, reading
from thinstack.core.config import ModelConfig
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.errors import BundleError, UnknownNameError


def test_what_is_written_is_read(folder):
    bundle = open_bundle(folder)
    assert bundle.path == folder
    assert bundle.config == CONFIG
    assert {name: bundle.read(name) for name in FILES} == FILES
    assert ModelConfig.model_validate_json(bundle.read("config.json")) == CONFIG
    manifest = bundle.manifest
    assert (manifest.metrics, manifest.data) == ({"root_accuracy": 50.5}, "a treebank")
    assert (manifest.producer.name, manifest.producer.version) == ("thinstack", __version__)
    assert bundle.vocabulary() == WordVocabulary(["the", "film"])
    assert open_bundle(str(folder)) == bundle


def test_other_names_of_classes_are_kept(folder, tmp_path):
    assert open_bundle(folder).relabel() == {}
    names = {"relabel.json": '{"X": "", "0": "schlecht ☹"}'.encode()}
    bundle = write(tmp_path / "other", FILES | names)
    assert bundle.relabel() == {"X": "", "0": "schlecht ☹"}


NO_NAMES = (b"", b"[]", b'{"a": 1}', b'{"a": "\xff"}', b"[" * 100_000)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("vocabulary.txt", b"film\nfilm\n", r"vocabulary\.txt.*'film'"),
        *(("relabel.json", content, r"relabel\.json.* again$") for content in NO_NAMES),
    ],
)
def test_a_file_that_holds_something_else_is_refused(tmp_path, name, content, said):
    bundle = write(tmp_path / "model", FILES | {name: content})
    with pytest.raises(BundleError, match=said):
        bundle.vocabulary() if name == "vocabulary.txt" else bundle.relabel()


@pytest.mark.parametrize("name", WRITTEN)
def test_every_changed_byte_is_refused(folder, name):
    path = folder / name
    content = path.read_bytes()
    # A digest covers all bytes of a file alike; those of the manifest have meanings of their own.
    step = 1 if name == "manifest.json" else max(1, len(content) // 64)
    for position in range(0, len(content), step):
        mutant = bytearray(content)
        mutant[position] ^= 1 << position % 8
        path.write_bytes(mutant)
        with pytest.raises(BundleError, match=path.name):
            open_bundle(folder)


def test_a_file_that_grows_is_refused(folder, monkeypatch):
    """After the bundle was opened, and after its size was looked at."""
    bundle, path, size_of = open_bundle(folder), folder / "onnx/model.onnx", reading._file_size

    def append(path):
        with path.open("ab") as file:
            file.write(b"x")

    def size_before(path):
        size = size_of(path)
        append(path)
        return size

    with monkeypatch.context() as patch:
        patch.setattr(reading, "_file_size", size_before)
        with pytest.raises(BundleError, match=r"model\.onnx.*damaged"):
            bundle.read("onnx/model.onnx")
    path.write_bytes(FILES["onnx/model.onnx"])
    assert bundle.read("onnx/model.onnx") == FILES["onnx/model.onnx"]
    append(path)
    with pytest.raises(BundleError, match=r"model\.onnx: 257 .*256"):
        bundle.read("onnx/model.onnx")


def test_a_file_that_the_bundle_does_not_have_is_named_with_those_it_has(folder):
    with pytest.raises(BundleError, match=r"model\.safetensors; .*README\.md"):
        open_bundle(folder).read("model.safetensors")


def removed(name):
    return lambda folder: (folder / name).unlink()


def linked(name):
    def damage(folder):
        elsewhere = (folder / name).rename(folder.parent / "elsewhere")
        (folder / name).symlink_to(elsewhere)

    return damage


def piped(folder):
    (folder / "vocabulary.txt").unlink()
    os.mkfifo(folder / "vocabulary.txt")


NEWER_CONFIG = {**CONFIG.model_dump(mode="json"), "schema_version": 7, "novel": 1}
BROKEN_CONFIGS = (b"{", b"[]", b'{"labels": 1}', b"\xff", b"[" * 100_000)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        *((removed(name), Path(name).name) for name in WRITTEN),
        *((linked(name), f"{name}: not a plain file") for name in WRITTEN),
        (linked("onnx"), "onnx: a link"),
        pytest.param(
            piped,
            r"vocabulary\.txt: not a plain file",
            marks=pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes"),
        ),
        (lambda folder: (folder / "x.pkl").write_text("x"), r"x\.pkl: not in"),
        (
            replaced("config.json", json.dumps(NEWER_CONFIG).encode()),
            r"config\.json: schema 7.*newer thinstack",
        ),
        *((replaced("config.json", content), r"config\.json") for content in BROKEN_CONFIGS),
    ],
)
def test_a_damaged_bundle_is_refused(folder, damage, message):
    damage(folder)
    with pytest.raises(BundleError, match=message):
        open_bundle(folder)


def test_bundled_models_are_found_by_name(tmp_path, monkeypatch):
    write(tmp_path / "bundled" / "tiny")
    write(tmp_path / "bundled" / "other")
    (tmp_path / "bundled" / "no_model").mkdir()
    monkeypatch.setattr(opening, "BUNDLED", tmp_path / "bundled")
    monkeypatch.chdir(tmp_path)
    assert bundled_names() == ["other", "tiny"]
    assert open_bundle("tiny").path == tmp_path / "bundled" / "tiny"
    for opened in (open_bundle, thinstack.load):
        with pytest.raises(UnknownNameError, match="unknown model 'huge'; known: "):
            opened("huge")
    with pytest.raises(BundleError, match="`thinstack plugins`"):
        open_bundle("./tiny")
    (tmp_path / "tiny").mkdir()  # any folder of that name, such as one of data
    assert open_bundle("tiny").path == tmp_path / "bundled" / "tiny"
    write(tmp_path / "huge", data="of one's own")
    assert open_bundle("huge").manifest.data == "of one's own"
    write(tmp_path / "tiny", data="of one's own")
    assert open_bundle("./tiny").manifest.data == "of one's own"
    given = ["tiny", "other", "huge", "no_model", "./tiny", tmp_path / "tiny", Path("tiny")]
    assert [is_installed(one) for one in given] == [True, True, *[False] * 5]


ODD = {
    "NUL": "a\0b",
    "long": "x" * 5000,
    "empty": "",
    "loop": "loop",
    "file": "./file",
    "None": None,
    "number": 1.5,
    "bytes": b"sst",
    "list": [],
    "half": "\ud800",
}


@pytest.mark.parametrize("kind", ODD)
def test_what_names_no_bundle_is_refused(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises((BundleError, UnknownNameError)) as caught:
        open_bundle(ODD[kind])
    assert len(str(caught.value)) < 500
