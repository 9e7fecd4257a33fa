"""`python -m reproduce only`: the development sentences that one row of a table has right, and
another has wrong (Teng & Zhang 2017, Table 6)."""

from collections import Counter
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table as Lines
from rich.text import Text

from reproduce.cases import Cases
from reproduce.run import cases_of, finished, job_of
from reproduce.table import Table
from thinstack.errors import DataError, InputError, escaped
from thinstack.text.raw_text import detokenize
from thinstack.training.examples.datasets import read_items
from thinstack.training.tasks.pairs import Pair


def only(file: Path, a: str, b: str, *, data: Path, work: Path, top: int, console: Console) -> None:
    """Print the `top` sentences with the greatest share of seeds of row `a` that are right, less
    that of row `b`, and the class that most seeds of each row give.

    The rows were run by `python -m reproduce table FILE --work WORK`. Raises DataError if they were
    not, InputError for rows of other data, for rivals, and where row `a` is nowhere ahead;
    UnknownNameError for a row that is not there.
    """
    table = Table.read(file)
    recipe = table.recipe_of(table.row(a))
    items = read_items(recipe, data)[2]
    if isinstance(items[0], Pair):
        raise InputError(f"{file}: a table of {recipe.task.name}; name one of sentences with trees")
    first, second = (_answers(table, name, data, work) for name in (a, b))
    gold, labels = first[0].gold, recipe.model.labels
    if any(not np.array_equal(seed.gold, gold) for seed in second):
        raise InputError(f"{file}: rows {a} and {b} are measured on other sentences: name others")
    trees = [tree for tree, ids in items if ids[tree.root] >= 0]
    right = [sum(seed.gold == seed.predicted for seed in row) for row in (first, second)]
    lead = right[0] / len(first) - right[1] / len(second)
    lines = Lines("sentence", "right", a, b, box=None)
    ahead = np.argsort(-lead, kind="stable")[: min(top, int((lead > 0).sum()))]
    if not len(ahead):
        raise InputError(f"{file}: row {a} has no sentence right more often than row {b} has")
    for place in ahead.tolist():
        said = (Counter(int(seed.predicted[place]) for seed in row) for row in (first, second))
        classes = (labels[counts.most_common(1)[0][0]] for counts in said)
        text = escaped(detokenize(trees[place].words))
        lines.add_row(*map(Text, (text, labels[gold[place]], *classes)))
    console.print(lines)


def _answers(table: Table, name: str, data: Path, work: Path) -> list[Cases]:
    """The whole sentences of each seed of a row."""
    if table.row(name).rival is not None:
        raise InputError(
            f"row {name} is a rival, whose answers are not kept: name a row of a model"
        )
    found = []
    for run in table.runs([name]):
        if not run.variant:
            job = job_of(run, data=data, folder=work / table.name, commit=None)
            if finished(job) is None:
                raise DataError(
                    f"{job.folder}: no finished run of this recipe and these data: run python -m "
                    f"reproduce table with --row {name} first"
                )
            cases = cases_of(job, run.row.trees)
            found.append(cases.only(cases.whole))
    return found
