"""The recipe of a training run: model, data, where learning starts, training and export."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, SerializeAsAny, model_validator

from thinstack.bundle.hub.card_config import CardConfig
from thinstack.core.config.base import Strict, read_toml
from thinstack.core.config.model_config import ModelConfig
from thinstack.errors import UnknownNameError
from thinstack.plugins.manager import manager
from thinstack.training.recipe.data_config import DataConfig
from thinstack.training.recipe.schema_1 import converted
from thinstack.training.recipe.teacher_config import TeacherConfig
from thinstack.training.recipe.training_config import TrainingConfig
from thinstack.training.task import Task

__all__ = ["AnyTask", "ExportConfig", "InitConfig", "Part", "Recipe"]

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


def _task(value: object) -> object:
    """The task that a section `[task]` describes. Raises ValueError for an unknown one."""
    if not isinstance(value, Mapping):
        return value
    try:
        kind = manager().find("task", str(value.get("name"))).plugin
    except UnknownNameError as error:
        raise ValueError(str(error)) from None
    settings = {name: setting for name, setting in value.items() if name != "name"}
    if unknown := [str(name) for name in settings if name not in kind.model_fields]:
        raise ValueError(
            f"{kind.name} has no setting {', '.join(unknown):.200}; its settings: "
            f"{', '.join(kind.model_fields)}"
        )
    return kind.model_validate(settings)


AnyTask = Annotated[SerializeAsAny[Task], BeforeValidator(_task)]
"""A task, described by its `name` and its settings."""


class Recipe(Strict):
    """Everything that one training run needs."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True)

    schema_version: Literal[2] = Field(
        default=2, alias="schema", description="Version of the fields of recipes."
    )
    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$",
        description="Name of the bundle: letters, digits and `._-`.",
    )
    description: str = Field(default="", description="What the card of the bundle says first.")
    task: AnyTask = Field(description="What is learnt.")
    data: DataConfig = Field(description="From which files.")
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
    def measured_trees(self) -> tuple[str, ...]:
        """The sources of the trees that the model is measured with."""
        return self.task.measured_trees(self)

    @model_validator(mode="before")
    @classmethod
    def _of_schema_2(cls, data: object) -> object:
        return converted(data) if isinstance(data, dict) else data

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

    @model_validator(mode="after")
    def _task_fits(self) -> Self:
        self.task.check(self)
        taught = self.teacher is not None
        if not (taught or self.training.alone or self.training.turning):
            return self
        phrases = self.task.takes_lessons and self.model.trees == "binary"
        if not phrases or not (taught or self.training.gold):
            raise ValueError(
                "teacher, training.alone, training.turning: they teach phrases of a treebank's "
                "binary trees; expected a task such as phrases.v1, model.trees = 'binary', and "
                f"training.gold = true, found {self.task.name}, {self.model.trees!r}"
            )
        if self.training.labels != "all":
            raise ValueError("training.labels: lessons have labels of their own; leave it out")
        if self.teacher is None:
            return self
        if shown := {self.data.train, self.data.dev}.intersection(self.teacher.texts):
            raise ValueError(
                f"teacher.texts: a teacher labels other texts than the recipe's own files, found "
                f"{sorted(map(str, shown))}"
            )
        return self

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a TOML recipe. Raises ConfigError if the file is missing or not valid."""
        return cls.parse(read_toml(path, "recipe"), source=str(path))
