"""Runs themes over a table: plans, reads a sample to find them, counts all rows. `themes` is
`thinstack.themes`, over a DataFrame."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from thinstack.bundle import open_bundle
from thinstack.errors import InputError, LanguageWarning
from thinstack.integrations.corpora.run import Progress
from thinstack.integrations.frames import opened_frame
from thinstack.integrations.report.plan import Plan, plan_of, read_again
from thinstack.integrations.report.reading import model_name
from thinstack.integrations.report.rows import ReportOptions, Source, TextRow, frame_rows
from thinstack.integrations.themes.counting import ThemeCounter
from thinstack.integrations.themes.finding import find_themes
from thinstack.integrations.themes.matching import Matcher, NamedThemes
from thinstack.integrations.themes.options import NAMED, Chosen, ThemeOptions, theme_options
from thinstack.integrations.themes.reading import ReadTexts, read_texts
from thinstack.integrations.themes.themes import Themes
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.vectors import LOAD, need_vectors

Tell = Callable[[Progress], None]

SAMPLE: Final = 10_000
"""Rows that themes are found in; of more, some are taken evenly."""

ADVICE: Final = "name the columns with --text, --by and --over (in Python text=, by=, over=)"
"""What to do about a column that is not there."""

_REMEMBERED: Final = 300_000  # nodes of a table that is read only once


def themes(
    frame: Any,
    text: Any = "text",
    *,
    by: Any = None,
    over: Any = None,
    dates: str | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
    ignore: Sequence[str] = (),
    side: Chosen = "both",
    most: int = 10,
    quotes: int = 3,
    threshold: float = NAMED,
    model: Predictor | str | Path = "vectors",
) -> Themes:
    """Find what the English texts of a frame complain about and praise, or look for themes that you
    name.

    `frame`, `text`, `by`, `over`, `dates`: as for `report`. `names`: examples of each theme by its
    name, such as `{"late": ["late flight", "delayed flight"]}`, or `Themes.names` of another table.
    By default, finds the themes: groups of clauses with the same meaning, in at least 4 texts and
    0.3% of them.

    `ignore`: words that are not topics, such as the name of the product. `side`: find only
    complaints ("negative") or only praise ("positive"). `most`: maximum number of themes of each
    polarity. `quotes`: number of quotes per theme. `threshold`: how similar a phrase and its
    sentence must be to a theme that you name (the mean of two cosines). `model`: a loaded sentiment
    model with vectors, or what `thinstack.load` takes.

    Themes are found in 10,000 evenly spaced rows, and counted in all; except for the frame, memory
    stays bounded. A text may have several themes.

    Raises InputError if `frame` is not a frame in memory, has no rows, texts, groups or dates, or
    has a cell in the text column that is not text, for names without examples, and for a model
    without vectors or sentiment. Raises DataError for a missing column, StoppedError if the frame
    changes during the run, and what `thinstack.load` raises.
    """
    eager = opened_frame(frame)
    options = theme_options(names, ignore, side, most, quotes, threshold)
    if not isinstance(model, Predictor):
        model = Predictor(open_bundle(model))
    settings = {"text": text, "by": by, "over": over, "dates": dates, "advice": ADVICE}
    columns = ReportOptions("a frame", model_name(model), **settings)
    result, _ = run_themes(lambda: frame_rows(eager, columns), model, columns, options)
    text_of = eager.get_column(text).__getitem__
    return replace(result, backend=eager.implementation, text_of=text_of)


def run_themes(
    source: Source,
    model: Predictor,
    columns: ReportOptions,
    options: ThemeOptions,
    tell: Tell = lambda _: None,
) -> tuple[Themes, Plan]:
    """The themes of a table, whose rows `source` gives as often as it is asked, and what is known
    of the table. `tell` is told the progress.

    Raises InputError for a model without vectors or sentiment, for a table without rows, groups or
    dates (`plan_of`), and for one without a text that can be read.
    """
    check_model(model)
    plan = plan_of(source, columns, lambda rows: tell(Progress(rows)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LanguageWarning)  # each such text is counted
        matcher, texts = matcher_of(source, model, plan, options)
        counter = ThemeCounter(matcher, plan, options)
        done = 0
        for some in texts:
            counter.add(some)
            done += len(some.rows)
            tell(Progress(done, rows=plan.rows))
    return counter.themes(columns), plan


def check_model(model: Predictor) -> None:
    """Raise InputError for a model that themes cannot be found with."""
    need_vectors(model, "themes")
    if model.view.polarity is None:
        raise InputError(
            "themes: expected a model of sentiment with vectors, whose classes are negative "
            f"and positive, found another: load {LOAD}"
        )


def matcher_of(
    source: Source, model: Predictor, plan: Plan, options: ThemeOptions
) -> tuple[Matcher, Iterable[ReadTexts]]:
    """The themes of a table, and its texts, which are read anew unless they are few."""

    def read(rows: Iterator[TextRow]) -> Iterator[ReadTexts]:
        return read_texts(model, rows, options.ignore)

    everything = read(read_again(source, plan))
    if options.names is not None:
        return NamedThemes(model, options), everything
    if plan.rows > SAMPLE:
        rows = _evenly(read_again(source, plan), plan.rows)
        return find_themes(model, read(rows), options.ignore), everything
    remembered, nodes = list[ReadTexts](), 0
    for some in everything:
        remembered.append(some)
        nodes += 0 if some.nodes is None else len(some.nodes.texts)
        if nodes > _REMEMBERED:
            first = chain(remembered, everything)
            del remembered
            matcher = find_themes(model, first, options.ignore)
            return matcher, read(read_again(source, plan))
    return find_themes(model, remembered, options.ignore), remembered


def _evenly(rows: Iterator[TextRow], count: int) -> Iterator[TextRow]:
    """`SAMPLE` of so many rows, at equal distances."""
    for number, row in enumerate(rows):
        if number * SAMPLE // count != (number + 1) * SAMPLE // count:
            yield row
