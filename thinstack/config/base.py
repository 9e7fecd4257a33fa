"""The base of every configuration: strict, frozen, and with errors that name the field."""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from thinstack.errors import ConfigError

__all__ = ["Rate", "Strict", "read_toml"]

MOST_PROBLEMS: Final = 10
"""Of a configuration that are told at once."""

Rate = Annotated[float, Field(ge=0, lt=1)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @classmethod
    def parse(cls, data: object, *, source: str) -> Self:
        """Validate `data`, read from `source`. Raises ConfigError that names the field and what it
        should be."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, item['loc'])) or 'it'}: {item['msg']} (found "
                f"{item['input']!r:.80})"
                for item in error.errors()[:MOST_PROBLEMS]
            )
            more = error.error_count() - MOST_PROBLEMS
            raise ConfigError(
                f"{source}: {problems}{f'; and {more} more' if more > 0 else ''}"
            ) from None


def read_toml(path: str | Path, kind: str) -> dict[str, Any]:
    """The data of a TOML file that holds a `kind`. Raises ConfigError if it is missing or no
    TOML."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: not a readable TOML {kind}: {error}") from None
