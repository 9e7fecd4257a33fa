"""What a plugin provides: a class with its name, summary and options, or the folder of a bundle."""

import inspect
import os
import re
import textwrap
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from thinstack.errors import (
    ConfigError,
    PluginError,
    ThinstackError,
    described,
    raised_by_signal_handler,
)
from thinstack.plugins.kinds import KINDS

NAME = re.compile(r"[a-z][a-z0-9_]*\.v[0-9]+")
OPEN, NAMED = inspect.Parameter.VAR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


class Spec:
    """A plugin's class with its name and summary, and the way to build it. `Kind` says what the
    class must have. Raises PluginError for a class that is not of this kind.

    The types of options (with pydantic's constraints in `Annotated`) and their defaults come from
    the signature. If options choose between classes, the class has a classmethod `build`, which is
    called instead of the constructor, and may have more options.

    Attributes:
        plugin: the class.
        kind: name of its kind.
        options: a pydantic model of all options.
    """

    def __init__(self, kind: str, plugin: Any):
        self.kind, self.plugin = kind, plugin
        if not isinstance(plugin, type) or getattr(plugin, "plugin_kind", None) != kind:
            raise PluginError(
                f"must return a list of classes derived from {KINDS[kind].contract}, found "
                f"{plugin!r:.80}"
            )
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
        self._constructor = inspect.signature(plugin).parameters
        self._arguments = {**self._constructor, **inspect.signature(self._build).parameters}
        is_model = issubclass(plugin, BaseModel)
        self.options: type[BaseModel] = plugin if is_model else self._signature()

    def _signature(self) -> type[BaseModel]:
        """The options of a signature, as a pydantic model."""
        constructor: Any = self.plugin.__init__
        try:
            types = get_type_hints(constructor, include_extras=True)
            if self._build is not self.plugin:
                types |= get_type_hints(self._build, include_extras=True)
            fields: dict[str, Any] = {
                name: (types.get(name, Any), ... if each.default is each.empty else each.default)
                for name, each in self._arguments.items()
                if name not in KINDS[self.kind].sizes and each.kind is NAMED
            }
            closed = ConfigDict(extra="forbid", protected_namespaces=())
            return create_model("Options", __config__=closed, **fields)
        except Exception as error:
            raise PluginError(
                f"{self.kind} {self.name!r}: the arguments of {self.plugin.__name__} cannot become "
                f"options: {described(error)}"
            ) from error

    def takes(self, size: str) -> bool:
        """Whether the constructor takes a size of this name."""
        return size in self._arguments or any(
            each.kind is OPEN for each in self._constructor.values()
        )

    def validate(self, options: Mapping[str, Any]) -> BaseModel:
        """All options of the plugin. Raises ConfigError, which names the plugin and the field."""
        try:
            return self.options.model_validate(dict(options))
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, item['loc'])) or 'options'}: {item['msg']} (found "
                f"{item['input']!r:.80})"
                for item in error.errors()
            )
            known = ", ".join(self.options.model_fields) or "none"
            raise ConfigError(
                f"options of {self.kind} {self.name!r}: {problems}; known options: {known}"
            ) from None

    def create(self, options: Mapping[str, Any], **sizes: Any) -> Any:
        """Build the plugin with these options, and with the sizes of its kind.

        Raises ConfigError if `options` are not valid, and PluginError if the constructor fails.
        """
        arguments = dict(self.validate(options))
        offered = {**KINDS[self.kind].sizes, **sizes}
        sizes = {size: value for size, value in offered.items() if self.takes(size)}
        try:
            product = self._build(**sizes, **arguments)
        except ThinstackError:
            raise
        except BaseException as error:
            if raised_by_signal_handler(error):
                raise
            raise PluginError(
                f"{self.kind} {self.name!r} could not be built: {described(error)}"
            ) from error
        if getattr(product, "plugin_kind", None) != self.kind:
            raise PluginError(
                f"{self.kind} {self.name!r}: build must return a {KINDS[self.kind].contract}, "
                f"found {product!r:.80}"
            )
        return product


BUNDLE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
CARD = "README.md"
FRONT_MATTER = re.compile(r"\A---\n.*?^---\n\s*", re.DOTALL | re.MULTILINE)
_READ = 1 << 16  # bytes of a card in which its first paragraph is looked for
_SHOWN = 120  # characters of it


class BundleSpec:
    """The name and folder of a bundle. The folder is opened and checked only when it is asked for.

    Raises PluginError for a name that could be a path, and for a folder that is not an absolute
    path.
    """

    kind: ClassVar[str] = "bundle"

    def __init__(self, name: object, folder: object):
        if not isinstance(name, str) or not BUNDLE_NAME.fullmatch(name):
            raise PluginError(
                f"bundle name {name!r:.80}: expected letters, digits, dots, hyphens and "
                "underscores, such as 'my-model'"
            )
        if not isinstance(folder, os.PathLike) or not Path(folder).is_absolute():
            raise PluginError(
                f"bundle {name!r}: expected its folder as an absolute pathlib.Path, such as "
                f"Path(__file__).parent / 'model', found {folder!r:.200}"
            )
        self.name, self.folder = name, Path(folder)

    def missing(self) -> str | None:
        """What is wrong if the folder is not there, else None."""
        if os.path.isdir(self.folder):
            return None
        return f"{self.folder}: no such folder; install the distribution again"

    @property
    def summary(self) -> str:
        """The bundle's size on disk in MB, and the start of the first paragraph of its card."""
        size, card = 0, b""
        with suppress(OSError):
            size = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
            with (self.folder / CARD).open("rb") as file:
                card = file.read(_READ)
        text = FRONT_MATTER.sub("", card.decode("utf-8", "replace"))
        paragraphs = text.split("\n\n")
        first = next((each for each in paragraphs if each and not each.startswith("#")), "")
        shown = textwrap.shorten(first, _SHOWN, placeholder=" ...")
        return ": ".join(filter(None, (f"{size / 1e6:.1f} MB", shown)))
