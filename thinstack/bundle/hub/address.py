"""Addresses of bundles on the Hugging Face hub: `hf://user/name`, or `hf://user/name@revision`."""

import re
from pathlib import Path
from typing import Final, NamedTuple

from thinstack.errors import BundleError

PREFIX: Final = "hf://"
_NAME = r"[A-Za-z0-9_][\w.-]*"
_ADDRESS = re.compile(rf"{PREFIX}({_NAME}/{_NAME})(?:@((?!\S*\.\.)[^@\s]+))?", re.ASCII)


class Address(NamedTuple):
    """A repository and a branch, tag or commit of it, None for its main branch."""

    repository: str
    revision: str | None

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read an address. Raises BundleError if the string is not an address."""
        if (match := _ADDRESS.fullmatch(text)) is None:
            expected = "expected hf://user/name or hf://user/name@revision"
            raise BundleError(f"{text!r:.200}: {expected}")
        return cls(match[1], match[2])

    def __str__(self) -> str:
        return f"{PREFIX}{self.repository}" + (f"@{self.revision}" if self.revision else "")


def is_address(path_or_name: str | Path) -> bool:
    """Whether a string is meant as an address."""
    return isinstance(path_or_name, str) and path_or_name.startswith(PREFIX)
