"""The separator of the cells of a table, as people write it."""

from typing import Annotated, Final

from pydantic import BeforeValidator

_NAMES: Final = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_NONE: Final = '"\r\n\0'


def separator_of(text: object) -> object:
    """The character that separates cells: `text` itself, or the one that it names, as "tab" and the
    two characters of an escaped tab do. Raises ValueError for what is not one character."""
    character = _NAMES.get(text, text) if isinstance(text, str) else text
    if isinstance(character, str) and (len(character) != 1 or character in _NONE):
        raise ValueError(
            f"expected one character, such as ; or | or tab, found {character!r:.40}; name the "
            "character that stands between two cells"
        )
    return character


Separator = Annotated[str, BeforeValidator(separator_of)]
