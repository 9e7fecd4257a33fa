"""Scored rows as Arrow record batches, and as files of JSON lines or parquet; and the list of the
rows that failed."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from thinstack.errors import needs_extra
from thinstack.integrations.corpora.rows import Problem, Row
from thinstack.integrations.corpora.scoring import NOTHING, ScoredRows

if TYPE_CHECKING:
    import pyarrow as pa

PartFormat = Literal["parquet", "jsonl"]

Write = Callable[[Sequence[str | None], ScoredRows], None]
"""Writes rows; the texts' ids are by place."""

_PROBLEM: Final = "error"
_GROUP: Final = 1 << 15  # rows of a parquet row group at least, but in the last one
_PLACES: Final = 6  # digits of a probability behind the point, in JSON


def check_format(format: PartFormat) -> None:
    """Raise MissingExtraError if a package for this format is missing."""
    if format == "parquet":
        with needs_extra("data", "pyarrow"):
            import pyarrow.parquet  # noqa: F401


def open_part(
    path: Path, format: PartFormat, labels: Sequence[str], *, phrases: bool
) -> AbstractContextManager[Write]:
    """A writer of rows for these classes to a file. `phrases`: whether the rows are phrases, with a
    place in a tree."""
    opened = _jsonl_part if format == "jsonl" else _parquet_part
    return opened(path, labels, phrases=phrases)


def failed_lines(failed: Sequence[tuple[Row, Problem]]) -> str:
    """One line of JSON for each row that failed: `id` (null if it cannot be read), `kind` and
    `message`."""
    records = ({"id": row.id, **problem._asdict()} for row, problem in failed)
    return "".join(f"{json.dumps(record)}\n" for record in records)


@contextmanager
def _jsonl_part(path: Path, labels: Sequence[str], *, phrases: bool) -> Iterator[Write]:
    def write(ids: Sequence[str | None], rows: ScoredRows) -> None:
        stream.writelines(_lines(ids, rows, labels, phrases=phrases))

    with path.open("w", encoding="utf-8", newline="\n") as stream:
        yield write


def _lines(
    ids: Sequence[str | None], rows: ScoredRows, labels: Sequence[str], *, phrases: bool
) -> Iterator[str]:
    """Filled into a line by hand: as fast as json.dumps is, it would take as long as the model."""
    names = [json.dumps(label, ensure_ascii=False) for label in labels]
    inner = ", ".join(f"{name.replace('%', '%%')}: %r" for name in names)
    tree = '"node": %s, "parent": %s, ' if phrases else ""
    form = f'{{"id": %s, "sentence": %s, "start": %d, "end": %d, {tree}"label": %s, "scores": '
    scored, unscored = f"{form}{{{inner}}}}}\n", f"{form}null}}\n"
    known = np.array([json.dumps(id, ensure_ascii=False) for id in ids], object)
    columns = [known[rows.text], _numbers(rows.sentence), rows.start, rows.end]
    columns += [_numbers(rows.node), _numbers(rows.parent)] if phrases else []
    columns.append(np.array([*names, "null"], object)[rows.label])  # NOTHING is the last
    probabilities = rows.scores.astype(float).round(_PLACES).tolist()
    missing = np.isnan(rows.scores[:, 0]).tolist()
    places = zip(*(column.tolist() for column in columns), strict=True)
    for place, scores, absent in zip(places, probabilities, missing, strict=True):
        yield unscored % place if absent else scored % (*place, *scores)


def _numbers(column: NDArray[np.int64]) -> NDArray[np.object_]:
    """The numbers; null in place of NOTHING."""
    values = column.astype(object)
    values[column == NOTHING] = "null"
    return values


@contextmanager
def _parquet_part(path: Path, labels: Sequence[str], *, phrases: bool) -> Iterator[Write]:
    with needs_extra("data", "pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet
    schema = rows_schema(labels, phrases=phrases)
    waiting: list[Any] = []

    def flush() -> None:
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting, schema))
            waiting.clear()

    def write(ids: Sequence[str | None], rows: ScoredRows) -> None:
        for start in range(0, len(rows.text), _GROUP):
            part = rows.at(slice(start, start + _GROUP))
            waiting.append(rows_batch(schema, ids, part))
            if sum(batch.num_rows for batch in waiting) >= _GROUP:
                flush()

    with parquet.ParquetWriter(path, schema) as writer:
        yield write
        flush()


def rows_schema(labels: Sequence[str], *, phrases: bool, problems: bool = False) -> "pa.Schema":
    """The columns of scored rows for these classes.

    `phrases`: whether the rows are phrases, with a place in a tree. `problems`: whether failed rows
    are included.
    """
    with needs_extra("data", "pyarrow"):
        import pyarrow as pa
    tree = ["node", "parent"] if phrases else []
    scores = pa.struct([pa.field(label, pa.float32()) for label in labels])
    problem = pa.struct([pa.field(name, pa.string()) for name in Problem._fields])
    return pa.schema(
        [
            pa.field("id", pa.string()),
            *(pa.field(name, pa.int32()) for name in ("sentence", "start", "end", *tree)),
            pa.field("label", pa.string()),
            pa.field("scores", scores),
            *([pa.field(_PROBLEM, problem)] if problems else []),
        ]
    )


def rows_batch(
    schema: "pa.Schema",
    ids: Sequence[str | None],
    rows: ScoredRows,
    problems: Mapping[int, Problem] = MappingProxyType({}),
) -> "pa.RecordBatch":
    """Rows in the columns of `rows_schema`. `ids` and `problems` go by the place of the text."""
    import pyarrow as pa

    def numbers(column: NDArray[np.int64]) -> Any:
        return pa.array(column.astype(np.int32), mask=column == NOTHING)

    missing = np.isnan(rows.scores[:, 0])
    by_class = [pa.array(np.ascontiguousarray(column)) for column in rows.scores.T]
    kind = schema.field("scores").type
    names = pa.array([field.name for field in kind], pa.string())
    columns = {
        "id": pa.array(list(ids), pa.string()).take(pa.array(rows.text)),
        "sentence": numbers(rows.sentence),
        "start": numbers(rows.start),
        "end": numbers(rows.end),
        "node": numbers(rows.node),
        "parent": numbers(rows.parent),
        "label": names.take(pa.array(rows.label, mask=rows.label == NOTHING)),
        "scores": pa.StructArray.from_arrays(by_class, fields=list(kind), mask=pa.array(missing)),
    }
    if _PROBLEM in schema.names:
        by_text = [
            problems[text]._asdict() if text in problems else None for text in range(len(ids))
        ]
        columns[_PROBLEM] = pa.array(by_text, schema.field(_PROBLEM).type).take(pa.array(rows.text))
    return pa.record_batch([columns[name] for name in schema.names], schema=schema)
