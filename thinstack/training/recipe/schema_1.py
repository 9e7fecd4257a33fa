"""Converts recipes of schema 1, which had no section `[task]`."""

from collections.abc import Mapping
from typing import Any, Final

from thinstack.errors import UnknownNameError
from thinstack.plugins.manager import manager

READ_BY_SOME: Final = (
    *("format", "text_column", "label_column", "pair_columns", "score_column"),
    *("encoding", "separator", "header", "skip_bad"),
)
"""The settings of `[data]` that are now those of tasks. The other tasks took no notice of them."""

REFUSED: Final[dict[str, dict[str, Any]]] = {
    "data": {"relabel": {}, "span_group": None},
    "training": {"root_weight": 0.0, "neighbours": 0.0, "phrase_penalty": 0.0},
}
"""The settings that the other tasks refused, but for their defaults, by section."""


def converted(recipe: dict[str, Any]) -> dict[str, Any]:
    """A recipe of schema 2. One of schema 1 is a dict without a task. What is wrong in it stays, to
    be refused when the recipe is validated."""
    if "task" in recipe or recipe.get("schema", 1) != 1:
        return recipe
    data, training = recipe.get("data", {}), recipe.get("training", {})
    if not (isinstance(data, dict) and isinstance(training, dict)):
        return recipe
    left = {"data": {**data}, "training": {**training}}
    name = left["data"].pop("task", "phrases")
    spans = left["data"].pop("spans", False)
    task = {"name": f"{'spans' if spans and name == 'texts' else name}.v1"}
    try:
        known = {*manager().find("task", task["name"]).plugin.model_fields}
    except UnknownNameError:
        known = set()
    for setting in READ_BY_SOME:
        value = left["data"].pop(setting, None)
        if value is not None and setting in known:
            task[setting] = value
    for section, defaults in REFUSED.items():
        for setting, default in defaults.items():
            value = left[section].pop(setting, default)
            if setting in known or value != default:
                task[setting] = value
    rest = {key: value for key, value in recipe.items() if key != "schema"}
    rest |= {section: settings for section, settings in left.items() if section in recipe}
    return {"schema": 2, "task": task, **with_lessons(rest)}


def with_lessons(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a recipe with its lessons as `[[lessons]]`, in place of `teacher.exchanged`,
    `negated`, `texts`, `max_text_words` and `weights`, and of `training.alone` and `turning`.

    The lessons make the same random draws as before. A recipe with lessons stays as it is.
    """
    recipe = dict(recipe)
    if "lessons" in recipe:
        return recipe
    lessons: list[dict[str, Any]] = []
    if isinstance(recipe.get("teacher"), Mapping):
        recipe["teacher"] = teacher = dict(recipe["teacher"])
        lessons += _taught(teacher)
    if isinstance(recipe.get("training"), Mapping):
        recipe["training"] = training = dict(recipe["training"])
        for name in ("alone", "turning"):
            if share := training.pop(name, 0):
                lessons.append({"name": f"{name}.v1", "share": share})
    if lessons:
        recipe["lessons"] = lessons
    return recipe


def _taught(teacher: dict[str, Any]) -> list[dict[str, Any]]:
    """The lessons of a teacher, whose settings are taken out."""
    weights = teacher.pop("weights", {})
    exchanged, negated = teacher.pop("exchanged", 1.0), teacher.pop("negated", 1.0)
    lessons: list[dict[str, Any]] = []
    if exchanged or negated:  # places seed draws, so that of "negated" is the second one
        lessons.append({"name": "exchanged.v1", "share": exchanged})
    if negated:
        lessons.append({"name": "negated.v1", "share": negated})
    texts, most = teacher.pop("texts", ()), teacher.pop("max_text_words", 30)
    if texts:
        lessons.append({"name": "texts.v1", "texts": texts, "max_words": most})
    for lesson in lessons:
        if (weight := weights.get(lesson["name"].removesuffix(".v1"))) is not None:
            lesson["weight"] = weight
    return lessons
