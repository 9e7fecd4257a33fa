"""The phrase index of a table, optionally cached in a file until the table changes."""

import json
import warnings
from pathlib import Path

from thinstack.data.tables.alike import likeness
from thinstack.errors import InputError, LanguageWarning
from thinstack.integrations.corpora.run_manifest import Tell
from thinstack.integrations.report.plan import Plan, plan_of, read_again
from thinstack.integrations.report.reading import scored_rows
from thinstack.integrations.report.rows import ReportOptions, Source, TextRow
from thinstack.integrations.search.index_file import read_header
from thinstack.integrations.search.phrase_index import PhraseIndex
from thinstack.runtime.predictor import Predictor


def indexed_table(
    source: Source,
    model: Predictor,
    options: ReportOptions,
    tell: Tell = lambda _: None,
    path: Path | None = None,
) -> tuple[PhraseIndex, Plan, tuple[int, str]]:
    """Index a table, whose rows `source` yields twice. `tell` is called with the progress. `path`:
    the file of the index, which is read if it matches the rows and the model, otherwise written.

    Returns the index of the texts that could be read, with ids `[place, group]`; the plan of the
    table; the number of rows that are not in the index, and the reason of the first, unless the
    index was read.

    Raises what `plan_of` and `PhraseIndex` raise, DataError for a file at `path` that is not an
    index, and InputError for an index there that is not of a table.
    """
    plan = plan_of(source, options, tell)
    index = PhraseIndex(model)
    index.source = f"{model.bundle.manifest.digest} {plan.digest.hex()}"
    if path is not None and path.exists():
        header = read_header(path)
        if header.source == index.source:
            loaded = PhraseIndex.load(path, model)
            return loaded, plan, (plan.rows - loaded.texts, "")
        if not header.source.startswith(f"{header.digest} "):
            problem = "this is an index from PhraseIndex.save and would be overwritten"
            raise InputError(f"{path}: {problem}; choose another file")
    groups = {likeness(name): name for name in plan.groups}
    left_out, doubted = list[str](), list[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LanguageWarning)  # the warning below names the row
        for row, result in scored_rows(model, read_again(source, plan, tell)):
            is_doubted = row.unreadable is not None and row.unreadable.kind == "language"
            if row.unreadable is not None:
                (doubted if is_doubted else left_out).append(_reason(row))
            if row.unreadable is None or is_doubted:
                id = [row.place, groups.get(likeness(row.group or ""))]
                index._table.add(result, json.dumps(id))
    if doubted:
        warnings.warn(LanguageWarning(f"{doubted[0]}; its scores are unreliable"), stacklevel=2)
    if path is not None:
        index.save(path)
    return index, plan, (len(left_out), left_out[0] if left_out else "")


def _reason(row: TextRow) -> str:
    return f"{row.place}: {(row.unreadable and row.unreadable.reason) or 'no text'}"
