"""Finds what all installed plugins provide. A broken plugin is recorded and reported, and the
others still work."""

import os
import re
import textwrap
import warnings
from collections.abc import Iterable
from functools import cache, partial
from importlib import import_module, metadata
from pathlib import Path
from pkgutil import iter_modules
from typing import TypeVar, cast

from thinstack._version import __version__
from thinstack.errors import MissingExtraError, PluginError, UnknownNameError
from thinstack.plugins.bundle_spec import BundleSpec
from thinstack.plugins.isolation import AnySpec, PluginRecord, Source, collect
from thinstack.plugins.specs import (
    CellSpec,
    EmbeddingSpec,
    EncoderSpec,
    HeadSpec,
    ParserSpec,
    ReaderSpec,
)

__all__ = [
    "BLOCK_VARIABLE",
    "BUILTINS",
    "GROUP",
    "PluginManager",
    "PluginRecord",
    "PluginWarning",
    "bundles",
    "manager",
    "readers",
]

GROUP = "thinstack"
"""Entry-point group of plugins."""

BLOCK_VARIABLE = "THINSTACK_BLOCK_PLUGINS"
"""Environment variable: the names of the plugins that must not be imported, separated by commas. A
name is that of an entry point or of a distribution."""


def _found(*folders: str) -> tuple[str, ...]:
    """Names of the modules in these folders beside this file; one that begins with an underscore
    is no plugin."""
    return tuple(
        f"thinstack.plugins.{folder}.{module.name}"
        for folder in folders
        for module in iter_modules([str(Path(__file__).parent / folder)])
        if not module.name.startswith("_")
    )


BUNDLES = "thinstack.bundle.bundled"
"""The module whose hook names the built-in bundles."""

BUILTINS = (*_found("cells", "embeddings", "heads", "parsers", "readers"), BUNDLES)
"""Modules of the built-in plugins. Each holds one public class that has a name; the last one has
the hook of the bundles."""

READERS = _found("readers")
"""The built-in plugins that need no torch."""

AnySpecType = TypeVar(
    "AnySpecType",
    CellSpec,
    HeadSpec,
    EmbeddingSpec,
    EncoderSpec,
    ParserSpec,
    ReaderSpec,
    BundleSpec,
)
Key = tuple[str, str]  # kind, name
LICENCES = ("License-Expression", "License")  # fields of a distribution's metadata
MORE = "pip install a package that brings it along, or give the path of a bundle's folder"


class PluginWarning(UserWarning):
    """A plugin is broken. It was left out, and the others work."""


