"""Starts a command, kills it as it changes a file, and goes on with it until it is done, again and
again; what it leaves must be that of a run that nothing stops, bit for bit. Run as a program.

    python killed_runs.py KIND FOLDER KILLS [--seed 1]

It prints one line of JSON: the kills, the runs that were compared, and what is wrong. A kill comes
at a drawn one of the command's changes of files, so that it meets a writer at work. Commands run in
forks of this process, which has imported what they need.
"""

import argparse
import gc
import json
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from killed_work import KINDS, Work, fingerprint, finish, fork

CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link")
MOST = 6  # kills of a run, which then may end


def on_changes(out: Path, then: Callable[[int], None], last: int = 0) -> None:
    """Call `then` with the number, from 1, of every change of a file in `out`, before it is made;
    of the `last` one, if it opens a file to write to, when that is open and still empty."""
    count, inside = 0, os.fspath(out)

    def hook(event: str, args: tuple[Any, ...]) -> None:
        nonlocal count
        written = event == "open" and bool(args[2] and args[2] & (os.O_WRONLY | os.O_RDWR))
        if (written or event in CHANGES) and str(args[0]).startswith(inside):
            count += 1
            if written and count == last:
                with suppress(OSError):
                    os.open(args[0], args[2], 0o666)  # which calls this too
                then(last)
            then(count)

    sys.addaudithook(hook)


def whole_run(work: Work, out: Path) -> int:
    """The changes of a run that nothing stops."""
    noted = out.parent / "changes.txt"

    def note(count: int) -> None:
        with noted.open("w") as file:
            file.write(str(count))

    finish(fork(work, out, lambda: on_changes(out, note)), out)
    return int(noted.read_text())


def killed_at_change(work: Work, out: Path, number: int) -> bool:
    """Whether the command was killed: it may have fewer changes to make."""

    def kill(count: int) -> None:
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)

    child = fork(work, out, lambda: on_changes(out, kill, number))
    return finish(child, out, signal.SIGKILL) == signal.SIGKILL


def main(kind: str, folder: Path, kills: int, *, seed: int) -> dict[str, Any]:
    draw, landed, wrong, runs = random.Random(seed), 0, list[str](), 0
    work = KINDS[kind](folder)
    gc.freeze()  # forks then share it
    peace = folder / "peace" / "out"
    work.begin(peace)
    changes = whole_run(work, peace)
    expected = fingerprint(peace)
    while landed < kills:
        out = folder / "fire" / "out"
        work.begin(out)
        killed, left = True, MOST
        while killed and left and landed < kills:
            left -= 1
            # Squared: a run that goes on has fewer changes left to make.
            killed = killed_at_change(work, out, 1 + int(changes * draw.random() ** 2))
            landed += killed
            if killed and (problem := work.half_done(out)):
                wrong.append(problem)
        if killed:
            finish(fork(work, out, lambda: None), out)
        found = fingerprint(out)
        names = expected.keys() | found.keys()
        wrong += [name for name in sorted(names) if expected.get(name) != found.get(name)]
        runs += 1
        shutil.rmtree(out.parent)
    return {"kills": landed, "runs": runs, "changes": changes, "wrong": wrong}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("kills", type=int)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    done = main(asked.kind, asked.folder, asked.kills, seed=asked.seed)
    sys.stdout.write(json.dumps(done) + "\n")
