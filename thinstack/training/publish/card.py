"""Writes the model card of a bundle; `card.jinja` is its text."""

import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, StrictUndefined, Template

from thinstack.bundle.front_matter import front_matter
from thinstack.errors import escaped
from thinstack.evaluate.accuracy import BINS
from thinstack.evaluate.figures import interval_line, mean_and_std, percent, shown
from thinstack.evaluate.suite_table import markdown
from thinstack.training.loop.seeds import SeedResult
from thinstack.training.publish.calibrate import Calibration
from thinstack.training.recipe import Recipe

MEASURED_ON: Final = {
    "root_calibration_error": "sentences",
    "phrase_calibration_error": "phrases",
    "calibration_error": "all",
}
"""What a calibration error is about."""


def card(
    recipe: Recipe,
    result: SeedResult,
    shipped: dict[str, dict[str, Any]],
    over_seeds: dict[str, Any],
    calibration: Calibration,
    suites: dict[str, dict[str, Any]],
    *,
    size: int,
) -> str:
    """The card, as Markdown with front matter. It says what the model is, how it was made, and what
    its data and terms are. It gives its figures, also on suites, and its calibration.

    `shipped`: the figures of the bundle, by tree source. `over_seeds`: their means over all seeds.
    `suites`: the figures of each suite. `size`: the bytes of the ONNX file.
    """
    model, data = recipe.model, recipe.data
    measured = (recipe.name, model, shipped, over_seeds)
    return _template().render(
        {"recipe": recipe, "model": model, "data": data, "result": result, "size": size},
        shipped=shipped,
        over_seeds=over_seeds,
        calibration=calibration,
        suites=suites,
        head=front_matter(*measured, reported=data.reported, **recipe.card.model_dump()),
        names=recipe.task.columns(model.shown_labels),
        sets=_sets(recipe),
        taught=_taught(recipe),
    )


@cache
def _template() -> Template:
    text = files("thinstack.training.publish").joinpath("card.jinja").read_text(encoding="utf-8")
    templates = Environment(
        autoescape=False,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    templates.filters["as_markdown"] = as_markdown
    for function in (interval_line, mean_and_std, percent, shown):
        templates.globals[function.__name__] = function
    templates.globals |= {"suite_table": markdown, "BINS": BINS, "MEASURED_ON": MEASURED_ON}
    return templates.from_string(text)


def _sets(recipe: Recipe) -> str:
    """What labels of a user stand for."""
    sets = recipe.model.class_sets
    meant = "; ".join(f"{as_markdown(one)} is {' or '.join(sets[one])}" for one in sets)
    return f" They replace the model's own, which phrases keep: {meant}." if sets else ""


def as_markdown(label: str) -> str:
    """Markdown that shows a label of a user as it is, whatever marks are in it."""
    return re.sub(r"([\\`*_\[\]#|~])", r"\\\1", escape(escaped(label), quote=False))


def _taught(recipe: Recipe) -> str:
    """Who taught it, on what beside the training file."""
    teachers = recipe.teacher.names if recipe.teacher else ()
    names = ", ".join(f"`{name}`" for name in teachers)
    lessons = ", ".join(f"`{lesson.name}`" for lesson in recipe.lessons)
    return (f", taught by {names}" if names else "") + (f", lessons {lessons}" if lessons else "")
