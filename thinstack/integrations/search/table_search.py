"""The phrase index of a table, which may be kept in a file until the table changes."""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from thinstack.data.tables.alike import likeness
from thinstack.errors import InputError, ThinstackError
from thinstack.integrations.corpora.run import Tell
from thinstack.integrations.report.plan import Plan, plan_of, read_again
from thinstack.integrations.report.rows import ReportOptions, Source, TextRow
from thinstack.integrations.search.index_file import read_header
from thinstack.integrations.search.phrase_index import PhraseIndex
from thinstack.runtime.predictor import Predictor


class IndexedTable(NamedTuple):
    """The index of a table, whose ids are `[place, group]`.

    Attributes:
        phrases: those of the texts that could be read.
        plan: what is known of the table.
        left_out: how many rows are not in the index, and the reason of the first.
    """

    phrases: PhraseIndex
    plan: Plan
    left_out: tuple[int, str] = (0, "")


def indexed_table(
    source: Source,
    model: Predictor,
    options: ReportOptions,
    tell: Tell = lambda _: None,
    path: Path | None = None,
) -> IndexedTable:
    """Index a table, whose rows `source` gives twice. `tell` is told the progress. `path`: the file
    of the index, which is read if it is of the same rows and model, and else is written.

    Raises what `plan_of` and `PhraseIndex` raise, DataError for a file at `path` that is no index,
    and InputError for an index there that is not of a table.
    """
    plan = plan_of(source, options, tell)
    index = PhraseIndex(model)
    index.source = f"{model.bundle.manifest.digest} {plan.digest.hex()}"
    if path is not None and path.exists():
        header = read_header(path)
        if header.source == index.source:
            loaded = PhraseIndex.load(path, model)
            return IndexedTable(loaded, plan, _left_out(source, plan.rows - loaded.texts))
        if not header.source.startswith(f"{header.digest} "):
            problem = "an index that PhraseIndex.save wrote, which this table would replace"
            raise InputError(f"{path}: {problem}; name another file")
    places, left_out = list[list[str | None]](), list[str]()

    def texts() -> Iterator[str]:
        for row in read_again(source, plan, tell):
            if row.unreadable is None:
                places.append([row.place, groups.get(likeness(row.group or ""))])
                yield row.text
            else:
                left_out.append(_reason(row))

    def fail(place: int, error: ThinstackError) -> None:
        left_out.append(f"{places[place][0]}: {str(error).partition(': ')[2] or error}")

    groups = {likeness(name): name for name in plan.groups}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        index.add(texts(), _as_they_come(places), on_error=fail)
    for warning in caught:  # of language: a text by its number among those that could be read
        number = re.match(r"text (\d+): ", str(warning.message))
        place = f"{places[int(number[1])][0]}: " if number else ""
        warnings.warn(
            place + str(warning.message)[number.end() if number else 0 :],
            warning.category,
            stacklevel=2,
        )
    if path is not None:
        index.save(path)
    return IndexedTable(index, plan, (len(left_out), left_out[0] if left_out else ""))


def _left_out(source: Source, count: int) -> tuple[int, str]:
    """How many rows an index does not have, and the reason of the first that could not be read."""
    unread = (row for row in source() if row.unreadable) if count else iter(())
    return count, next(map(_reason, unread), "texts without words")


def _reason(row: TextRow) -> str:
    return f"{row.place}: {(row.unreadable and row.unreadable.reason) or 'no text'}"


def _as_they_come(places: list[list[str | None]]) -> Iterator[list[str | None]]:
    """The places of texts that are still being read."""
    number = 0
    while number < len(places):
        yield places[number]
        number += 1
