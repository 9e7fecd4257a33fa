"""Scores a column of texts of a DataFrame: `thinstack.score_frame`."""

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import open_bundle
from thinstack.data.tables.table_rows import check_columns
from thinstack.errors import InputError, shown
from thinstack.runtime.aspects import Asked, name_of, term_cells, term_columns
from thinstack.runtime.categories import Category
from thinstack.runtime.mentions import patterns_of, warn_of_unmentioned
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result
from thinstack.runtime.vectors import need_vectors

Frame = TypeVar("Frame")
"""A pandas or polars DataFrame, a pyarrow Table, or another frame that narwhals supports."""

_ROWS: Final = 1 << 12
"""Number of texts per batch taken from a frame."""

_ADVICE: Final = "set the text column with text="


def score_frame(
    frame: Frame,
    text: Any = "text",
    *,
    model: Predictor | str | Path = "sentiment",
    scores: bool = False,
    about: Asked | Category = (),
    vectors: bool = False,
    prefix: str = "",
) -> Frame:
    """Score a column of English texts, and return the frame with new columns.

    `frame`: a pandas or polars DataFrame, or a pyarrow Table. The result has the same class, index,
    row order and `attrs`; where columns have levels, a new name is the first level. `text`: the
    text column. `model`: a loaded model, or what `thinstack.load` takes.

    The new columns are `label`; `polarity`, from -1 (negative) to 1 (positive); `most_positive` and
    `most_negative`, the strongest phrase of each polarity (`Result.highlights`). `scores` adds the
    probability of each class, in a column with its name. `prefix` is put before all new names.

    `about`: terms and categories, such as `["battery", "price|cost"]`, as for `Result.about`. Each
    adds two columns: `battery_polarity`, the mean polarity of its mentions in the text, and
    `battery_mentions`, their number. Of several names, the first names the columns. A term that no
    text mentions triggers a NoMentionWarning.

    `vectors`: whether to add a last column `vector` with the vector of each text (`Result.vector`):
    a fixed-size list of float32; numpy arrays in pandas.

    Missing texts and texts without words get missing values and 0 mentions. A label below `abstain`
    is missing, and so is a phrase if none has that polarity, and the polarity of a term without
    mentions. Without a sentiment scale, polarity and phrases are missing; a model without labels
    fills only vectors. Except for the new columns, memory stays bounded.

    Raises InputError if `frame` is not a frame in memory, if it already has one of the new columns,
    for a cell that is not text (with its row, from 0), for `vectors` if the model has none, for a
    model without labels unless `vectors` is set, and as `Result.about` does. Raises DataError for a
    missing or repeated column, and what `thinstack.load` raises.
    """
    eager = opened_frame(frame)
    check_columns("the frame", eager.columns, [text], _ADVICE)
    if not isinstance(model, Predictor):
        model = Predictor(open_bundle(model))
    if vectors:
        need_vectors(model, "score_frame")
    else:
        model.view.need_labels("score_frame")
    asked = checked_mentions(about)
    shown_scores = model.labels if scores else ()
    names = ["label", "polarity", "most_positive", "most_negative", *shown_scores]
    names = [prefix + name for name in (*names, *term_columns(asked, model))]
    names += [f"{prefix}vector"] * vectors
    levels = getattr(getattr(frame, "columns", None), "nlevels", 1)  # of pandas
    labels = [name if levels == 1 else (name, *[""] * (levels - 1)) for name in names]
    _check_new(labels, eager.columns)
    texts = ("" if cell is None else cell for (cell,) in frame_cells(eager, [text]))
    results = model.stream(texts)
    columns = _columns(results, asked, shown_scores, model.width * vectors)
    scored: Frame = _joined(frame, eager, dict(zip(labels, columns, strict=True)))
    return scored


