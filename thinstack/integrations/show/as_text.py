"""Names and texts of users in the lines that commands print."""

from rich.markup import escape

from thinstack.errors import escaped


def as_text(value: object) -> str:
    """`str(value)` for a line that rich prints: brackets are no markup there, and what could act on
    a terminal is escaped."""
    return escape(escaped(str(value)))
