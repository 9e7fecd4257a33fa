"""Finds what all installed plugins provide. A broken plugin is recorded and reported, and the
others still work."""

import os
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from functools import cache, partial
from importlib import import_module, metadata
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

from thinstack._version import __version__
from thinstack.errors import MissingExtraError, PluginError, UnknownNameError
from thinstack.plugins.isolation import AnySpec, Source, collect
from thinstack.plugins.isolation import PluginRecord as PluginRecord
from thinstack.plugins.kinds import KINDS
from thinstack.plugins.specs import BundleSpec

GROUP = "thinstack"
"""Entry-point group of plugins."""

BLOCK_VARIABLE = "THINSTACK_BLOCK_PLUGINS"
"""Environment variable: the names of the plugins that must not be imported, separated by commas. A
name is that of an entry point or of a distribution."""

LICENCES = ("License-Expression", "License")  # fields of a distribution's metadata


class PluginWarning(UserWarning):
    """A plugin is broken. It was left out, and the others work."""


class PluginManager:
    """All plugins: built-in ones, and those of the entry points of the group `thinstack`.

    Looking up a plugin imports only what may provide one of its kind. So a reader or a bundle comes
    without torch, unless an installed plugin imports it. Built-in plugins come first, then the
    others, sorted by distribution and name. Each failure becomes a record and one PluginWarning.

    Args:
        builtins: module names of the built-in plugins; by default, as the table of kinds says.
        entry_points: the other plugins; by default, of all installed distributions.
        blocked: names of entry points or distributions to leave out; by default, as
            THINSTACK_BLOCK_PLUGINS says.
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
            entry_points = metadata.entry_points(group=GROUP)
        if blocked is None:
            blocked = os.environ.get(BLOCK_VARIABLE, "").split(",")
        self._blocked = {name.strip() for name in blocked}
        others = sorted(map(_installed, entry_points), key=lambda s: (s.distribution, s.name))
        self._sources = [*map(_builtin, builtins), *others]
        self._loaded: dict[Source, tuple[list[AnySpec], list[PluginRecord]]] = {}
        self._complete: set[str] = set()

    def find(self, kind: str, name: str) -> Any:
        """The plugin of this kind and name: a Spec, or a BundleSpec for a bundle. The kinds are in
        `thinstack.plugins.kinds`.

        Raises UnknownNameError, which lists the known names and the plugins that were left out.
        Raises PluginError if two plugins provide it, and for a bundle whose folder is missing.
        Raises MissingExtraError for an unknown name of a kind that needs torch, if some plugins
        could not be loaded without torch.
        """
        self._load(kind)
        for spec, source in self._provided(kind):
            if spec.name == name:
                if (fault := self._fault(spec, source)) is not None:
                    raise PluginError(fault)
                return spec
        sources = [source for source in self._sources if kind in source.kinds]
        records = [record for source in sources for record in self._loaded[source][1]]
        if KINDS[kind].needs_torch and any(record.status == "unavailable" for record in records):
            raise MissingExtraError("torch", "train")
        left_out = [str(record) for record in records if record.error]
        raise UnknownNameError(kind, name, {spec.name for spec in self.specs(kind)}, left_out)

    def specs(self, kind: str) -> list[Any]:
        """All plugins of this kind, in the order of loading, even if two have one name."""
        self._load(kind)
        return [spec for spec, _ in self._provided(kind)]

    def records(self) -> list[PluginRecord]:
        """The outcome of loading each plugin, in the order of loading. This imports all plugins."""
        for kind in KINDS:
            self._load(kind)
        records: list[PluginRecord] = []
        for source in self._sources:
            specs, failures = self._loaded[source]
            outcomes = [*(self._record(spec, source) for spec in specs), *failures]
            records += outcomes if outcomes or source.builtin else [source.record("ok")]
        return records

    def _load(self, kind: str) -> None:
        """Import what may provide plugins of this kind, and warn of each failure once."""
        if kind in self._complete:
            return
        self._complete.add(kind)
        failures = []
        for source in self._sources:
            if source not in self._loaded and kind in source.kinds:
                self._loaded[source] = _collect(source, self._blocked)
                failures += self._loaded[source][1]
        failures += [self._record(spec, source) for spec, source in self._provided(kind)]
        for record in failures:
            if record.status == "failed":
                warnings.warn(str(record), PluginWarning, stacklevel=4)

    def _provided(self, kind: str) -> Iterator[tuple[AnySpec, Source]]:
        """What the loaded sources provide of this kind, in their order."""
        for source in self._sources:
            for spec in self._loaded.get(source, ([], []))[0]:
                if spec.kind == kind:
                    yield spec, source

    def _record(self, spec: AnySpec, source: Source) -> PluginRecord:
        fault = self._fault(spec, source)
        return source.record("ok" if fault is None else "failed", fault, spec=spec)

    def _fault(self, spec: AnySpec, source: Source) -> str | None:
        """Why a plugin cannot be used, if so. A built-in plugin keeps its name; any other name of
        two plugins is nobody's. A bundle may have lost its folder."""
        kind, name = spec.kind, spec.name
        sources = [source for each, source in self._provided(kind) if each.name == name]
        if source.builtin or len(sources) == 1:
            missing = spec.missing() if isinstance(spec, BundleSpec) else None
            return None if missing is None else f"{kind} {name!r} of {source}: {missing}"
        return (
            f"{kind} {name!r} is provided by {' and by '.join(map(str, sources))}: uninstall one, "
            f"or block it with {BLOCK_VARIABLE}"
        )


