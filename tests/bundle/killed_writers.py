"""Starts writers of a bundle and kills each, at a random moment, as a power cut would. Run as a
program.

    python killed_writers.py FOLDER KILLS -> one line of JSON: the number of the bundle found after
    each kill, and the folders that writers left behind. The next writer removes these.

Bundle number k holds k in two files. Raises if the bundle that is found is not whole or older than
one that was there.
"""

import json
import os
import random
import signal
import sys
import time
from itertools import count
from pathlib import Path

from bundle_folders import FILES, write

from thinstack.bundle import open_bundle

NAMES = ("README.md", "cases.json")


def write_number(path: Path, number: int) -> None:
    write(path, {**FILES, **dict.fromkeys(NAMES, str(number).encode())})


def number_of(path: Path) -> int:
    bundle = open_bundle(path)
    first, second = (int(bundle.read(name)) for name in NAMES)
    assert first == second, f"{path} is half bundle {first}, half {second}"
    return first


def main(folder: Path, kills: int) -> None:
    path, generator = folder / "model", random.Random(0)
    started = time.perf_counter()
    for number in range(5):
        write_number(path, number)
    once = (time.perf_counter() - started) / 5
    found, left = [number_of(path)], set[str]()
    for _ in range(kills):
        child = os.fork()
        if child == 0:
            for number in count(found[-1] + 1):
                write_number(path, number)
        time.sleep(generator.uniform(0, 4 * once))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found.append(number_of(path))
        assert found[-1] >= found[-2], f"bundle {found[-2]} was there, now it is {found[-1]}"
        left |= {other.name for other in folder.iterdir() if other != path}
    write_number(path, 10**6)
    assert number_of(path) == 10**6
    assert [other.name for other in folder.iterdir()] == ["model"]
    sys.stdout.write(json.dumps({"found": found, "left": sorted(left)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
