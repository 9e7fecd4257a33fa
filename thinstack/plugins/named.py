"""Plugins that are pydantic models of their settings, which recipes name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BeforeValidator, SerializerFunctionWrapHandler, model_serializer

from thinstack.core.config.base import Strict
from thinstack.errors import DataError, UnknownNameError
from thinstack.plugins.manager import manager


class Named(Strict):
    """A plugin whose fields are its settings. It is serialized as its `name` and these fields.

    Attributes:
        name: a versioned name, such as `my_task.v1`, by which recipes find it.
        summary: a description in one line.
    """

    plugin_kind: ClassVar[str]
    name: ClassVar[str]
    summary: ClassVar[str] = ""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it reads, in the data folder or next to the recipe."""
        return ()

    @property
    def bundles(self) -> tuple[str, ...]:
        """The names or folders of the bundles that it runs."""
        return ()

    def path(self, name: str, folders: Sequence[Path]) -> Path:
        """Return the path of one of its `files`. Raises DataError if no folder contains it."""
        paths = list(dict.fromkeys(folder / name for folder in folders))
        for path in paths:
            if path.exists():
                return path
        raise DataError(
            f"{self.plugin_kind} {self.name}: expected the file {' or '.join(map(str, paths))}, "
            "found none; put it there, or leave it out"
        )

    @model_serializer(mode="wrap")
    def _with_name(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"name": self.name, **handler(self)}


def named(kind: str) -> BeforeValidator:
    """Return a validator of tables with the `name` and the settings of a plugin of this kind."""

    def plugin(table: object) -> object:
        if not isinstance(table, Mapping):
            return table
        if not isinstance(name := table.get("name"), str):
            names = ", ".join(spec.name for spec in manager().specs(kind))
            raise ValueError(f"name: expected the name of a {kind} ({names})")
        try:
            model: type[Named] = manager().find(kind, name).plugin
        except UnknownNameError as error:
            more = "use one of these, or install the package that provides it"
            raise ValueError(f"{error}; {more}") from None
        settings = {key: setting for key, setting in table.items() if key != "name"}
        if unknown := [str(key) for key in settings if key not in model.model_fields]:
            raise ValueError(
                f"{model.name} has no setting {', '.join(unknown):.200}; use "
                f"{', '.join(model.model_fields)}"
            )
        return model.model_validate(settings)

    return BeforeValidator(plugin)
