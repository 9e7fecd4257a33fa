"""The recipe of a training run: model, data, where learning starts, training and export."""

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from thinstack.bundle.hub.card_config import CardConfig
from thinstack.core.config.base import Strict, read_toml
from thinstack.core.config.model_config import ModelConfig
from thinstack.core.config.task import PAIR_TASKS
from thinstack.training.recipe.data_config import DataConfig
from thinstack.training.recipe.teacher_config import TeacherConfig
from thinstack.training.recipe.training_config import TrainingConfig

__all__ = ["ExportConfig", "InitConfig", "Part", "Recipe"]

Part = Literal["embedding", "encoder", "parser", "head"]
"""A part of a model that can start from another model's weights."""


class InitConfig(Strict):
    """Where learning starts: from the weights of a bundle instead of fresh weights."""

    bundle: str = Field(
        description="Name, folder or hf:// address of the bundle. Its vocabulary comes along, in "
        "place of `data.vectors`; its weights must have the shapes of the model's."
    )
    parts: tuple[Part, ...] = Field(
        default=("embedding", "encoder", "parser"),
        min_length=1,
        description='What is taken from it: "embedding" (always), "encoder", "parser", "head".',
    )
    frozen: tuple[Part, ...] = Field(
        default=("parser",), description="Parts of the model that learn nothing."
    )

    @model_validator(mode="after")
    def _table_and_ids_go_together(self) -> Self:
        if "embedding" not in self.parts:
            raise ValueError("parts: the others read the words of 'embedding': name it too")
        if {"embedding", "encoder", "head"} <= set(self.frozen):
            raise ValueError("frozen: nothing is left to learn; leave out a part")
        return self


class ExportConfig(Strict):
    """How the trained model is exported."""

    inference_only: bool = Field(
        default=False,
        description="Leave out of the bundle the TorchScript file, and of the torch weights those "
        "that the ONNX file holds.",
    )
    quantize: Literal["none", "fp16", "int8-tables", "int8"] = Field(
        default="none",
        description='How the ONNX file stores weights. "int8-tables": 8 bits with a scale a row '
        "for the leaf table (fp16 if the embedding does more than look words up), fp16 for "
        'matrices. "int8": 8 bits for matrices too, with a scale a column, and products computed '
        "in 8 bits.",
    )
    index_type: Literal["int32", "int64"] = Field(
        default="int32",
        description="Type of the index inputs of the ONNX file; JavaScript needs int32.",
    )
    calibrate: bool = Field(
        default=True,
        description="Fit a temperature on the development data and divide the weights of the "
        "head's last layer by it, so that scores are nearer to shares of right answers; which "
        "class is the most probable stays. Not of relatedness, nor of fewer than 50 cases.",
    )


