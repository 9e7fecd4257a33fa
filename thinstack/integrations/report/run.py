"""Runs a report over a table: plans, has a model read the texts, collects, sums up."""

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from thinstack.errors import InputError, LanguageWarning, ThinstackError, shown
from thinstack.integrations.corpora.run import Progress
from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.mentions import Mention, Span
from thinstack.integrations.report.plan import plan_of, read_again
from thinstack.integrations.report.report import Report
from thinstack.integrations.report.rows import REASONS, Fault, ReportOptions, Source, TextRow
from thinstack.integrations.report.summary import report_of
from thinstack.runtime.mentions import warn_of_unmentioned
from thinstack.runtime.result import Result
from thinstack.text.language import is_word

if TYPE_CHECKING:
    from thinstack.runtime.aspects import Aspect
    from thinstack.runtime.predictor import Predictor

Tell = Callable[[Progress], None]

_TOLD: Final = 256  # rows after which the progress is told


def run_report(
    source: Source, model: "Predictor | None", options: ReportOptions, tell: Tell = lambda _: None
) -> Report:
    """The report of a table, whose rows `source` gives twice. `tell` is told the progress. Without
    a model, the rows have been scored before.

    Raises InputError for a model that a report cannot be made with (`ModelReader`), and for a table
    without rows, groups or dates (`plan_of`). Raises it also for a table without any text that can
    be read. Warns of terms that no text mentions.
    """
    read: Callable[[Iterator[TextRow]], Iterator[TextRow]]
    read = iter if model is None else ModelReader(model, options.about)
    plan = plan_of(source, options, lambda rows: tell(Progress(rows)))
    collector = Collector(plan, options.about)
    tell(Progress(0, rows=plan.rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LanguageWarning)  # each such text is counted
        for done, row in enumerate(read(read_again(source, plan)), 1):
            collector.add(row)
            if done % _TOLD == 0:
                tell(Progress(done, rows=plan.rows))
    if not collector.all.figures.texts:
        raise InputError(_nothing(collector, plan.rows))
    warn_of_unmentioned(term for term in options.about if not collector.terms[term].figures.texts)
    return report_of(options, plan, collector, of_mentions=model is None)


class ModelReader:
    """Reads texts by a model. `about`: the terms of a user; by default the model finds them.

    Raises InputError for a model whose classes are no scale of sentiment, and for one that scores
    no phrases. Raises it also for one that finds no terms where none are named, and for terms that
    cannot be looked for.
    """

    def __init__(self, model: "Predictor", about: Sequence[str] = ()):
        self._model, self._about, view = model, tuple(about), model.view
        if view.polarity is None:
            raise InputError(
                "expected a model of sentiment, whose classes are negative and positive, found the "
                f"classes {', '.join(view.labels):.80}: a report cannot say what is praised and "
                "what is not; choose another with --model (in Python model=), such as sentiment"
            )
        if self._about and not model.phrases:
            raise InputError(
                "expected a model that scores phrases, found one that scores only sentences: "
                "choose another with --model (in Python model=), such as sentiment"
            )
        self._sides: dict[str | None, int] = {
            label: (place > 0) - (place < 0)
            for label, place in zip(view.labels, view.polarity, strict=True)
        }
        self._aspects(Result("", (), view))

    def __call__(self, rows: Iterator[TextRow]) -> Iterator[TextRow]:
        """Each row with what its text says, or with the fault for which it is not counted."""
        waiting, failed = deque[TextRow](), dict[int, ThinstackError]()

        def texts() -> Iterator[str]:
            for row in rows:
                waiting.append(row)
                yield row.text

        results = self._model.stream(texts(), on_error=failed.__setitem__)
        for number, result in enumerate(results):
            row = waiting.popleft()
            if fault := self._fault(row, result, failed.pop(number, None)):
                yield row._replace(faults=(fault,))
                continue
            mentions = tuple(self._mention(aspect) for aspect in self._aspects(result))
            side, polarity = self._sides.get(result.label, 0), result.polarity or 0.0
            yield row._replace(side=side, polarity=polarity, mentions=mentions)

    def _fault(self, row: TextRow, result: Result, error: ThinstackError | None) -> Fault | None:
        """Why a text is not counted, or None if it is."""
        if unreadable := row.unreadable:
            return unreadable
        if error is not None:
            return Fault("failed", str(error).partition(": ")[2] or str(error))
        words = [word for sentence in result.sentences for word in sentence.words]
        if not any(map(is_word, words)):
            return Fault("empty", f"no words: {shown(row.text, 40)}" if row.text.strip() else "")
        doubt = self._model.language.doubt(words)
        return Fault("language", f"{doubt}: {shown(row.text, 60)}") if doubt else None

    def _aspects(self, result: Result) -> "Iterable[Aspect]":
        return result.about(*self._about) if self._about else result.aspects

    def _mention(self, aspect: "Aspect") -> Mention:
        sentence = aspect.sentence
        shift, because, decides = sentence.start, aspect.because, None
        if because is not None:
            decides = Span(because.start - shift, because.end - shift)
        return Mention(
            term=aspect.text if aspect.asked is None else aspect.asked,
            named=aspect.asked is not None,
            side=self._sides.get(aspect.label, 0),
            polarity=aspect.polarity or 0.0,
            sentence=sentence.text,
            place=Span(aspect.start - shift, aspect.end - shift),
            because=decides,
            said=None if because is None else because.text,
        )


def _nothing(collector: Collector, rows: int) -> str:
    """What is said of a table that holds nothing to report on."""
    unread = collector.unread()
    kinds = ", ".join(f"{part.rows:,} {REASONS[part.kind]}" for part in unread)
    first = next((reason for part in unread for _, reason in part.examples), "")
    first = f"; the first: {first}" if first else ""
    return (
        f"expected texts in English, found none in {rows:,} rows ({kinds}){first}. Name the column "
        "of the texts with --text (in Python text=)"
    )
