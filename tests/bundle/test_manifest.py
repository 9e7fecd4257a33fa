"""Manifests: what they may hold, and what is said of others."""

import os

import pytest
from bundle_folders import FILES, manifest, record, reseal, resealed, write

from thinstack.bundle import open_bundle
from thinstack.errors import BundleError


def test_the_digest_of_the_manifest_follows_the_stated_rule(folder):
    before = (folder / "manifest.json").read_bytes()
    reseal(folder, lambda raw: None)
    assert (folder / "manifest.json").read_bytes() == before


OUTSIDE = ["../outside", "a/../../outside", "/etc/passwd", "a\\..\\b", "C:/b", ".hidden", ""]


@pytest.mark.parametrize("name", [*OUTSIDE, "a//b", "a/", "a\n", "é"])
def test_names_that_lead_out_of_the_folder_are_refused(folder, name):
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
        lambda raw: raw["files"].update({"k" * 5000: record(b"x")}),
        lambda raw: raw.update({f"{'k' * 5000}{number}": 1 for number in range(20)}),
        lambda raw: raw.update(schema_version=10**4000),
        lambda raw: raw["files"]["vocabulary.txt"].update(size=10**4000),
    ],
    ids=["file", "fields", "schema", "size"],
)
def test_what_is_long_is_cut(folder, change):
    reseal(folder, change)
    with pytest.raises(BundleError, match=r"manifest\.json: ") as caught:
        open_bundle(folder)
    assert len(str(caught.value)) < 1900


NO_JSON = ["", '{"digest": 1', "\x00", "[" * 100_000, '{"a": ' * 5000, "9" * 9999, "NaN"]
OF_ANOTHER_FORM = {
    "extra": lambda raw: raw.update(extra=1),
    "schema_version": lambda raw: raw.update(schema_version="1"),
    "files: ": lambda raw: raw.update(files=[]),
    r"files\.vocabulary\.txt\.size": lambda raw: raw.update(files={"vocabulary.txt": {}}),
    "greater than": lambda raw: raw["files"]["vocabulary.txt"].update(size=-1),
    "mode": lambda raw: raw["files"]["vocabulary.txt"].update(mode=1),
    "files total 12,8": lambda raw: raw["files"].update(
        {f"{number}.bin": record(b"x") | {"size": 4 << 30} for number in range(3)}
    ),
    r"producer\.extra": lambda raw: raw["producer"].update(extra=1),
    r"vocabulary\.txt: not in": lambda raw: raw["files"].pop("vocabulary.txt"),
    r"manifest\.json: \d+ bytes": lambda raw: raw["files"].update({"manifest.json": record(b"x")}),
    # Nothing but a version is told.
    r"schema 2, .* up to 1; install a newer thinstack: 9\.1 or later$": lambda raw: raw.update(
        schema_version=2, producer={"name": "thinstack", "version": "9.1"}, novel=1
    ),
    "newer thinstack$": lambda raw: raw.update(schema_version=2, producer={"version": '"; rm x'}),
}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        *((manifest(text), r"manifest\.json") for text in [*NO_JSON, "[]", "null", "{}"]),
        *((resealed(change), message) for message, change in OF_ANOTHER_FORM.items()),
        (lambda folder: os.truncate(folder / "manifest.json", 1 << 40), "the manifest limit is"),
    ],
    ids=range(len(NO_JSON) + len(OF_ANOTHER_FORM) + 4),
)
def test_what_is_no_manifest_is_refused(folder, damage, message):
    damage(folder)
    with pytest.raises(BundleError, match=message):
        open_bundle(folder)


@pytest.mark.parametrize("metrics", [{"a": float("nan")}, {"a": [float("inf")]}, {"a": object()}])
def test_metrics_are_json(tmp_path, metrics):
    with pytest.raises(BundleError, match="metrics"):
        write(tmp_path / "model", metrics=metrics)
