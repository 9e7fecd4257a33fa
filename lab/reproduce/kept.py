"""What a report keeps of the one that stands there: rows that were not run now."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reproduce.curves import Point
from reproduce.provenance import recipe_digest
from reproduce.run import digests_of
from reproduce.shown import Curve
from reproduce.table import Row, Run, Table
from thinstack._version import __version__
from thinstack.errors import DataError

COPIED = {"name", "title", "source", "differs", "trees", "rival", "parser", "paper", "paper_std"}
"""What a report says of a row without running it."""

FORMER_SCHEMAS = (1,)
"""Of reports that rows can be kept of."""

RULES = {"x", "figure", "cases", "variant", "window", "last"}
"""What says how the line of a curve is made."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Of an earlier report: its `rows` by name, its `comparisons` of two of them, and their lines
    in its `curves`. `stale`: the names of rows that it has and that cannot be kept, for the recipe
    or the data have changed since."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    comparisons: list[dict[str, Any]] = field(default_factory=list)
    curves: dict[str, dict[str, list[Point]]] = field(default_factory=dict)
    stale: tuple[str, ...] = ()

    def comparison(self, a: str, b: str, key: str) -> dict[str, Any] | None:
        """The one of the rows `a` and `b` in a column, if it was kept."""
        wanted = (a, b, key)
        same = (one for one in self.comparisons if (one["a"], one["b"], one["key"]) == wanted)
        return next(same, None)


def keep(
    file: Path, table: Table, tests: Mapping[str, str], ran: Iterable[str], data: Path
) -> Kept:
    """What to keep of the report in `file`, which may not be there. Rows that were `ran` now, be it
    without success, and those that the table has no more, are neither kept nor stale."""
    report = _read(file)
    known = {row.name: row for row in table.rows if row.name not in set(ran)}
    found = {row["name"]: row for row in report["rows"] if row["name"] in known}
    rows = {
        name: _as_now({"versions": report.get("versions", {}), **row}, known[name], table)
        for name, row in found.items()
        if _is_same(row, known[name], report) and _fits(row, table.runs([name], (), tests), data)
    }
    drawn = {curve.name for curve in table.curves if _has_lines_of(report, curve)}
    return Kept(
        rows,
        [one for one in report["comparisons"] if {one["a"], one["b"]} <= rows.keys()],
        {
            curve: {
                row: [Point(**one) for one in line] for row, line in lines.items() if row in rows
            }
            for curve, lines in report["curves"].items()
            if curve in drawn
        },
        tuple(name for name in found if name not in rows),
    )


def _read(file: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        report = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(report, dict) and report.get("schema_version") in FORMER_SCHEMAS:
            return report
    return {"rows": [], "comparisons": [], "curves": {}}


def _is_same(row: Mapping[str, Any], now: Row, report: Mapping[str, Any]) -> bool:
    """Whether a row of a report has the figures that the row means now. A run is repeated when
    thinstack's version changes, so its row is not kept either."""
    versions = row.get("versions", report.get("versions", {}))
    same = (row["rival"], row["trees"]) == (now.rival, now.trees)
    return same and versions.get("thinstack", __version__) == __version__


def _has_lines_of(report: Mapping[str, Any], curve: Curve) -> bool:
    """Whether the lines of a report are drawn by the rules that the curve has now. Reports had no
    rules before; their lines are taken to follow the same. Curves of variants are newer."""
    rules = curve.model_dump(mode="json", include=RULES)
    return bool({"variant": ""} | report.get("rules", {}).get(curve.name, rules) == rules)


def _fits(row: Mapping[str, Any], runs: Iterable[Run], data: Path) -> bool:
    """Whether the figures of a row come from the recipes, the seeds and the data of these runs."""
    now: dict[str, dict[str, Any]] = {}
    for run in runs:
        try:
            recipe = recipe_digest(run.recipe, run.row.rival, run.learning)
            made_of = {"recipe": recipe, "data": digests_of(run, data)}
        except DataError:
            return False
        now.setdefault(run.variant, {**made_of, "seeds": []})["seeds"].append(run.seed)
    compared = "recipe", "data", "seeds"
    then = {run["variant"]: {key: run[key] for key in compared} for run in row["runs"]}
    return now == then


def _as_now(row: Mapping[str, Any], now: Row, table: Table) -> dict[str, Any]:
    """A row with the words that the table has now. Columns that it was run without stay out."""
    columns = (column.key for column in table.columns)
    figures = {key: row["figures"][key] for key in columns if key in row["figures"]}
    return {**row, **now.model_dump(include=COPIED), "figures": figures}
