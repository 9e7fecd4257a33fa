"""The reference of the fields of recipes, from the pydantic models of `thinstack.core.config` and
the built-in plugins. The documentation site has it below docs/recipes.md (`site_pages.py`).

    python lab/scripts/recipe_reference.py [FILE]
"""

import json
import types
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MinLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from thinstack.core.config.base import descriptions
from thinstack.plugins.manager import PluginManager
from thinstack.plugins.named import Named
from thinstack.training.recipe import Recipe

PLUGINS = """\
## Registered names and their options

These are built in; `thinstack plugins` also lists those from other installed packages. The
docstrings in `thinstack/plugins/` explain the options, and [writing-a-cell.md](writing-a-cell.md)
shows how to write a cell.
"""

NAMES: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
SIGNS: dict[type, str] = {Gt: "> {}", Ge: ">= {}", Lt: "< {}", Le: "<= {}", MinLen: "at least {}"}
KINDS = {
    "cell": "Cells",
    "head": "Task heads",
    "embedding": "Leaf embeddings",
    "parser": "Parsers",
    "reader": "Readers",
}


def page() -> str:
    """The reference of the fields of recipes."""
    return "\n".join([*sections(Recipe, ""), *plugins()])


def sections(model: type[BaseModel], path: str, seen: set[type] | None = None) -> Iterator[str]:
    """The section of a model, which stands in a recipe as `[path]`, and those of the models in
    it."""
    seen = set() if seen is None else seen
    seen.add(model)
    yield f"## {f'`[{path}]`' if path else 'The top of the file'}\n\n{about(model)}\n"
    yield fields_of(model)
    for name, field in model.model_fields.items():
        for inner in models_in(field.annotation):
            if issubclass(inner, Named):
                many = get_origin(field.annotation) is tuple
                yield from plugin_sections(inner, f"[[{name}]]" if many else f"[{name}]")
            elif inner not in seen:
                yield from sections(inner, f"{path}.{name}".lstrip("."), seen)


def plugin_sections(contract: type[Named], title: str) -> Iterator[str]:
    """The section that names a plugin, with the settings of each built-in plugin."""
    yield f"## `{title}`\n\n{about(contract)} `name` is one of the names below.\n"
    specs = PluginManager(entry_points=()).specs(contract.plugin_kind)
    for spec in sorted(specs, key=lambda spec: spec.name):
        yield f"### `{spec.name}`\n\n{about(spec.plugin)}\n"
        if spec.options.model_fields:
            yield fields_of(spec.options)


def about(model: type[BaseModel]) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((model.__doc__ or "").split("\n\n")[0].split())


def fields_of(model: type[BaseModel]) -> str:
    """The table of the fields of a model."""
    described = descriptions(model)
    rows = [
        (
            f"`{field.alias or name}`",
            allowed(field.annotation, field.metadata),
            default(field),
            described.get(name, ""),
        )
        for name, field in model.model_fields.items()
        if not field.exclude
    ]
    return table(("field", "values", "default", "what it does"), rows)


def plugins() -> Iterator[str]:
    """What may be named in a recipe, with its options."""
    manager = PluginManager(entry_points=())
    yield PLUGINS
    for kind, title in KINDS.items():
        specs = manager.specs(kind)
        rows = [(f"`{spec.name}`", spec.summary, options(spec.options)) for spec in specs]
        used = any(choices for _, _, choices in rows)
        heads = ("name", "what it is", "options (default)")
        yield f"### {title}\n"
        yield table(heads, rows) if used else table(heads[:2], [row[:2] for row in rows])


def options(model: type[BaseModel]) -> str:
    """The options of a plugin in one cell of a table."""
    return "<br>".join(
        f"`{name}`: {allowed(field.annotation, field.metadata)} ({default(field)})"
        for name, field in model.model_fields.items()
    )


def default(field: FieldInfo) -> str:
    """The default of a field as TOML writes it."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    return "its defaults" if isinstance(value, BaseModel) else f"`{json.dumps(value)}`"


def allowed(annotation: Any, metadata: Iterable[Any] = ()) -> str:
    """The values of a type, in words. Raises TypeError for one that has no words yet."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return allowed(parts[0], bounds_of(parts[1:]))
    if origin is Literal:
        words = ", ".join(f"`{json.dumps(part)}`" for part in parts)
    elif origin in (Union, types.UnionType):
        return " or ".join(allowed(part, metadata) for part in parts if part is not types.NoneType)
    elif origin is tuple:
        item = get_args(parts[0])[0] if get_origin(parts[0]) is Annotated else parts[0]
        plural = item in NAMES or (isinstance(item, type) and issubclass(item, BaseModel))
        words = f"list of {allowed(item)}{'s' if plural else ''}"
    elif origin is dict:
        words = "table" if parts[1] is Any else f"table of {_plural(parts[1])}"
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        words = "section"
    elif annotation in NAMES:
        words = NAMES[annotation]
    else:
        raise TypeError(f"expected a type of TOML, found {annotation}: say here how it is written")
    limits = [
        SIGNS[type(bound)].format(*astuple(bound)) for bound in metadata if type(bound) in SIGNS
    ]
    return words + (", " + " and ".join(limits) if limits else "")


def _plural(annotation: Any) -> str:
    """The values of a table."""
    words = allowed(annotation)
    return words.replace("list", "lists") if words.startswith("list ") else f"{words}s"


def bounds_of(metadata: Iterable[Any]) -> list[Any]:
    """The bounds that `Annotated` holds, as they are or in pydantic's `Field`."""
    return [
        bound
        for entry in metadata
        for bound in (entry.metadata if isinstance(entry, FieldInfo) else [entry])
    ]


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a type names."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of Markdown."""
    lines = [heads, ("---",) * len(heads), *rows]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


if __name__ == "__main__":
    from written_page import run

    run(page)
