"""Scores Arrow record batches for engines that read and write rows themselves: Spark, Ray Data,
Dask."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from thinstack.bundle import open_bundle
from thinstack.core.config import TreeSource
from thinstack.data.tables.table import batch_records
from thinstack.errors import InputError, needs_extra, shown
from thinstack.integrations.corpora.inputs import DEFAULT_TEXT, Columns, rows_of
from thinstack.integrations.corpora.scored_rows import Layout, Output, rows_batch, rows_schema
from thinstack.integrations.corpora.scoring import BATCH_ROWS, TextScorer, batches_of, in_order
from thinstack.runtime.predictor import Predictor

if TYPE_CHECKING:
    import pyarrow as pa


DEFAULT_ID: Final = "id"

MOST_ROWS: Final = 1 << 15
"""Maximum number of rows of an output batch."""

_ADVICE = "set the columns with text= and id="


def scored_schema(
    labels: Sequence[str], output: Output = "sentences", *, vectors: int = 0
) -> "pa.Schema":
    """Return the columns of `score_batches`, by the labels of the model (`Predictor.labels`).

    They are: `id` string; `sentence`, `start`, `end` int32; for phrases also `node`, `parent`
    int32, and for aspects `because_start`, `because_end`; `text`, `label` string, and for aspects
    `because`; `polarity` double; `scores`, a struct with a float32 for each class, unless the model
    has no labels; with `vectors`, the dimension of a vector (`Predictor.width`), also `vector`, a
    list of that many float32; `error`, a struct of the strings `kind` and `message`. All may be
    null. Raises MissingExtraError without pyarrow, and InputError for the name of a model.
    """
    if isinstance(labels, str):
        problem = f"expected a model's labels, found {shown(labels, 60)}"
        raise InputError(f"labels: {problem}: pass thinstack.load(...).labels")
    return rows_schema(Layout(labels, output, vectors), problems=True)


def score_batches(
    batches: Iterable["pa.RecordBatch"],
    model: Predictor | str | Path = "sentiment",
    *,
    text: str = DEFAULT_TEXT,
    id: str = DEFAULT_ID,
    output: Output = "sentences",
    source: TreeSource = "auto",
    vectors: bool = False,
    isolated: bool | None = None,
) -> Iterator["pa.RecordBatch"]:
    """Score the rows of record batches with a column of texts and a column of ids, in order.

    `model`: a loaded model, or the name or folder of a bundle, which then runs on one thread.
    `text`, `id`: the columns; other columns are not read. `output`: the unit of a row. `source`:
    the source of trees. `vectors`: whether to add the vector of each row. `isolated`: how to run a
    named model, as for `thinstack.load`.

    `scored_schema` describes the rows. If a text fails, it gets one row with its `id` and an
    `error`, in which everything else is null, and the others are still scored. `Problem` lists the
    kinds of error. In all other rows, `error` is null. At any time, only one input batch and the
    scores of some of its texts are in memory. An input batch may produce several batches; an empty
    one produces none.

    Raises, when called, what `Predictor`, `open_bundle` and `TextScorer` raise, and
    MissingExtraError without pyarrow; InputError for `isolated` with a loaded model, and if
    `batches` does not iterate over batches, such as a table. During iteration, raises DataError for
    a batch that lacks the columns or has two with one name, and InputError for an object that is
    not a record batch.
    """
    _check_batches(batches)
    if not isinstance(model, Predictor):
        model = Predictor(open_bundle(model), threads=1, isolated=isolated)
    elif isolated is not None:
        raise InputError(
            "isolated needs a bundle's name or folder: pass isolated to thinstack.load"
        )
    scorer = TextScorer(model, output, source, vectors=vectors)
    return _scored(batches, scorer, Columns(text, id))


def _check_batches(batches: object) -> None:
    with needs_extra("data", "pyarrow"):
        import pyarrow as pa
    single = isinstance(batches, pa.RecordBatch | Mapping | str | bytes | Path)
    if single or hasattr(type(batches), "columns") or not isinstance(batches, Iterable):
        text = isinstance(batches, str | bytes | Path | None)
        kind = shown(batches, 60) if text else f"a {type(batches).__name__}"
        raise InputError(
            f"expected pyarrow record batches, found {kind}: pass "
            "pyarrow.Table.from_pandas(frame).to_batches(), put a single batch in a list, "
            "or score a file with `thinstack predict --input FILE`"
        )


def _scored(
    batches: Iterable["pa.RecordBatch"], scorer: TextScorer, columns: Columns
) -> Iterator["pa.RecordBatch"]:
    import pyarrow as pa

    schema, line = rows_schema(scorer.layout, problems=True), 1
    for batch in batches:
        if not isinstance(batch, pa.RecordBatch):
            problem = f"found a {type(batch).__name__}; for a table, pass table.to_batches()"
            raise InputError(f"expected pyarrow record batches, {problem}")
        # In parts, so that an Arrow batch is not converted to Python all at once.
        for first in range(0, batch.num_rows, BATCH_ROWS):
            part = batch.slice(first, BATCH_ROWS)
            records = chain([part.schema.names], batch_records(part, columns.names, line))
            line += part.num_rows
            for some in batches_of([*rows_of("row", records, columns, advice=_ADVICE)]):
                scored, problems = scorer(some)
                failed = scorer.make_rows(np.array(sorted(problems), np.int64))
                rows = in_order([scored, failed])
                for start in range(0, len(rows), MOST_ROWS):
                    shown_rows = rows[start : start + MOST_ROWS]
                    yield rows_batch(schema, scorer.layout, some, shown_rows, problems)
