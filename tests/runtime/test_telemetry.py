"""onnxruntime sends no telemetry, writes no device id, and keeps no process from ending."""

import os
import re
import sys

import pytest
from command_line import python
from pages import ROOT

SUPPRESSING = ("ORT_DISABLE_TELEMETRY", "CI", "TF_BUILD", "GITHUB_ACTIONS", "GITLAB_CI", "CIRCLECI")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

USES = {
    "load": "thinstack.load('sentiment').predict([['good']])",
    "isolated": "thinstack.load('sentiment', isolated=True).predict([['good']])",
    "command": "import thinstack.cli; sys.argv = ['', 'predict', 'A good film.']; "
    "thinstack.cli.main()",
    "providers": "import thinstack.runtime.session as s; s.available_providers()",
    "of its own": "import onnxruntime",
}


def environment(folder, **more):
    """An empty home, where nothing is known of telemetry."""
    kept = {name: value for name, value in os.environ.items() if name not in SUPPRESSING}
    return {**kept, "HOME": str(folder), "OPENBLAS_NUM_THREADS": "1", **more}


def run(code, folder, **more):
    return python(code, env=environment(folder, **more), cwd=folder)


@LINUX
@pytest.mark.parametrize("use", USES)
def test_the_home_stays_empty_and_there_is_no_other_thread(tmp_path, use):
    code = f"import os, sys, thinstack, time\ntry: {USES[use]}\nexcept SystemExit: pass\n"
    code += "threads = lambda: len(os.listdir('/proc/self/task'))\n"
    code += (
        "for _ in range(100): threads() > 1 and time.sleep(0.1)  # what watched a process ends\n"
    )
    code += "print('threads', threads(), file=sys.stderr)"
    done = run(code, tmp_path)
    assert (done.returncode, done.stderr) == (0, "threads 1\n")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


FORKS = {
    "at once": "sys.exit(0)",
    "after a run": "predictor.predict([['good']]); sys.exit(0)",
    # As a worker of a server ends that loaded the model before it forked.
    "by a signal": "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); "
    "predictor.predict([['good']]); os.kill(os.getpid(), signal.SIGTERM)",
}


@FORK
@pytest.mark.parametrize("end", FORKS)
def test_a_forked_process_ends(tmp_path, end):
    code = f"""
import os, signal, sys, thinstack
predictor = thinstack.load("sentiment")
predictor.predict([["good"]])
if (child := os.fork()) == 0:
    {FORKS[end]}
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = run(code, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


TELLING = "import thinstack.cli.checks as e; print(e._telemetry().found)"


@pytest.mark.parametrize(
    ("code", "variable", "state", "found"),
    [
        ("import thinstack, onnxruntime", None, "off", "off"),
        ("import onnxruntime", None, "too late", "before thinstack"),
        ("", "0", "on", "on, ORT_DISABLE_TELEMETRY is '0'"),
    ],
)
def test_doctor_says_whether_it_is_off(tmp_path, code, variable, state, found):
    more = {} if variable is None else {"ORT_DISABLE_TELEMETRY": variable}
    asks = "import thinstack._onnxruntime as o; print(o.telemetry())"
    done = run("\n".join([code, asks, TELLING]), tmp_path, **more)
    said, check = done.stdout.splitlines()
    assert said == state
    assert found in check


def test_thinstack_imports_onnxruntime_in_one_place():
    """After its telemetry is switched off."""
    named = re.compile(r"^\s*(import|from) onnxruntime\b", re.MULTILINE)
    files = (ROOT / "thinstack").rglob("*.py")
    importing = [path.name for path in files if named.search(path.read_text(encoding="utf-8"))]
    assert importing == ["_onnxruntime.py"]
