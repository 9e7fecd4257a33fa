"""Loads one plugin. If something goes wrong in it, that is recorded, and other plugins still
work."""

import difflib
import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pluggy

from thinstack._version import __version__
from thinstack.errors import MissingExtraError, PluginError, ThinstackError
from thinstack.plugins import hookspecs
from thinstack.plugins.bundle_spec import BundleSpec
from thinstack.plugins.hookspecs import HOOK_VERSION
from thinstack.plugins.specs import (
    CellSpec,
    EmbeddingSpec,
    EncoderSpec,
    HeadSpec,
    ParserSpec,
    ReaderSpec,
)

__all__ = ["AnySpec", "PluginRecord", "Source", "collect"]

AnySpec = CellSpec | HeadSpec | EmbeddingSpec | EncoderSpec | ParserSpec | ReaderSpec | BundleSpec
Status = Literal["ok", "failed", "blocked", "unavailable"]

HOOKS: dict[str, Any] = {
    "thinstack_cells": CellSpec,
    "thinstack_heads": HeadSpec,
    "thinstack_embeddings": EmbeddingSpec,
    "thinstack_encoders": EncoderSpec,
    "thinstack_parsers": ParserSpec,
    "thinstack_readers": ReaderSpec,
    "thinstack_bundles": BundleSpec,
}
"""The hooks by name, each with the kind of spec that is made of what it returns."""

