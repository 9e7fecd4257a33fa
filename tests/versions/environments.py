"""Virtual environments of chosen versions, made once and kept in `.ci-venv/versions`."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bounds import ROOT

FOLDER = ROOT / ".ci-venv" / "versions"


def interpreter(version: str) -> str | None:
    """A Python of this version: the one that runs, one on the path, or one that pyenv has."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    kept = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    for path in (sys.executable, shutil.which(f"python{version}"), *map(str, kept)):
        # What pyenv puts on the path is there for any version, and fails where it is not chosen.
        if path and said(path, "import sys; print('%d.%d' % sys.version_info[:2])") == version:
            return path
    return None


def said(python: str | Path, program: str) -> str:
    """What a program prints; empty if it fails."""
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def environment(name: str, python: str, wanted: Sequence[str], pins: dict[str, str]) -> Path:
    """The Python of an environment that has what is wanted, in the versions of `pins`.

    An environment that an earlier run left is taken as it is if it was made of the same; without
    pins it is brought up to the newest versions.
    """
    folder = FOLDER / name
    made, described = folder / "made-of.txt", "\n".join([python, *wanted, *map(str, pins.items())])
    found = folder / "bin" / "python"
    if not made.exists() or made.read_text(encoding="utf-8") != described:
        shutil.rmtree(folder, ignore_errors=True)
        called([sys.executable, "-m", "uv", "venv", "--python", python, str(folder)])
    elif pins:
        return found
    constraints = folder / "constraints.txt"
    lines = [f"{package}=={version}\n" for package, version in pins.items()]
    constraints.write_text("".join(lines), encoding="utf-8")
    install = [sys.executable, "-m", "uv", "pip", "install", "--python", str(found)]
    called([*install, *([] if pins else ["--upgrade"]), "--constraint", str(constraints), *wanted])
    made.write_text(described, encoding="utf-8")
    return found


def called(command: Sequence[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
