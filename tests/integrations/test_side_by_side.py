"""Processes side by side, some of which die."""

import json
import multiprocessing
import os
import signal
import sys
from pathlib import Path

import pytest
from command_line import started
from deadly_model import DeadlyModel, StillbornModel, UnloadableModel

from thinstack.bundle import opening
from thinstack.errors import StoppedError
from thinstack.integrations.corpora import run_manifest
from thinstack.integrations.corpora.inputs import Row
from thinstack.integrations.corpora.run import Request, score_corpus
from thinstack.integrations.corpora.run_manifest import Settings, Shard
from thinstack.integrations.corpora.workers import ModelSource, without_row

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def small_shards_and_no_process_left(monkeypatch):
    monkeypatch.setattr(run_manifest, "SHARD_ROWS", 8)
    yield
    assert multiprocessing.active_children() == []


def written(path, texts):
    path.write_text("".join(f"{text}\n" for text in texts))
    return path


def run(texts, folder, model, **how):
    """How it ends, and the rows that were done whenever it told of them."""
    told = []
    source = written(folder / "texts.txt", texts)
    options = {"jobs": 2, "fail_after": 0.5, **how}
    request = Request(source, folder / "out", Settings(), model, **options)
    return score_corpus(request, lambda now: told.append(now.done) if now.rows else None), told


def ids_in(out, folder=""):
    lines = [path.read_text("utf-8") for path in sorted((out / folder).glob("*.jsonl"))]
    return [json.loads(line)["id"] for line in "".join(lines).splitlines()]


def test_an_address_is_asked_for_once_for_all_processes(last_word, tmp_path, monkeypatch):
    # The other processes have the real one, which would find no such bundle.
    monkeypatch.setattr(opening, "fetch", lambda address: last_word)
    last, _ = run(["good"] * 20, tmp_path, ModelSource("hf://user/nobody"))
    assert (last.done, last.failed) == (20, 0)


def test_processes_write_what_one_writes(cli, last_word, tmp_path):
    texts = written(tmp_path / "texts.txt", [f"{'very ' * (i % 7)}good" for i in range(30)])
    written_by = {}
    for jobs in (0, 2):
        where = ("--out", tmp_path / str(jobs), "--model", last_word.path)
        answer = cli("predict", "--input", texts, "--jobs", jobs, *where)
        assert answer.err == f"30 rows; the scores are in {tmp_path / str(jobs)}\n"
        parts = sorted((tmp_path / str(jobs)).glob("part*"))
        written_by[jobs] = [path.read_bytes() for path in parts]
    assert len(written_by[0]) == 4
    assert written_by[0] == written_by[2]


def test_what_kills_its_process_is_found(last_word, tmp_path):
    texts = [f"film {i}" for i in range(20)]
    texts[3], texts[9], texts[17] = "poison", f"once {tmp_path / 'mark'}", "poison"
    last, told = run(texts, tmp_path, DeadlyModel(str(last_word.path)))
    assert (last.done, last.failed, last.rows) == (20, 2, 20)
    assert told in ([0, 8, 16, 20], [0, 8, 12, 20], [0, 4, 12, 20])
    assert ids_in(tmp_path / "out", "errors") == ["4", "18"]
    assert ids_in(tmp_path / "out") == [str(i) for i in range(1, 21) if i not in (4, 18)]
    errors = sorted((tmp_path / "out" / "errors").glob("*"))
    (line, _) = "".join(path.read_text() for path in errors).splitlines()
    message = "the process that scored it died twice: Killed"
    assert json.loads(line) == {"id": "4", "kind": "killed", "message": message}


def test_a_process_that_dies_between_two_shards_is_replaced(last_word, tmp_path):
    model, source = ModelSource(str(last_word.path)), written(tmp_path / "texts.txt", ["good"] * 20)

    def kill(now):
        if now.rows is not None and now.done == 8:
            (process,) = multiprocessing.active_children()
            process.kill()
            process.join()

    last = score_corpus(Request(source, tmp_path / "out", Settings(), model), kill)
    assert (last.done, last.failed) == (20, 0)
    assert ids_in(tmp_path / "out") == [str(i) for i in range(1, 21)]


def test_a_process_that_cannot_go_on_says_why(last_word, tmp_path):
    path, parent = str(last_word.path), os.getpid()
    with pytest.raises(StoppedError, match=r"as it started .*exit code 7"):
        run(["full"], tmp_path, StillbornModel(path, parent=parent))
    with pytest.raises(StoppedError, match="the model cannot be loaded"):
        run(["full"], tmp_path, UnloadableModel(path, parent=parent))
    with pytest.raises(OSError, match="No space left on device"):
        run(["full"], tmp_path, DeadlyModel(path))
    assert not list((tmp_path / "out").glob("part*"))


def test_of_processes_that_are_ended_nothing_half_written_is_left(last_word, tmp_path):
    texts = ["good"] * 8 + ["wait"] + ["good"] * 7 + ["full"]
    with pytest.raises(OSError, match="No space left on device"):
        run(texts, tmp_path, DeadlyModel(str(last_word.path)))
    found = [path.name for path in (tmp_path / "out").glob("part*")]
    assert found == ["part-000000.jsonl"]


PROGRAM = """
import sys
from pathlib import Path
from deadly_model import DeadlyModel
from thinstack.integrations.corpora import run_manifest
from thinstack.integrations.corpora.run_manifest import Settings
from thinstack.integrations.corpora.run import Request, score_corpus
from thinstack.integrations.corpora.workers import ModelSource

if __name__ == "__main__":
    run_manifest.SHARD_ROWS = 8
    folder = Path(sys.argv[1])
    model = DeadlyModel(sys.argv[2])
    request = Request(folder / "texts.txt", folder / "out", Settings(), model, jobs=2)
    score_corpus(request, lambda now: print(now.done, now.rows, flush=True))
"""


def test_processes_end_with_their_parent(last_word, tmp_path):
    texts = written(tmp_path / "texts.txt", ["good"] * 8 + ["wait"] + ["film"] * 15)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    paths = os.pathsep.join(map(str, (ROOT, Path(__file__).parent)))
    command = [sys.executable, program, tmp_path, last_word.path]
    with started(command, env={**os.environ, "PYTHONPATH": paths}) as process:
        for line in process.stdout:
            if line == "16 24\n":  # all that can be; one process waits for ever
                break
        process.send_signal(signal.SIGKILL)
        # Its end comes once no process has it any more.
        assert process.communicate(timeout=300)[0] == ""
    assert len(list((tmp_path / "out").glob("part*.jsonl"))) == 2
    last, told = run(texts.read_text().split(), tmp_path, ModelSource(str(last_word.path)))
    assert (last.before, last.done, told[0]) == (16, 24, 16)
    assert ids_in(tmp_path / "out") == [str(i) for i in range(1, 25)]


def test_a_row_that_kills_is_named():
    first, second, third = rows = [Row(f"r{i}", str(i)) for i in range(3)]
    changed = without_row(Shard(3, rows, 8), 1, "Killed")
    problem = changed.rows[1].problem
    assert changed == Shard(3, [first, Row("r1", "", problem), third], 8)
    assert (problem.kind, problem.message[-6:]) == ("killed", "Killed")
    assert rows == [first, second, third]
    with pytest.raises(StoppedError, match=r"shard 3: .*Killed"):
        without_row(changed, 1, "Killed")
