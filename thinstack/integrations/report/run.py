"""Runs a report over a table: plans, scores, collects."""

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from thinstack.errors import InputError, LanguageWarning, ThinstackError, shown
from thinstack.integrations.corpora.run import Progress
from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.entries import REASONS, Entry, Fault, Source
from thinstack.integrations.report.plan import Plan, plan_of, read_again
from thinstack.integrations.report.readings import ResultReader
from thinstack.integrations.report.report import Report
from thinstack.integrations.report.summary import Asked, report_of
from thinstack.runtime.mentions import warn_of_unmentioned
from thinstack.text.language import is_word

if TYPE_CHECKING:
    from thinstack.runtime.predictor import Predictor
    from thinstack.runtime.result import Result

Tell = Callable[[Progress], None]

TOLD: Final = 256
"""Rows after which the progress is told."""


def nobody(now: Progress) -> None:
    """Is told the progress, and does nothing."""


def run_report(source: Source, model: "Predictor", asked: Asked, tell: Tell = nobody) -> Report:
    """The report of a table, whose rows `source` gives twice. `tell` is told the progress.

    Raises InputError for a model that a report cannot be made with (`ResultReader`), and for a
    table without rows, groups or dates (`plan_of`). Raises it also for a table without any text
    that can be read. Warns of terms that no text mentions.
    """
    reader = ResultReader(model, asked.about)
    plan = plan_of(source, asked.columns, lambda rows: tell(Progress(rows)))
    found = Collector(plan, asked.about)
    tell(Progress(0, rows=plan.rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LanguageWarning)  # each such text is counted
        for done, (entry, result) in enumerate(_scored(read_again(source, plan), model, found), 1):
            if result is not None:
                found.add(entry, reader(result))
            if done % TOLD == 0:
                tell(Progress(done, rows=plan.rows))
    if not found.all.texts:
        raise InputError(_nothing(found, plan))
    warn_of_unmentioned(term for term in asked.about if not found.terms[term].texts)
    return report_of(asked, plan, found)


def _scored(
    entries: Iterator[Entry], model: "Predictor", found: Collector
) -> Iterator[tuple[Entry, "Result | None"]]:
    """Each row with its result, None where there is nothing to count. What could not be read of it
    is told to `found`."""
    waiting, failed = deque[Entry](), dict[int, ThinstackError]()

    def texts() -> Iterator[str]:
        for entry in entries:
            waiting.append(entry)
            yield entry.text

    for number, result in enumerate(model.stream(texts(), on_error=failed.__setitem__)):
        entry = waiting.popleft()
        problem = _problem(entry, result, failed.pop(number, None), model)
        for fault in entry.faults if problem is None else [problem]:
            found.unread(fault.kind, entry.place, fault.reason)
        yield entry, result if problem is None else None


def _problem(
    entry: Entry, result: "Result", error: ThinstackError | None, model: "Predictor"
) -> Fault | None:
    """Why a text is not counted, or None if it is."""
    if unreadable := entry.unreadable:
        return unreadable
    if error is not None:
        return Fault("failed", str(error).partition(": ")[2] or str(error))
    words = [word for sentence in result.sentences for word in sentence.words]
    if not any(map(is_word, words)):
        return Fault("empty", f"no words: {shown(entry.text, 40)}" if entry.text.strip() else "")
    doubt = model.language.doubt(words)
    return Fault("language", f"{doubt}: {shown(entry.text, 60)}") if doubt else None


def _nothing(found: Collector, plan: Plan) -> str:
    """What is said of a table that holds nothing to report on."""
    kinds = ", ".join(f"{each.rows:,} {REASONS[each.kind]}" for each in found.all_unread())
    first = next((reason for each in found.all_unread() for _, reason in each.examples), "")
    first = f"; the first: {first}" if first else ""
    return (
        f"expected texts in English, found none in {plan.rows:,} rows ({kinds}){first}. Name the "
        "column of the texts with --text (in Python text=)"
    )
