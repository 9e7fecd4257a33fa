"""The largest groups of a table, counted in bounded memory."""

from collections import Counter
from typing import Final

from thinstack.data.tables.alike import likeness

MOST_GROUPS: Final = 50
"""Groups that are told apart, those of the most rows."""

_MOST_NAMES: Final = 100_000  # that are counted at once
_MOST_CHARACTERS: Final = 1 << 24  # of these names


class Groups:
    """Counts the rows of groups. Names that a person takes for the same (`likeness`) are of one.

    Where there are too many, the rarer half goes, and each other one loses as many rows as the
    largest of that half has (Misra and Gries 1982, in batches).

    Attributes:
        names: those of the groups, as the first row of each writes it.
        lost: how many rows a group may have that are not counted: 2 / `_MOST_NAMES` of all at most.
        most: how many groups there are; if some are lost, at least so many.
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self._rows: Counter[str] = Counter()
        self._characters = self.lost = self.most = 0

    def add(self, name: str) -> None:
        """Count a row."""
        key = likeness(name)
        if key not in self.names:
            self.names[key] = name
            self._characters += len(name)
            self.most = max(self.most, len(self.names))
        self._rows[key] += 1
        if len(self.names) > _MOST_NAMES or self._characters > _MOST_CHARACTERS:
            cut = sorted(self._rows.values())[len(self._rows) // 2]
            self.lost += cut
            self._rows = Counter({key: n - cut for key, n in self._rows.items() if n > cut})
            self.names = {key: self.names[key] for key in self._rows}
            self._characters = sum(map(len, self.names.values()))

    def largest(self) -> tuple[str, ...]:
        """The names of the largest groups, those of the most rows first."""
        order = sorted(self._rows, key=lambda key: (-self._rows[key], self.names[key]))
        return tuple(self.names[key] for key in order[:MOST_GROUPS])
