"""Programs that end while other threads score: they end cleanly, soon, and say nothing."""

import os
from pathlib import Path

import pytest
from command_line import python

START = """
import atexit, os, sys, threading, time, thinstack
import numpy as np
begun = threading.Event()

def start(call, daemon=True):
    def work():
        try:
            while True:
                begun.set()
                call()
        except Exception as error:
            print("raised", type(error).__name__, flush=True)
            raise
    threading.Thread(target=work, daemon=daemon).start()
    begun.wait()
"""
WORDS = "words = [['good', 'film', '.'] * 20] * 500\n"
SCORING = {
    "alone": "p = thinstack.load(threads=1); start(lambda: p.predict(words)); time.sleep(0.2)",
    "in a pool": "p = thinstack.load(threads=3); start(lambda: p.predict(words)); time.sleep(0.2)",
    "several": "p = thinstack.load(threads=2); [start(lambda: p.predict(words)) for _ in range(4)]",
    "texts": "p = thinstack.load(threads=1); start(lambda: p(['A film.'] * 99))",
    "isolated": "p = thinstack.load(threads=2, isolated=True); start(lambda: p.predict(words)); "
    "time.sleep(0.2)",
    "loading": "start(lambda: thinstack.load(threads=1))",
    "loading isolated": "start(lambda: thinstack.load(threads=1, isolated=True))",
    # One batch of minutes.
    "one long run": "p = thinstack.load(threads=1); n = 400_000; start(lambda: p.predict("
    "[['good'] * n], source=[np.repeat([0, 1], [n, n - 1])])); time.sleep(1)",
    "an error": "p = thinstack.load(threads=1); start(lambda: p.predict(words)); 1 / 0",
    "an exit": "p = thinstack.load(threads=1); start(lambda: p.predict(words)); sys.exit(1)",
}


def run(code, *more):
    return python(START + WORDS + code, *more)


@pytest.mark.parametrize("scoring", SCORING)
def test_a_program_ends_while_a_daemon_thread_scores(scoring):
    done = run(SCORING[scoring])
    wanted = int(scoring.startswith("an "))
    said = "ZeroDivisionError: division by zero" if scoring == "an error" else ""
    assert (done.returncode, done.stdout) == (wanted, "")
    assert (done.stderr.splitlines() or [""])[-1] == said


@pytest.mark.parametrize("isolated", [False, True])
def test_what_the_program_registered_for_its_end_still_scores(isolated):
    code = f"isolated = {isolated}\n"
    code += """
def last():
    print(len({each.label for each in p.predict(words) + p.predict(words[:1])}))
atexit.register(last)
p = thinstack.load(threads=2, isolated=isolated)
start(lambda: p.predict(words))
"""
    done = run(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_a_lock_that_the_thread_holds_is_free_at_the_end():
    code = """
lock = threading.Lock()
def last():
    with lock:
        print("free")
atexit.register(last)
def call():
    with lock:
        p.predict(words)
p = thinstack.load(threads=1)
start(call)
"""
    done = run(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "free\n", "")


def test_a_thread_that_is_no_daemon_finishes():
    code = """
def work():
    main.join()
    found = [prediction.label for _ in range(3) for prediction in p.predict(words)]
    print(len(found), len(set(found)))
p, main = thinstack.load(threads=2), threading.main_thread()
threading.Thread(target=work).start()
"""
    done = run(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1500 1\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_does_not_wait_for_the_threads_of_its_parent():
    """Its parent's thread is within a run when it forks, so nobody ends that run here."""
    code = """
from thinstack.runtime import ending
ending.PATIENCE = 10_000
p = thinstack.load(threads=1)
n = 400_000
start(lambda: p.predict([["good"] * n], source=[np.repeat([0, 1], [n, n - 1])]))
while not ending._running:
    time.sleep(0.01)
if (child := os.fork()) == 0:
    print(p.predict(words)[0].label, flush=True)
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = run(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "very positive\n7\n", "")


def test_a_model_that_fails_says_so_once(tmp_path):
    """What is raised is not printed too."""
    code = """
from last_word_model import TABLE, last_word_model, write_last_word_bundle
bundle = write_last_word_bundle(sys.argv[1], onnx=last_word_model(table=TABLE[:3]))
try:
    thinstack.load(bundle.path).predict([["-LRB-"]])
except thinstack.ThinstackError as error:
    print(type(error).__name__, "Gather" in str(error))
"""
    tests = str(Path(__file__).parents[1])
    done = run(f"sys.path.insert(0, {tests!r})\n{code}", tmp_path / "model")
    assert (done.returncode, done.stdout, done.stderr) == (0, "BundleError True\n", "")
