"""What a table of results is made of: rows with their recipes and the paper's figures, and what is
shown of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from reproduce.learning import AS_RECIPES, Learning
from reproduce.shown import TRAIN_ACCURACY, Column, Comparison, Curve, Name
from thinstack.core.config import Strict
from thinstack.core.config.base import read_toml
from thinstack.errors import ConfigError, UnknownNameError
from thinstack.training.recipe import Recipe

Trees = Literal["gold", "self", "balanced", "left", "right"]
"""Whose trees the development data are read with."""

PARAMETERS = "parameters"
"""The one figure of a paper that is no column."""

Data = dict[str, Any]


def _unnamed(recipe: Data) -> Data:
    if "name" in recipe:
        raise ValueError("has a name; that of a recipe is made of the table's and the row's")
    return recipe


Part = Annotated[Data, AfterValidator(_unnamed)]
"""What is laid over a recipe, or under it."""


class Parser(Strict):
    """CoNLL-U files to train a dependency parser (spaCy's) on, and to measure it on."""

    train: str
    dev: str


class Row(Strict):
    """One model: `recipe` is laid over the table's; or a `rival` that thinstack only runs.

    `paper`, `paper_std`: the figures of the paper `source`, and their standard deviations, by
    column, and its number of `parameters`. `differs`: what this row does differently. `parser`:
    gives the sentences of a treebank of phrases dependency trees. `trees`: whose trees its figures
    are taken with. `variants`: those that it is run in beside the row itself (default: all).
    `variant_recipes`: laid over its recipe in a variant, after the variant's own.
    """

    name: Name
    title: str
    paper: dict[str, float] = Field(default_factory=dict)
    paper_std: dict[str, float] = Field(default_factory=dict)
    source: str = ""
    differs: str = ""
    trees: Trees = "gold"
    variants: tuple[str, ...] | None = None
    variant_recipes: dict[str, Part] = Field(default_factory=dict)
    rival: str | None = None
    parser: Parser | None = None
    recipe: Part = Field(default_factory=dict)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.rival is not None and (self.recipe or self.variant_recipes or self.parser):
            data = "it takes the data of the table's recipe"
            raise ValueError(f"a rival has neither recipe nor parser: {data}")
        if extra := sorted(self.paper_std.keys() - self.paper.keys()):
            raise ValueError(f"paper_std of {extra} without a figure in paper")
        return self


@dataclass(frozen=True, slots=True)
class Run:
    """One seed of a row, or of a variant of it ("" is the row itself). `test`: whether on a file
    named as test data; `traced`: whether a curve draws its figures after each epoch; `on_train`:
    the sources of the trees that columns want its accuracy on its training data with; `learning`:
    how it is trained beside what its recipe says."""

    row: Row
    variant: str
    seed: int
    recipe: Recipe
    test: bool = False
    traced: bool = False
    on_train: tuple[str, ...] = ()
    learning: Learning = AS_RECIPES

    @property
    def path(self) -> str:
        """`ROW[/VARIANT]/SEED`."""
        return "/".join((self.row.name, *([self.variant] if self.variant else []), str(self.seed)))


class Table(Strict):
    """A table: `recipe` is what the recipes of all rows share, `variants` what is laid over each to
    run it in other ways too.

    Where a recipe is laid over another, sections are merged and all else is replaced; a cell, head
    or embedding of another name does not keep the `options`, and `data.dev` and `data.dev_size`
    replace each other. `paper`: which table of which paper, and what its figures are. `differs`:
    what is different here in all rows.
    """

    name: Name
    title: str
    paper: str = ""
    differs: tuple[str, ...] = ()
    columns: tuple[Column, ...] = Field(min_length=1)
    curves: tuple[Curve, ...] = ()
    compare: tuple[Comparison, ...] = ()
    variants: dict[Name, Part] = Field(default_factory=dict)
    recipe: Part = Field(default_factory=dict)
    rows: tuple[Row, ...] = Field(min_length=1)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a TOML table and check the recipes of all its rows. Raises ConfigError that names
        row and field."""
        data = read_toml(path, "table")
        rows = data.get("rows")
        if isinstance(rows, list):  # one by one, so that an error tells the row's name
            data["rows"] = [
                Row.parse(row, source=f"{path}: row {_name_of(row, number)}")
                for number, row in enumerate(rows, 1)
            ]
        table = cls.parse(data, source=str(path))
        for row in table.rows:
            for variant in table.variants_of(row):
                recipe = table.recipe_of(row, variant, source=str(path))
                if row.rival is None and (problem := _misfit(row, recipe)) is not None:
                    raise ConfigError(f"{path}: {_place(row, variant)}: {problem}")
        return table

    def row(self, name: str) -> Row:
        """The row of that name. Raises UnknownNameError."""
        rows = {row.name: row for row in self.rows}
        if name not in rows:
            raise UnknownNameError("row", name, rows)
        return rows[name]

    def variants_of(self, row: Row) -> tuple[str, ...]:
        """The variants that a row is run in; the first, "", is the row itself."""
        return ("", *(self.variants if row.variants is None else row.variants))

    def runs(
        self,
        rows: Sequence[str] = (),
        seeds: Sequence[int] = (),
        tests: Mapping[str, str] | None = None,
    ) -> list[Run]:
        """Every variant and seed of every row, in the table's order, or those of `rows` and with
        `seeds`.

        `tests`: files to measure on in place of the development data, by variant. That of "" is the
        row's and of the variants without data of their own. Raises UnknownNameError; ConfigError
        for a recipe that would stop on a test file.
        """
        found = []
        over_time = {row for curve in self.curves if curve.x == "seconds" for row in curve.rows}
        for row in [self.row(name) for name in dict.fromkeys(rows)] or self.rows:
            for variant in self.variants_of(row):
                test = self._test_of(variant, tests or {})
                recipe = self.recipe_of(row, variant, test=test)
                learning = self.learning_of(row, variant)
                chosen = tuple(dict.fromkeys(seeds or recipe.training.seeds))
                if row.rival is not None:
                    chosen = chosen[:1]  # nothing is drawn
                traced = not variant and row.name in over_time
                kind = test is not None, traced, self._on_train(row, variant), learning
                found += [Run(row, variant, seed, recipe, *kind) for seed in chosen]
        return found

    def place(self, place: str) -> tuple[Row, str]:
        """The row and the variant of ROW[/VARIANT]. Raises UnknownNameError, and ConfigError for a
        row that is no model of a recipe."""
        name, _, variant = place.partition("/")
        row = self.row(name)
        if variant not in self.variants_of(row):
            raise UnknownNameError(f"variant of row {name}", variant, self.variants_of(row)[1:])
        if row.rival is not None:
            raise ConfigError(f"row {name} is the rival {row.rival!r}, which has no recipe")
        if row.parser is not None:
            raise ConfigError(f"row {name} has trees of a parser, which no recipe can name")
        return row, variant

    def show(self, place: str) -> Data:
        """The whole recipe of `place`, ROW[/VARIANT], as `thinstack train` reads it. Raises
        UnknownNameError, ConfigError."""
        row, variant = self.place(place)
        if said := self.learning_of(row, variant).said():
            raise ConfigError(
                f"row {row.name} has settings that no recipe has: {', '.join(said)}; train it with "
                "python -m reproduce bundle"
            )
        return self._recipe_data(row, variant)

    def learning_of(self, row: Row, variant: str = "") -> Learning:
        """How a row is trained beside what its recipe says. Raises ConfigError."""
        place = f"{self.name}: {_place(row, variant)}"
        return Learning.split(self._recipe_data(row, variant), source=place)[0]

    def recipe_of(
        self, row: Row, variant: str = "", *, test: str | None = None, source: str = ""
    ) -> Recipe:
        """A row's recipe, with the file `test` in place of the development data. Raises
        ConfigError, led by `source`."""
        place = f"{source or self.name}: {_place(row, variant)}"
        data = self._recipe_data(row, variant)
        if test is not None:
            data = _laid_over(data, {"data": {"dev": test}})
        learning, data = Learning.split(data, source=place)
        recipe = Recipe.parse(data, source=place)
        learning.check(recipe, source=place)
        if test is not None and row.rival is None and recipe.training.stop_on == "dev":
            stop = 'training.stop_on is "dev", which would choose by the test file; "held" does not'
            raise ConfigError(f"{place}: {stop}")
        return recipe

    def _recipe_data(self, row: Row, variant: str) -> Data:
        merged: Data = {}
        if row.rival is not None:  # only the data of its recipe count; a model makes it whole
            merged = next((other.recipe for other in self.rows if other.rival is None), {})
        own = self.variants.get(variant, {}), row.variant_recipes.get(variant, {})
        for part in (self.recipe, row.recipe, *own):
            merged = _laid_over(merged, part)
        return {"name": ".".join((self.name, row.name, *([variant] if variant else []))), **merged}

    def _on_train(self, row: Row, variant: str) -> tuple[str, ...]:
        """The sources of the trees of the columns of training accuracy."""
        wanted = (variant, TRAIN_ACCURACY)
        parts = (column.parts for column in self.columns)
        sources = (source or row.trees for place, source, name in parts if (place, name) == wanted)
        return tuple(dict.fromkeys(sources))

    def _test_of(self, variant: str, tests: Mapping[str, str]) -> str | None:
        data = self.variants.get(variant, {}).get("data", {})
        own = bool({"train", "dev", "dev_size"} & data.keys())
        return tests.get(variant, None if own else tests.get(""))

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        rows, curves = ([each.name for each in of] for of in (self.rows, self.curves))
        columns = [column.key for column in self.columns]
        for kind, names in {"rows": rows, "columns": columns, "curves": curves}.items():
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"{kind} must differ in their names, found {twice} more than once")
        return self

    @model_validator(mode="after")
    def _known_names(self) -> Self:
        keys = {column.key for column in self.columns}
        rows = {row.name for row in self.rows}
        models = {row.name for row in self.rows if row.rival is None}
        for row in self.rows:
            place, own = f"row {row.name}", self.variants_of(row)[1:]
            _known(f"{place}: paper", row.paper, keys | {PARAMETERS}, "columns")
            _known(f"{place}: variants", row.variants or (), self.variants, "variants")
            _known(f"{place}: variant_recipes", row.variant_recipes, own, "its variants")
        for column in self.columns:
            if variant := column.parts[0]:
                _known(f"column {column.key}", [variant], self.variants, "variants")
        for curve in self.curves:
            _known(f"curve {curve.name}: rows", curve.rows, models, "rows with a recipe")
            for row in map(self.row, curve.rows):
                place = f"curve {curve.name}, row {row.name}: variant"
                _known(place, [curve.variant], self.variants_of(row), "its variants, '' for itself")
        for pair in self.compare:
            _known("compare", (pair.a, pair.b), rows, "rows")
            _known("compare", (pair.key,), keys, "columns")
        return self


def _known(place: str, names: Sequence[str] | Mapping[str, Any], known: Any, kind: str) -> None:
    if unknown := sorted(set(names) - set(known)):
        raise ValueError(f"{place} names {unknown}; {kind} are {sorted(known)}")


def _misfit(row: Row, recipe: Recipe) -> str | None:
    """Why a row cannot have this recipe."""
    measured = recipe.measured_trees
    if row.trees not in measured:
        return f"trees = {row.trees!r}, but its model is measured with {', '.join(measured)}"
    trees, items = recipe.model.trees, recipe.task.items
    if row.parser is not None and (trees, items) != ("dependency", "trees"):
        found = f"model.trees = {trees!r} and a task of {items}"
        return f"parser makes dependency trees of sentences, not of pairs; found {found}"
    return None


def _place(row: Row, variant: str) -> str:
    return f"row {row.name}{f', variant {variant}' if variant else ''}"


def _name_of(row: Any, number: int) -> str:
    return str(row.get("name", number)) if isinstance(row, dict) else str(number)


def _laid_over(base: Data, over: Data) -> Data:
    """`over` over `base`, as `Table` says."""
    kept = dict(base)
    if "name" in over and over["name"] != base.get("name"):
        kept.pop("options", None)
    for key, other in (("dev", "dev_size"), ("dev_size", "dev")):
        if key in over and other not in over:
            kept.pop(other, None)
    for key, value in over.items():
        old = kept.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            value = _laid_over(old, value)
        kept[key] = value
    return kept
