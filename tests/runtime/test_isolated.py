"""Models in separate processes answer as in this one, and whatever they do, this one lives."""

import multiprocessing.spawn
import os
import pickle
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from command_line import PATIENCE, started
from isolated_models import ABORTING, ADDING, ENDLESS, balloon, onnx_of
from last_word_model import KNOWN, TABLE, last_word_model, random_sentences, write_last_word_bundle
from onnx import helper, load_model_from_string

import thinstack
from thinstack.errors import BundleError, DeviceError, InputError
from thinstack.runtime import isolated
from thinstack.runtime.isolated import IsolatedSession
from thinstack.runtime.predictor import Predictor

X = {"x": np.arange(4)}


def session(model):
    return IsolatedSession(model, device="cpu", source="a file")


def pid_of(found):
    (process,) = found._idle
    return process._process.pid


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc, limits memory")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals or limits")


def test_a_session_tells_and_runs_what_onnxruntime_does():
    model = load_model_from_string(onnx_of(ADDING))
    model.metadata_props.add(key="labels", value='["schön"]')
    found = session(model.SerializeToString())
    assert (found.inputs, found.outputs) == ({"x": "tensor(int64)"}, ["y"])
    assert (found.metadata, found.device) == ({"labels": '["schön"]'}, "cpu")
    for count in (0, 4):
        (scores,) = found.run(["y"], {"x": np.arange(count)})
        assert scores.dtype == np.float32
        np.testing.assert_array_equal(scores, 2.0 * np.arange(count))
        scores += 1  # it is the caller's


@pytest.mark.parametrize("kind", KNOWN)
@pytest.mark.parametrize("parser", [None, "capped"])
def test_scores_are_those_of_the_same_model_in_this_process(tmp_path, kind, parser):
    bundle = write_last_word_bundle(tmp_path / "model", kind, parser=parser)
    words, trees = random_sentences(kind, 300)
    plain, apart = (Predictor(bundle, threads=2, isolated=isolated) for isolated in (False, True))
    for given in ("auto", trees):
        pairs = zip(
            plain.trees_and_scores(words, given), apart.trees_and_scores(words, given), strict=True
        )
        for wanted, found in pairs:
            np.testing.assert_array_equal(found.transitions, wanted.transitions)
            np.testing.assert_array_equal(found.scores, wanted.scores)


def test_what_a_model_fails_on_is_said_as_in_this_process(tmp_path):
    bundle = write_last_word_bundle(tmp_path / "model", onnx=last_word_model(table=TABLE[:3]))
    predictor = Predictor(bundle, isolated=True)
    with pytest.raises(BundleError, match=r"model\.onnx: .*1 nodes: .*Gather"):
        predictor.predict([["-LRB-"]])
    assert predictor.predict([["good"]])[0].label


def test_what_cannot_be_loaded_is_said_as_in_this_process(tmp_path):
    proto = load_model_from_string(last_word_model("words"))
    (cast, *_) = (node for node in proto.graph.node if node.op_type == "Cast")
    cast.attribute[0].i = 999
    onnx = proto.SerializeToString()
    bundle, told = write_last_word_bundle(tmp_path / "model", onnx=onnx), []
    for isolated_too in (False, True):
        with pytest.raises(BundleError, match="cannot load it") as caught:
            Predictor(bundle, isolated=isolated_too)
        told.append(str(caught.value))
    assert told[0] == told[1]


@LINUX
def test_a_file_that_ends_the_process_that_loads_it_is_an_error():
    with pytest.raises(BundleError, match=r"^a file: .*SIGABRT"):
        session(onnx_of(ABORTING))


@POSIX
def test_an_endless_loop_is_an_error(monkeypatch):
    monkeypatch.setattr(isolated, "SECONDS", 1)
    monkeypatch.setattr(isolated, "PATIENCE", 1000)  # not by the clock
    found = session(onnx_of(ENDLESS))
    with pytest.raises(BundleError, match="processor time"):
        found.run(["y"], X)
    (scores,) = found.run(["y"], {"x": np.zeros(0, np.int64)})  # no steps, by another process
    assert scores == 0


@POSIX
def test_a_model_that_waits_is_ended_by_the_clock(monkeypatch):
    """As where processor time cannot be limited."""
    found = session(onnx_of(ADDING))
    os.kill(pid_of(found), signal.SIGSTOP)
    monkeypatch.setattr(isolated, "GRACE", 1)
    monkeypatch.setattr(isolated, "PATIENCE", 0)
    with pytest.raises(BundleError, match="1 seconds"):
        found.run(["y"], X)


@LINUX
def test_a_balloon_is_an_error():
    for factor in (1 << 28, 1 << 40):  # 4 GiB; more than there is
        with pytest.raises(BundleError, match=r"(?i)alloc|memory"):
            session(balloon(factor)).run(["y"], X)


def test_more_scores_than_a_batch_can_have_are_an_error():
    factor = isolated.MOST_RECEIVED // 16 + 1
    found = session(balloon(factor))
    with pytest.raises(BundleError, match="268,435,456 bytes"):
        found.run(["y"], X)
    (scores,) = found.run(["y"], {"x": np.arange(1)})
    assert scores.shape == (factor,)


