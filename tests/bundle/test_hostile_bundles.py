"""Bundles that are damaged, or made to do harm: refused at once, in little memory, and no code of
theirs runs."""

import faulthandler
import json
import os
import pickle
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from bundle_folders import FILES, Damage, claimed, listed, replaced, resealed, write
from command_line import run_program
from hostile_bundles import Creating, zipped

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.limits import check_safetensors
from thinstack.bundle.manifest import Manifest
from thinstack.bundle.weights import load_model
from thinstack.data.words import vectors
from thinstack.errors import BundleError, DataError

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1" / "words"


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    return shutil.copytree(GOLDEN, tmp_path / "golden")


def test_ten_thousand_mutants_are_refused(golden: Path) -> None:
    """Flipped bits, cut and grown files, spans of zeros, and files in each other's place, over
    every file of a bundle."""
    generator = np.random.default_rng(2026)
    contents = {path: path.read_bytes() for path in sorted(golden.rglob("*")) if path.is_file()}
    paths = list(contents)
    names = {"manifest.json", "config.json", "model.onnx", "model.safetensors", "model.pt"}
    assert {path.name for path in paths} >= names
    refused, slowest = 0, 0.0
    while refused < 10_000:
        path = paths[int(generator.integers(len(paths)))]
        content = bytearray(contents[path])
        start, span = int(generator.integers(len(content))), int(generator.integers(1, 16))
        match int(generator.integers(5)):
            case 0:
                content[start] ^= 1 << int(generator.integers(8))
            case 1:
                del content[start:]
            case 2:
                content += generator.bytes(span)
            case 3:
                content[start : start + span] = bytes(len(content[start : start + span]))
            case 4:
                content = bytearray(contents[paths[int(generator.integers(len(paths)))]])
        if content == contents[path]:
            continue
        path.write_bytes(content)
        if refused % 100 == 0:
            faulthandler.dump_traceback_later(600, exit=True)  # a hang ends the run
        started = time.process_time()
        try:
            open_bundle(golden)
            message = ""
        except BundleError as error:
            message = str(error)
        slowest = max(slowest, time.process_time() - started)
        assert path.name in message
        path.write_bytes(contents[path])
        refused += 1
    faulthandler.cancel_dump_traceback_later()
    assert slowest < 5
    open_bundle(golden)


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows does not tell the most memory that was used"
)
def test_hostile_bundles_cost_little(tmp_path: Path) -> None:
    used = run_program(Path(__file__).with_name("hostile_bundles.py"), GOLDEN, tmp_path)
    assert used["seconds"] < 5
    assert used["peak"] < 1 << 30


def test_the_pickles_would_do_harm(tmp_path: Path) -> None:
    for protocol in (0, 5):
        pickle.loads(pickle.dumps(Creating(tmp_path / str(protocol)), protocol))
        assert (tmp_path / str(protocol)).is_dir()


def test_torch_weights_are_never_unpickled(golden: Path, tmp_path: Path) -> None:
    pickled = pickle.dumps(Creating(tmp_path / "outside"))
    for content in (pickled, zipped(1 << 20), b"", bytes(100), b"[" * 1000):
        replaced("model.safetensors", content)(golden)
        with pytest.raises(BundleError, match=r"model\.safetensors"):
            load_model(golden)
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (claimed("vocabulary.txt", 100 << 30), r"vocabulary\.txt has 107,374,182,400 .* 33,5"),
        (listed({"a": 4 << 30, "b": 4 << 30}), "8,589,934,592"),
        (
            resealed(lambda raw: raw.update({f"key{number}": 0 for number in range(20)})),
            "key0: Extra.*; and 15 more$",
        ),
    ],
)
def test_sizes_are_checked_before_anything_is_read_and_only_the_first_problems_told(
    folder: Path, damage: Damage, message: str
) -> None:
    damage(folder)
    with pytest.raises(BundleError, match=message):
        open_bundle(folder)


