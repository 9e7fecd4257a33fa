"""The checks of `thinstack doctor`: whether the installation and a model work, missing parts, and
the commands that fix them."""

import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Final, Literal

from packaging.requirements import Requirement
from packaging.version import InvalidVersion, Version

from thinstack._onnxruntime import VARIABLE, telemetry
from thinstack._version import __version__
from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.manifest import CASES_FILE
from thinstack.errors import (
    DISTRIBUTIONS,
    DeviceError,
    ThinstackError,
    UnknownNameError,
    described,
    shown,
)
from thinstack.plugins.manager import PluginRecord, manager
from thinstack.runtime.devices import GPUS, RunningDevice
from thinstack.runtime.pool import usable_cores
from thinstack.runtime.reference import check_cases
from thinstack.runtime.session import available_providers

DISTRIBUTION: Final = "thinstack"
EXTRAS: Final = {
    "webgpu": "models on any GPU",
    "spacy": "components for spaCy pipelines",
    "data": "Parquet files and Arrow batches",
    "spark": "Spark DataFrames",
    "sklearn": "scikit-learn pipelines",
    "trees": "NLTK trees",
    "export": "training and export",
    "transformers": "pretrained encoders",
    "hub": "models on the Hugging Face Hub",
    "index": "search in millions of phrases",
}
"""The extras for users of thinstack, and the purpose of each; those for developers are excluded."""
SOURCE: Final = Path(__file__).parents[2]
REINSTALL: Final = "pip install --force-reinstall --no-deps"
RUNTIMES: Final = {"onnxruntime": "cpu", "onnxruntime-gpu": "gpu"}
"""Alternative distributions of one package, and the extra of each."""

Status = Literal["ok", "missing", "wrong"]


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check, on one line. `mend`: the command that fixes it, or "". `needed`:
    whether thinstack requires it to run. `details`: the result as JSON-serializable data."""

    name: str
    status: Status
    found: str
    mend: str = ""
    needed: bool = False
    details: dict[str, Any] = field(default_factory=dict)


def exit_code(checks: Iterable[Check]) -> int:
    """Return 1 if something is wrong or a required package is missing, else 0; ignores extras."""
    return int(any(one.status == "wrong" or (one.status != "ok" and one.needed) for one in checks))


def examine(model: str = "sentiment", *, isolated: bool | None = None) -> Iterator[Check]:
    """Check the installation, then the model with this name or folder. Yields each result as soon
    as it is available. Problems are results and raise no errors. `isolated`: as for `Predictor`."""
    usable = True
    for check in package_checks():
        usable = usable and (check.name != "runtime" or check.status == "ok")
        yield check
    cores = usable_cores()
    details = {"usable": cores, "cores": os.cpu_count()}
    yield Check("threads", "ok", f"{cores} of {os.cpu_count()} cores", details=details)
    if usable:
        providers = available_providers()
        yield Check("providers", "ok", ", ".join(providers), details={"providers": providers})
        yield _telemetry()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the record contains the warning
        records = manager().records()
    yield _plugins(records)
    packages = {one.name: one.distribution for one in records if one.kind == "bundle"}
    mend = f"{REINSTALL} {packages[model]}" if model in packages else ""
    try:
        (bundle := open_bundle(model)).vocabulary()
    except ThinstackError as error:
        listing = "thinstack plugins" if isinstance(error, UnknownNameError) else ""
        yield Check("model", "wrong", str(error), mend or listing)
        return
    yield _model(model, bundle)
    if usable:
        yield from _answers(bundle, mend, isolated)


# -- packages


def package_checks() -> Iterator[Check]:
    """Check thinstack itself, its required packages, a model runtime and each extra."""
    installed = _version(DISTRIBUTION)
    details = {"version": __version__, "installed": installed}
    # thinstack is not on an index: what is imported from a clone is installed from there.
    source = f'"{SOURCE}"' if (SOURCE / "pyproject.toml").is_file() else DISTRIBUTION
    if installed is None:
        problem = f"{__version__}, {SOURCE}, is not installed, and spaCy cannot find its components"
        yield Check("thinstack", "missing", problem, f"pip install {source}", details=details)
    elif installed != __version__:
        problem = f"{__version__} is imported, but {installed} is installed: two installations"
        yield Check("thinstack", "wrong", problem, f"{REINSTALL} {source}", details=details)
    else:
        yield Check("thinstack", "ok", __version__, details=details)
    if installed:
        yield _packages("packages", "", _required(""), needed=True)
    yield _runtime()
    for extra, purpose in EXTRAS.items() if installed else ():
        if required := _required(extra):
            yield _packages(extra, f"{purpose}: ", required)


def _required(extra: str) -> list[Requirement]:
    """Return the requirements that an extra of thinstack adds, or those of every installation if it
    is "", without their markers."""
    chosen = list[Requirement]()
    for requirement in map(Requirement, metadata.requires(DISTRIBUTION) or ()):
        marker, requirement.marker = requirement.marker, None
        if marker.evaluate({"extra": extra}) if marker else not extra:
            chosen.append(requirement)
    return chosen


def _packages(
    name: str, lead: str, required: Iterable[Requirement], *, needed: bool = False
) -> Check:
    states = [(one, *_state(one)) for one in required]
    bad = [(one, status, text) for one, status, text in states if status != "ok"]
    statuses = {status for _, status, _ in bad}
    status: Status = "wrong" if "wrong" in statuses else "missing" if bad else "ok"
    mend = " ".join(["pip install", *(f'"{one}"' for one, *_ in bad)]) if bad else ""
    text = lead + ", ".join(text for *_, text in bad or states)
    details = {one.name: _version(one.name) for one, *_ in states}
    return Check(name, status, text, mend, needed=needed, details=details)


def _state(required: Requirement) -> tuple[Status, str]:
    """Return whether a package can be used, and its name and version, or the problem."""
    imported = {name: package for package, name in DISTRIBUTIONS.items()}
    package = imported.get(required.name, required.name.removesuffix("-gpu").replace("-", "_"))
    version = _version(required.name) or "?"
    named = f"{required.name} {version}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import_module(package)
    except Exception as error:  # a broken installation may raise anything
        if isinstance(error, ModuleNotFoundError) and error.name == package:
            return "missing", f"{required.name} is not installed"
        return "wrong", f"{named}, cannot be imported: {described(error).splitlines()[0]}"
    with suppress(InvalidVersion):
        if not required.specifier.contains(Version(version), prereleases=True):
            return "wrong", f"{named}, expected {required.specifier}"
    return "ok", named


def _runtime() -> Check:
    """Check onnxruntime, by either distribution; installing both overwrites each other's files."""
    names = [name for name in RUNTIMES if _version(name) is not None]
    if len(names) > 1:
        mend = f"pip uninstall -y {' '.join(RUNTIMES)}; pip install onnxruntime-gpu"
        problem = f"{' and '.join(RUNTIMES)} are both installed and overwrite each other"
        return Check("runtime", "wrong", problem, mend, needed=True)
    name = names[0] if names else "onnxruntime"
    installed = _version(DISTRIBUTION) is not None
    required = [one for one in _required(RUNTIMES[name]) if one.name == name] if installed else []
    return _packages("runtime", "", required or [Requirement(name)], needed=True)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