@pytest.mark.parametrize("idle", [True, False])
def test_after_a_death_the_next_call_has_another_process(monkeypatch, idle):
    """A process that ended while it was idle is no fault of the model."""
    found = session(onnx_of(ADDING))
    (process,), first = found._processes, pid_of(found)
    os.kill(first, signal.SIGKILL)
    if idle:
        process._process.wait()
    else:  # as if it had just begun
        monkeypatch.setattr("thinstack.runtime.isolated.ModelProcess.has_ended", lambda _: False)
        with pytest.raises(BundleError, match="SIGKILL"):
            found.run(["y"], X)
    np.testing.assert_array_equal(found.run(["y"], X)[0], [0, 2, 4, 6])
    assert pid_of(found) != first
    assert len(found._processes) == 1


def test_threads_share_a_session():
    found = session(onnx_of(ADDING))
    with ThreadPoolExecutor(8) as pool:
        every = list(pool.map(lambda n: found.run(["y"], {"x": np.full(n, n)})[0], range(200)))
    for number, scores in enumerate(every):
        np.testing.assert_array_equal(scores, np.full(number, 2.0 * number))
    assert len(found._idle) == len(found._processes) <= os.cpu_count()


def state_of(pid):
    """The letter of a process's state, "" if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


BUSY = """
threading.Thread(target=found.run, args=(["y"], X), daemon=True).start()
while found._idle:
    time.sleep(0.01)
"""
FORKED = """
if os.fork() == 0:
    time.sleep(3600)
"""


@LINUX
@pytest.mark.parametrize("before", ["", BUSY, FORKED], ids=["idle", "busy", "forked"])
@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_the_processes_end_with_the_one_that_asks(before, end):
    """However it ends, even while they run, and though a forked child that lives has the pipes."""
    program = f"""
import os, signal, threading, time
from test_isolated import ENDLESS, X, isolated, onnx_of, pid_of, session
isolated.SECONDS = 10000
found = session(onnx_of(ENDLESS))
print(pid_of(found), flush=True)
{before}{end}
"""
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1]), *sys.path]
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]
    paths = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, folders))}
    with started(command, env=paths, start_new_session=True) as process:
        pid = int(process.stdout.readline())
        process.wait(PATIENCE)
    try:
        for _ in range(20 * PATIENCE):
            if state_of(pid) in ("", "Z"):
                return
            time.sleep(0.05)
        raise AssertionError(f"process {pid} is {state_of(pid)}")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@LINUX
def test_the_processes_end_with_the_session():
    found = session(onnx_of(ADDING))
    pid = pid_of(found)
    assert state_of(pid) != ""
    del found
    assert state_of(pid) == ""


def test_a_folder_that_holds_modules_does_not_give_them(tmp_path, monkeypatch):
    """A process starts in the user's folder, which may be a bundle's."""
    for name in ("numpy.py", "onnxruntime.py", "json.py", "thinstack.py"):
        (tmp_path / name).write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    np.testing.assert_array_equal(session(onnx_of(ADDING)).run(["y"], X)[0], [0, 2, 4, 6])


def test_a_pickle_is_isolated_too(last_word):
    predictor = thinstack.load(last_word.path, isolated=True, allow_operators=["Softplus"])
    again = pickle.loads(pickle.dumps(predictor))
    assert isinstance(again._session, IsolatedSession)
    assert again._allowed == ("Softplus",)


def test_more_operators_are_allowed_in_isolation_alone(tmp_path):
    proto = load_model_from_string(last_word_model("words"))
    softmax = next(node for node in proto.graph.node if node.op_type == "Softmax")
    logits = softmax.input[0]
    softmax.input[0] = "softer"
    place = list(proto.graph.node).index(softmax)
    proto.graph.node.insert(place, helper.make_node("Softplus", [logits], ["softer"]))
    folder = write_last_word_bundle(tmp_path / "model", onnx=proto.SerializeToString()).path
    for isolated_too in (False, True):
        with pytest.raises(BundleError, match="needs the operator 'Softplus'"):
            thinstack.load(folder, isolated=isolated_too)
    with pytest.raises(InputError, match="pass isolated=True"):
        thinstack.load(folder, isolated=False, allow_operators=["Softplus"])
    found = thinstack.load(folder, isolated=True, allow_operators=["Softplus"])
    powers = 1 + np.exp(TABLE[1].astype(float))  # e to the logarithm of 1 + e to the logit
    np.testing.assert_allclose(
        found.predict([["good"]])[0].node_scores[0], powers / powers.sum(), rtol=1e-6
    )


def refused(*given, **more):
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("sys.frozen", True, "its own Python"),
        ("subprocess.Popen", refused, "Operation not permitted"),
        ("get_executable", lambda: None, "NoneType"),  # as where Python is embedded
        ("get_executable", lambda: "", "Errno"),
        ("get_executable", lambda: "/bin/true", "exit code 0"),
        ("get_executable", lambda: "/bin/false", "exit code 1"),
        ("get_executable", lambda: "/bin/echo", "exit code 0"),
    ],
)
@POSIX
def test_where_no_process_can_start_the_error_says_what_to_do(
    last_word, monkeypatch, name, value, why
):
    monkeypatch.setattr(f"thinstack.runtime.isolated.{name}", value, raising=False)
    with pytest.raises(DeviceError) as caught:
        thinstack.load(last_word.path, isolated=True)
    told = str(caught.value)
    assert str(last_word.path) in told
    assert why in told
    assert "isolated=False (--no-isolated)" in told
    assert not thinstack.load(last_word.path, isolated=False).isolated


def test_the_python_is_that_of_multiprocessing(monkeypatch):
    """A program that embeds Python names it with `multiprocessing.set_executable`."""
    monkeypatch.setattr(multiprocessing.spawn, "_python_exe", sys.executable)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    np.testing.assert_array_equal(session(onnx_of(ADDING)).run(["y"], X)[0], [0, 2, 4, 6])
