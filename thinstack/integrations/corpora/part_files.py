"""Scored rows as Arrow record batches, and as files of CSV, JSON lines or parquet; and the list of
the rows that failed."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from thinstack.data.tables.csv_rows import check_classes, csv_line, csv_writer
from thinstack.errors import needs_extra
from thinstack.integrations.corpora.rows import Problem, Row
from thinstack.integrations.corpora.scoring import NOTHING, Output, ScoredRows

if TYPE_CHECKING:
    import pyarrow as pa

PartFormat = Literal["parquet", "jsonl", "csv"]

Write = Callable[[Sequence[Row], ScoredRows], None]
"""Writes scored rows; those of the input are by place."""

_PLACED: Final[dict[Output, tuple[str, str]]] = {
    "phrases": ("node", "parent"),
    "aspects": ("because_start", "because_end"),
}
"""Columns of numbers that only rows of this output have."""
_ROW: Final = "row"
_BECAUSE: Final = "because"
_PROBLEM: Final = "error"
_GROUP: Final = 1 << 15  # rows of a parquet row group at least, but in the last one
_PLACES: Final = 6  # digits of a probability behind the point, in JSON


def check_format(format: PartFormat, labels: Sequence[str], *, output: Output) -> None:
    """Raise MissingExtraError if a package for this format is missing, and InputError for classes
    that cannot have columns of their own."""
    if format == "parquet":
        with needs_extra("data", "pyarrow"):
            import pyarrow.parquet  # noqa: F401
    elif format == "csv":
        csv_columns(labels, output=output)


def csv_columns(labels: Sequence[str], *, output: Output) -> list[str]:
    """The names of the columns of CSV: a class has a column of its name. Raises InputError for a
    class that has the name of another column."""
    names = [*_numbered(output), *_texts(output), "polarity"]
    check_classes("--format csv", labels, names, "choose --format jsonl or --format parquet")
    return [*names, *labels]


def open_part(
    path: Path, format: PartFormat, labels: Sequence[str], *, output: Output
) -> AbstractContextManager[Write]:
    """A writer of rows for these classes to a file. `output`: what has a row."""
    opened = {"jsonl": _jsonl_part, "csv": _csv_part, "parquet": _parquet_part}[format]
    return opened(path, labels, output=output)


def failed_lines(failed: Sequence[tuple[Row, Problem]]) -> str:
    """One line of JSON for each row that failed: `id` (null if it cannot be read), `kind` and
    `message`."""
    records = ({"id": row.id, **problem._asdict()} for row, problem in failed)
    return "".join(f"{json.dumps(record)}\n" for record in records)


@contextmanager
def _jsonl_part(path: Path, labels: Sequence[str], *, output: Output) -> Iterator[Write]:
    def write(given: Sequence[Row], rows: ScoredRows) -> None:
        stream.writelines(_lines(given, rows, labels, output=output))

    with path.open("w", encoding="utf-8", newline="\n") as stream:
        yield write


def _lines(
    given: Sequence[Row], rows: ScoredRows, labels: Sequence[str], *, output: Output
) -> Iterator[str]:
    """Filled into a line by hand: as fast as json.dumps is, it would take as long as the model."""
    names = [json.dumps(label, ensure_ascii=False) for label in labels]
    inner = ", ".join(f"{name.replace('%', '%%')}: %r" for name in names)
    columns = [*_numbered(output), *_texts(output), "polarity"]
    form = "".join(f'"{name}": %s, ' for name in columns)
    form = f'{{{form}"scores": '
    scored, unscored = f"{form}{{{inner}}}}}\n", f"{form}null}}\n"
    known = np.array([json.dumps(row.id, ensure_ascii=False) for row in given], object)
    numbers = [_numbers(getattr(rows, name)) for name in _numbered(output)[1:]]
    labelled = np.array([*names, "null"], object)[rows.label]  # NOTHING is the last
    probabilities, missing = _rounded(rows.scores).tolist(), np.isnan(rows.scores[:, 0]).tolist()
    places = zip(
        *(column.tolist() for column in (known[rows.text], *numbers)),
        *(
            (json.dumps(text, ensure_ascii=False) for text in texts)
            for texts in _given_texts(given, rows, output)
        ),
        *(labelled.tolist(), _polarity(rows, "null")),
        strict=True,
    )
    for place, scores, absent in zip(places, probabilities, missing, strict=True):
        yield unscored % place if absent else scored % (*place, *scores)


def _numbered(output: Output) -> list[str]:
    """The first columns: the id, and numbers. Rows of aspects have that of the text, by which texts
    of one id are told apart."""
    row = [_ROW] if output == "aspects" else []
    return ["id", *row, "sentence", "start", "end", *_PLACED.get(output, ())]


def _texts(output: Output) -> list[str]:
    """The columns of texts that stand behind these."""
    return ["text", *([_BECAUSE] if output == "aspects" else []), "label"]


def _given_texts(
    given: Sequence[Row], rows: ScoredRows, output: Output
) -> list[Iterator[str | None]]:
    """The columns of characters of the given texts."""
    pairs = [(rows.start, rows.end)]
    pairs += [(rows.because_start, rows.because_end)] if output == "aspects" else []
    return [rows.texts_of(given, *pair) for pair in pairs]


def _numbers(column: NDArray[np.int64], nothing: str = "null") -> NDArray[np.object_]:
    """The numbers, `nothing` in place of NOTHING."""
    values = column.astype(object)
    values[column == NOTHING] = nothing
    return values


def _rounded(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    return scores.astype(np.float64).round(_PLACES)


def _polarity(rows: ScoredRows, nothing: str) -> list[Any]:
    """The polarity of each row, `nothing` in place of NaN."""
    values = _rounded(rows.polarity).astype(object)
    values[np.isnan(rows.polarity)] = nothing
    return list(values.tolist())


@contextmanager
def _csv_part(path: Path, labels: Sequence[str], *, output: Output) -> Iterator[Write]:
    def write(given: Sequence[Row], rows: ScoredRows) -> None:
        writer.writerows(_cells(given, rows, labels, output=output))

    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(csv_line(csv_columns(labels, output=output)))
        writer = csv_writer(stream)
        yield write


def _cells(
    given: Sequence[Row], rows: ScoredRows, labels: Sequence[str], *, output: Output
) -> Iterator[tuple[Any, ...]]:
    """The cells of each row; what is missing is empty."""
    ids, names = np.array([row.id for row in given], object), np.array([*labels, ""], object)
    numbers = [_numbers(getattr(rows, name), "") for name in _numbered(output)[1:]]
    scores = _rounded(rows.scores).astype(object)
    scores[np.isnan(rows.scores)] = ""
    return zip(
        *(column.tolist() for column in (ids[rows.text], *numbers)),
        *_given_texts(given, rows, output),
        *(names[rows.label].tolist(), _polarity(rows, "")),
        *scores.T.tolist(),
        strict=True,
    )


@contextmanager
def _parquet_part(path: Path, labels: Sequence[str], *, output: Output) -> Iterator[Write]:
    schema = rows_schema(labels, output=output)
    with _in_groups(path, schema) as add:

        def write(given: Sequence[Row], rows: ScoredRows) -> None:
            for start in range(0, len(rows.text), _GROUP):
                add(rows_batch(schema, given, rows.at(slice(start, start + _GROUP))))

        yield write


@contextmanager
def _in_groups(path: Path, schema: "pa.Schema") -> Iterator[Callable[["pa.RecordBatch"], None]]:
    """Writes batches to a file of parquet, in row groups of at least `_GROUP` rows."""
    import pyarrow as pa
    from pyarrow import parquet

    waiting: list[Any] = []

    def flush() -> None:
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting, schema))
            waiting.clear()

    def add(batch: "pa.RecordBatch") -> None:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= _GROUP:
            flush()

    with parquet.ParquetWriter(path, schema) as writer:
        yield add
        flush()


def merge_parquet(parts: Sequence[Path], path: Path) -> None:
    """Write the rows of several files of parquet as one."""
    from pyarrow import parquet

    with _in_groups(path, parquet.read_schema(parts[0])) as add:
        for part in parts:
            with parquet.ParquetFile(part) as file:
                for batch in file.iter_batches(_GROUP):
                    add(batch)


def rows_schema(labels: Sequence[str], *, output: Output, problems: bool = False) -> "pa.Schema":
    """The columns of scored rows for these classes.

    `output`: what has a row. `problems`: whether failed rows are included, as of an engine, whose
    rows have no numbers.
    """
    with needs_extra("data", "pyarrow"):
        import pyarrow as pa
    scores = pa.struct([pa.field(label, pa.float32()) for label in labels])
    numbered = [name for name in _numbered(output)[1:] if not (problems and name == _ROW)]
    problem = pa.struct([pa.field(name, pa.string()) for name in Problem._fields])
    return pa.schema(
        [
            pa.field("id", pa.string()),
            *(pa.field(name, pa.int64() if name == _ROW else pa.int32()) for name in numbered),
            *(pa.field(name, pa.string()) for name in _texts(output)),
            pa.field("polarity", pa.float64()),
            pa.field("scores", scores),
            *([pa.field(_PROBLEM, problem)] if problems else []),
        ]
    )


def rows_batch(
    schema: "pa.Schema",
    given: Sequence[Row],
    rows: ScoredRows,
    problems: Mapping[int, Problem] = MappingProxyType({}),
) -> "pa.RecordBatch":
    """Scored rows in the columns of `rows_schema`. The `given` rows of the input and `problems` go
    by the place of the text."""
    import pyarrow as pa

    missing = np.isnan(rows.scores[:, 0])
    by_class = [pa.array(np.ascontiguousarray(column)) for column in rows.scores.T]
    kind = schema.field("scores").type
    names = pa.array([field.name for field in kind], pa.string())
    columns = {
        "id": pa.array([row.id for row in given], pa.string()).take(pa.array(rows.text)),
        "text": pa.array(rows.texts_of(given, rows.start, rows.end), pa.string()),
        "label": names.take(pa.array(rows.label, mask=rows.label == NOTHING)),
        "polarity": pa.array(rows.polarity, mask=np.isnan(rows.polarity)),
        "scores": pa.StructArray.from_arrays(by_class, fields=list(kind), mask=pa.array(missing)),
    }
    for field in schema:
        if pa.types.is_integer(field.type):
            column = getattr(rows, field.name)
            columns[field.name] = pa.array(column, field.type, mask=column == NOTHING)
    if _BECAUSE in schema.names:
        because = rows.texts_of(given, rows.because_start, rows.because_end)
        columns[_BECAUSE] = pa.array(because, pa.string())
    if _PROBLEM in schema.names:
        by_text = [
            problems[text]._asdict() if text in problems else None for text in range(len(given))
        ]
        columns[_PROBLEM] = pa.array(by_text, schema.field(_PROBLEM).type).take(pa.array(rows.text))
    return pa.record_batch([columns[name] for name in schema.names], schema=schema)
