"""The package with the lowest versions that `pyproject.toml` allows, and with the newest there are,
each in an environment of its own, which runs the tests that touch a dependency."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from pages import ROOT, read

PYTHON = "Programming Language :: Python :: "


def project() -> dict[str, Any]:
    return tomllib.loads(read("pyproject.toml"))["project"]


def pythons() -> list[str]:
    """The versions of Python that the classifiers name, such as 3.11, lowest first."""
    named = [line.removeprefix(PYTHON) for line in project()["classifiers"] if PYTHON in line]
    return sorted(named, key=lambda version: [int(part) for part in version.split(".")])


def requirements(extras: Iterable[str]) -> Iterator[Requirement]:
    """Every dependency of the package with these extras, those of extras within extras too."""
    found = project()
    waiting = [*found["dependencies"]]
    for extra in extras:
        waiting += found["optional-dependencies"][extra]
    while waiting:
        one = Requirement(waiting.pop())
        if one.name != found["name"]:
            yield one
        for extra in one.extras if one.name == found["name"] else ():
            waiting += found["optional-dependencies"][extra]


def lowest(extras: Iterable[str]) -> dict[str, str]:
    """The lowest version of each dependency. Raises ValueError at one without a lower bound."""
    bounds = dict[str, str]()
    for one in requirements(extras):
        found = [limit.version for limit in one.specifier if limit.operator == ">="]
        if len(found) != 1:
            raise ValueError(f"{one}: expected one lower bound (>=), found {len(found)}")
        if bounds.setdefault(one.name, found[0]) != found[0]:
            raise ValueError(f"{one}: another extra has {bounds[one.name]}; give both one bound")
    return bounds


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


# What a user can have beside the rest: not the build of onnxruntime for GPUs, nor Spark, which
# needs Java and has a job of its own.
EXTRAS = ["cpu", "spacy", "data", "sklearn", "trees", "testing", "transformers", "hub"]
# Of `dev`, what the tests below import.
TOOLS = ["conllu", "hypothesis", "tokenizers", "pytest-xdist"]
LOWEST, *LATER = pythons()

TESTS = [
    "tests/bundle/test_golden.py",
    "tests/bundle/test_onnx_gate.py",
    "tests/integrations/test_batches.py",
    "tests/data/test_conllu.py",
    "tests/data/test_nltk.py",
    "tests/data/test_tables.py",
    "tests/export/test_onnx_model.py",
    "tests/bundle/test_remote.py",
    "tests/bundle/test_front_matter.py",
    "tests/integrations/test_doc_bins.py",
    "tests/integrations/test_sklearn.py",
    "tests/integrations/test_spacy.py",
    "tests/integrations/test_spacy_bundle.py",
    "tests/evaluate/test_accuracy.py",
    "tests/bundle/test_weights.py",
    "tests/plugins/test_manager.py",
    "tests/runtime/test_predictor.py",
    "tests/integrations/test_tree_classifier.py",
    "tests/cli/test_cli.py",
    "tests/cli/test_cli_train.py",
    "tests/test_config.py",
    "tests/training/test_calibrate.py",
    "tests/plugins/test_pretrained_encoder.py",
]


def pins() -> dict[str, str]:
    """The lowest versions, of the tools too."""
    tools = {one.name: one for one in requirements(["dev"]) if one.name in TOOLS}
    assert tools.keys() == set(TOOLS)
    found = lowest([*EXTRAS, "dev"])
    return {one.name: found[one.name] for one in [*requirements(EXTRAS), *tools.values()]}


def test_the_lowest_python_is_the_one_that_is_required():
    assert project()["requires-python"] == f">={LOWEST}"


def test_every_dependency_of_every_extra_has_a_lower_bound():
    """One bound where extras are installed together; that of `webgpu` needs a later onnxruntime."""
    extras = project()["optional-dependencies"]
    assert pins().items() <= lowest([*EXTRAS, "dev"]).items()
    for extra in extras:
        assert lowest([extra]).keys() == {one.name for one in requirements([extra])}


@pytest.mark.parametrize(
    ("python", "bounds"), [(LOWEST, True), *((python, False) for python in LATER)]
)
def test_what_touches_a_dependency(python, bounds):
    found = interpreter(python)
    if found is None:
        pytest.skip(f"needs Python {python}: put python{python} on the path")
    wanted = ["-e", f".[{','.join(EXTRAS)}]", *TOOLS]
    kind = "lowest" if bounds else "newest"
    # spaCy 3.7 brings typer-slim, whose files are typer's, whichever is installed last.
    limits = {**pins(), "typer-slim": pins()["typer"]} if bounds else {}
    inside = environment(f"{kind}-{python}", found, wanted, limits)
    program = (
        "import importlib.metadata as m, json, typer; "
        f"print(json.dumps({{n: m.version(n) for n in {list(pins())}}} | "
        "{'typer': typer.__version__}))"
    )
    have = {name: Version(version) for name, version in json.loads(said(inside, program)).items()}
    need = {name: Version(version) for name, version in pins().items()}
    if bounds:
        assert {name: Version(version.public) for name, version in have.items()} == need
    # Packages of years ago use what others have since called deprecated.
    options = ["-W", "ignore::DeprecationWarning", "-W", "ignore::FutureWarning"] if bounds else []
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [inside, "-m", "pytest", "-q", "-rs", *options, *TESTS],
        cwd=ROOT,
        env={**plain, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{kind} on Python {python}\n{done.stdout[-8000:]}{done.stderr}"
