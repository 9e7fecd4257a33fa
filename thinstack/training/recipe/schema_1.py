"""Converts recipes of schema 1, which had no section `[task]`."""

from typing import Any, Final

from thinstack.errors import UnknownNameError
from thinstack.plugins.manager import manager
from thinstack.training.lessons.schema_1 import with_lessons

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
