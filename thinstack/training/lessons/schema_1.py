"""Reads the lessons of recipes of schema 1, which were settings of a teacher and of training."""

from collections.abc import Mapping
from typing import Any

__all__ = ["with_lessons"]


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