class PluginManager:
    """All cells, heads, leaf embeddings, encoders, parsers, readers and bundles. They come from the
    built-in plugins and from entry points of the group `thinstack`.

    Built-in plugins come first, then the others, sorted by distribution and name. Each failure
    becomes a record and one PluginWarning.

    Args:
        builtins: module names of the built-in plugins.
        entry_points: the other plugins; by default, of all installed distributions.
        blocked: names of entry points or distributions to leave out; by default, as
            THINSTACK_BLOCK_PLUGINS says.
    """

    def __init__(
        self,
        *,
        builtins: Iterable[str] = BUILTINS,
        entry_points: Iterable[metadata.EntryPoint] | None = None,
        blocked: Iterable[str] | None = None,
    ):
        found = metadata.entry_points(group=GROUP) if entry_points is None else entry_points
        names = os.environ.get(BLOCK_VARIABLE, "").split(",") if blocked is None else blocked
        barred = {name.strip() for name in names}
        others = sorted(map(_installed, found), key=lambda s: (s.distribution, s.name))
        loaded = [
            (source, *_load(source, barred)) for source in [*map(_builtin, builtins), *others]
        ]
        self._providers: dict[Key, list[tuple[AnySpec, Source]]] = {}
        for source, specs, _ in loaded:
            for spec in specs:
                self._providers.setdefault((spec.kind, spec.name), []).append((spec, source))
        self._records: list[PluginRecord] = []
        for source, specs, failures in loaded:
            records = [*(self._settle(spec, source) for spec in specs), *failures]
            self._records += records or [source.record("ok")]
        for record in self._records:
            if record.status == "failed":
                warnings.warn(str(record), PluginWarning, stacklevel=2)

    def cell(self, name: str) -> CellSpec:
        """The cell of this name.

        Raises UnknownNameError, which lists the known cells, and PluginError if two plugins provide
        it. Raises MissingExtraError for an unknown name if some plugins could not be loaded without
        torch.
        """
        return self._find(CellSpec, name)

    def head(self, name: str) -> HeadSpec:
        """The task head of this name. Raises as `cell` does."""
        return self._find(HeadSpec, name)

    def embedding(self, name: str) -> EmbeddingSpec:
        """The leaf embedding of this name. Raises as `cell` does."""
        return self._find(EmbeddingSpec, name)

    def encoder(self, name: str) -> EncoderSpec:
        """The encoder of this name. Raises as `cell` does."""
        return self._find(EncoderSpec, name)

    def parser(self, name: str) -> ParserSpec:
        """The parser of this name. Raises as `cell` does."""
        return self._find(ParserSpec, name)

    def reader(self, name: str) -> ReaderSpec:
        """The reader of tree files of this name. Raises as `cell` does, except MissingExtraError,
        because readers need no torch."""
        return self._find(ReaderSpec, name)

    def bundle(self, name: str) -> BundleSpec:
        """The bundle of this name.

        Raises UnknownNameError, which lists the known bundles and the plugins that were left out.
        Raises PluginError if two plugins provide the bundle or its folder is missing.
        """
        try:
            return self._find(BundleSpec, name)
        except UnknownNameError as error:
            left_out = (str(each) for each in self._records if each.kind == "plugin" and each.error)
            raise UnknownNameError("model", name, error.known, [MORE, *left_out]) from None

    def folders(self) -> list[Path]:
        """The folders of all bundles that plugins provide, even if no name leads to one."""
        specs = (spec for provided in self._providers.values() for spec, _ in provided)
        return [spec.folder for spec in specs if isinstance(spec, BundleSpec)]

    def name_of(self, folder: Path) -> str | None:
        """The name of the bundle in this folder, None if there is no such bundle."""
        for (_, name), ((spec, _), *others) in self._providers.items():
            if isinstance(spec, BundleSpec) and spec.folder == folder and not others:
                return name
        return None

    def records(self) -> list[PluginRecord]:
        """The outcome of loading each plugin, in the order of loading."""
        return list(self._records)

    def _find(self, wanted: type[AnySpecType], name: str) -> AnySpecType:
        key = (wanted.kind, name)
        if key not in self._providers:
            lacking = any(record.status == "unavailable" for record in self._records)
            if lacking and wanted not in (ReaderSpec, BundleSpec):
                raise MissingExtraError("torch", "train")
            known = [known for kind, known in self._providers if kind == wanted.kind]
            raise UnknownNameError(wanted.kind, name, known)
        spec, source = self._providers[key][0]
        if (fault := self._fault(spec, source)) is not None:
            raise PluginError(fault)
        return cast(AnySpecType, spec)

    def _settle(self, spec: AnySpec, source: Source) -> PluginRecord:
        fault = self._fault(spec, source)
        return source.record("ok" if fault is None else "failed", fault, spec=spec)

    def _fault(self, spec: AnySpec, source: Source) -> str | None:
        """Why what a source provides cannot be had, if so: the name of a built-in stays its own,
        any other name of two providers is nobody's; and a bundle may have lost its folder."""
        kind, name = spec.kind, spec.name
        if source.builtin or len(self._providers[kind, name]) == 1:
            missing = spec.missing() if isinstance(spec, BundleSpec) else None
            return None if missing is None else f"{kind} {name!r} of {source}: {missing}"
        providers = " and by ".join(str(source) for _, source in self._providers[kind, name])
        return (
            f"{kind} {name!r} is provided by {providers}: uninstall one, or block it with "
            f"{BLOCK_VARIABLE}"
        )


@cache
def manager() -> PluginManager:
    """The plugin manager of this process. The first call loads the plugins."""
    return PluginManager()


@cache
def readers() -> PluginManager:
    """A plugin manager whose only built-in plugins are readers. It does not import torch, unless an
    installed plugin does."""
    return PluginManager(builtins=READERS)


@cache
def bundles() -> PluginManager:
    """A plugin manager for bundles only. It leaves out entry points that name a class, so it does
    not import torch, unless a module of hooks does."""
    modules = [point for point in metadata.entry_points(group=GROUP) if not point.attr]
    return PluginManager(builtins=(BUNDLES,), entry_points=modules)


def _builtin(module: str) -> Source:
    load = partial(_class_of, module)
    return Source(module.rpartition(".")[2], "thinstack", __version__, load, builtin=True)


def _class_of(module: str) -> object:
    """The plugin that a built-in module defines, else the module itself, for its hooks."""
    loaded = import_module(module)
    public = [getattr(loaded, name) for name in getattr(loaded, "__all__", ())]
    return next((each for each in public if hasattr(each, "plugin_kind")), loaded)


def _installed(entry_point: metadata.EntryPoint) -> Source:
    found = entry_point.dist
    if found is None:
        return Source(entry_point.name, "unknown", "unknown", entry_point.load)
    said = [found.metadata[key] for key in LICENCES if key in found.metadata]
    licence = textwrap.shorten(said[0], 40, placeholder=" ...") if said else ""
    return Source(entry_point.name, found.name, found.version, entry_point.load, licence=licence)


def _load(source: Source, barred: set[str]) -> tuple[list[AnySpec], list[PluginRecord]]:
    """What the source provides, and records of failures; nothing where it is barred."""
    named = source.name in barred or _normal(source.distribution) in map(_normal, barred)
    if named and not source.builtin:
        return [], [source.record("blocked", f"blocked by {BLOCK_VARIABLE}")]
    return collect(source)


def _normal(distribution: str) -> str:
    """Distribution name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", distribution).lower()
