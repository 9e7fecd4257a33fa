"""Reads texts by a model of sentiment with vectors, some at once."""

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from thinstack.integrations.report.reading import scored_rows
from thinstack.integrations.report.rows import TextRow
from thinstack.integrations.themes.clauses import TextNodes
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result
from thinstack.text.batching import in_batches

_TOGETHER: Final = 64  # texts
_CHARACTERS: Final = 1 << 16  # of these


class ReadTexts(NamedTuple):
    """Rows that a model has read, with the `nodes` of those whose texts count; None if none does.
    The texts of the nodes are places in `rows`."""

    rows: list[TextRow]
    nodes: TextNodes | None

    @classmethod
    def of(cls, pairs: list[tuple[TextRow, Result]], ignore: Collection[str] = ()) -> "ReadTexts":
        """Rows with what a model says of their texts, as `scored_rows` gives them. `ignore`: words
        in lower case that are no topics."""
        results = {place: result for place, (row, result) in enumerate(pairs) if not row.unreadable}
        nodes = TextNodes([*results.values()], ignore, [*results]) if results else None
        return cls([row for row, _ in pairs], nodes)


def read_texts(
    model: Predictor, rows: Iterator[TextRow], ignore: Collection[str]
) -> Iterator[ReadTexts]:
    """The texts of rows, some at once."""
    pairs = scored_rows(model, rows)
    for some in in_batches(pairs, _TOGETHER, lambda pair: len(pair[0].text), _CHARACTERS):
        yield ReadTexts.of(some, ignore)