def opened_frame(frame: Any) -> "nw.DataFrame[Any]":
    """Wrap a frame with narwhals. Raises InputError unless it is a frame in memory, and DataError
    for two columns with the same name."""
    try:
        eager: nw.DataFrame[Any] | nw.LazyFrame[Any] | nw.Series[Any]
        eager = nw.from_native(frame, allow_series=True)
    except nw.exceptions.DuplicateError:  # of pandas and Arrow; narwhals does not report the column
        names: list[str] = list(getattr(frame, "column_names", None) or frame.columns)
        check_columns("the frame", names, [], _ADVICE)
        raise
    except TypeError:
        raise InputError(f"{_EXPECTED}, {_instead_of(frame)}") from None
    if isinstance(eager, nw.LazyFrame):
        raise InputError(
            f"{_EXPECTED}, found a {type(frame).__name__}, which has no rows in memory yet: "
            "collect it first with frame.collect(); for Spark see "
            "thinstack.integrations.spark"
        )
    if isinstance(eager, nw.Series):
        raise InputError(
            f"{_EXPECTED}, found a {type(frame).__name__}: pass the whole frame; "
            "model.stream(series) scores texts only"
        )
    return eager


_EXPECTED: Final = "expected a pandas or polars DataFrame, or a pyarrow Table"


def _instead_of(value: object) -> str:
    """Describe an object that is not a frame, and what to do."""
    what = f"found a {type(value).__name__}"
    if isinstance(value, Mapping):
        return f"{what}: convert it to a frame, such as pandas.DataFrame(d)"
    if hasattr(value, "to_pylist") and hasattr(value, "schema"):  # a RecordBatch
        return f"{what}: convert it with pyarrow.Table.from_batches([batch])"
    if isinstance(value, str | Path):
        return f"found {shown(value, 60)}: read the file, or run thinstack predict --input FILE"
    return f"{what}: to score texts without a frame, call model(texts)"


def checked_mentions(about: object) -> tuple[str | Category, ...]:
    """Return terms and categories, or a single category, without duplicates. Raises InputError for
    a single text, for an object that is not a sequence, and as `patterns_of` does."""
    if isinstance(about, Category):
        return (about,)
    if isinstance(about, str) or not isinstance(about, Sequence):
        expected = "expected a list of terms, such as ['battery', 'price|cost']"
        raise InputError(f"about: {expected}, found {shown(about, 60)}")
    patterns_of(one for one in about if not isinstance(one, Category))
    return tuple(one for place, one in enumerate(about) if one not in about[:place])


def _check_new(names: Sequence[Any], there: Sequence[object]) -> None:
    """Raise InputError for new columns with the name of another one, or whose name is not valid
    Unicode. In frames with column levels, names are tuples."""
    if odd := [
        name for name in names if "".join(name) != "".join(name).encode(errors="ignore").decode()
    ]:
        raise InputError(f"{shown(odd[0], 60)} is not valid Unicode: choose another prefix")
    if taken := [name for name in names if name in there]:
        raise InputError(
            f"the frame's column {taken[0]!r} would be overwritten: rename or drop it, or "
            "choose a prefix for the new columns, such as prefix='sst_'"
        )
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(
            f"the model's class {twice[0]!r} has the name of another new column: omit scores"
        )


