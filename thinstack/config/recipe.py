"""What a training run needs beside the model: data, where learning starts, training and export."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from thinstack.config.base import Rate, Strict, read_toml
from thinstack.config.data_config import PAIR_TASKS, DataConfig
from thinstack.config.model_config import MadeTree, ModelConfig
from thinstack.config.teacher_config import TeacherConfig

__all__ = ["ExportConfig", "InitConfig", "Part", "Recipe", "TrainingConfig"]

Part = Literal["embedding", "encoder", "parser", "head"]
"""A part of a model that can start from another model's weights."""


class InitConfig(Strict):
    """Where learning starts: from the weights of a bundle, in place of fresh ones."""

    bundle: str = Field(
        description="Name or folder of the bundle. Its vocabulary comes along, in place of "
        "`data.vectors`; its weights must have the shapes of the model's."
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


class TrainingConfig(Strict):
    """How the model learns."""

    seeds: tuple[Annotated[int, Field(ge=0, lt=2**63)], ...] = Field(
        default=(1,),
        min_length=1,
        description="A model is trained for each. The bundle holds the one that did best on what "
        "`stop_on` names, or the first.",
    )
    epochs: int = Field(default=10, gt=0, description="Passes over the training data, at most.")
    batch_size: int = Field(default=25, gt=0, description="Sentences, or pairs, of a minibatch.")
    rule: Literal["adagrad", "rmsprop", "adam", "adamw"] = Field(
        default="adagrad",
        description="The optimiser of all weights but the leaf table and `model.parser`. "
        '"adamw" takes `weight_decay` from matrices alone, and not by way of their gradients.',
    )
    learning_rate: float = Field(default=0.05, gt=0, description="Learning rate of `rule`.")
    vector_learning_rate: float = Field(
        default=0.1, ge=0, description="Learning rate of the leaf table; 0 leaves it as it is."
    )
    vector_rule: Literal["sgd", "adagrad"] = Field(
        default="sgd", description="The optimiser of the leaf table."
    )
    parser_learning_rate: float = Field(
        default=2e-3,
        gt=0,
        description="Learning rate of `model.parser`, which has Adam; it falls in a line to 0.",
    )
    parser_epochs: int = Field(
        default=0,
        ge=0,
        description="Further epochs for `model.parser` alone, once the weights to keep are chosen.",
    )
    encoder_learning_rate: float = Field(
        default=1.5e-4,
        gt=0,
        description="Learning rate of the top layer of the pretrained encoder of `transformer.v1`.",
    )
    layer_decay: float = Field(
        default=0.9,
        gt=0,
        le=1,
        description="Each layer of the pretrained encoder has so many times the learning rate of "
        "the one above it.",
    )
    warm_up: Rate = Field(
        default=0.0,
        description="Over this share of the training all learning rates but the parser's rise from "
        "0, then they fall in a line to 0. With 0 they stay as they are.",
    )
    clip: float | None = Field(
        default=None,
        gt=0,
        description="Gradients of the weights that `rule` learns are shortened to this length, "
        "over the sum of the losses of a minibatch divided by its number of sentences. Without it "
        "they are left as they are.",
    )
    alone: float = Field(
        default=0.0,
        ge=0,
        description="So many labelled phrases for each sentence and epoch are read by themselves "
        "as well, without their sentence: words in their context then know phrases as wholes too.",
    )
    weight_decay: float = Field(
        default=1e-4, ge=0, description="Weight of the L2 term, on the weights that `rule` learns."
    )
    stop_on: Literal["dev", "held", "nothing"] = Field(
        default="held",
        description="What chooses the epoch to keep and stops early: a held-out tenth of the "
        'training data ("held"), the development data, or nothing, which trains on all of it for '
        "all epochs.",
    )
    patience: int = Field(
        default=4, gt=0, description="Training stops after so many epochs without a better one."
    )
    gold: bool = Field(default=True, description="Whether the trees of the data are trained on.")
    sources: tuple[MadeTree, ...] = Field(
        default=(),
        description="Other trees to train on. Each epoch every sentence takes one of its trees, "
        "drawn evenly; phrases count that the data's tree has too. \"self\" are the model's own "
        "parses, made anew before each epoch; the first epoch takes the data's trees instead "
        '(scheduled sampling of whole sentences, Bowman et al. 2016, 3.4). "distances" is refused.',
    )
    alpha: float = Field(
        default=1.0,
        ge=0,
        description="For a model that parses: weight of the loss of its trees beside that of the "
        "task, (7) of Bowman et al. 2016.",
    )
    root_weight: float = Field(
        default=0.0,
        ge=0,
        description="Additional weight of whole sentences where phrases are learnt: how much the "
        "loss of a root counts beside the mean loss of the labelled nodes of its tree. With 0.2, "
        "the root of a tree of 40 nodes counts 1 + 8 times.",
    )
    precision: Literal["float32", "bf16", "auto"] = Field(
        default="float32",
        description='"bf16" computes in bfloat16, on devices that have it; others are refused. '
        '"auto" does where the model and its device can. Weights, losses and evaluation stay in '
        "float32.",
    )
    buckets: int = Field(
        default=20,
        gt=0,
        description="Minibatches are cut from so many times their number of sentences, sorted by "
        "length, which takes less time; 1 draws them from all.",
    )
    average: Rate = Field(
        default=0.0,
        description="A running average of the weights is kept; this is how much of it each epoch "
        "leaves standing. 0 keeps the weights of the epoch itself.",
    )
    neighbours: Rate = Field(
        default=0.0,
        description="Of texts whose classes are in an order: the share of a text's target that the "
        "classes next to its own get.",
    )
    phrase_penalty: float = Field(
        default=0.0,
        ge=0,
        description="Of texts, learnt from a bundle's start: how much it counts, beside the loss "
        "of a text, that its phrases' scores leave those of the start (a mean of divergences).",
    )

    @property
    def trees(self) -> tuple[str, ...]:
        """Names of the trees that it trains on."""
        return ("gold", *self.sources) if self.gold else self.sources

    @model_validator(mode="after")
    def _distinct_seeds(self) -> Self:
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"seeds must differ, got {list(self.seeds)}")
        if not self.trees:
            raise ValueError("gold = false leaves no trees to train on: name some in sources")
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
    """All that one training run needs."""

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

    @property
    def made_trees(self) -> tuple[str, ...]:
        """The tree sources, beside the data's own, that the model is measured with."""
        own = ("self",) if self.model.parses else ()
        if self.model.trees != "binary" or self.data.task in PAIR_TASKS:
            return own
        return tuple(dict.fromkeys((self.model.tree_source, *own)))

    @property
    def measured_trees(self) -> tuple[str, ...]:
        """The trees that the model is measured with: tables have none but those it is trained
        on."""
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
            parser = "encoder" if self.model.parser is None else "parser"  # of SPINN, the first
            if self.model.parses and (self.init is None or parser not in self.init.parts):
                raise ValueError("data: a table teaches no parser; start from a bundle ([init])")
            if self.data.task == "texts" and (found := self.training.stop_on) == "held":
                raise ValueError(f"training.stop_on: of texts 'dev' or 'nothing', found {found!r}")
            if self.training.trees != (("self",) if self.model.parses else ("gold",)):
                wanted = "gold = false, sources = ['self']" if self.model.parses else "gold alone"
                raise ValueError(f"training: a table has no treebank's trees; expected {wanted}")
        if self.training.alone and (
            (self.data.task, self.model.trees, self.training.gold) != ("phrases", "binary", True)
        ):
            raise ValueError(
                "training.alone: phrases of a treebank's binary trees are read by themselves; "
                "expected data.task = 'phrases', model.trees = 'binary', training.gold = true"
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
        """Read a TOML recipe. Raises ConfigError if the file is missing or does not validate."""
        return cls.parse(read_toml(path, "recipe"), source=str(path))
