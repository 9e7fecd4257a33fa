"""The marks that programs and data sets write where there is nothing."""

from typing import Final

__all__ = ["is_missing", "is_no_class"]

_PANDAS = "#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None"
_PANDAS += "|n/a|nan|null"
_OTHERS = r"\N|NaT|NAN|Null|(null)|[null]|<null>|<NULL>|(blank)|undefined|N.A.|n.a.|#n/a"
_EXCEL = "#NULL!|#DIV/0!|#VALUE!|#REF!|#NAME?|#NUM!"
_MARKS: Final = frozenset("|".join((_PANDAS, _OTHERS, _EXCEL)).split("|"))
_NO_CLASS: Final = _MARKS | frozenset(("-", "--", "---", "?", "??", ".", "_", "na", "Na", "nil"))


def is_missing(text: str) -> bool:
    """Whether a text is one of the marks that pandas, R, SQL, JavaScript and spreadsheets write for
    a missing value, such as "NA", "None", "<NA>" or "#N/A". Case counts: many data sets have a
    class "none"."""
    return text.strip() in _MARKS


def is_no_class(label: str) -> bool:
    """Whether a label `is_missing`, or is a sign that data sets have in place of a class, such as
    "-" or "?"."""
    return label.strip() in _NO_CLASS
