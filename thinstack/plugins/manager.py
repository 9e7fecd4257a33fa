"""The registry of plugins, with a pluggy hook for each kind. A broken plugin is skipped and its
error recorded; the others still work."""

import logging
import os
import re
import textwrap
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module, metadata
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Literal

import pluggy

from thinstack._version import __version__
from thinstack.errors import (
    MissingExtraError,
    PluginError,
    UnknownNameError,
    described,
    raised_by_signal_handler,
)
from thinstack.plugins.kinds import HOOKS, KINDS, PROJECT
from thinstack.plugins.specs import AnySpec, Spec, specs_of

BLOCK_VARIABLE = "THINSTACK_BLOCK_PLUGINS"
"""Environment variable: entry points or distributions not to import, separated by commas."""

LICENCES = ("License-Expression", "License")  # fields of a distribution's metadata
Status = Literal["ok", "failed", "blocked", "unavailable"]

log = logging.getLogger(__name__)


class PluginWarning(UserWarning):
    """A plugin is broken and was skipped. The others work."""


@dataclass(frozen=True, slots=True)
class PluginRecord:
    """The outcome of loading one plugin, or an entry point that provided none."""

    name: str  # of the plugin, or of the entry point
    kind: str  # the name of the plugin's kind, or `plugin` for an entry point
    distribution: str  # the installed distribution that contains it
    version: str  # of that distribution
    status: Status = "ok"  # blocked: by THINSTACK_BLOCK_PLUGINS; unavailable: without torch
    error: str | None = None  # why it is not `ok`
    licence: str = ""  # in the distribution's metadata
    summary: str = ""  # a description in one line, if it is `ok`

    def __str__(self) -> str:
        origin = f"{self.kind} {self.name!r} of {self.distribution} {self.version}"
        return f"{origin} was left out: {self.error}" if self.error else origin


@dataclass(slots=True, eq=False)
class Source:
    """An entry point or a built-in module, the kinds that it may provide, and its plugins."""

    about: PluginRecord
    load: Callable[[], object]
    kinds: Collection[str]
    builtin: bool = False
    loaded: bool = False
    specs: list[AnySpec] = field(default_factory=list)
    failures: list[PluginRecord] = field(default_factory=list)

    def __str__(self) -> str:
        origin = "built in" if self.builtin else f"entry point {self.about.name!r}"
        return f"{self.about.distribution} {self.about.version} ({origin})"

    @contextmanager
    def recording(self, doing: str) -> Iterator[None]:
        """Record an error of any type, except Ctrl-C."""
        try:
            yield
        except BaseException as error:
            if raised_by_signal_handler(error):
                raise
            log.debug("plugin of %s, %s", self, doing, exc_info=error)
            if isinstance(error, ModuleNotFoundError) and error.name == "torch":
                self.leave_out("unavailable", str(MissingExtraError("torch", "train")))
            else:
                self.leave_out("failed", f"{doing}: {described(error)}".replace("\n", " "))

    def leave_out(self, status: Status, error: str) -> None:
        self.failures.append(replace(self.about, status=status, error=error))