# -- the runtime and the plugins


def _telemetry() -> Check:
    """Check whether onnxruntime reports usage to its vendor."""
    state, value = telemetry(), os.environ.get(VARIABLE, "")
    details = {"state": state, "variable": value}
    if state == "too late":
        detail = f"on: onnxruntime was imported before thinstack could set {VARIABLE}=1"
        mend = f"set {VARIABLE}=1 before Python starts, or import thinstack before onnxruntime"
        return Check("telemetry", "missing", detail, mend, details=details)
    why = " (1, true, yes, on and y turn it off)" if state == "on" else ""
    return Check("telemetry", "ok", f"{state}, {VARIABLE} is {shown(value)}{why}", details=details)


def _plugins(records: list[PluginRecord]) -> Check:
    failed = [record for record in records if record.status == "failed"]
    owners = sorted({record.distribution for record in failed or records} - {DISTRIBUTION})
    if failed:
        detail = "; ".join(map(str, failed))
        details = {record.name: record.error for record in failed}
        mend = f"pip install --upgrade {' '.join(owners)}" if owners else f"{REINSTALL} thinstack"
        return Check("plugins", "wrong", detail, mend, details=details)
    count = sum(record.status == "ok" for record in records)
    detail = f"{count} from {', '.join([DISTRIBUTION, *owners])}"
    return Check("plugins", "ok", detail, details={"count": count, "distributions": owners})


# -- the model


def _model(name: str, bundle: Bundle) -> Check:
    manifest = bundle.manifest
    size = sum(record.size for record in manifest.files.values())
    producer = f"{manifest.producer.name} {manifest.producer.version}"
    detail = f"{name}: {size / 1e6:.1f} MB, digest {manifest.digest[:12]}, written by {producer}"
    details = {
        "path": str(bundle.path),
        "digest": manifest.digest,
        "bytes": size,
        "producer": producer,
        "schema_version": manifest.schema_version,
        "labels": list(bundle.config.labels),
    }
    return Check("model", "ok", detail, details=details)


def _answers(bundle: Bundle, mend: str, isolated: bool | None) -> Iterator[Check]:
    """Check the scores of the model on each device with an installed provider."""
    if CASES_FILE not in bundle.manifest.files:
        detail = f"the bundle has no {CASES_FILE}, so its scores cannot be checked"
        yield Check("prediction", "missing", detail)
        return
    providers = available_providers()
    devices = [gpu for gpu in GPUS if gpu.provider in providers or gpu.has_plugin()]
    yield _prediction("prediction", bundle, "cpu", mend, isolated)
    for gpu in devices:
        yield _prediction(gpu.title, bundle, gpu.name, gpu.mend, isolated)


def _prediction(
    name: str, bundle: Bundle, device: RunningDevice, mend: str, isolated: bool | None
) -> Check:
    """Check the scores of the model on its reference cases. A GPU that does not work on a machine
    is not an error of the installation."""
    try:
        agreement = check_cases(bundle, device=device, isolated=isolated)
    except ThinstackError as error:
        status: Status = "missing" if isinstance(error, DeviceError) else "wrong"
        return Check(name, status, str(error), mend)
    _, compared, largest, mean, allowed, rough = agreement
    what = f"{mean:.0e} on average" if rough else f"{largest:.0e} at most"
    detail = f"{compared} reference cases, scores differ by {what} (tolerance {allowed:.0e})"
    details = agreement._asdict()
    if agreement.holds:
        return Check(name, "ok", detail, details=details)
    return Check(name, "wrong", f"{detail}: the scores are wrong", mend, details=details)