def test_sizes_and_the_number_of_files_are_bounded_when_they_are_written() -> None:
    with pytest.raises(BundleError, match=r"config\.json has .* at most 262,144"):
        Manifest.seal({"config.json": bytes(262_145)}, metrics={}, data="")
    with pytest.raises(BundleError, match=r"files: .* at most 1000 items"):
        Manifest.seal({f"file{number}": b"" for number in range(1001)}, metrics={}, data="")
    Manifest.seal({f"file{number}": b"" for number in range(1000)}, metrics={}, data="")


def test_a_vocabulary_has_a_bounded_number_of_entries(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = open_bundle(folder)
    monkeypatch.setattr("thinstack.bundle.reading.MOST_ENTRIES", 1)
    with pytest.raises(BundleError, match=r"vocabulary\.txt: 2 entries; expected at most 1"):
        bundle.vocabulary()


def header_of(tensors: int) -> bytes:
    """A safetensors file of so many tensors of one number."""
    header = {
        f"t{i}": {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]}
        for i in range(tensors)
    }
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(4 * tensors)


def test_safetensors_headers_are_bounded() -> None:
    for folder in (GOLDEN, GOLDEN.with_name("wordpiece-parser")):
        check_safetensors((folder / "model.safetensors").read_bytes(), source="weights")
    check_safetensors(header_of(10_000), source="weights")
    with pytest.raises(BundleError, match=r"7,[0-9,]+ bytes; .* 1,048,576"):
        check_safetensors(header_of(100_000), source="weights")
    claims = [length.to_bytes(8, "little") + b"{}" for length in (1 << 60, 3)]
    for content in (b"", b"1234567", *claims):
        with pytest.raises(BundleError, match="weights: not a safetensors file"):
            check_safetensors(content, source="weights")


def test_vectors_that_are_a_decompression_bomb_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_UNQUESTIONED", 1 << 20)
    table = np.random.default_rng(0).normal(size=(2, 200_000))
    for name, values in {"good.npz": table, "bomb.npz": np.zeros_like(table)}.items():
        np.savez_compressed(tmp_path / name, words=["a", "b"], vectors=values)
    assert vectors.read_vectors(tmp_path / "good.npz").vectors.shape == (2, 200_000)
    with pytest.raises(DataError, match=r"bomb\.npz: .* to 3,200,128"):
        vectors.read_vectors(tmp_path / "bomb.npz")
    plain = np.stack([np.zeros(200_000), np.ones(200_000)])
    np.savez(tmp_path / "plain.npz", words=["a", "b"], vectors=plain)
    assert vectors.read_vectors(tmp_path / "plain.npz").vectors.shape == (2, 200_000)


def test_vectors_that_claim_to_be_huge_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "claim.npz", words=["a", "b"], vectors=np.zeros((2, 200_000), np.float32))
    content = (tmp_path / "claim.npz").read_bytes()
    (tmp_path / "claim.npz").write_bytes(
        content.replace(b"(2, 200000), }         ", b"(2, 200000000000000), }")
    )
    with pytest.raises(DataError, match=r"claim\.npz"):
        vectors.read_vectors(tmp_path / "claim.npz")


def test_hard_links_are_read_and_never_written_through(tmp_path: Path) -> None:
    """Package managers link installed files to those in their cache."""
    cached = write(tmp_path / "cache")
    shutil.copytree(tmp_path / "cache", tmp_path / "model", copy_function=os.link)
    assert (tmp_path / "model" / "vocabulary.txt").stat().st_nlink == 2
    assert open_bundle(tmp_path / "model").read("README.md") == FILES["README.md"]
    write(tmp_path / "model", {name: content + b"\n# more" for name, content in FILES.items()})
    assert open_bundle(tmp_path / "model").read("README.md") == FILES["README.md"] + b"\n# more"
    assert open_bundle(tmp_path / "cache") == cached
    assert {name: cached.read(name) for name in FILES} == FILES


def test_a_change_through_another_name_of_a_file_is_found(tmp_path: Path) -> None:
    bundle: Bundle = write(tmp_path / "model")
    os.link(tmp_path / "model" / "README.md", tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_bytes(bytes(len(FILES["README.md"])))
    for read in (lambda: open_bundle(tmp_path / "model"), lambda: bundle.read("README.md")):
        with pytest.raises(BundleError, match=r"README\.md: its SHA-256"):
            read()
