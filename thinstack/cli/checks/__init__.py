"""The checks of `thinstack doctor`: whether this installation and a model work here, what is
missing, and the command that fixes it."""

import os
import warnings
from collections.abc import Iterator

from thinstack._onnxruntime import VARIABLE, telemetry
from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.manifest import CASES_FILE
from thinstack.cli.checks.packages import DISTRIBUTION, Check, package_checks
from thinstack.errors import DeviceError, ThinstackError, UnknownNameError, shown
from thinstack.plugins.manager import PluginRecord, manager
from thinstack.runtime.devices import GPUS, RunningDevice
from thinstack.runtime.pool import usable_cores
from thinstack.runtime.reference import check_cases
from thinstack.runtime.session import available_providers

REINSTALL = "pip install --force-reinstall --no-deps"


def examine(model: str = "sentiment", *, isolated: bool | None = None) -> Iterator[Check]:
    """Check the installation, then the model of this name or folder. Gives each result as soon as
    it is known. A problem is a result too: no error is raised. `isolated` is as `Predictor` has
    it."""
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
        warnings.simplefilter("ignore")  # a record tells what the warning would
        records = manager().records()
    yield _plugins(records)
    try:
        (bundle := open_bundle(model)).vocabulary()
    except ThinstackError as error:
        listing = "thinstack plugins" if isinstance(error, UnknownNameError) else ""
        yield Check("model", "wrong", str(error), _mend(model, records) or listing)
        return
    yield _model(model, bundle)
    if usable:
        yield from _answers(model, bundle, records, isolated)


def _telemetry() -> Check:
    """Whether onnxruntime tells its maker what runs here."""
    state, given = telemetry(), os.environ.get(VARIABLE, "")
    details = {"state": state, "variable": given}
    if state == "too late":
        detail = f"on: onnxruntime was imported before thinstack could set {VARIABLE}=1"
        mend = f"set {VARIABLE}=1 before Python starts, or import thinstack before onnxruntime"
        return Check("telemetry", "missing", detail, mend, details=details)
    why = " (1, true, yes, on and y turn it off)" if state == "on" else ""
    return Check("telemetry", "ok", f"{state}, {VARIABLE} is {shown(given)}{why}", details=details)


def _plugins(records: list[PluginRecord]) -> Check:
    failed = [record for record in records if record.status == "failed"]
    if failed:
        owners = sorted({record.distribution for record in failed})
        detail = "; ".join(map(str, failed))
        details = {record.name: record.error for record in failed}
        command = REINSTALL if owners == [DISTRIBUTION] else "pip install --upgrade"
        return Check("plugins", "wrong", detail, f"{command} {' '.join(owners)}", details=details)
    owners = sorted({record.distribution for record in records} - {DISTRIBUTION})
    count = sum(record.status == "ok" for record in records)
    detail = f"{count} of {', '.join([DISTRIBUTION, *owners])}"
    return Check("plugins", "ok", detail, details={"count": count, "distributions": owners})


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


def _answers(
    name: str, bundle: Bundle, records: list[PluginRecord], isolated: bool | None
) -> Iterator[Check]:
    """Whether the model answers as it should, on each device that a provider is installed for."""
    if CASES_FILE not in bundle.manifest.files:
        detail = f"the bundle has no {CASES_FILE}, so its answers cannot be checked"
        yield Check("prediction", "missing", detail)
        return
    providers = available_providers()
    devices = [gpu for gpu in GPUS if gpu.provider in providers or gpu.has_plugin()]
    yield _prediction("prediction", bundle, "cpu", _mend(name, records), isolated)
    for gpu in devices:
        yield _prediction(gpu.title, bundle, gpu.name, gpu.mend, isolated)


def _prediction(
    name: str, bundle: Bundle, device: RunningDevice, mend: str, isolated: bool | None
) -> Check:
    """Whether the model answers as its reference cases say. That a GPU does not work on a machine
    is no fault of the installation."""
    try:
        agreement = check_cases(bundle, device=device, isolated=isolated)
    except DeviceError as error:
        return Check(name, "missing", str(error), mend)
    except ThinstackError as error:
        return Check(name, "wrong", str(error), mend)
    _, compared, largest, mean, allowed, rough = agreement
    what = f"{mean:.0e} on average" if rough else f"{largest:.0e} at most"
    detail = f"{compared} reference cases, scores differ by {what}, allowed {allowed:.0e}"
    details = agreement._asdict()
    if agreement.holds:
        return Check(name, "ok", detail, details=details)
    return Check(name, "wrong", f"{detail}: the answers are wrong", mend, details=details)


def _mend(name: str, records: list[PluginRecord]) -> str:
    """The command that installs the package of a named model again; "" for a folder."""
    owners = {one.name: one.distribution for one in records if one.kind == "bundle"}
    return f"{REINSTALL} {owners[name]}" if name in owners else ""
