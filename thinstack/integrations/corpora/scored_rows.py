"""The columns and cells of scored rows, and rows as Arrow record batches and as CSV, JSON Lines or
parquet files."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.data.tables.cell_text import check_classes, csv_line
from thinstack.errors import InputError, needs_extra
from thinstack.integrations.corpora.inputs import Problem, Row
from thinstack.runtime.scored import unit

if TYPE_CHECKING:
    import pyarrow as pa

IntArray = NDArray[np.int64]
Rows = NDArray[np.void]
"""Scored rows (N,) with the fields of `Layout.dtype`, in the order of their texts."""

Output = Literal["phrases", "sentences", "documents", "aspects"]
"""The unit of a row."""

NOTHING: Final = -1
"""Placeholder for a missing number."""

_PLACES: Final[dict[Output, tuple[str, ...]]] = {
    "phrases": ("sentence", "start", "end", "node", "parent"),
    "aspects": ("row", "sentence", "start", "end", "because_start", "because_end"),
}
"""Numeric columns that differ from those of sentences."""
ROW: Final = "row"
_BECAUSE: Final = "because"
STRINGS: Final = ("id", "text", _BECAUSE, "label")
VECTOR: Final = "vector"

PartFormat = Literal["parquet", "jsonl", "csv"]

Write = Callable[[Sequence[Row], Rows], object]
"""Writes scored rows; rows of the input are by index."""

_PROBLEM: Final = "error"
GROUP: Final = 1 << 15  # maximum rows of a parquet row group
_DIGITS: Final = 6  # decimal places of a probability in JSON


class Layout(NamedTuple):
    """The layout of the rows of a run.

    Attributes:
        labels: the classes.
        output: the unit of a row.
        vectors: the dimension of a vector; 0 without.
        terms: the columns of terms and categories (`term_columns`).
        input_columns: the columns of the input that are copied unchanged.
    """

    labels: Sequence[str]
    output: Output = "sentences"
    vectors: int = 0
    terms: Sequence[str] = ()
    input_columns: Sequence[str] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """The columns of whole numbers. Rows of aspects have the number of their text in the corpus
        (`row`), to distinguish texts with the same id."""
        return _PLACES.get(self.output, ("sentence", "start", "end"))

    @property
    def dtype(self) -> np.dtype[np.void]:
        """The fields of `Rows` for V classes, where NOTHING is a missing whole number and NaN
        another.

        - text: the index of the text;
        - sentence: the index of the sentence in the text, NOTHING for a whole text;
        - start, end: characters [start, end) of the text, NOTHING for a text without aspects;
        - node, parent: for phrases, the number of the node in its tree, in transition order, and
          that of its parent, NOTHING for a whole sentence;
        - because_start, because_end: for aspects, the deciding phrase's characters;
        - label: the number of the class, NOTHING if no class is probable enough;
        - polarity: the mean of the classes' values from -1 to 1, weighted by their probabilities;
        - scores: (V,) the probabilities of the classes, NaN for a text without words;
        - vector: (D,) the vector;
        - terms: (2T,) the mean polarity of the mentions of each of T terms, and their number.
        """
        shapes = {"scores": len(self.labels), VECTOR: self.vectors, "terms": len(self.terms)}
        kinds = {"scores": np.float32, VECTOR: np.float16, "terms": np.float64}
        numbers: list[Any] = [(name, np.int64) for name in ("text", *self.places, "label")]
        arrays = [(name, kinds[name], (size,)) for name, size in shapes.items()]
        return np.dtype([*numbers, ("polarity", np.float64), *arrays])

    def rows(self, text: IntArray, **fields: Any) -> Rows:
        """Create rows from the indices of their texts and these fields; others are missing."""
        rows, dtype = np.zeros(len(text), self.dtype), self.dtype
        for name in dtype.names or ():
            missing = NOTHING if dtype[name].kind == "i" else np.nan
            rows[name] = text if name == "text" else fields.get(name, missing)
        return rows

    @property
    def columns(self) -> list[str]:
        """The columns except those of scores, those of the input after the id."""
        because = [_BECAUSE] if self.output == "aspects" else []
        said = [*self.places, "text", *because, "label", "polarity", *self.terms]
        return ["id", *self.input_columns, *said]

    @property
    def csv_columns(self) -> list[str]:
        """The columns of CSV, with one column per class. Raises InputError for a class with the
        name of another column."""
        advice = "choose --format jsonl or --format parquet"
        check_classes("--format csv", self.labels, self.columns, advice)
        return [*self.columns, *self.labels]

    @property
    def written(self) -> set[str]:
        """The columns that are written in any format, except those of the input."""
        return {*self._replace(input_columns=()).columns, *self.labels, "scores", VECTOR}

    def column(self, name: str, texts: Sequence[Row], rows: Rows) -> Iterable[Any]:
        """Return a column other than the scores, with None for missing values. `texts`: the texts
        that were scored. Texts are generated, because phrases are nested and all at once would take
        much memory."""
        owners = map(texts.__getitem__, rows["text"].tolist())
        if name in self.input_columns:
            column = self.input_columns.index(name)
            return (text.cells[column] for text in owners)
        if name in self.terms:
            column = self.terms.index(name)
            kind = int if column % 2 else float
            return (None if x != x else kind(x) for x in rows["terms"][:, column].tolist())
        if name == "id":
            return (text.id for text in owners)
        if name in ("text", _BECAUSE):
            ends = ("start", "end") if name == "text" else ("because_start", "because_end")
            spans = zip(owners, *(rows[end].tolist() for end in ends), strict=True)
            return (
                None if start == NOTHING else text.text[start:end] for text, start, end in spans
            )
        cells = rows[name].tolist()
        if name == "label":
            return (None if label == NOTHING else self.labels[label] for label in cells)
        return (None if x != x or (x == NOTHING and name != "polarity") else x for x in cells)


def check_format(format: PartFormat, layout: Layout) -> None:
    """Raise MissingExtraError if a package for this format is missing, and InputError for classes
    that cannot be columns, and for vectors in a format that does not support them."""
    if layout.vectors and format != "parquet":
        raise InputError(
            f"--vectors needs parquet, because {format} cannot hold vectors: add --format "
            "parquet, or pass a file such as --out scored.parquet"
        )
    if format == "parquet":
        with needs_extra("data", "pyarrow"):
            import pyarrow.parquet  # noqa: F401
    elif format == "csv":
        _ = layout.csv_columns


@contextmanager
def open_part(path: Path, format: PartFormat, layout: Layout) -> Iterator[Write]:
    """Yield a writer of rows to a file."""
    if format == "parquet":
        from pyarrow.parquet import ParquetWriter

        schema = rows_schema(layout)
        with ParquetWriter(path, schema) as writer:
            yield lambda texts, rows: [
                writer.write_batch(rows_batch(schema, layout, texts, rows[start : start + GROUP]))
                for start in range(0, len(rows), GROUP)
            ]
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        if format == "csv":
            stream.write(csv_line(layout.csv_columns))
            yield lambda texts, rows: stream.writelines(map(csv_line, _cells(texts, rows, layout)))
        else:
            yield lambda texts, rows: stream.writelines(_lines(texts, rows, layout))


def _rounded(rows: Rows) -> tuple[Rows, list[list[float]]]:
    """Return the rows with polarity rounded for text files, and their rounded scores as lists."""
    rounded = rows.copy()
    for name in ("polarity", "terms"):
        rounded[name] = rows[name].round(_DIGITS)
    return rounded, rows["scores"].astype(np.float64).round(_DIGITS).tolist()


def _as_text(cell: object) -> str | None:
    """Convert a cell of the input to text for CSV and parquet."""
    if cell is None or cell != cell:
        return None
    if isinstance(cell, bool | dict | list):
        return _as_json(cell)
    return _printed(cell).encode(errors="replace").decode()


def _as_json(cell: object) -> str:
    if cell is None or cell != cell:
        return "null"
    try:
        text = json.dumps(cell, ensure_ascii=False, default=_printed, allow_nan=False)
    except ValueError:  # NaN or infinity, which JSON lacks
        finite = json.loads(json.dumps(cell, default=_printed), parse_constant=lambda _: None)
        text = json.dumps(finite, ensure_ascii=False)
    return text.encode(errors="replace").decode()


def _printed(cell: object) -> str:
    return cell.decode(errors="replace") if isinstance(cell, bytes) else str(cell)


def _lines(texts: Sequence[Row], rows: Rows, layout: Layout) -> Iterator[str]:
    """Serialize rows to JSON with a template: even json.dumps, which is fast, would take as long as
    the model."""
    quoted = json.JSONEncoder(ensure_ascii=False).encode
    numbers = ", ".join(f"{quoted(label).replace('%', '%%')}: %r" for label in layout.labels)
    rows, scores = _rounded(rows)
    columns = dict[str, Iterator[Any]]()
    for name in layout.columns:
        write = _as_json if name in layout.input_columns else quoted if name in STRINGS else None
        cells = layout.column(name, texts, rows)
        columns[name] = map(write, cells) if write else ("null" if x is None else x for x in cells)
    columns["scores"] = (
        "null" if row[0] != row[0] else f"{{{numbers % tuple(row)}}}" for row in scores
    )
    form = ", ".join(f"{quoted(name).replace('%', '%%')}: %s" for name in columns)
    return map(f"{{{form}}}\n".__mod__, zip(*columns.values(), strict=True))


def _cells(texts: Sequence[Row], rows: Rows, layout: Layout) -> Iterator[Iterable[Any]]:
    rows, scores = _rounded(rows)
    columns: list[Iterable[Any]] = []
    for name in layout.columns:
        cells = layout.column(name, texts, rows)
        columns.append(map(_as_text, cells) if name in layout.input_columns else cells)
    for cells, row in zip(zip(*columns, strict=True), scores, strict=True):
        yield (*cells, *([None] * len(row) if row[0] != row[0] else row))


def rows_schema(layout: Layout, *, problems: bool = False) -> "pa.Schema":
    """Return the columns of scored rows. `problems`: whether to include failed rows, as for
    engines, whose rows have no numbers."""
    with needs_extra("data", "pyarrow"):
        import pyarrow as pa
    scores = pa.struct([pa.field(label, pa.float32()) for label in layout.labels])
    kinds = {ROW: pa.int64(), "polarity": pa.float64()} | dict.fromkeys(STRINGS, pa.string())
    kinds |= dict.fromkeys(layout.input_columns, pa.string())
    kinds |= dict.fromkeys(layout.terms[::2], pa.float64())
    names = [name for name in layout.columns if not (problems and name == ROW)]
    problem = pa.struct([pa.field(name, pa.string()) for name in Problem._fields])
    return pa.schema(
        [
            *(pa.field(name, kinds.get(name, pa.int32())) for name in names),
            *([pa.field("scores", scores)] if layout.labels else []),  # parquet lacks empty structs
            *([pa.field(VECTOR, pa.list_(pa.float32(), layout.vectors))] if layout.vectors else []),
            *([pa.field(_PROBLEM, problem)] if problems else []),
        ]
    )


def rows_batch(
    schema: "pa.Schema",
    layout: Layout,
    texts: Sequence[Row],
    rows: Rows,
    problems: Mapping[int, Problem] = MappingProxyType({}),
) -> "pa.RecordBatch":
    """Convert scored rows to the columns of `rows_schema`. `texts` and `problems` are by the index
    of the text."""
    import pyarrow as pa

    kinds = list(schema.field("scores").type) if "scores" in schema.names else []
    columns = []
    for field in schema:
        if field.name == "scores":
            missing = pa.array(np.isnan(rows["scores"][:, 0]))
            by_class = [pa.array(np.ascontiguousarray(column)) for column in rows["scores"].T]
            columns.append(pa.StructArray.from_arrays(by_class, fields=kinds, mask=missing))
        elif field.name == VECTOR:
            missing, numbers = np.isnan(rows[VECTOR][:, 0]), pa.array(unit(rows[VECTOR]).ravel())
            vectors = pa.FixedSizeListArray.from_arrays
            columns.append(vectors(numbers, type=field.type, mask=pa.array(missing)))
        elif field.name == _PROBLEM:
            failed = {text: problem._asdict() for text, problem in problems.items()}
            columns.append(pa.array(map(failed.get, rows["text"].tolist()), field.type))
        else:
            cells = layout.column(field.name, texts, rows)
            cells = map(_as_text, cells) if field.name in layout.input_columns else cells
            columns.append(pa.array(cells, field.type))
    return pa.record_batch(columns, schema=schema)
