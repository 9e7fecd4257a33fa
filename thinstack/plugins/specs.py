"""Descriptions of plugins: classes with names and options, and folders of bundles."""

import inspect
import os
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from thinstack.core.config.base import problems
from thinstack.errors import (
    ConfigError,
    PluginError,
    ThinstackError,
    described,
    raised_by_signal_handler,
    shown,
)
from thinstack.plugins.kinds import KINDS, Kind

NAME = re.compile(r"[a-z][a-z0-9_]*\.v[0-9]+")
OPEN, NAMED = inspect.Parameter.VAR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


@contextmanager
def plugin_errors(failed: str) -> Iterator[None]:
    """Turn errors, except thinstack's and Ctrl-C, into a PluginError that names what `failed`."""
    try:
        yield
    except ThinstackError:
        raise
    except BaseException as error:
        if raised_by_signal_handler(error):
            raise
        raise PluginError(f"{failed}: {described(error)}") from error


class Spec:
    """The class of a plugin with its name and summary. `Kind` documents the requirements. Raises
    PluginError for a class that is not of this kind.

    Options have the types and defaults of the signature, with pydantic's constraints in
    `Annotated`. A class may have a classmethod `build` with more options, which is called instead
    of the constructor.

    Attributes:
        plugin: the class.
        kind: name of its kind.
        options: a pydantic model of all options.
    """

    fault: ClassVar[None] = None

    def __init__(self, kind: Any, plugin: Any):
        if kind not in KINDS:
            raise PluginError(f"expected a plugin class or a module, found {shown(plugin)}")
        if not isinstance(plugin, type) or getattr(plugin, "plugin_kind", None) != kind:
            raise PluginError(f"must return {KINDS[kind].returns}, found {shown(plugin)}")
        self.kind: str = kind
        self.plugin: Any = plugin
        self.name: str = getattr(plugin, "name", "")
        self.summary = str.__str__(getattr(plugin, "summary", ""))
        if not isinstance(self.name, str) or not NAME.fullmatch(self.name):
            raise PluginError(
                f"{kind} name {self.name!r} of {plugin.__name__} is not versioned: expected "
                "lower-case letters, digits and underscores, then .v and a number, such as "
                "'my_name.v1'"
            )
        build = getattr(plugin, "build", None)
        self._build: Callable[..., Any] = build if inspect.ismethod(build) else plugin
        constructor = inspect.signature(plugin).parameters
        self._arguments = {**constructor, **inspect.signature(self._build).parameters}
        self._open = any(argument.kind is OPEN for argument in constructor.values())
        is_model = issubclass(plugin, BaseModel)
        self.options: type[BaseModel] = plugin if is_model else self._signature()

    def _signature(self) -> type[BaseModel]:
        """Return the options of the signature as a pydantic model."""
        wrong = f"the arguments of {self.plugin.__name__} cannot become options"
        with plugin_errors(f"{self.kind} {self.name!r}: {wrong}"):
            types = get_type_hints(self.plugin.__init__, include_extras=True)
            if self._build is not self.plugin:
                types |= get_type_hints(self._build, include_extras=True)
            fields: dict[str, Any] = {
                name: (types.get(name, Any), ... if one.default is one.empty else one.default)
                for name, one in self._arguments.items()
                if name not in KINDS[self.kind].sizes and one.kind is NAMED
            }
            closed = ConfigDict(extra="forbid", protected_namespaces=())
            return create_model("Options", __config__=closed, **fields)

    def takes(self, size: str) -> bool:
        """Return whether the constructor takes a size of this name."""
        return self._open or size in self._arguments

    def validate(self, options: Mapping[str, Any]) -> BaseModel:
        """Validate options. Raises ConfigError, which names the plugin and the field."""
        try:
            return self.options.model_validate(dict(options))
        except ValidationError as error:
            names = ", ".join(self.options.model_fields) or "none"
            raise ConfigError(
                f"options of {self.kind} {self.name!r}: {problems(error)}; known options: {names}"
            ) from None

    def create(self, options: Mapping[str, Any], **sizes: Any) -> Any:
        """Build the plugin with these options and the sizes of its kind. Raises ConfigError if
        `options` are not valid, and PluginError if the constructor fails."""
        arguments, kind = dict(self.validate(options)), KINDS[self.kind]
        offered = {**kind.sizes, **sizes}
        arguments |= {size: value for size, value in offered.items() if self.takes(size)}
        with plugin_errors(f"{self.kind} {self.name!r} could not be built"):
            product = self._build(**arguments)
        if getattr(product, "plugin_kind", None) != self.kind:
            wrong = f"build must return a {kind.contract}, found {shown(product)}"
            raise PluginError(f"{self.kind} {self.name!r}: {wrong}")
        return product


BUNDLE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
CARD = "README.md"
FRONT_MATTER = re.compile(r"\A---\n.*?^---\n\s*", re.DOTALL | re.MULTILINE)
_READ = 1 << 16  # bytes of a card to search for its first paragraph
_SHOWN = 120  # characters of it


class BundleSpec:
    """The name and folder of a bundle. Raises PluginError for a name that could be a path, and for
    a folder that is not an absolute path."""

    kind: ClassVar[str] = "bundle"

    def __init__(self, name: object, folder: object):
        if not isinstance(name, str) or not BUNDLE_NAME.fullmatch(name):
            raise PluginError(
                f"bundle name {shown(name)}: expected letters, digits, dots, hyphens and "
                "underscores, such as 'my-model'"
            )
        if not isinstance(folder, os.PathLike) or not Path(folder).is_absolute():
            raise PluginError(
                f"bundle {name!r}: expected the folder as an absolute pathlib.Path, such as "
                f"Path(__file__).parent / 'model', found {shown(folder, 200)}"
            )
        self.name, self.folder = name, Path(folder)

    @property
    def fault(self) -> str | None:
        """The problem if the folder is missing, else None."""
        missing = f"{self.folder}: no such folder; reinstall the distribution"
        return None if self.folder.is_dir() else missing

    @property
    def summary(self) -> str:
        """The bundle's size on disk in MB, and the start of the first paragraph of its card."""
        size, card = 0, b""
        with suppress(OSError):
            size = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
            with (self.folder / CARD).open("rb") as file:
                card = file.read(_READ)
        paragraphs = FRONT_MATTER.sub("", card.decode("utf-8", "replace")).split("\n\n")
        first = next((part for part in paragraphs if part and not part.startswith("#")), "")
        shortened = textwrap.shorten(first, _SHOWN, placeholder=" ...")
        return ": ".join(filter(None, (f"{size / 1e6:.1f} MB", shortened)))


AnySpec = Spec | BundleSpec


def specs_of(kind: Kind, provided: Any) -> list[AnySpec]:
    """Return the plugins in the result of a hook. Raises PluginError unless it is an iterable of
    classes of the contract, or a mapping of names to folders."""
    if not isinstance(provided, Iterable if kind.contract else Mapping):
        raise PluginError(f"must return {kind.returns}, found {shown(provided)}")
    if isinstance(provided, Mapping) and not kind.contract:
        return [BundleSpec(name, folder) for name, folder in provided.items()]
    return [Spec(kind.name, plugin) for plugin in provided]
