"""The outcome of one check."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Check", "Status", "exit_code"]

Status = Literal["ok", "missing", "wrong"]


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, and what was found.

    Attributes:
        name: what was looked at.
        status: "ok"; "missing", something that is not installed or not there; "wrong".
        found: one line on it.
        mend: the command that mends it, "" for none.
        needed: whether nothing runs while it is missing; otherwise it is an optional extra.
        details: the same as data, fit for JSON.
    """

    name: str
    status: Status
    found: str
    mend: str = ""
    needed: bool = False
    details: dict[str, Any] = field(default_factory=dict)


def exit_code(checks: Iterable[Check]) -> int:
    """1 if anything is wrong or something needed is missing, 0 if only optional extras are."""
    return int(any(one.status == "wrong" or (one.status != "ok" and one.needed) for one in checks))