class PluginManager:
    """All plugins: built-in ones, then those of the entry points `thinstack`, sorted by
    distribution and name.

    Looking up a plugin imports only modules that may provide its kind, so that readers and bundles
    do not import torch. Each failure becomes a record and one PluginWarning.

    Args:
        builtins: modules of built-in plugins, by default those of the table of kinds.
        entry_points: the other plugins, by default those of all installed distributions.
        blocked: entry points or distributions to skip, by default those in THINSTACK_BLOCK_PLUGINS.
    """

    def __init__(
        self,
        *,
        builtins: Iterable[str] | None = None,
        entry_points: Iterable[metadata.EntryPoint] | None = None,
        blocked: Iterable[str] | None = None,
    ):
        if builtins is None:
            builtins = [name for kind in KINDS for name in builtin_modules(kind)]
        if entry_points is None:
            entry_points = metadata.entry_points(group=PROJECT)
        if blocked is None:
            blocked = os.environ.get(BLOCK_VARIABLE, "").split(",")
        names = [name.strip() for name in blocked]
        self._blocked = {*names, *map(_normal, names)}
        self._sources = [*map(_builtin, builtins), *sorted(map(_installed, entry_points), key=str)]
        self._found: dict[str, list[tuple[AnySpec, Source]]] = {}
        self._pluggy = pluggy.PluginManager(PROJECT)
        hookspec = pluggy.HookspecMarker(PROJECT)
        hooks = {hook: hookspec(lambda: None) for hook in HOOKS}
        self._pluggy.add_hookspecs(type("Hooks", (), hooks))

    def find(self, kind: str, name: str) -> Any:
        """Return the plugin of this kind and name: a Spec, or a BundleSpec for a bundle. The kinds
        are in `thinstack.plugins.kinds`.

        Raises UnknownNameError, which lists the known names and the skipped plugins. Raises
        PluginError if two plugins provide it, and for a bundle whose folder is missing. Raises
        MissingExtraError for an unknown name if plugins of this kind could not be loaded without
        torch.
        """
        provided = self._provided(kind)
        for spec, source in provided:
            if spec.name == name:
                if self._fault(spec, source):
                    raise PluginError(str(self._record(spec, source)))
                return spec
        sources = [source for source in self._sources if kind in source.kinds]
        failures = [record for source in sources for record in source.failures]
        if KINDS[kind].needs_torch and any(record.status == "unavailable" for record in failures):
            raise MissingExtraError("torch", "train")
        raise UnknownNameError(kind, name, {spec.name for spec, _ in provided}, map(str, failures))

    def specs(self, kind: str) -> list[Any]:
        """Return all plugins of this kind, in the order of loading, even if names are equal."""
        return [spec for spec, _ in self._provided(kind)]

    def records(self) -> list[PluginRecord]:
        """Import all plugins, and return the outcomes in the order of loading."""
        for kind in KINDS:
            self._provided(kind)
        records: list[PluginRecord] = []
        for source in self._sources:
            outcomes = [*(self._record(spec, source) for spec in source.specs), *source.failures]
            records += outcomes or [source.about]
        return records

    def _provided(self, kind: str) -> list[tuple[AnySpec, Source]]:
        """Return all plugins of this kind with their sources, and warn of failures, once."""
        if kind not in self._found:
            failures = []
            for source in self._sources:
                if kind in source.kinds and not source.loaded:
                    # A plugin's filters must not affect the warning of a failure.
                    with nullcontext() if source.builtin else warnings.catch_warnings():
                        self._collect(source)
                    failures += source.failures
            pairs = ((spec, source) for source in self._sources for spec in source.specs)
            self._found[kind] = [(spec, source) for spec, source in pairs if spec.kind == kind]
            failures += [self._record(*provided) for provided in self._found[kind]]
            for record in failures:
                if record.status == "failed":
                    warnings.warn(str(record), PluginWarning, stacklevel=3)
        return self._found[kind]

    def _collect(self, source: Source) -> None:
        """Import one source, and call its hooks separately: if one raises, the others work."""
        source.loaded, about = True, source.about
        names = {about.name, _normal(about.distribution)}
        if not (source.builtin or names.isdisjoint(self._blocked)):
            source.leave_out("blocked", f"blocked by {BLOCK_VARIABLE}")
            return
        with source.recording("on import"):
            plugin = source.load()
            if not isinstance(plugin, ModuleType):
                source.specs.append(Spec(getattr(plugin, "plugin_kind", None), plugin))
                return
            for hook in self._register(plugin):
                others = self._pluggy.get_plugins() - {plugin}
                call = self._pluggy.subset_hook_caller(hook, others)
                with source.recording(f"in hook {hook}"):
                    for provided in call() or [None]:  # pluggy omits a None
                        source.specs += specs_of(HOOKS[hook], provided)

    def _register(self, module: ModuleType) -> list[str]:
        """Return the hooks of a module. Raises PluginError for mistakes that pluggy ignores."""
        if not self._pluggy.is_registered(module):  # another entry point may also name it
            self._pluggy.register(module)
        try:
            self._pluggy.check_pending()
        except pluggy.PluginValidationError:
            self._pluggy.unregister(module)
            raise
        hooks = {caller.name for caller in self._pluggy.get_hookcallers(module) or ()}
        bare = [hook for hook in HOOKS if hook not in hooks and callable(vars(module).get(hook))]
        if bare or not hooks:
            lacking = ", ".join(bare) or f"no hook found (one of {', '.join(HOOKS)})"
            raise PluginError(f"{lacking}: add the decorator @thinstack.plugins.hookimpl")
        return [hook for hook in HOOKS if hook in hooks]

    def _record(self, spec: AnySpec, source: Source) -> PluginRecord:
        about = replace(source.about, name=spec.name, kind=spec.kind)
        if (fault := self._fault(spec, source)) is None:
            return replace(about, summary=spec.summary)
        return replace(about, status="failed", error=fault)

    def _fault(self, spec: AnySpec, source: Source) -> str | None:
        """Return why a plugin cannot be used. Its name must be unique, unless it is built in."""
        rivals = [other for rival, other in self._provided(spec.kind) if rival.name == spec.name]
        if source.builtin or len(rivals) == 1:
            return spec.fault
        providers = " and by ".join(map(str, rivals))
        return f"provided by {providers}: uninstall one, or block it with {BLOCK_VARIABLE}"


@cache
def manager() -> PluginManager:
    """Return the plugin manager of this process."""
    return PluginManager()


def builtin_modules(kind: str) -> list[str]:
    """Return the names of the modules of built-in plugins of this kind."""
    place = KINDS[kind].builtins
    if (spec := find_spec(place)) is None:
        return []
    modules = (module.name for module in iter_modules(spec.submodule_search_locations or ()))
    return [f"{place}.{name}" for name in modules if not name.startswith("_")] or [place]


def _builtin(module: str) -> Source:
    folder, _, name = module.rpartition(".")
    kinds = [kind.name for kind in KINDS.values() if kind.builtins in (module, folder)]
    about = PluginRecord(name, "plugin", "thinstack", __version__)
    return Source(about, partial(_plugin_of, module), kinds or list(KINDS), builtin=True)


def _plugin_of(module: str) -> object:
    """Return the plugin that a built-in module or folder defines, or the module if it has hooks."""
    loaded = import_module(module)
    plugins = [
        value
        for value in vars(loaded).values()
        if hasattr(value, "plugin_kind") and hasattr(value, "name")
        if value.__module__.startswith(module)
    ]
    return plugins[0] if len(plugins) == 1 else loaded


def _installed(entry_point: metadata.EntryPoint) -> Source:
    kinds = [kind for kind in KINDS if kind != "bundle" or not entry_point.attr]
    stated = entry_point.dist.metadata if entry_point.dist else {"Name": "", "Version": ""}
    name, version = stated["Name"] or "unknown", stated["Version"] or "unknown"
    licence = next((stated[key] for key in LICENCES if key in stated), "")
    shortened = textwrap.shorten(licence, 40, placeholder=" ...")
    about = PluginRecord(entry_point.name, "plugin", name, version, licence=shortened)
    return Source(about, entry_point.load, kinds)


def _normal(distribution: str) -> str:
    """Normalize the name of a distribution as in PEP 503."""
    return re.sub(r"[-_.]+", "-", distribution).lower()
