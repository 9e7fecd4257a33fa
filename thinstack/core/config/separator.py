"""The separator of the cells of a table, as people write it."""

from typing import Annotated, Final

from pydantic import BeforeValidator

__all__ = ["Separator", "separator_of"]

_NAMES: Final = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_NONE: Final = '"\r\n\0'


def separator_of(text: object) -> object:
    """The character that separates cells: `text` itself, or the one that it names, as "tab" and the
    two characters of an escaped tab do. Raises ValueError for what is not one character."""
    found = _NAMES.get(text, text) if isinstance(text, str) else text
    if isinstance(found, str) and (len(found) != 1 or found in _NONE):
        raise ValueError(
            f"expected one character, such as ; or | or tab, found {found!r:.40}; name the "
            "character that stands between two cells"
        )
    return found


Separator = Annotated[str, BeforeValidator(separator_of)]
