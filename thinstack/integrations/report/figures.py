"""The figures of a report, as plain data."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from typing import Any, NamedTuple

from thinstack.integrations.report.rows import Kind
from thinstack.integrations.report.statistics import Interval
from thinstack.integrations.report.tally import SIDES, Figures, Quote, Tally


class Example(NamedTuple):
    """Where something could not be read, and why."""

    place: str
    reason: str


class Unread(NamedTuple):
    """What could not be read for one reason: how many rows, and the first of them."""

    kind: Kind
    rows: int
    examples: tuple[Example, ...]


def plain(value: Any) -> Any:
    """A part of a report as data ready for JSON. Figures stand among the attributes of what they
    are of."""
    if isinstance(value, Figures):
        counts = dict(zip(SIDES.values(), value.counts, strict=True))
        shares = {f"share_{side}": plain(value.share(side)) for side in SIDES.values()}
        return {"texts": value.texts} | counts | shares | {"polarity": plain(value.polarity)}
    if isinstance(value, Tally):
        return plain(value.figures) | {
            "term": value.term,
            "names": plain(value.spellings),
            "mentions": value.mentions,
            "said": plain(value.typical),
            "quotes": plain(value.quotes),
            "groups": named(value.groups),
            "periods": named(value.periods),
        }
    if isinstance(value, Interval):
        ends = value._asdict().items()
        return {name: None if end is None else round(end, 6) for name, end in ends}
    if isinstance(value, Quote):
        spans = {"term": value.term, "because": value.because}
        parts = {name: span and value.text[slice(*span)] for name, span in spans.items()}
        return {"text": value.text, "side": SIDES[value.side], "place": value.place} | parts
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        figures = any(isinstance(part, Figures) for part in value.values())
        return named(value) if figures else {name: plain(part) for name, part in value.items()}
    if is_dataclass(value) or hasattr(value, "_fields"):
        fields_of = getattr(value, "_fields", None) or [field.name for field in fields(value)]
        data: dict[str, Any] = {}
        for name in fields_of:
            part = plain(getattr(value, name))
            data |= part if name == "figures" else {name: part}
        return data
    return [plain(part) for part in value] if isinstance(value, tuple | list) else value


def named(parts: Mapping[Any, Figures]) -> list[dict[str, Any]]:
    """The figures of groups or periods, each with its name or first day."""
    return [{"name": plain(name)} | plain(figures) for name, figures in parts.items()]
