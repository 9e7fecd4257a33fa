"""Scored rows as Arrow record batches."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.errors import needs_extra
from thinstack.integrations.corpora.rows import Problem
from thinstack.integrations.corpora.scoring import NOTHING, ScoredRows

if TYPE_CHECKING:
    import pyarrow as pa


_PROBLEM: Final = "error"


def rows_schema(labels: Sequence[str], *, phrases: bool, problems: bool = False) -> "pa.Schema":
    """The columns of scored rows for these classes.

    `phrases`: whether the rows are phrases, with a place in a tree. `problems`: whether failed rows
    are included. Raises MissingExtraError without pyarrow.
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
