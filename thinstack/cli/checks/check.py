"""The result of one check."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Check", "Status", "exit_code"]

Status = Literal["ok", "missing", "wrong"]


@dataclass(frozen=True, slots=True)
class Check:
    """What was checked, and what was found.

    Attributes:
        name: what was checked.
        status: "ok", "missing" (not installed or not there) or "wrong".
        found: the result in one line.
        mend: the command that fixes it, or "".
        needed: whether thinstack cannot run without it; otherwise it is optional.
        details: the result as data, ready for JSON.
    """

    name: str
    status: Status
    found: str
    mend: str = ""
    needed: bool = False
    details: dict[str, Any] = field(default_factory=dict)


def exit_code(checks: Iterable[Check]) -> int:
    """1 if something is wrong or a needed package is missing, else 0. Missing extras are fine."""
    return int(any(one.status == "wrong" or (one.status != "ok" and one.needed) for one in checks))