def frame_cells(frame: "nw.DataFrame[Any]", names: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of some columns, row by row, None for missing values, converted in batches.
    Raises InputError for a cell of the first column, the texts, that is not a text."""
    for start in range(0, len(frame), _ROWS):
        lists = [_cell_list(frame.get_column(name)[start : start + _ROWS]) for name in names]
        for row, cells in enumerate(zip(*lists, strict=True), start):
            if not isinstance(cells[0], str | None):
                raise InputError(
                    f"row {row} of the column {names[0]!r}: expected a text, found "
                    f"{shown(cells[0], 60)}: convert the column, such as "
                    f"frame[{names[0]!r}]{_conversion(frame, cells[0])}"
                )
            yield cells


def _cell_list(column: "nw.Series[Any]") -> list[Any]:
    """Return the cells of a column; dates out of Python's range as texts."""
    try:
        cells = column.to_list()
    except (ValueError, OverflowError):
        cells = column.cast(nw.String).to_list()
    pairs = zip(cells, column.is_null().to_list(), strict=True)
    return [None if missing else cell for cell, missing in pairs]


def _conversion(frame: "nw.DataFrame[Any]", cell: object) -> str:
    """Return how to convert a column with this cell to text."""
    pandas = ".str.decode('utf-8')" if isinstance(cell, bytes) else ".astype('string')"
    others = {"polars": ".cast(polars.String)", "pyarrow": ".cast(pyarrow.string())"}
    return others.get(frame.implementation.value, pandas)


def _columns(
    results: Iterator[Result], about: Asked, scores: Sequence[str], width: int
) -> list[Any]:
    """Return the new columns, in order. `scores`: the classes with a column. `width`: the dimension
    D of the vectors (n, D), which come last; 0 for none. Warns of terms that no text mentions."""
    columns: list[list[Any] | array[Any]] = [[], array("d"), [], []]
    columns += [array(kind) for kind in "d" * len(scores) + "dq" * len(about)]
    mentions, numbers = columns[len(columns) - 2 * len(about) + 1 :: 2], array("f")
    unknown = np.full(width, np.nan, np.float32)
    for result in results:
        for column, cell in zip(columns, _cells(result, about, scores=bool(scores)), strict=True):
            column.append(cell)
        if width:
            vector = result.vector
            numbers.frombytes((unknown if vector is None else vector).tobytes())
    counts = zip(map(name_of, about), mentions, strict=True)
    warn_of_unmentioned(term for term, times in counts if times and not any(times))
    vectors = [np.frombuffer(numbers, np.float32).reshape(-1, width)] if width else []
    return [*columns, *vectors]


def _cells(result: Result, about: Asked, *, scores: bool) -> Iterator[Any]:
    """Yield the new cells of a row in order, NaN for missing numbers."""
    view, phrases, polarity = result.view, dict[bool, str](), math.nan
    if result.sentences and view.polarity is not None:
        polarity = math.nan if result.polarity is None else result.polarity
        sides = {name: place > 0 for name, place in zip(view.labels, view.polarity, strict=True)}
        words = sum(len(sentence.words) for sentence in result.sentences)
        for phrase in reversed(result.highlights(words)):
            phrases[sides[str(phrase.label)]] = phrase.text
    yield from (result.label, polarity, phrases.get(True), phrases.get(False))
    if scores:
        missing = dict.fromkeys(view.labels, math.nan)
        yield from (result.scores if result.sentences else missing).values()
    yield from term_cells(result.about(*about) if about else (), about)


def _vector_column(rows: NDArray[np.float32], backend: Any) -> Any:
    """Create a column of the rows (n, D), missing where they are NaN. pandas has no type for lists
    of fixed size, so its column contains arrays."""
    missing, size = np.isnan(rows[:, 0]), rows.shape[1]
    if backend.is_polars():
        import polars as pl

        whole, there = pl.Series(rows, dtype=pl.Array(pl.Float32, size)), pl.Series(~missing)
        return nw.from_native(pl.select(pl.when(there).then(whole)).to_series(), series_only=True)
    if backend.is_pyarrow():
        import pyarrow as pa

        lists = pa.FixedSizeListArray.from_arrays(rows.ravel(), size, mask=pa.array(missing))
        return nw.from_native(pa.chunked_array([lists]), series_only=True)
    cells = [None if gone else row for gone, row in zip(missing.tolist(), rows, strict=True)]
    return nw.new_series("", cells, nw.Object, backend=backend)


def _joined(native: Any, frame: "nw.DataFrame[Any]", columns: Mapping[Any, Any]) -> Any:
    """Add columns to the frame. A pandas frame keeps its class, `attrs`, and column levels."""
    backend, new = frame.implementation, list[Any]()
    for name, column in columns.items():
        if isinstance(column, np.ndarray):
            new.append(_vector_column(column, backend).alias(name))
            continue
        kind: Any = nw.String
        if isinstance(column, array):
            kind = nw.Int64 if column.typecode == "q" else nw.Float64
        values = [None if value != value else value for value in column]
        new.append(nw.new_series(name, values, kind, backend=backend))
    joined = frame.with_columns(*new).to_native()
    if not backend.is_pandas():
        return joined
    if native.columns.nlevels > 1:
        labels = [*native.columns, *columns]
        joined.columns = type(native.columns).from_tuples(labels, names=native.columns.names)
    return native._constructor(joined).__finalize__(native)
