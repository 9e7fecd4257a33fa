"""Inputs and models that change while a corpus is scored, and rows that are lost."""

import os
import shutil
from io import BytesIO
from itertools import islice
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from deadly_model import DeadlyModel
from last_word_model import TABLE, write_last_word_bundle

from thinstack.errors import DataError, StoppedError
from thinstack.integrations.corpora import run_manifest
from thinstack.integrations.corpora.inputs import Corpus
from thinstack.integrations.corpora.run import Request, score_corpus
from thinstack.integrations.corpora.run_manifest import Settings, read_run_manifest
from thinstack.integrations.corpora.scoring import TextScorer
from thinstack.integrations.corpora.workers import ModelSource

LONG = 30_000  # letters of a text: a shard is then more than what is read ahead


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(run_manifest, "SHARD_ROWS", 8)


@pytest.fixture
def model(last_word):
    return ModelSource(str(last_word.path))


def written(path, word="good", rows=40):
    path.write_text("".join(f"{'x' * LONG}{row} {word}\n" for row in range(rows)))
    return path


@pytest.fixture(scope="module")
def expected(last_word, tmp_path_factory):
    """The parts of the input that no one changes."""
    folder = tmp_path_factory.mktemp("unchanged")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_manifest, "SHARD_ROWS", 8)
        run(written(folder / "in.txt"), folder / "out", ModelSource(str(last_word.path)))
    return parts_in(folder / "out")


def run(input, out, model, changes=MappingProxyType({}), *, jobs=0):
    """Score a corpus. Each change is made once so many rows are done."""

    def tell(now):
        if now.rows is not None and now.done in changes:
            changes[now.done]()

    return score_corpus(Request(input, out, Settings(), model, jobs=jobs, fail_after=0.5), tell)


def finished(out):
    return read_run_manifest(out).finished is not None


def parts_in(out):
    return {path.name: path.read_bytes() for path in out.glob("part*")}


