"""Runs a report over a table: plans, scores the texts, collects and summarizes. `report` is
`thinstack.report`, for DataFrames."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from thinstack.bundle import open_bundle
from thinstack.bundle.opening import is_installed
from thinstack.errors import InputError, LanguageWarning, shown
from thinstack.integrations.corpora.run_manifest import Tell
from thinstack.integrations.frames import checked_mentions
from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.plan import frame_source, plan_of, read_again
from thinstack.integrations.report.reading import NothingReadError, Reader, model_name, nothing_read
from thinstack.integrations.report.report import Report, report_of
from thinstack.integrations.report.rows import ReportOptions, Source
from thinstack.integrations.report.tally import QUOTES
from thinstack.integrations.themes.matching import theme_options
from thinstack.integrations.themes.run import check_model, run_themes
from thinstack.runtime.aspects import Asked, name_of
from thinstack.runtime.categories import Category
from thinstack.runtime.mentions import warn_of_unmentioned
from thinstack.runtime.predictor import Predictor

_FINDS_TERMS: Final = "aspects"
_VECTORS: Final = "vectors"
_MOST_THEMES: Final = 6  # themes per side that are shown


def run_report(
    source: Source,
    readers: Sequence[Reader],
    options: ReportOptions,
    tell: Tell = lambda _: None,
    themes: Predictor | None = None,
) -> Report:
    """Run a report over a table, whose rows `source` yields twice. `readers`: the readers of its
    texts, applied in order. `tell` is called with the progress. `themes`: the model that finds
    themes, if the report includes them.

    Raises InputError for a table without rows, groups or dates (`plan_of`), and for one without any
    readable text. Warns of terms that no text mentions.
    """
    finder = next((reader.name for reader in readers if reader.terms), "")
    options = options._replace(model=readers[0].name, finder=finder)
    plan = plan_of(source, options, tell)
    collector, rows = Collector(plan, options.about), read_again(source, plan, tell)
    for reader in readers:
        rows = reader(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LanguageWarning)  # each such text is counted
        for row in rows:
            collector.add(row)
    if not collector.all.figures.texts:
        raise nothing_read(collector.unread(), plan.rows)
    warn_of_unmentioned(term for term in options.about if not collector.terms[term].figures.texts)
    topics = None
    if themes is not None:
        chosen = theme_options(most=_MOST_THEMES, quotes=QUOTES)
        columns = options._replace(model=model_name(themes))
        with suppress(NothingReadError):  # no text of the sample counts
            topics, _ = run_themes(source, themes, columns, chosen, tell, plan, sampled=True)
    return report_of(options, plan, collector, readers[0].suite, topics)


def report(
    frame: Any,
    text: Any = "text",
    *,
    by: Any = None,
    over: Any = None,
    stars: Any = None,
    about: Asked | Category = (),
    model: Predictor | str | Path | None = None,
    themes: Predictor | str | Path | bool | None = None,
    min_mentions: int = 5,
    dates: str | None = None,
) -> Report:
    """Summarize the opinions in English texts: about what, by which group, over time.

    `frame`: a pandas or polars DataFrame, a pyarrow Table, or a list of texts. `text`, `by`,
    `over`: the columns of texts, of groups to compare, such as stores, and of dates. `stars`: a
    column of the authors' ratings from 1 to 5 stars, to report how often the model agrees with
    them. `dates`: the date format, such as "%d/%m/%Y", "unix" for seconds since 1970 or "excel" for
    day numbers; by default year first, or with the name of the month. `about`: the terms and
    categories to report on, as for `Result.about`; by default the terms that the model "aspects"
    finds in at least `min_mentions` texts, if it is installed. `model`: a loaded model, or what
    `thinstack.load` takes; by default "sentiment". It also labels the terms of `about`; for
    categories, "vectors" does, unless the model has vectors. `themes`: whether to find what people
    complain about and praise, or the model to use; by default "vectors", if it is installed. Themes
    are found and counted in 5,000 evenly spread rows.

    A notebook shows the report. `report.html()` returns the same page for a file; `to_dict()`,
    `to_json()` and `to_csv()` return its figures. Except for the frame, memory stays bounded. A
    term of `about` that no text mentions triggers a NoMentionWarning.

    Raises InputError if `frame` is not a list or a frame in memory, has no rows, texts, groups or
    dates, or has a cell in the text column that is not text, and for a model that cannot score
    phrases on a sentiment scale. Raises DataError for a missing column, StoppedError if the frame
    changes during the run, and what `thinstack.load` raises.
    """
    if not isinstance(min_mentions, int | np.integer) or min_mentions < 1:
        expected = "expected a whole number, at least 1"
        raise InputError(f"min_mentions: {expected}, found {shown(min_mentions, 60)}")

    def load(name: str | Path) -> Predictor:
        return Predictor(open_bundle(name))

    asked = checked_mentions(about)
    names = term_names(asked)
    least = int(min_mentions)
    options = ReportOptions("a data frame", "", text, by, over, dates, names, least, stars)
    source, readers = frame_source(frame, options), readers_of(model, asked, load)
    return run_report(source, readers, options, themes=themes_model(themes, load))


def term_names(asked: Asked) -> tuple[str, ...]:
    """Return the names of terms and categories. Raises InputError if two have the same name,
    because their mentions would be counted together."""
    names = tuple(map(name_of, asked))
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two terms or categories have the name {twice[0]!r}: rename one")
    return names


def themes_model(
    themes: Predictor | str | Path | bool | None, load: Callable[[str | Path], Predictor]
) -> Predictor | None:
    """Return the model that finds themes, or None for a report without them: by default "vectors",
    if it is installed. Raises InputError for a model that cannot find themes."""
    if themes is False or (themes is None and not is_installed(_VECTORS)):
        return None
    if not isinstance(themes, Predictor):
        themes = load(_VECTORS if themes in (True, None) else str(themes))
    check_model(themes)
    return themes


def readers_of(
    model: Predictor | str | Path | None, about: Asked, load: Callable[[str | Path], Predictor]
) -> list[Reader]:
    """Create the readers of the texts: a model, by default "sentiment", and one for the terms:
    "vectors" for categories; "aspects" if no term is named, the first model detects none, and it is
    installed. Raises what `Reader` raises."""
    if not isinstance(model, Predictor):
        model = load("sentiment" if model is None else model)
    if any(isinstance(one, Category) for one in about) and not model.width:
        return [Reader(model, None), Reader(load(_VECTORS), about, whole=False)]
    first = Reader(model, about)
    if first.terms or not is_installed(_FINDS_TERMS):
        return [first]
    return [first, Reader(load(_FINDS_TERMS), whole=False)]
