"""What became right and what became wrong since the model where learning started."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from thinstack.evaluate.figures import percent, percentage
from thinstack.integrations.show.marks import shorten
from thinstack.integrations.show.outline import as_text, visible
from thinstack.training.loop.measuring import Answers
from thinstack.training.recipe import Recipe
from thinstack.training.tasks.texts.reading import Text

_LISTED: Final = 3
_WIDTH: Final = 70  # characters of a text


def show_changes(
    before: NDArray[np.int64], answers: Answers, texts: Sequence[Text], recipe: Recipe, to: Console
) -> None:
    """Print the accuracy over `texts` of the classes (T,) that the model where learning started
    gave them, and of the trained model's `answers`; then which texts became right, and wrong."""
    gold, after, labels = answers.gold, answers.predicted, recipe.model.shown_labels
    better, worse = (after == gold) & (before != gold), (after != gold) & (before == gold)
    first, now = (percent(percentage(classes == gold)) for classes in (before, after))
    assert recipe.init is not None
    to.print(
        f"compared with {as_text(recipe.init.bundle)}: accuracy {first} -> {now}; of "
        f"{len(texts):,} texts, {better.sum():,} became right and {worse.sum():,} wrong",
        soft_wrap=True,
    )
    for title, changed in (("right", better), ("wrong", worse)):
        for place in np.flatnonzero(changed)[:_LISTED].tolist():
            text, then, answer = texts[place], labels[before[place]], labels[after[place]]
            line = f"  {title}: line {text.line}, {then} -> {answer}: "
            to.print(as_text(line + shorten(visible(text.text), _WIDTH)), soft_wrap=True)
