"""The strict and frozen base class of all configurations. Its errors name the field."""

import re
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from thinstack.errors import ConfigError, shown

MOST_PROBLEMS: Final = 10
"""Maximum problems of a configuration in one message."""

MOST_BYTES: Final = 1 << 20
"""Maximum bytes of a TOML file. The longest of thinstack's own recipes is 3 KB."""

_MOST_SHOWN = 200  # maximum characters of a field's path, and of its problem

# A key of a hundred names, as in `a.b.c = 1`: each additional name doubles tomllib's memory.
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""")

Rate = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(gt=0)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @classmethod
    def parse(cls, data: object, *, source: str) -> Self:
        """Validate `data` of `source`. Raises ConfigError with the field and its expected value."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise ConfigError(f"{source}: {problems(error)}") from None


def problems(error: ValidationError, *, most: int = MOST_PROBLEMS) -> str:
    """Format the problems of a validation: each field, its expected and its actual value, up to
    `most`, because a hostile file can have any number."""
    errors = error.errors(include_url=False, include_context=False)
    listed = []
    for item in errors[:most]:
        field = ".".join(map(str, item["loc"])) or "it"
        what = item["msg"].removeprefix("Value error, ")
        if not item["loc"] and item["type"] == "value_error":  # a validator that names its fields
            listed.append(f"{what:.{_MOST_SHOWN}}")
            continue
        problem = f"{field:.{_MOST_SHOWN}}: {what:.{_MOST_SHOWN}}"
        listed.append(f"{problem} (found {shown(item['input'])})")
    more = [f"and {len(errors) - most:,} more"] if len(errors) > most else []
    return "; ".join(listed + more)


def descriptions(model: type[BaseModel]) -> dict[str, str]:
    """Return {field: description}, from its `description` or its docstring, if there is a source.
    pydantic would parse docstrings at each import."""
    import ast
    import inspect
    from textwrap import dedent

    texts = dict[str, str]()
    for kind in reversed(model.__mro__):
        with suppress(OSError, TypeError):  # pydantic's own classes, and frozen programs
            (tree,) = ast.parse(dedent(inspect.getsource(kind))).body
            for pair in pairwise(tree.body if isinstance(tree, ast.ClassDef) else ()):
                match pair:
                    case (
                        ast.AnnAssign(target=ast.Name(id=name)),
                        ast.Expr(value=ast.Constant(value=str(text))),
                    ):
                        texts[name] = " ".join(text.split())
    named = {name: field.description for name, field in model.model_fields.items()}
    return texts | {name: text for name, text in named.items() if text}


def read_toml(path: str | Path, kind: str) -> dict[str, Any]:
    """Read a TOML file that contains a `kind`. Raises ConfigError if the file is missing, not a
    regular file, not TOML, nested too deep, or longer than `MOST_BYTES`."""
    import tomllib

    try:
        if Path(path).exists() and not Path(path).is_file():
            raise ValueError("expected a file, found a folder, pipe or device; pass a file")
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"the limit is {MOST_BYTES:,} bytes")
        text = content.decode().replace("\r\n", "\n")
        if _LONG_KEY.search(text):
            raise ValueError("a key has 100 parts or more; the limit is 99")
        return tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not a readable TOML {kind}: {error}") from None
