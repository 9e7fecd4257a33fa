"""What came of a table: means and standard deviations over seeds beside the paper's figures, and
what they come from."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from reproduce.comparison import FindCases, compare_rows, difference_of_papers
from reproduce.kept import COPIED, RULES, Kept
from reproduce.measures import MEASURES, of_seeds
from reproduce.provenance import recipe_digest, versions
from reproduce.run import Outcome
from reproduce.shown import Column, Comparison
from reproduce.table import Row, Run, Table

SCHEMA_VERSION = 1

Done = Sequence[tuple[Run, Outcome]]

NOTHING = Kept()


def build(
    table: Table,
    done: Done,
    *,
    missing: Mapping[str, str],
    digests: Mapping[str, Mapping[str, str]],
    complete: bool,
    cases: FindCases,
    kept: Kept = NOTHING,
) -> dict[str, Any]:
    """The report, fit for JSON, of the runs `done` and of the rows that are `kept` of an earlier
    one. `missing`: why other rows are not in it, by name; `digests`: of the data files of each run,
    by its path; `complete`: whether these are all runs of the table."""
    by_row: dict[str, list[tuple[Run, Outcome]]] = {}
    for run, outcome in done:
        by_row.setdefault(run.row.name, []).append((run, outcome))
    made = {name: _row(table, runs, digests, cases) for name, runs in by_row.items()} | kept.rows
    rows = [made[row.name] for row in table.rows if row.name in made]
    compared = (
        _kept_comparison(table, pair, kept) or compare_rows(table, pair, rows, cases)
        for pair in table.compare
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "table": table.name,
        "title": table.title,
        "paper": table.paper,
        "complete": complete,
        "missing": dict(missing),
        "differs": list(table.differs),
        "columns": [column.model_dump() for column in table.columns],
        "rows": rows,
        "comparisons": [found for found in compared if found is not None],
        "rules": {
            curve.name: curve.model_dump(mode="json", include=RULES) for curve in table.curves
        },
    }


def _kept_comparison(table: Table, pair: Comparison, kept: Kept) -> dict[str, Any] | None:
    """The comparison that was kept, beside the paper's figure as the table has it now."""
    found = kept.comparison(pair.a, pair.b, pair.key)
    return None if found is None else found | {"paper": difference_of_papers(table, pair)}


def _row(
    table: Table, done: Done, digests: Mapping[str, Mapping[str, str]], cases: FindCases
) -> dict[str, Any]:
    row, first = done[0][0].row, done[0][1]
    parts = {
        variant: [(run, outcome) for run, outcome in done if run.variant == variant]
        for variant in table.variants_of(row)
    }
    seeds = [] if row.rival is not None else cases(row, "", row.trees)
    return row.model_dump(include=COPIED) | {
        "figures": {column.key: _figure(column, row, parts) for column in table.columns},
        "measures": {name: spread(of_seeds(one, seeds)) for name, one in MEASURES.items()},
        "parameters": first.parameters,
        "runs": [_runs(variant, part, digests) for variant, part in parts.items()],
        "versions": versions(),
    }


def _figure(column: Column, row: Row, parts: Mapping[str, Done]) -> dict[str, Any] | None:
    """The `spread` of the seeds' figures; None where there is no case."""
    variant, source, figure = column.parts
    found = [
        outcome.figures.get(source or row.trees, {}).get(figure)
        for _, outcome in parts.get(variant, ())
    ]
    known = [value for value in found if value is not None]
    return spread(known if len(known) == len(found) else None)


def spread(seeds: Sequence[float] | None) -> dict[str, Any] | None:
    """Mean, standard deviation of the sample (None for one seed) and the figure of each seed; None
    without seeds."""
    if not seeds:
        return None
    return {
        "mean": statistics.fmean(seeds),
        "std": statistics.stdev(seeds) if len(seeds) > 1 else None,
        "seeds": list(seeds),
    }


def _runs(variant: str, done: Done, digests: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    run = done[0][0]
    outcomes = [outcome for _, outcome in done]
    return {
        "variant": variant,
        "split": "test" if run.test else "development",
        "reported_on": run.recipe.data.reported,
        "data": dict(digests[run.path]),
        "recipe": recipe_digest(run.recipe, run.row.rival, run.learning),
        "seeds": [outcome.seed for outcome in outcomes],
        "epochs": [outcome.epoch for outcome in outcomes],
        "epochs_run": [outcome.epochs for outcome in outcomes],
        "seconds": statistics.fmean(outcome.seconds for outcome in outcomes),
        "commits": sorted({outcome.commit for outcome in outcomes if outcome.commit is not None}),
    }
