"""Damaged and hostile bundles: refused at once, in little memory, and no code of theirs runs."""

import os
import pickle
import shutil
import sys
from pathlib import Path

import pytest
from bundle_folders import FILES, GOLDEN, claimed, replaced, resealed, write
from command_line import run_program
from hostile_bundles import Creating, zipped

from thinstack.bundle import open_bundle
from thinstack.bundle.manifest import Manifest
from thinstack.bundle.weights import load_model
from thinstack.errors import BundleError


@pytest.fixture
def golden(tmp_path):
    return shutil.copytree(GOLDEN / "words", tmp_path / "golden")


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows does not tell the most memory that was used"
)
def test_hostile_bundles_cost_little(tmp_path):
    used = run_program(Path(__file__).with_name("hostile_bundles.py"), GOLDEN / "words", tmp_path)
    assert used["seconds"] < 5
    assert used["peak"] < 1 << 30


def test_torch_weights_are_never_unpickled(golden, tmp_path):
    pickled = pickle.dumps(Creating(tmp_path / "outside"))
    for content in (pickled, zipped(1 << 20), b"", bytes(100), b"[" * 1000):
        replaced("model.safetensors", content)(golden)
        with pytest.raises(BundleError, match=r"model\.safetensors"):
            load_model(golden)
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (claimed("vocabulary.txt", 100 << 30), r"vocabulary\.txt is 107,374,182,400 .* 33,5"),
        (
            resealed(lambda raw: raw.update({f"key{number}": 0 for number in range(20)})),
            "key0: Extra.*; and 15 more$",
        ),
    ],
)
def test_sizes_are_checked_before_anything_is_read_and_only_the_first_problems_told(
    folder, damage, message
):
    damage(folder)
    with pytest.raises(BundleError, match=message):
        open_bundle(folder)


def test_sizes_and_the_number_of_files_are_bounded_when_they_are_written():
    with pytest.raises(BundleError, match=r"config\.json .*262,144"):
        Manifest.seal({"config.json": bytes(262_145)}, metrics={}, data="")
    with pytest.raises(BundleError, match=r"files: .*1000"):
        Manifest.seal({f"file{number}": b"" for number in range(1001)}, metrics={}, data="")
    Manifest.seal({f"file{number}": b"" for number in range(1000)}, metrics={}, data="")


def test_a_vocabulary_has_a_bounded_number_of_entries(folder, monkeypatch):
    bundle = open_bundle(folder)
    monkeypatch.setattr("thinstack.bundle.reading.MOST_ENTRIES", 1)
    with pytest.raises(BundleError, match=r"vocabulary\.txt: 2 .*1"):
        bundle.vocabulary()


def test_hard_links_are_read_and_never_written_through(tmp_path):
    """Package managers link installed files to those in their cache."""
    cached = write(tmp_path / "cache")
    shutil.copytree(tmp_path / "cache", tmp_path / "model", copy_function=os.link)
    assert (tmp_path / "model" / "vocabulary.txt").stat().st_nlink == 2
    assert open_bundle(tmp_path / "model").read("README.md") == FILES["README.md"]
    write(tmp_path / "model", {name: content + b"\n# more" for name, content in FILES.items()})
    assert open_bundle(tmp_path / "model").read("README.md") == FILES["README.md"] + b"\n# more"
    assert open_bundle(tmp_path / "cache") == cached
    assert {name: cached.read(name) for name in FILES} == FILES


def test_a_change_through_another_name_of_a_file_is_found(tmp_path):
    bundle = write(tmp_path / "model")
    os.link(tmp_path / "model" / "README.md", tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_bytes(bytes(len(FILES["README.md"])))
    for read in (lambda: open_bundle(tmp_path / "model"), lambda: bundle.read("README.md")):
        with pytest.raises(BundleError, match=r"README\.md: its SHA-256"):
            read()
