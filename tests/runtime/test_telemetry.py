"""onnxruntime keeps no identifier of the device and tells nobody what runs, and no thread of its
own keeps a process from ending."""

import ast
import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
from command_line import PATIENCE

ROOT = Path(__file__).parents[2]
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


def python(code, folder, **more):
    return subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code],
        env=environment(folder, **more),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@LINUX
@pytest.mark.parametrize("use", USES)
def test_the_home_stays_empty_and_there_is_no_other_thread(tmp_path, use):
    code = f"import os, sys, thinstack, time\ntry: {USES[use]}\nexcept SystemExit: pass\n"
    code += "threads = lambda: len(os.listdir('/proc/self/task'))\n"
    code += (
        "for _ in range(100): threads() > 1 and time.sleep(0.1)  # what watched a process ends\n"
    )
    code += "print('threads', threads(), file=sys.stderr)"
    done = python(code, tmp_path)
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
    done = python(code, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


SERVED = """
import thinstack

predictor = thinstack.load("sentiment", threads=1)


def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [predictor.predict([["good"]])[0].label.encode()]
"""


@FORK
def test_the_workers_of_gunicorn_end(tmp_path):
    pytest.importorskip("gunicorn", reason="gunicorn is not installed")
    (tmp_path / "served.py").write_text(SERVED)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        settings = ["--preload", "-w", "1", "--max-requests", "1", "--timeout", "600"]
        settings += ["--graceful-timeout", "600", "-b", f"fd://{listener.fileno()}", "served:app"]
        server = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", *settings],
            env=environment(tmp_path),
            cwd=tmp_path,
            pass_fds=[listener.fileno()],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            for _ in range(3):
                url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
                with urlopen(url, timeout=PATIENCE) as answer:
                    assert answer.read() == b"positive"
            server.terminate()
            assert server.wait(PATIENCE) == 0
        finally:
            with suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)


RESOLVER = """
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
    FILE *notes = fopen(getenv("LOOKED_UP"), "a");
    fprintf(notes, "%s\\n", node ? node : "");
    fclose(notes);
    return EAI_FAIL;
}
"""


@LINUX
def test_nobody_is_looked_up(tmp_path):
    """By a resolver that notes each name and refuses it. It would be asked after ten seconds."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler, for a resolver that refuses")
    source, library, notes = (tmp_path / name for name in ("a.c", "a.so", "notes"))
    source.write_text(RESOLVER)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    told = {"LD_PRELOAD": str(library), "LOOKED_UP": str(notes)}
    python("import socket; socket.getaddrinfo('a.invalid', 1)", tmp_path, **told)
    assert notes.read_text() == "a.invalid\n"
    code = "import time, thinstack; thinstack.load('sentiment').predict([['good']]); time.sleep(15)"
    assert python(code, tmp_path, **told).returncode == 0
    assert notes.read_text() == "a.invalid\n"


TELLING = "import thinstack.cli.checks as e; print(e._telemetry().found)"


@pytest.mark.parametrize(
    ("code", "variable", "state", "found"),
    [
        ("", None, "off", "off"),
        ("import thinstack, onnxruntime", None, "off", "off"),
        ("import onnxruntime", None, "too late", "before thinstack"),
        ("import onnxruntime", " True ", "off", "off"),
        ("", "0", "on", "on, ORT_DISABLE_TELEMETRY is '0'"),
    ],
)
def test_doctor_says_whether_it_is_off(tmp_path, code, variable, state, found):
    more = {} if variable is None else {"ORT_DISABLE_TELEMETRY": variable}
    asks = "import thinstack._onnxruntime as o; print(o.telemetry())"
    done = python("\n".join([code, asks, TELLING]), tmp_path, **more)
    said, check = done.stdout.splitlines()
    assert said == state
    assert found in check


def imports(path):
    """The lines of a file that import a package, and its name."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found += [(node.lineno, name.partition(".")[0]) for name in names]
    return sorted(found)


def test_our_programs_import_thinstack_before_onnxruntime():
    """What is of the package imports it in one place."""
    package = (ROOT / "thinstack").rglob("*.py")
    folders = ("lab/benchmarks", "lab/reproduce", "lab/scripts", "examples", "models", ".ci")
    beside = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    importing = [path for path in package if "onnxruntime" in dict(map(reversed, imports(path)))]
    assert [path.name for path in importing] == ["_onnxruntime.py"]
    late = []
    for path in beside:
        first = {name: line for line, name in reversed(imports(path))}
        if first.get("onnxruntime", sys.maxsize) < first.get("thinstack", sys.maxsize):
            late.append(path)
    assert late == []