OTHER_VERSION = (
    f"the plugin may be written for another version of thinstack; this thinstack {__version__} has "
    f"version {HOOK_VERSION} of the hooks"
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PluginRecord:
    """The outcome of loading one cell, head, embedding, encoder, parser, reader or bundle, or a
    plugin that failed before it provided one.

    Attributes:
        name: the versioned name of the thing provided, or the name of the entry point.
        kind: `cell`, `head`, `embedding`, `encoder`, `parser`, `reader`, `bundle` or `plugin`.
        distribution: the installed distribution that it came with.
        version: the version of that distribution.
        status: `ok`, `failed`, `blocked` (by THINSTACK_BLOCK_PLUGINS) or `unavailable` (torch is
            not installed).
        error: why it is not `ok`, else None.
        licence: the distribution's licence, as its metadata says; empty if they do not say.
        summary: a description in one line, if it is `ok`.
    """

    name: str
    kind: str
    distribution: str
    version: str
    status: Status
    error: str | None = None
    licence: str = ""
    summary: str = ""

    def __str__(self) -> str:
        origin = f"{self.kind} {self.name!r} of {self.distribution} {self.version}"
        return f"{origin} was left out: {self.error}" if self.error else origin


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Where a plugin comes from, and how to import it."""

    name: str
    distribution: str
    version: str
    load: Callable[[], object]
    builtin: bool = False
    licence: str = ""

    def __str__(self) -> str:
        origin = "built in" if self.builtin else f"entry point {self.name!r}"
        return f"{self.distribution} {self.version} ({origin})"

    def record(
        self, status: Status, error: str | None = None, *, spec: AnySpec | None = None
    ) -> PluginRecord:
        """The record of one spec of this plugin, or of the plugin as a whole."""
        name, kind = (self.name, "plugin") if spec is None else (spec.name, spec.kind)
        about = {"licence": self.licence, "summary": spec.summary if spec and not error else ""}
        return PluginRecord(name, kind, self.distribution, self.version, status, error, **about)

    def failure(self, doing: str, error: BaseException) -> PluginRecord:
        """The record of an exception; `doing` says when it was raised, such as `on import`. A
        plugin that only lacks torch is unavailable, not broken."""
        log.debug("plugin of %s, %s", self, doing, exc_info=error)
        if isinstance(error, ModuleNotFoundError) and error.name == "torch":
            return self.record("unavailable", str(MissingExtraError("torch", "train")))
        reason = str(error)
        if not isinstance(error, ThinstackError):
            reason = f"{type(error).__name__}: {error}"
        missing = error.name or "" if isinstance(error, ImportError) else ""
        if missing.split(".")[0] == hookspecs.PROJECT:
            reason += f"; {OTHER_VERSION}"
        return self.record("failed", f"{doing}: {reason}")


def collect(source: Source) -> tuple[list[AnySpec], list[PluginRecord]]:
    """The specs that one plugin provides, and a record of each failure.

    The plugin is a class or a module of hooks. It is imported, and its hooks are called one by one.
    An exception of the plugin becomes such a record.
    """
    # A pluggy manager of its own: what a plugin registers (hook wrappers too) can touch no other,
    # and pluggy neither skips a second plugin of the same name in silence nor aborts a call that
    # other plugins share.
    plugins = pluggy.PluginManager(hookspecs.PROJECT)
    try:
        plugin = source.load()
        if (misfit := _other_version(plugin)) is not None:
            return [], [source.record("failed", misfit)]
        for spec in HOOKS.values():
            if spec.kind == getattr(plugin, "plugin_kind", None):
                return [spec(plugin)], []
        misfit = _register(plugin, source.name, plugins)
        if misfit is not None:
            return [], [source.record("failed", misfit)]
        failures = [source.record("failed", problem) for problem in _problems(plugin, plugins)]
    except (Exception, SystemExit) as error:
        return [], [source.failure("on import", error)]
    specs: list[AnySpec] = []
    for hook in HOOKS:
        try:
            specs += _call(hook, plugins)
        except (Exception, SystemExit) as error:
            failures.append(source.failure(f"in hook {hook}", error))
    return specs, failures


def _other_version(plugin: object) -> str | None:
    """Why a plugin cannot go with this version of the hooks, if so."""
    module = sys.modules.get(plugin.__module__) if isinstance(plugin, type) else plugin
    version = getattr(module, "THINSTACK_HOOKS", HOOK_VERSION)
    if not isinstance(version, int):
        return (
            "THINSTACK_HOOKS must be an int, the version of the hooks that the plugin needs, "
            f"found {version!r:.80}"
        )
    if version > HOOK_VERSION:
        return (
            f"needs version {version} of the hooks, this thinstack {__version__} has "
            f"{HOOK_VERSION}: upgrade thinstack"
        )
    return None


def _register(plugin: object, name: str, plugins: pluggy.PluginManager) -> str | None:
    """Register the one plugin of `plugins`. Returns why its hooks do not fit, if so."""
    plugins.register(plugin, name=name)
    # Before pluggy compares them with the hooks, whose error says nothing of versions.
    for caller in plugins.get_hookcallers(plugin) or []:
        asked = [argument for impl in caller.get_hookimpls() for argument in impl.argnames]
        if caller.name in HOOKS and asked:
            return (
                f"hook {caller.name} takes no argument, found {', '.join(map(repr, asked))}: "
                f"{OTHER_VERSION}"
            )
    plugins.add_hookspecs(hookspecs)
    return None


def _problems(plugin: object, plugins: pluggy.PluginManager) -> list[str]:
    """What pluggy would pass over in silence: unknown hooks, hooks without the marker, no hook at
    all."""
    callers = plugins.get_hookcallers(plugin) or []
    known, problems = ", ".join(HOOKS), []
    for caller in callers:
        if not caller.has_spec() and not all(impl.optionalhook for impl in caller.get_hookimpls()):
            close = difflib.get_close_matches(caller.name, HOOKS, n=1)
            advice = f"did you mean {close[0]}?" if close else f"known hooks: {known}"
            problems.append(f"unknown hook {caller.name}: {advice}")
    names = {caller.name for caller in callers}
    bare = [hook for hook in HOOKS if hook not in names and callable(getattr(plugin, hook, None))]
    problems += [f"{hook} lacks the decorator @thinstack.plugins.hookimpl" for hook in bare]
    if not callers and not bare:
        problems.append(
            f"implements no hook: define one of {known}, decorated with @thinstack.plugins.hookimpl"
        )
    return problems


def _call(hook: str, plugins: pluggy.PluginManager) -> list[AnySpec]:
    """Call one hook of the only plugin in `plugins`. Raises PluginError unless it returns what it
    should."""
    caller: pluggy.HookCaller = getattr(plugins.hook, hook)
    implementations = [
        impl for impl in caller.get_hookimpls() if not (impl.wrapper or impl.hookwrapper)
    ]
    results: list[Any] = caller()
    if len(results) < len(implementations):  # pluggy drops every None
        results.append(None)
    return [each for result in results for each in _specs(HOOKS[hook], result)]


def _specs(spec: Any, result: Any) -> list[AnySpec]:
    """What a hook returned, one by one. Raises PluginError unless that is an iterable of classes of
    its contract, or a mapping of names to folders."""
    if spec is BundleSpec:
        if not isinstance(result, Mapping):
            raise PluginError(f"must return a mapping of names to folders, found {result!r:.80}")
        return [BundleSpec(name, folder) for name, folder in result.items()]
    if isinstance(result, type) or not hasattr(result, "__iter__"):
        raise PluginError(
            f"must return a list of classes derived from {spec.contract}, found {result!r:.80}"
        )
    return [spec(plugin) for plugin in result]
