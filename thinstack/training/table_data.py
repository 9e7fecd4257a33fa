"""Finds out what `thinstack train` learns from a table: classes of texts, classes of pairs, or
scores of pairs."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from thinstack.config import DataConfig, Task
from thinstack.config.data_config import PAIR_TASKS, TABLE
from thinstack.data.tables import columns_of
from thinstack.errors import DataError, InputError
from thinstack.training.labels import find_labels
from thinstack.training.pair_tables import find_scale

__all__ = ["find_classes", "table_data"]

BOTH = "label", "score"
"""The columns that say what is learnt from pairs."""


def table_data(
    table: Path, settings: Mapping[str, Any], *, text_columns: Sequence[str] = ()
) -> DataConfig:
    """The `data` of a recipe for a table.

    `settings`: fields of `DataConfig`, except `train`, `task` and the columns of texts. A value of
    None counts as not given. `text_columns`: one column of texts, or two columns of pairs. By
    default it is "text", or "text_a" and "text_b" if the table has these and no "text".

    Pairs have scores if `score_column` is given, or if the table has a column "score" and no
    "label". Raises DataError if it has both or neither, and if the table cannot be read. Raises
    InputError for columns that do not go together, and ConfigError for other bad settings.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    columns = tuple(text_columns) or _columns(table, given)
    if len(columns) > 2:
        raise InputError(
            f"--text-column: expected one, or two for pairs, found {len(columns)}; leave some out"
        )
    folder = table.resolve().parent
    if "dev" in given:
        dev = Path(given["dev"]).resolve()
        given["dev"] = str(dev.relative_to(folder) if dev.is_relative_to(folder) else dev)
    else:
        given.setdefault("dev_share", 0.1)
    if len(columns) == 2:
        task = _pair_task(table, given)
        given |= {"task": task, "format": TABLE, "pair_columns": columns}
    elif "score_column" in given:
        raise InputError(
            "--score-column: scores are of pairs, found one column of texts; name two columns with "
            "--text-column"
        )
    else:
        given |= {"task": "texts", "text_column": columns[0]}
    return DataConfig.parse({"train": table.name, **given}, source="the settings of the table")


def _columns(table: Path, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of texts: those of pairs if the table has them. A table that cannot be read is
    left to its reader, which says why."""
    pair: tuple[str, str] = DataConfig.model_fields["pair_columns"].default
    with suppress(DataError):
        known = _known(table, given)
        return pair if "text" not in known and {*pair} <= {*known} else ("text",)
    return ("text",)


def _known(table: Path, given: Mapping[str, Any]) -> list[str]:
    return columns_of(table, encoding=given.get("encoding", "utf-8"))


def _pair_task(table: Path, given: Mapping[str, Any]) -> Task:
    if odd := [name for name in ("spans", "span_group") if name in given]:
        option = odd[0].replace("_", "-")
        raise InputError(f"--{option}: spans are of texts, found pairs; leave it out")
    known = _known(table, given)
    label, score = (f"{name}_column" in given for name in BOTH)
    if not (label or score):
        label, score = (name in known for name in BOTH)
    if label == score:
        found = "both" if label else ", ".join(map(repr, known))
        raise DataError(
            f"{table}: expected the column 'label' (classes) or 'score' (ratings) of pairs, found "
            f"{found}; name the column to learn with --label-column or --score-column"
        )
    return "relatedness" if score else "entailment"


def find_classes(values: Sequence[str], data: DataConfig, source: str) -> tuple[str, ...]:
    """The labels of a model that learns these classes or scores. `source` leads messages. Raises
    DataError as `find_labels` and `find_scale` do, and for classes of pairs that look like
    scores."""
    source = f"{source}, {data.target_column}"
    if data.task == "relatedness":
        return find_scale(values, source)
    if data.task in PAIR_TASKS and (numbers := [one for one in values if _is_fraction(one)]):
        found = f"expected classes, found numbers ({', '.join(numbers[:3])} ...)"
        raise DataError(
            f"{source}: {found}; if they are ratings, name the column with --score-column"
        )
    return find_labels(values, source)


def _is_fraction(text: str) -> bool:
    try:
        return not float(text).is_integer()
    except ValueError:
        return False
