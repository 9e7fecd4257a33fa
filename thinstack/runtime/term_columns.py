"""Terms and categories as columns of a table: their names, and the cells of each text."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from thinstack.errors import InputError
from thinstack.runtime.aspects import Aspect
from thinstack.runtime.categories import Category
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.vectors import need_vectors

Asked: TypeAlias = Sequence[str | Category]
"""Terms and categories that a user names."""


def term_columns(about: Asked, model: Predictor) -> list[str]:
    """The names of the columns of terms and categories, two for each. Raises InputError as
    `Result.about` does, for categories without vectors, and for two of one name."""
    if any(isinstance(one, Category) for one in about):
        need_vectors(model, "categories")
    if about:
        model("").about(*about)
    first = [name_of(one).split("|")[0].strip() for one in about]
    if twice := [name for name in first if first.count(name) > 1]:
        raise InputError(
            f"about: two terms would both have a column '{twice[0]}_polarity': leave one out, "
            "or combine them as names of one thing, such as 'price|cost'"
        )
    return [f"{name}_{what}" for name in first for what in ("polarity", "mentions")]


def name_of(asked: str | Category) -> str:
    """What the mentions of a term or category are asked for by (`Aspect.asked`)."""
    return asked.name if isinstance(asked, Category) else asked


def term_cells(aspects: Iterable[Aspect], about: Asked) -> Iterator[float | int]:
    """Of each term and category, the mean polarity of its mentions, NaN without any, and their
    number."""
    polarities: dict[str, list[float]] = {name_of(one): [] for one in about}
    for aspect in aspects:
        place = math.nan if aspect.polarity is None else aspect.polarity
        polarities[aspect.asked or ""].append(place)
    for places in polarities.values():
        yield from (sum(places) / len(places) if places else math.nan, len(places))
