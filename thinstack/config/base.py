"""The base of every configuration. It is strict and frozen, and its errors name the field."""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from thinstack.errors import ConfigError

__all__ = ["Rate", "Strict", "problems", "read_toml"]

MOST_PROBLEMS: Final = 10
"""Of a configuration that are listed at once."""

Rate = Annotated[float, Field(ge=0, lt=1)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @classmethod
    def parse(cls, data: object, *, source: str) -> Self:
        """Validate `data`, which was read from `source`. Raises ConfigError, which names the field
        and what it should be."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise ConfigError(f"{source}: {problems(error)}") from None


def problems(error: ValidationError, *, most: int = MOST_PROBLEMS) -> str:
    """The problems that pydantic found: each field, what it should be and what it is. Only the
    first `most` are listed, because a hostile file can have any number."""
    found = error.errors(include_url=False, include_context=False)
    listed = [
        f"{'.'.join(map(str, item['loc'])) or 'it'}: {item['msg']} (found {item['input']!r:.80})"
        for item in found[:most]
    ]
    more = [f"and {len(found) - most:,} more"] if len(found) > most else []
    return "; ".join(listed + more)


def read_toml(path: str | Path, kind: str) -> dict[str, Any]:
    """The data of a TOML file, which holds a `kind`. Raises ConfigError if the file is missing or
    not TOML."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: not a readable TOML {kind}: {error}") from None
