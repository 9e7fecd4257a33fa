"""The largest groups of a table, counted in bounded memory."""

from typing import Final

from thinstack.data.tables.alike import likeness

MOST_GROUPS: Final = 50
"""Groups that are told apart, those of the most rows."""

_MOST_NAMES: Final = 120_000  # that are counted at once
_MOST_CHARACTERS: Final = 1 << 24  # of these names


class _Group:
    """A group: its rows, those that may have come before it was counted, and its name. That is the
    spelling of most of its rows, if more than half of them have one (Boyer and Moore's vote)."""

    __slots__ = ("before", "name", "rows", "votes")

    def __init__(self, name: str, before: int):
        self.name, self.before = name, before
        self.rows = self.votes = 0

    def add(self, name: str) -> None:
        self.rows += 1
        self.votes += 1 if name == self.name else -1
        if self.votes < 0:
            self.name, self.votes = name, 1


class Groups:
    """Counts the rows of groups. Names that a person takes for the same (`likeness`) are of one.

    Where there are too many names, the rarer half is forgotten, as in lossy counting (Manku and
    Motwani 2002). A group that comes again may have had as many rows before as those have that were
    forgotten last, which is a share of at most 2 / `_MOST_NAMES` of all rows.

    Attributes:
        lost: how many rows a group may have that were not counted.
        most: how many groups there are; if some are lost, at least so many.
    """

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}
        self._characters = self.lost = self.most = 0

    def add(self, name: str) -> None:
        """Count a row."""
        key = likeness(name)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(name, self.lost)
            self._characters += len(name) + len(key)
            self.most = max(self.most, len(self._groups))
        group.add(name)
        if len(self._groups) > _MOST_NAMES or self._characters > _MOST_CHARACTERS:
            self._forget()

    def _forget(self) -> None:
        most = sorted(group.rows + group.before for group in self._groups.values())
        self.lost = most[len(most) // 2]
        self._groups = {
            key: group
            for key, group in self._groups.items()
            if group.rows + group.before > self.lost
        }
        self._characters = sum(len(key) + len(each.name) for key, each in self._groups.items())

    def largest(self) -> tuple[str, ...]:
        """The names of the largest groups, those of the most rows first."""
        order = sorted(self._groups.values(), key=lambda group: (-group.rows, group.name))
        return tuple(group.name for group in order[:MOST_GROUPS])