def with_its_time(path):
    before = path.stat()
    path.write_text(path.read_text().replace("good", "film"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def longer(path):
    path.write_bytes(path.read_bytes() + b"good\n")


CHANGES = {
    "another with its time": with_its_time,
    "longer": longer,
    "shorter": lambda path: os.truncate(path, path.stat().st_size // 2),
    "without the last line end": lambda path: os.truncate(path, path.stat().st_size - 1),
    "replaced": lambda path: written(path.with_suffix(".new"), "film").rename(path),
    "gone": Path.unlink,
}


@pytest.mark.parametrize("at", [0, 16, 40])
@pytest.mark.parametrize("change", CHANGES)
def test_an_input_that_changes_ends_the_run(change, at, model, expected, tmp_path):
    path, out = written(tmp_path / "in.txt"), tmp_path / "out"
    with pytest.raises(StoppedError, match=r"has changed .*--out"):
        run(path, out, model, {at: lambda: CHANGES[change](path)})
    assert not finished(out)
    parts = parts_in(out)
    written(path)  # as it was
    assert run(path, out, model).done == 40
    assert finished(out)
    assert parts_in(out) == expected == expected | parts


def test_a_change_that_is_undone_is_found(model, tmp_path):
    path = written(tmp_path / "in.txt")
    changes = {8: lambda: with_its_time(path), 40: lambda: written(path)}
    with pytest.raises(StoppedError, match="has changed"):
        run(path, tmp_path / "out", model, changes)


def test_no_row_of_another_input_is_in_a_run_that_goes_on(model, expected, tmp_path):
    def kill():
        raise KeyboardInterrupt

    path = written(tmp_path / "in.txt")
    with pytest.raises((StoppedError, KeyboardInterrupt)):
        run(path, tmp_path / "out", model, {8: lambda: with_its_time(path), 32: kill})
    written(path)
    assert run(path, tmp_path / "out", model).done == 40
    assert parts_in(tmp_path / "out") == expected


@pytest.mark.parametrize(
    ("change", "jobs"),
    [("b.txt is new", 0), ("c.txt is gone", 0), ("a.txt has another", 2), ("d.md", 0)],
)
def test_a_folder_that_changes(change, jobs, model, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    files = {name: written(folder / f"{name}.txt", rows=8) for name in "ac"}
    name, what = change.split(" ", 1) if " " in change else (change, "new")
    changed = {
        "is new": lambda: written(folder / name),
        "new": lambda: (folder / name).touch(),
        "is gone": files["c"].unlink,
        "has another": lambda: with_its_time(files["a"]),
    }
    with pytest.raises(StoppedError, match=f"has changed .*{name}"):
        run(folder, tmp_path / "out", model, {16: changed[what]}, jobs=jobs)
    assert not finished(tmp_path / "out")


def test_what_is_kept_of_standard_input_is_compared_too(model, tmp_path):
    out, content = tmp_path / "out", written(tmp_path / "in.txt").read_bytes()
    with pytest.raises(StoppedError, match=r"has changed .*standard-input"):
        run(BytesIO(content), out, model, {40: lambda: longer(out / "standard-input")})
    assert not finished(out)
    assert run(BytesIO(content), out, model).before == 40
    assert finished(out)


@pytest.mark.parametrize(
    ("what", "jobs"), [("another bundle", 0), ("damaged", 1), ("no such folder", 0)]
)
def test_a_model_that_changes_ends_the_run(what, jobs, tmp_path):
    folder, out = tmp_path / "model", tmp_path / "out"
    write_last_word_bundle(folder)
    path = written(tmp_path / "in.txt")

    def change():
        folder.rename(tmp_path / "old")
        if what == "another bundle":
            write_last_word_bundle(folder, table=TABLE + 1)
        elif what == "damaged":
            shutil.copytree(tmp_path / "old", folder)
            (folder / "onnx" / "model.onnx").write_bytes(b"half")

    with pytest.raises(StoppedError, match=r"has changed .*--out"):
        run(path, out, ModelSource(str(folder)), {40: change}, jobs=jobs)
    assert not finished(out)
    shutil.rmtree(folder, ignore_errors=True)
    (tmp_path / "old").rename(folder)
    assert run(path, out, ModelSource(str(folder))).before == 40
    assert finished(out)


def test_a_process_that_starts_takes_no_other_model(tmp_path):
    folder, path = tmp_path / "model", written(tmp_path / "in.txt")
    write_last_word_bundle(folder)
    lines = path.read_text().splitlines(keepends=True)
    lines[30] = f"once {tmp_path / 'mark'}\n"  # which kills its process
    path.write_text("".join(lines))

    def change():
        write_last_word_bundle(folder, table=TABLE + 1)

    with pytest.raises(StoppedError, match="has changed"):
        run(path, tmp_path / "out", DeadlyModel(str(folder)), {16: change}, jobs=1)
    assert len(parts_in(tmp_path / "out")) == 3


def test_no_part_of_a_shard_is_written(model, tmp_path, monkeypatch):
    """Reading fails in the second shard, once its rows have been counted."""
    source, read, most = written(tmp_path / "in.txt"), Corpus.rows, [40, 12]

    def failing(self):
        yield from islice(read(self), most.pop(0))
        if not most:
            raise DataError("the disk is gone")

    monkeypatch.setattr(Corpus, "rows", failing)
    with pytest.raises(StoppedError, match="the disk is gone"):
        run(source, tmp_path / "out", model)
    assert [*parts_in(tmp_path / "out")] == ["part-000000.jsonl"]


def test_a_part_that_is_gone_at_the_end_is_told(model, tmp_path):
    path, out = written(tmp_path / "in.txt"), tmp_path / "out"
    with pytest.raises(StoppedError, match=r"40 rows .*\[1\]"):
        run(path, out, model, {32: (out / "part-000001.jsonl").unlink})
    assert not finished(out)


@pytest.mark.parametrize("lost", ["the first", "the last", "a problem"])
def test_a_row_that_is_lost_is_told(lost, model, tmp_path, monkeypatch):
    def losing(self, rows):
        found, problems = call(self, rows)
        kept = np.flatnonzero(found["text"] != (0 if lost == "the first" else 7))
        return (found, {}) if lost == "a problem" else (found[kept], problems)

    call = TextScorer.__call__
    monkeypatch.setattr(TextScorer, "__call__", losing)
    path = tmp_path / "in.txt"
    path.write_bytes(b"good\n" * 3 + b"bad \xff\n" + b"good\n" * 20)
    with pytest.raises(StoppedError, match="8 rows"):
        run(path, tmp_path / "out", model)
    assert not parts_in(tmp_path / "out")
