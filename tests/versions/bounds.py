"""What `pyproject.toml` says is enough: the lowest version of every dependency, and the Pythons."""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PYTHON = "Programming Language :: Python :: "


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


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
