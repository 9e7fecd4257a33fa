"""A report over a DataFrame: `thinstack.report`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from thinstack.bundle import open_bundle
from thinstack.bundle.opening import SEPARATE, installed_name, is_installed
from thinstack.errors import InputError, shown
from thinstack.integrations.frames import checked_terms, opened_frame
from thinstack.integrations.report.report import Report
from thinstack.integrations.report.rows import ReportOptions, frame_rows
from thinstack.integrations.report.run import run_report
from thinstack.runtime.predictor import Predictor

_FINDS_TERMS: Final = "aspects"


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
