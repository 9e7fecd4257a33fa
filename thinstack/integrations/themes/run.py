"""Runs themes over a table: plans, finds them in a sample, counts all rows. `themes` is
`thinstack.themes`, for DataFrames."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from thinstack.bundle import open_bundle
from thinstack.errors import InputError, LanguageWarning
from thinstack.integrations.corpora.run_manifest import Tell
from thinstack.integrations.frames import opened_frame
from thinstack.integrations.report.plan import Plan, frame_source, plan_of, read_again
from thinstack.integrations.report.reading import model_name
from thinstack.integrations.report.rows import ReportOptions, Source, TextRow
from thinstack.integrations.themes.clauses import ReadTexts, read_texts
from thinstack.integrations.themes.counting import ThemeCounter
from thinstack.integrations.themes.finding import find_themes, product_words
from thinstack.integrations.themes.matching import (
    Chosen,
    NamedThemes,
    ThemeOptions,
    sides_of,
    theme_options,
)
from thinstack.integrations.themes.themes import Themes
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.scored import LOAD
from thinstack.runtime.vectors import need_vectors

_SAMPLE: Final = 5_000  # approximate rows in which themes are found, an even subsample

ADVICE: Final = "set the columns with --text, --by and --over (in Python text=, by=, over=)"
"""Advice in the error for a missing column."""

_GOLDEN: Final = (5**0.5 - 1) / 2
_REMEMBERED: Final = 500_000  # nodes of texts that are kept instead of being scored twice


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
    most: int | None = None,
    quotes: int = 3,
    threshold: float | None = None,
    model: Predictor | str | Path = "vectors",
) -> Themes:
    """Find what English texts complain about and praise, or look for themes that you name.

    `frame`, `text`, `by`, `over`, `dates`: as for `report`. `names`: examples of each theme by its
    name, such as `{"late": ["late flight", "delayed flight"]}`, or `Themes.names` of another table.
    By default, finds the themes: groups of clauses with the same meaning, in at least 4 texts and
    0.3% of them.

    `ignore`: words that are not topics. Names of the product (`this camera`, `Alexa`) are detected
    automatically. `side`: find only complaints ("negative") or only praise ("positive"). `most`:
    without `names`, the maximum number of themes of each polarity, by default 10. `quotes`: number
    of quotes per theme. `threshold`: with `names`, how similar a phrase and its sentence must be to
    a theme (the mean of two cosines), by default 0.45. `model`: a loaded sentiment model with
    vectors, or what `thinstack.load` takes.

    Themes are found in 5,000 evenly spread rows, and counted in all; except for the frame, memory
    stays bounded. A text may have several themes.

    Raises InputError if `frame` is not a list or a frame in memory, has no rows, texts, groups or
    dates, or has a cell in the text column that is not text, for names without examples, for `most`
    or `threshold` where it has no effect, and for a model without vectors or sentiment. Raises
    DataError for a missing column, StoppedError if the frame changes during the run, and what
    `thinstack.load` raises.
    """
    options = theme_options(names, ignore, side, most, quotes, threshold)
    if not isinstance(model, Predictor):
        model = Predictor(open_bundle(model))
    settings = {"text": text, "by": by, "over": over, "dates": dates, "advice": ADVICE}
    columns = ReportOptions("a frame", model_name(model), **settings)
    result, _ = run_themes(frame_source(frame, columns), model, columns, options)
    if isinstance(frame, list | tuple):
        return replace(result, text_of=frame.__getitem__)
    eager = opened_frame(frame)
    text_of = eager.get_column(text).__getitem__
    return replace(result, backend=eager.implementation, text_of=text_of)


def run_themes(
    source: Source,
    model: Predictor,
    columns: ReportOptions,
    options: ThemeOptions,
    tell: Tell = lambda _: None,
    plan: Plan | None = None,
    *,
    sampled: bool = False,
) -> tuple[Themes, Plan]:
    """Find the themes of a table. `source` yields its rows at each call. `tell` is called with the
    progress. `plan`: the plan of the table, if already made. `sampled`: whether to count only the
    rows in which themes are found.

    Raises InputError for a model without vectors or sentiment, for a table without rows, groups or
    dates (`plan_of`), and for one without any readable text.
    """
    check_model(model)
    model = model.without_abstain()  # otherwise texts without a label would count as neutral
    table = plan or plan_of(source, columns, tell)
    every = table.texts <= _SAMPLE

    def read(*, whole: bool) -> Iterator[TextRow]:
        rows = read_again(source, table, tell)
        if whole:
            return rows
        # Multiples of the golden ratio spread evenly, also among every seventh row (Weyl 1916).
        texts = enumerate(row for row in rows if not row.unreadable)
        return (row for number, row in texts if number * _GOLDEN % 1 < _SAMPLE / table.texts)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LanguageWarning)  # each such text is counted
        remembered, matcher, products = list[ReadTexts](), None, frozenset[str]()
        if options.names is None:
            products = product_words(row.text for row in read(whole=every) if row.text)
            options = options._replace(ignore=options.ignore | products)
            texts = read_texts(model, read(whole=every), options.ignore)
            matcher = find_themes(model, _remembering(texts, remembered), options.ignore)
        counter = ThemeCounter(matcher or NamedThemes(model, options), table, options)
        if not (every or sampled):
            remembered.clear()
        rows = read(whole=every or not sampled)
        for some in remembered or read_texts(model, rows, options.ignore):
            counter.add(some)
        return counter.themes(columns, model.encode, products), table


def check_model(model: Predictor) -> None:
    """Raise InputError for a model that cannot find themes."""
    need_vectors(model, "themes")
    if model.view.polarity is None:
        raise InputError(
            "themes: expected a sentiment model with vectors and the classes negative "
            f"and positive: load {LOAD}"
        )


def _remembering(texts: Iterable[ReadTexts], remembered: list[ReadTexts]) -> Iterator[ReadTexts]:
    """Yield the texts and store what matching needs in `remembered`, unless there are too many."""
    nodes = 0
    for some in texts:
        yield some
        if some.nodes is not None:
            some.nodes.keep_vectors((sides_of(some.nodes) != 0) | (some.nodes.parents < 0))
            nodes += len(some.nodes.texts)
        remembered.append(some)
        if nodes > _REMEMBERED:
            remembered.clear()
