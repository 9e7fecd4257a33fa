"""Manifests: what they may hold, and what is said of others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bundle_folders import FILES, record, reseal, write

from thinstack.bundle import open_bundle
from thinstack.errors import BundleError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "model")
    return tmp_path / "model"


def test_the_digest_of_the_manifest_follows_the_stated_rule(folder: Path) -> None:
    before = (folder / "manifest.json").read_bytes()
    reseal(folder, lambda raw: None)
    assert (folder / "manifest.json").read_bytes() == before


OUTSIDE = ["../outside", "a/../../outside", "/etc/passwd", "a\\..\\b", "C:/b", ".hidden", ""]


@pytest.mark.parametrize("name", [*OUTSIDE, "a//b", "a/", "a\n", "é"])
def test_names_that_lead_out_of_the_folder_are_refused(folder: Path, name: str) -> None:
    (folder.parent / "outside").write_bytes(b"x")
    reseal(folder, lambda raw: raw["files"].update({name: record(b"x")}))
    with pytest.raises(BundleError, match=r"manifest\.json: files"):
        open_bundle(folder)
    with pytest.raises(BundleError, match="files"):
        write(folder.parent / "other", {**FILES, name: b"x"})
    assert not (folder.parent / "other").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw.update(extra=1),
        lambda raw: raw.update(schema_version=0),
        lambda raw: raw.update(schema_version="1"),
        lambda raw: raw.update(files=[]),
        lambda raw: raw.update(files={"vocabulary.txt": {}}),
        lambda raw: raw["files"]["vocabulary.txt"].update(size=-1),
        lambda raw: raw["files"]["vocabulary.txt"].update(mode=1),
        lambda raw: raw["producer"].update(extra=1),
        lambda raw: raw.pop("producer") and raw.update(producer=None),
        lambda raw: raw["files"].pop("vocabulary.txt"),
    ],
)
def test_a_manifest_of_another_form_is_refused(
    folder: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    reseal(folder, change)
    with pytest.raises(BundleError):
        open_bundle(folder)


NO_JSON = ["", '{"digest": 1', "\x00", "[" * 100_000, '{"a": ' * 5000, "9" * 9999]


@pytest.mark.parametrize("text", [*NO_JSON, "[]", "null", "{}", "NaN"], ids=range(10))
def test_what_is_no_manifest_is_refused(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text)
    with pytest.raises(BundleError, match=r"manifest\.json"):
        open_bundle(folder)


def test_a_huge_manifest_is_not_read(folder: Path) -> None:
    with (folder / "manifest.json").open("r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises(BundleError, match="a manifest has at most"):
        open_bundle(folder)


def test_a_newer_schema_says_what_is_needed(folder: Path) -> None:
    newer = {"name": "thinstack", "version": "9.1"}
    reseal(folder, lambda raw: raw.update(schema_version=2, producer=newer, novel=1))
    with pytest.raises(BundleError, match=r'schema 2, .* up to 1; .*"thinstack>=9\.1"'):
        open_bundle(folder)


def test_nothing_of_a_manifest_is_put_into_a_command_but_a_version(folder: Path) -> None:
    reseal(folder, lambda raw: raw.update(schema_version=2, producer={"version": '"; rm x'}))
    with pytest.raises(BundleError, match=r'--upgrade "thinstack"$'):
        open_bundle(folder)


@pytest.mark.parametrize("metrics", [{"a": float("nan")}, {"a": [float("inf")]}, {"a": object()}])
def test_metrics_are_json(tmp_path: Path, metrics: dict[str, Any]) -> None:
    with pytest.raises(BundleError, match="metrics"):
        write(tmp_path / "model", metrics=metrics)