@cache
def manager() -> PluginManager:
    """The plugin manager of this process."""
    return PluginManager()


def builtin_modules(kind: str) -> list[str]:
    """Names of the modules of built-in plugins of this kind."""
    place = KINDS[kind].builtins
    if (spec := find_spec(place)) is None:
        return []
    modules = (module.name for module in iter_modules(spec.submodule_search_locations or ()))
    return [f"{place}.{name}" for name in modules if not name.startswith("_")] or [place]


def _builtin(module: str) -> Source:
    places = {kind.builtins: kind.name for kind in KINDS.values()}
    folder, _, name = module.rpartition(".")
    kind = places.get(module, places.get(folder))
    kinds = tuple(KINDS) if kind is None else (kind,)
    load = partial(_class_of, module)
    return Source(name, "thinstack", __version__, load, kinds=kinds, builtin=True)


def _class_of(module: str) -> object:
    """The plugin that a built-in module defines, else the module itself, for its hooks."""
    loaded = import_module(module)
    public = [getattr(loaded, name) for name in getattr(loaded, "__all__", ())]
    return next((each for each in public if hasattr(each, "plugin_kind")), loaded)


def _installed(entry_point: metadata.EntryPoint) -> Source:
    kinds = [kind for kind in KINDS if kind != "bundle" or not entry_point.attr]
    load, dist = entry_point.load, entry_point.dist
    if dist is None:
        return Source(entry_point.name, "unknown", "unknown", load, kinds=kinds)
    stated = [dist.metadata[key] for key in LICENCES if key in dist.metadata]
    licence = textwrap.shorten(stated[0], 40, placeholder=" ...") if stated else ""
    return Source(entry_point.name, dist.name, dist.version, load, kinds=kinds, licence=licence)


def _collect(source: Source, blocked: set[str]) -> tuple[list[AnySpec], list[PluginRecord]]:
    """What the source provides, and records of failures; nothing if it is blocked."""
    named = source.name in blocked or _normal(source.distribution) in map(_normal, blocked)
    if named and not source.builtin:
        return [], [source.record("blocked", f"blocked by {BLOCK_VARIABLE}")]
    # Filters of a plugin are for its own import: else PluginWarning may become an error.
    with nullcontext() if source.builtin else warnings.catch_warnings():
        return collect(source)


def _normal(distribution: str) -> str:
    """Distribution name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", distribution).lower()
