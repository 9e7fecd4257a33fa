"""Loads one plugin. If something goes wrong in it, that is recorded, and other plugins still
work."""

import difflib
import logging
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pluggy

from thinstack._version import __version__
from thinstack.errors import MissingExtraError, PluginError, described, raised_by_signal_handler
from thinstack.plugins.hookspecs import HOOK_VERSION, PROJECT
from thinstack.plugins.kinds import HOOKS, KINDS, Kind
from thinstack.plugins.specs import BundleSpec, Spec

AnySpec = Spec | BundleSpec
Callers = Mapping[str, pluggy.HookCaller]
Status = Literal["ok", "failed", "blocked", "unavailable"]

OTHER_VERSION = (
    f"the plugin may be written for another version of thinstack; this thinstack {__version__} has "
    f"version {HOOK_VERSION} of the hooks"
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PluginRecord:
    """The outcome of loading one plugin, or of an entry point that failed before it provided one.

    Attributes:
        name: the name of the plugin, or of the entry point.
        kind: the name of the plugin's kind, or `plugin` for an entry point.
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
    """Where plugins come from, and how to import them. `kinds` are the names of those that it may
    provide."""

    name: str
    distribution: str
    version: str
    load: Callable[[], object]
    kinds: Collection[str] = tuple(KINDS)
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
        reason = described(error)
        missing = error.name if isinstance(error, ImportError) else None
        if isinstance(missing, str) and missing.split(".")[0] == PROJECT:
            reason += f"; {OTHER_VERSION}"
        return self.record("failed", f"{doing}: {reason}")


def collect(source: Source) -> tuple[list[AnySpec], list[PluginRecord]]:
    """The specs that one source provides, and a record of each failure.

    The source is a class or a module of hooks. It is imported, and its hooks are called one by one.
    An exception of the plugin, of any type, becomes such a record.
    """
    try:
        plugin = source.load()
        if (misfit := _other_version(plugin)) is not None:
            return [], [source.record("failed", misfit)]
        if (kind := getattr(plugin, "plugin_kind", None)) in KINDS:
            return [Spec(kind, plugin)], []
        # A pluggy manager of its own: what a plugin registers (hook wrappers too) can touch no
        # other, and pluggy neither skips a second plugin of the same name in silence nor aborts a
        # call that other plugins share.
        pluggy_manager = pluggy.PluginManager(PROJECT)
        pluggy_manager.register(plugin, name=source.name)
        callers = {each.name: each for each in pluggy_manager.get_hookcallers(plugin) or []}
        if source.builtin and not callers:  # a helper beside plugins
            return [], []
        if (misfit := _arguments(callers)) is not None:
            return [], [source.record("failed", misfit)]
        failures = [source.record("failed", problem) for problem in _problems(plugin, callers)]
    except BaseException as error:
        if raised_by_signal_handler(error):
            raise
        return [], [source.failure("on import", error)]
    specs: list[AnySpec] = []
    for hook, kind_of_hook in HOOKS.items():
        try:
            if hook in callers:
                specs += _call(callers[hook], kind_of_hook)
        except BaseException as error:
            if raised_by_signal_handler(error):
                raise
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


def _arguments(callers: Callers) -> str | None:
    """Which arguments a hook asks for, if any does."""
    for name, caller in callers.items():
        asked = [argument for impl in caller.get_hookimpls() for argument in impl.argnames]
        if name in HOOKS and asked:
            listed = ", ".join(map(repr, asked))
            return f"hook {name} takes no argument, found {listed}: {OTHER_VERSION}"
    return None


def _problems(plugin: object, callers: Callers) -> list[str]:
    """What pluggy would pass over in silence: unknown hooks, hooks without the marker, no hook at
    all."""
    known, problems = ", ".join(HOOKS), []
    for name, caller in callers.items():
        if name not in HOOKS and not all(impl.optionalhook for impl in caller.get_hookimpls()):
            close = difflib.get_close_matches(name, HOOKS, n=1)
            advice = f"did you mean {close[0]}?" if close else f"known hooks: {known}"
            problems.append(f"unknown hook {name}: {advice}")
    bare = [hook for hook in HOOKS if hook not in callers and callable(getattr(plugin, hook, None))]
    problems += [f"{hook} lacks the decorator @thinstack.plugins.hookimpl" for hook in bare]
    if not callers and not bare:
        problems.append(
            f"implements no hook: define one of {known}, decorated with @thinstack.plugins.hookimpl"
        )
    return problems


def _call(caller: pluggy.HookCaller, kind: Kind) -> list[AnySpec]:
    """Call one hook of one plugin. Raises PluginError unless it returns an iterable of classes of
    the kind's contract, or a mapping of names to folders."""
    wrappers = [impl.wrapper or impl.hookwrapper for impl in caller.get_hookimpls()]
    results: list[Any] = caller()
    if len(results) < wrappers.count(False):  # pluggy drops every None
        results.append(None)
    specs: list[AnySpec] = []
    for result in results:
        if not kind.contract:
            if not isinstance(result, Mapping):
                raise PluginError(
                    f"must return a mapping of names to folders, found {result!r:.80}"
                )
            specs += [BundleSpec(name, folder) for name, folder in result.items()]
        elif isinstance(result, type) or not hasattr(result, "__iter__"):
            raise PluginError(
                f"must return a list of classes derived from {kind.contract}, found {result!r:.80}"
            )
        else:
            specs += [Spec(kind.name, plugin) for plugin in result]
    return specs
