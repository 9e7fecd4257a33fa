"""Runs a report over a table: plans, has a model read the texts, collects, sums up. `report` is
`thinstack.report`, over a DataFrame."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from thinstack.bundle import open_bundle
from thinstack.bundle.opening import SEPARATE, installed_name, is_installed
from thinstack.errors import InputError, LanguageWarning, shown
from thinstack.integrations.corpora.run import Progress
from thinstack.integrations.frames import checked_terms, opened_frame
from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.plan import plan_of, read_again
from thinstack.integrations.report.reading import nothing_read, scored_rows, sides_of
from thinstack.integrations.report.report import Report
from thinstack.integrations.report.rows import (
    Mention,
    ReportOptions,
    Source,
    Span,
    TextRow,
    frame_rows,
)
from thinstack.integrations.report.summary import report_of
from thinstack.runtime.mentions import warn_of_unmentioned
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result

if TYPE_CHECKING:
    from thinstack.runtime.aspects import Aspect

Tell = Callable[[Progress], None]

_FINDS_TERMS: Final = "aspects"
_TOLD: Final = 256  # rows after which the progress is told


def run_report(
    source: Source, model: Predictor | None, options: ReportOptions, tell: Tell = lambda _: None
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
        raise InputError(nothing_read(collector.unread(), plan.rows))
    warn_of_unmentioned(term for term in options.about if not collector.terms[term].figures.texts)
    return report_of(options, plan, collector, of_mentions=model is None)


def report(
    frame: Any,
    text: Any = "text",
    *,
    by: Any = None,
    over: Any = None,
    about: Sequence[str] = (),
    model: Predictor | str | Path | None = None,
    min_mentions: int = 5,
    dates: str | None = None,
) -> Report:
    """Report what the English texts of a frame say: of which side, about what, where and when.

    `frame`: a DataFrame of pandas or polars, or a Table of pyarrow. `text`, `by`, `over`: the
    columns of the texts, of groups to compare, such as stores, and of dates. `dates`: how dates are
    written, such as "%d/%m/%Y", "unix" for seconds since 1970 or "excel" for its days; by default
    year first, or with the name of the month. `about`: the
    terms to report on, as `Result.about` takes them; by default those that the model finds in
    `min_mentions` texts or more. `model`: a loaded model, or what `thinstack.load` takes; by
    default "aspects", and with `about` "sentiment" where that is not installed.

    A notebook shows the report. `report.html()` is the same page for a file; `to_dict()`,
    `to_json()` and `to_csv()` have its figures. Memory stays bounded beside the frame. A term of
    `about` that no text mentions is a NoMentionWarning.

    Raises InputError for what is no frame in memory, for one without rows, texts, groups or dates,
    and for a model that a report cannot be made with. It is raised too for a cell that is no text
    in the column of texts. Raises DataError for a column that is not there, StoppedError if the
    frame changes meanwhile, and what `thinstack.load` raises.
    """
    eager = opened_frame(frame)
    terms = checked_terms(about)
    if not isinstance(min_mentions, int) or min_mentions < 1:
        expected = "expected a whole number, at least 1"
        raise InputError(f"min_mentions: {expected}, found {shown(min_mentions, 60)}")
    if not isinstance(model, Predictor):
        model = Predictor(open_bundle(default_model(terms) if model is None else model))
    name = model_name(model)
    options = ReportOptions("a frame", name, text, by, over, dates, terms, min_mentions)
    return run_report(lambda: frame_rows(eager, options), model, options)


def default_model(about: Sequence[str]) -> str:
    """The model that finds terms; where they are named, the bundled one if that is not there.
    Raises InputError where neither helps."""
    if is_installed(_FINDS_TERMS):
        return _FINDS_TERMS
    if not about:
        raise InputError(
            f"expected the model {_FINDS_TERMS!r}, which finds terms, found that it is not "
            f"installed: {SEPARATE[_FINDS_TERMS]}; or name the terms, such as --about battery (in "
            'Python about=["battery"])'
        )
    return "sentiment"


def model_name(model: Predictor) -> str:
    """The name of an installed model, or else that of its recipe, or else that of its folder."""
    bundle = model.bundle
    return str(
        installed_name(bundle.path) or bundle.manifest.metrics.get("recipe") or bundle.path.name
    )


class ModelReader:
    """Reads texts by a model. `about`: the terms of a user; by default the model finds them.

    Raises InputError for a model whose classes are no scale of sentiment, and for one that scores
    no phrases. Raises it also for one that finds no terms where none are named, and for terms that
    cannot be looked for.
    """

    def __init__(self, model: Predictor, about: Sequence[str] = ()):
        self._model, self._about, view = model, tuple(about), model.view
        view.need_labels("report")
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
        self._sides = sides_of(view)
        self._aspects(Result("", (), view))

    def __call__(self, rows: Iterator[TextRow]) -> Iterator[TextRow]:
        """Each row with what its text says, or with the fault for which it is not counted."""
        for row, result in scored_rows(self._model, rows):
            aspects = () if row.unreadable else self._aspects(result)
            yield row._replace(mentions=tuple(map(self._mention, aspects)))

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