class Recipe(Strict):
    """Everything that one training run needs."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$",
        description="Name of the bundle: letters, digits and `._-`.",
    )
    description: str = Field(default="", description="What the card of the bundle says first.")
    data: DataConfig = Field(description="Files and task.")
    init: InitConfig | None = Field(
        default=None, description="Where learning starts; fresh weights without it."
    )
    teacher: TeacherConfig | None = Field(
        default=None, description="Bundles that label phrases too; none without it."
    )
    model: ModelConfig = Field(description="What is trained.")
    training: TrainingConfig = Field(default=TrainingConfig(), description="How it learns.")
    export: ExportConfig = Field(default=ExportConfig(), description="What the bundle holds.")
    card: CardConfig = Field(
        default=CardConfig(), description="What the head of the bundle's card says."
    )

    @property
    def made_trees(self) -> tuple[str, ...]:
        """The sources of trees that the model is measured with, without the data's own trees."""
        own = ("self",) if self.model.parses else ()
        if self.model.trees != "binary" or self.data.task in PAIR_TASKS:
            return own
        return tuple(dict.fromkeys((self.model.tree_source, *own)))

    @property
    def measured_trees(self) -> tuple[str, ...]:
        """The trees that the model is measured with. For a table, they are the trees that it is
        trained on."""
        if self.data.from_table:
            return self.training.trees
        return tuple(dict.fromkeys(("gold", *self.made_trees)))

    @model_validator(mode="after")
    def _table_fits(self) -> Self:
        if self.data.from_table:
            pairs = self.data.task in PAIR_TASKS
            if self.model.trees not in (("binary", "sequence") if pairs else ("binary",)):
                expected = "'binary' or 'sequence'" if pairs else "'binary'"
                problem = f"expected {expected}, for a table has no trees"
                raise ValueError(f"model.trees: {problem}; found {self.model.trees!r}")
            parser = "encoder" if self.model.parser is None else "parser"
            if self.model.parses and (self.init is None or parser not in self.init.parts):
                raise ValueError("data: a table teaches no parser; start from a bundle ([init])")
            if self.data.task == "texts" and (found := self.training.stop_on) == "held":
                raise ValueError(f"training.stop_on: of texts 'dev' or 'nothing', found {found!r}")
            if self.training.trees != (("self",) if self.model.parses else ("gold",)):
                wanted = "gold = false, sources = ['self']" if self.model.parses else "gold alone"
                raise ValueError(f"training: a table has no treebank's trees; expected {wanted}")
        if (self.training.alone or self.training.turning) and (
            (self.data.task, self.model.trees, self.training.gold) != ("phrases", "binary", True)
        ):
            raise ValueError(
                "training.alone, training.turning: phrases of a treebank's binary trees are read "
                "by themselves; expected data.task = 'phrases', model.trees = 'binary', "
                "training.gold = true"
            )
        if self.training.labels != "all" and (
            self.data.task not in ("phrases", "sentences")
            or self.teacher is not None
            or self.training.alone
            or self.training.turning
        ):
            raise ValueError(
                "training.labels: the loss reads some labels of a treebank only; expected "
                "data.task = 'phrases' or 'sentences', and no teacher, alone or turning; leave "
                "these or labels out"
            )
        of_texts = self.training.phrase_penalty or self.training.neighbours
        if of_texts and self.data.task != "texts":
            raise ValueError(
                "training.phrase_penalty, training.neighbours: they are for data.task = 'texts'"
            )
        return self

    @model_validator(mode="after")
    def _teacher_fits(self) -> Self:
        if self.training.root_weight and self.data.task not in ("phrases", "sentences"):
            found = f"found data.task = {self.data.task!r}"
            raise ValueError(f"training.root_weight: of trees of a treebank alone, {found}")
        if self.teacher is None:
            return self
        found = f"data.task = {self.data.task!r}, model.trees = {self.model.trees!r}"
        if self.data.task != "phrases" or self.model.trees != "binary":
            raise ValueError(
                "teacher: it labels phrases of a treebank's binary trees; expected data.task = "
                f"'phrases', model.trees = 'binary', found {found}"
            )
        if shown := {self.data.train, self.data.dev}.intersection(self.teacher.texts):
            raise ValueError(
                f"teacher.texts: a teacher labels other texts than the recipe's own files, found "
                f"{sorted(map(str, shown))}"
            )
        return self

    @model_validator(mode="after")
    def _trees_fit(self) -> Self:
        if "distances" in (*self.training.sources, self.model.tree_source):
            raise ValueError(
                "training.sources, model.tree_source: the table of 'distances' is no longer learnt;"
                " write [model.parser] name = 'distances.v1' and training.sources = ['self']"
            )
        others = [source for source in self.training.trees if source != "gold"]
        if others and self.model.trees != "binary":
            found = f"model.trees = {self.model.trees!r}"
            raise ValueError(f"training.sources: made trees are binary ones, found {found}")
        if others and self.data.task in PAIR_TASKS and others != ["self"]:
            raise ValueError(
                f"training.sources: pairs take their trees or the model's, 'self'; found {others}"
            )
        if "self" in self.training.sources and not self.model.parses:
            raise ValueError("training.sources: 'self' needs a model.parser")
        if self.training.parser_epochs > 0 and self.model.parser is None:
            raise ValueError("training.parser_epochs: there is no model.parser to train alone")
        if (
            self.training.parser_epochs > 0
            and self.init is not None
            and "parser" in self.init.frozen
        ):
            raise ValueError("training.parser_epochs: the parser is frozen; leave it out of one")
        return self

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a TOML recipe. Raises ConfigError if the file is missing or not valid."""
        return cls.parse(read_toml(path, "recipe"), source=str(path))
