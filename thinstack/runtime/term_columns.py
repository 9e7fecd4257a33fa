"""Terms and categories as table columns: the column names, and the cells of each text."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from thinstack.errors import InputError
from thinstack.runtime.aspects import Aspect
from thinstack.runtime.categories import Category
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.vectors import need_vectors

Asked: TypeAlias = Sequence[str | Category]
"""The terms and categories that a user names."""


def term_columns(about: Asked, model: Predictor) -> list[str]:
    """Return the column names, two for each term or category. Raises InputError as `Result.about`
    does, for categories without vectors, and for duplicate names."""
    if any(isinstance(one, Category) for one in about):
        need_vectors(model, "categories")
    if about:
        model("").about(*about)
    first = [name_of(one).split("|")[0].strip() for one in about]
    if twice := [name for name in first if first.count(name) > 1]:
        raise InputError(
            f"about: two terms would share the column '{twice[0]}_polarity': drop one, "
            "or combine them as names of one term, such as 'price|cost'"
        )
    return [f"{name}_{what}" for name in first for what in ("polarity", "mentions")]


def name_of(asked: str | Category) -> str:
    """Return the name of a term or category, as in `Aspect.asked`."""
    return asked.name if isinstance(asked, Category) else asked


def term_cells(aspects: Iterable[Aspect], about: Asked) -> Iterator[float | int]:
    """Iterate over two cells per term or category: the mean polarity of its mentions (NaN without
    any), and their number."""
    polarities: dict[str, list[float]] = {name_of(one): [] for one in about}
    for aspect in aspects:
        place = math.nan if aspect.polarity is None else aspect.polarity
        polarities[aspect.asked or ""].append(place)
    for places in polarities.values():
        yield from (sum(places) / len(places) if places else math.nan, len(places))
