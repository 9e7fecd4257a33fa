"""The settings of a reranking: a TOML file with a parser, and rows of rankers."""

from pathlib import Path
from typing import Any, Self

from pydantic import Field

from thinstack.core.config import CellConfig
from thinstack.core.config.base import Strict, read_toml
from thinstack.errors import ConfigError
from thinstack.training.recipe import Recipe

LABELS = ("phrase", "no phrase")
"""What a constituent may be. Trees that a transition parser makes have phrases without labels."""

READ_OF_RANKERS = {
    "epochs",
    "batch_size",
    "buckets",
    "rule",
    "learning_rate",
    "vector_rule",
    "vector_learning_rate",
    "warm_up",
    "rate_factor",
    "rate_epochs",
    "weight_decay",
}
"""Of the settings of a training, those that the loop of rankers reads."""


class RankerRow(Strict):
    """A ranker: its cell, and what the paper says of it."""

    name: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str
    paper: float | None = None
    cell: CellConfig


class Reranking(Strict):
    """What is reranked, and how.

    Attributes:
        k: candidates of a sentence, and hypotheses of the beam.
        folds: parts that the training sentences are cut into; those of each get their candidates
            from a parser that learnt from the other parts.
        sentences: how many training sentences are taken, at equal distances; None takes all.
        held: one of so many training sentences is held out, for the epoch and weight of rankers.
        parser: the recipe of the parser, without a name.
        ranker: `kappa` and the `training` of every ranker.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9-]+$")
    title: str
    paper: str
    paper_before: float | None = None
    paper_oracle: float | None = None
    differs: tuple[str, ...] = ()
    k: int = Field(ge=2)
    folds: int = Field(ge=2)
    sentences: int | None = Field(default=None, ge=20)
    held: int = Field(default=10, ge=2)
    seeds: tuple[int, ...] = Field(min_length=1)
    parser: dict[str, Any]
    ranker: dict[str, Any]
    kappa: float = Field(default=0.1, ge=0)
    rows: tuple[RankerRow, ...] = Field(min_length=1)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a TOML file. Raises ConfigError that names the field that is wrong."""
        found = cls.parse(read_toml(path, "reranking"), source=str(path))
        parser = found.parser_recipe()
        model, training = parser.model, parser.training
        if model.encoder.tracker is None or not model.encoder.tracker.parses:
            raise ConfigError(
                f"{path}: parser.model.encoder: expected a tracker that parses, whose transitions "
                "have probabilities; add [parser.model.encoder.tracker]"
            )
        if training.stop_on != "nothing":
            raise ConfigError(
                f"{path}: parser.training.stop_on: expected 'nothing', for a fold has no data of "
                f"its own to stop on; found {training.stop_on!r}"
            )
        if unread := sorted(found.ranker.keys() - READ_OF_RANKERS):
            raise ConfigError(
                f"{path}: ranker: {', '.join(unread)} would change nothing: a ranker has a loop of "
                f"its own, which reads {', '.join(sorted(READ_OF_RANKERS))}"
            )
        for row in found.rows:
            found.ranker_recipe(row)
        return found

    def parser_recipe(self) -> Recipe:
        """The recipe of the parser. Raises ConfigError."""
        return Recipe.parse({"name": "parser", **self.parser}, source=f"{self.name}: parser")

    def ranker_recipe(self, row: RankerRow) -> Recipe:
        """The recipe of a ranker, over the vectors that the parser starts from. Raises
        ConfigError."""
        parser = self.parser_recipe()
        embedding = {**parser.model.embedding.model_dump(), "dropout": 0.0}
        model = {
            "labels": LABELS,
            "embedding": embedding,
            "cell": row.cell.model_dump(),
            "head": {"name": "tree_ranker.v1", "options": {"kappa": self.kappa}},
        }
        sections = {"task": parser.task, "data": parser.data, "model": model}
        data = {"name": row.name, **sections}
        return Recipe.parse({**data, "training": self.ranker}, source=f"{self.name}: {row.name}")
