"""What `thinstack doctor` says of packages, by metadata and modules that the tests make."""

import sys
import tomllib
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

from thinstack import __version__
from thinstack.cli.checks import EXTRAS, package_checks

REQUIRED = [
    "numpyish>=1.26",
    "runtime-less; extra == 'cpu'",
    "onnxruntime>=1.18 ; extra == 'cpu'",
    'onnxruntime-gpu>=1.18; extra == "gpu"',
    "sparkly[sql]>=4.0; extra == 'spark'",
    "arrowish>=16; extra == 'spark'",
    "scikit-learn>=1.4; (python_version > '3') and extra == 'export'",
    "pytest>=8; extra == 'testing'",
]


@pytest.fixture
def install(monkeypatch):
    """Say which distributions there are, with their versions, and which packages."""
    versions = {}

    def version(name):
        if name in versions:
            return versions[name]
        raise metadata.PackageNotFoundError(name)

    def given(*packages, **found):
        versions.clear()
        named = {name.replace("_", "-"): value for name, value in found.items()}
        versions.update({"thinstack": __version__} | named)
        for name in ("numpyish", "onnxruntime", "sparkly", "arrowish", "sklearn"):
            there = ModuleType(name) if name in packages else None
            monkeypatch.setitem(sys.modules, name, there)

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(metadata, "requires", lambda name: REQUIRED)
    return given


def checks():
    return {one.name: one for one in package_checks()}


ALL = ("numpyish", "onnxruntime", "sparkly", "arrowish", "sklearn")


def test_all_is_there(install):
    versions = {"numpyish": "2.0", "onnxruntime": "1.31.1", "sparkly": "4.0.1rc1"}
    install(*ALL, **versions, arrowish="16", scikit_learn="1.10+cpu")
    found = checks()
    # The extra for developers is not among them.
    assert list(found) == ["thinstack", "packages", "runtime", "spark", "export"]
    assert {one.status for one in found.values()} == {"ok"}
    assert found["export"].details == {"scikit-learn": "1.10+cpu"}
    assert found["runtime"].found == "onnxruntime 1.31.1"


def test_an_extra_that_is_missing_is_told_with_its_command(install):
    install("numpyish", "onnxruntime", "arrowish", numpyish="2", onnxruntime="2", arrowish="20")
    spark = checks()["spark"]
    assert (spark.status, spark.needed) == ("missing", False)
    assert spark.found == "Spark DataFrames: sparkly is not installed"
    assert spark.mend == 'pip install "sparkly[sql]>=4.0"'
    assert checks()["export"].mend == 'pip install "scikit-learn>=1.4"'


def test_what_is_needed_and_missing_is_told_as_such(install):
    install()
    found = checks()
    missing = {name for name, one in found.items() if one.needed and one.status == "missing"}
    assert missing == {"packages", "runtime"}
    assert found["runtime"].mend == 'pip install "onnxruntime>=1.18"'


@pytest.mark.parametrize(
    ("version", "status"),
    [("15.9.9", "wrong"), ("16", "ok"), ("16.0", "ok"), ("9.1", "wrong"), ("odd", "ok")],
)
def test_one_that_is_too_old_is_wrong(install, version, status):
    install(*ALL, numpyish="2", onnxruntime="2", sparkly="4.0", arrowish=version)
    spark = checks()["spark"]
    assert spark.status == status
    assert ("arrowish" in spark.mend) == (status == "wrong")


def test_either_runtime_will_do_but_not_both(install):
    install(*ALL, numpyish="2", onnxruntime_gpu="1.20")
    assert checks()["runtime"].found == "onnxruntime-gpu 1.20"
    assert checks()["runtime"].status == "ok"
    install(*ALL, numpyish="2", onnxruntime_gpu="1.20", onnxruntime="1.20")
    both = checks()["runtime"]
    assert (both.status, both.needed) == ("wrong", True)
    expected = "pip uninstall -y onnxruntime onnxruntime-gpu; pip install onnxruntime-gpu"
    assert both.mend == expected


def test_one_that_is_broken_is_wrong(install, tmp_path, monkeypatch):
    install("numpyish", "onnxruntime", numpyish="2", onnxruntime="2", sparkly="5", arrowish="20")
    for name, code in (("sparkly", "import nowhere_at_all"), ("arrowish", "1 / 0")):
        monkeypatch.delitem(sys.modules, name)
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    spark = checks()["spark"]
    assert spark.status == "wrong"
    assert "sparkly 5, cannot be imported: ModuleNotFoundError: No module named" in spark.found
    assert "arrowish 20, cannot be imported: ZeroDivisionError: division by zero" in spark.found


def test_two_installations_and_none(install, monkeypatch):
    install(*ALL, numpyish="2", onnxruntime="2", thinstack="0.0.1")
    assert checks()["thinstack"].status == "wrong"
    assert "0.0.1 is installed" in checks()["thinstack"].found
    install(*ALL, onnxruntime="2")
    monkeypatch.setattr(metadata, "version", lambda name: metadata.distribution("no " + name))
    found = checks()
    assert list(found) == ["thinstack", "runtime"]
    assert (found["thinstack"].status, found["runtime"].status) == ("missing", "ok")


def test_the_extras_are_those_of_the_project():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    extras = set(project["project"]["optional-dependencies"])
    assert set(EXTRAS) <= extras
    # Of developers, and parts of others.
    others = "cpu gpu train testing docs dev"
    assert extras - set(EXTRAS) == set(others.split())
