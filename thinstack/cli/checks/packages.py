"""The result of a check, and the checks that the packages that thinstack needs are installed,
recent enough, and importable."""

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module, metadata
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from thinstack._version import __version__
from thinstack.errors import DISTRIBUTIONS, described

DISTRIBUTION: Final = "thinstack"
EXTRAS: Final = {
    "webgpu": "models on any GPU",
    "spacy": "components of spaCy pipelines",
    "data": "parquet files and Arrow batches",
    "spark": "DataFrames of Spark",
    "sklearn": "pipelines of scikit-learn",
    "trees": "trees of NLTK",
    "export": "training and export",
    "transformers": "encoders of words in context",
    "hub": "models of the Hugging Face hub",
}
"""The extras for those who use thinstack, and what each is for; those for its developers are not
looked at."""
SOURCE: Final = Path(__file__).parents[3]
RUNTIMES: Final = ("onnxruntime", "onnxruntime-gpu")
"""Distributions of one package, of which one is needed."""

_LINE = re.compile(r"([\w.-]+)\s*(\[[^]]*\])?\s*([^;]*?)\s*(?:;.*extra == ['\"](.+?)['\"].*)?")
_IMPORTED = {name: package for package, name in DISTRIBUTIONS.items()}

Status = Literal["ok", "missing", "wrong"]


@dataclass(frozen=True, slots=True)
class Check:
    """What was checked, and what was found, in one line. `mend` is the command that fixes it, or
    "". thinstack cannot run without what is `needed`. `details` is the result as data for JSON."""

    name: str
    status: Status
    found: str
    mend: str = ""
    needed: bool = False
    details: dict[str, Any] = field(default_factory=dict)


def exit_code(checks: Iterable[Check]) -> int:
    """1 if something is wrong or a needed package is missing, else 0. Missing extras are fine."""
    return int(any(one.status == "wrong" or (one.status != "ok" and one.needed) for one in checks))


class Requirement(NamedTuple):
    """A requirement in thinstack's metadata: the distribution, its extras with brackets, the
    versions, and the extra of thinstack that needs it. The last is None if it is always needed."""

    name: str
    extras: str
    versions: str
    extra: str | None

    @property
    def package(self) -> str:
        """The name that is imported."""
        return _IMPORTED.get(self.name, self.name.removesuffix("-gpu").replace("-", "_"))

    def __str__(self) -> str:
        return f"{self.name}{self.extras}{self.versions}"


class Found(NamedTuple):
    """What was found for a requirement: the version, or None if it is not installed; and a problem,
    if it cannot be used."""

    required: Requirement
    version: str | None
    problem: str = ""

    def __str__(self) -> str:
        said = f"{self.required.name} {self.version or 'is not installed'}"
        return f"{said}, {self.problem}" if self.problem else said


def package_checks() -> Iterator[Check]:
    """Checks of thinstack itself, the packages that it always needs, a model runtime and each
    extra."""
    try:
        installed, lines = metadata.version(DISTRIBUTION), metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        problem = f"{__version__}, {SOURCE}, is not installed: spaCy does not find its components"
        yield Check("thinstack", "missing", problem, f'pip install "{SOURCE}"')
        yield _runtime([Requirement(RUNTIMES[0], "", "", "cpu")])
        return
    details = {"version": __version__, "installed": installed}
    if installed != __version__:
        problem = f"{__version__} is imported, but {installed} is installed: two installations"
        # thinstack is on no index: what is imported from a clone is installed from there.
        what = f'"{SOURCE}"' if (SOURCE / "pyproject.toml").is_file() else DISTRIBUTION
        mend = f"pip install --force-reinstall --no-deps {what}"
        yield Check("thinstack", "wrong", problem, mend, details=details)
    else:
        yield Check("thinstack", "ok", __version__, details=details)
    required = list(_requirements(lines))
    always = [one for one in required if one.extra is None]
    yield _check("packages", "", always, needed=True)
    yield _runtime([one for one in required if one.name in RUNTIMES])
    for extra, purpose in EXTRAS.items():
        if own := [one for one in required if one.extra == extra]:
            yield _check(extra, f"{purpose}: ", own, needed=False)


def _requirements(lines: Iterable[str]) -> Iterator[Requirement]:
    for line in lines:
        if parts := _LINE.fullmatch(line):
            name, extras, versions, extra = parts.groups()
            yield Requirement(name, extras or "", versions, extra)


def _check(name: str, lead: str, required: Iterable[Requirement], *, needed: bool) -> Check:
    packages = [_look(one) for one in required]
    details = {one.required.name: one.version for one in packages}
    bad = [one for one in packages if one.version is None or one.problem]
    if not bad:
        shown = ", ".join(map(str, packages))
        return Check(name, "ok", f"{lead}{shown}", needed=needed, details=details)
    mend = " ".join(["pip install", *(f'"{one.required}"' for one in bad)])
    shown = ", ".join(map(str, bad))
    status: Status = "wrong" if any(one.version for one in bad) else "missing"
    return Check(name, status, f"{lead}{shown}", mend, needed=needed, details=details)


def _runtime(either: Iterable[Requirement]) -> Check:
    """onnxruntime, by whichever distribution; two of them overwrite each other's files."""
    known = {one.name: one for one in either if one.extra in ("cpu", "gpu")}
    there = [one for name, one in known.items() if _version(name) is not None]
    if len(there) > 1:
        names = " and ".join(one.name for one in there)
        mend = f"pip uninstall -y {' '.join(RUNTIMES)}; pip install {RUNTIMES[1]}"
        problem = f"{names} are both installed, and write the same files"
        return Check("runtime", "wrong", problem, mend, needed=True)
    taken = there or [one for one in known.values() if one.extra == "cpu"]
    return _check("runtime", "", taken, needed=True)


def _look(required: Requirement) -> Found:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import_module(required.package)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == required.package:
            return Found(required, None)
        return Found(required, _version(required.name) or "?", f"lacks {error.name}")
    except Exception as error:  # whatever a broken installation raises
        lines = described(error).splitlines()
        return Found(required, _version(required.name) or "?", f"cannot be imported: {lines[0]}")
    version = _version(required.name) or "?"
    least = re.fullmatch(r"(?:.*,)?>=([\d.]+)(?:,.*)?", required.versions)
    if least and not _reaches(version, least[1]):
        return Found(required, version, f"expected {required.versions}")
    return Found(required, version)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _reaches(version: str, least: str) -> bool:
    """Whether a version, such as 2.13.0+cpu, is at least this one. One that cannot be read is."""
    release = re.match(r"\d+(\.\d+)*", version)
    if release is None:
        return True
    pairs = zip_longest(release[0].split("."), least.split("."), fillvalue="0")
    own, wanted = zip(*(map(int, pair) for pair in pairs), strict=True)
    return own >= wanted
