"""What a training run needs beside the model: data, training and export."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from thinstack.config.base import Rate, Strict, read_toml
from thinstack.config.model_config import MadeTree, ModelConfig

__all__ = [
    "PAIR_TASKS",
    "DataConfig",
    "ExportConfig",
    "InitConfig",
    "Part",
    "Recipe",
    "Task",
    "TrainingConfig",
]

Task = Literal["phrases", "sentences", "texts", "relatedness", "entailment"]
"""What is learnt and measured: classes of phrases that go from negative to positive, classes of
whole sentences, classes of texts of any number of sentences, ratings of pairs of sentences, or
classes of pairs."""

PAIR_TASKS: tuple[Task, ...] = ("relatedness", "entailment")


Part = Literal["embedding", "encoder", "parser", "head"]
"""A part of a model that can start from another model's weights."""


class InitConfig(Strict):
    """Where learning starts: from the weights of a bundle, in place of fresh ones.

    `bundle`: its name or folder. Its vocabulary and leaf table come along, in place of
    `data.vectors`; its weights must have the shapes of the model's. `parts`: what is taken from it.
    `frozen`: what stays as it is.
    """

    bundle: str
    parts: tuple[Part, ...] = Field(default=("embedding", "encoder", "parser"), min_length=1)
    frozen: tuple[Part, ...] = ("parser",)

    @model_validator(mode="after")
    def _table_and_ids_go_together(self) -> Self:
        if "embedding" not in self.parts:
            raise ValueError("parts: the others read the words of 'embedding': name it too")
        return self


class DataConfig(Strict):
    """Files of a recipe, relative to the data folder that the command names.

    `task`: what is read from them. `format`: their registered reader; of pairs "sick.v1" (folders)
    or "snli.v1". `dev`: what is reported on; without it, `dev_size` of the training examples,
    evenly spread, are set aside for that, or `dev_share` of the texts of each class. Texts are the
    rows of a table (.csv, .tsv, .jsonl, .parquet, .spacy), in `text_column` and `label_column`, in
    `encoding`; with `spans` a row labels the characters [start, end) of its text, from columns of
    these names (of a .spacy file, from the spans of `span_group`). `skip_bad` leaves out rows that
    cannot be used and lists them in a file. `relabel`: other names for classes of the files, "" for
    none; sentences that have no class are then left out. `statement`: what a bundle's card says of
    the data: what it is, its terms, and whom to cite. `vectors`: pretrained leaf vectors (`.npz` or
    GloVe text), of which the first columns are taken, as many as the leaf table has
    (`embedding.size`, but for embeddings with a table of another width), scaled to the standard
    deviation `vector_std` if that is given; "" is none at all. A wordpiece model needs them, for
    they bring the pieces.
    """

    train: str
    dev: str | None = None
    dev_size: int | None = Field(default=None, gt=0)
    dev_share: float | None = Field(default=None, gt=0, lt=1)
    text_column: str = "text"
    label_column: str = "label"
    encoding: str = "utf-8"
    skip_bad: bool = False
    spans: bool = False
    span_group: str | None = None
    task: Task = "phrases"
    format: str = "brackets.v1"
    relabel: dict[str, str] = Field(default_factory=dict)
    vectors: str | None = None
    vector_std: float | None = Field(default=None, gt=0)
    statement: str = ""

    @property
    def reported(self) -> str:
        """What is reported on, in words."""
        if self.dev is not None:
            return self.dev
        aside = f"{self.dev_share:.0%}" if self.dev_share else f"{self.dev_size} examples"
        return f"{aside} of {self.train}"

    @field_validator("vectors")
    @classmethod
    def _no_vectors(cls, value: str | None) -> str | None:
        return value or None

    @model_validator(mode="after")
    def _one_development_set(self) -> Self:
        named = [self.dev, self.dev_size, self.dev_share]
        if named.count(None) != 2:
            raise ValueError(
                "name the file to report on (dev), or how many examples to set aside (dev_size), "
                "or which share of texts (dev_share)"
            )
        if self.span_group is not None and not self.spans:
            raise ValueError("span_group: it says where spans come from; write spans = true")
        if self.task == "texts" and self.dev_size is not None:
            raise ValueError("dev_size: of texts a share is set aside; write dev_share")
        if self.task != "texts" and self.dev_share is not None:
            raise ValueError("dev_share: of texts alone; write dev_size")
        return self


class TrainingConfig(Strict):
    """AdaGrad, or another `rule`, on all but the leaf vectors, which have a learning rate and rule
    of their own (Tai 5.3), and a `[model.parser]`, which has Adam and a
    `parser_learning_rate` that falls in a line to 0. Once the weights to keep are chosen, the
    parser is trained for `parser_epochs` more, and nothing else with it.

    `stop_on`: what early stopping looks at: the development file, a held-out tenth of the training
    file ("held"), or nothing, which runs all `epochs` on the whole training file.
    `gold`, `sources`: whether to train on the treebank's own trees, and on those of which tree
    sources; each epoch every sentence takes one of them, drawn evenly. Of other trees the phrases
    count that the treebank's tree has too. "self" among them are the model's own parses, made anew
    before each epoch but the first, which takes the treebank's instead: scheduled sampling (Bowman
    et al. 2016, 3.4) of whole sentences, taught by a dynamic oracle. `alpha`: weight of the loss of
    transitions beside that of the task, (7) of Bowman et al. 2016, for a model that parses.
    `precision`: "bf16" computes in bfloat16 on devices that have it, with weights, losses and
    evaluation in float32. `buckets`: minibatches are cut from so many times their number of
    sentences, sorted by length, so that sentences of a minibatch are alike in length, which takes
    less time; 1 draws them from all. `average`: how much of the running average of the
    weights each epoch leaves standing; what is kept is the average, and 0 makes that the last
    epoch's weights. `phrase_penalty`: of texts, what the divergence of a phrase's class
    probabilities from those of the model that learning starts from counts beside the loss.
    """

    seeds: tuple[Annotated[int, Field(ge=0, lt=2**63)], ...] = Field(default=(1,), min_length=1)
    epochs: int = Field(default=10, gt=0)
    batch_size: int = Field(default=25, gt=0)
    rule: Literal["adagrad", "rmsprop", "adam"] = "adagrad"
    learning_rate: float = Field(default=0.05, gt=0)
    vector_learning_rate: float = Field(default=0.1, ge=0)
    vector_rule: Literal["sgd", "adagrad"] = "sgd"
    parser_learning_rate: float = Field(default=2e-3, gt=0)
    parser_epochs: int = Field(default=0, ge=0)
    weight_decay: float = Field(default=1e-4, ge=0)
    stop_on: Literal["dev", "held", "nothing"] = "held"
    patience: int = Field(default=4, gt=0)
    gold: bool = True
    sources: tuple[MadeTree, ...] = ()
    alpha: float = Field(default=1.0, ge=0)
    precision: Literal["float32", "bf16"] = "float32"
    buckets: int = Field(default=20, gt=0)
    average: Rate = 0.0
    phrase_penalty: float = Field(default=0.0, ge=0)

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
    """How the trained model is exported.

    `quantize`: how weights are stored in the ONNX file; "int8-tables" is 8 bits with a scale a row
    for the leaf table (fp16, where the embedding does more than to look words up in it), and fp16
    for matrices; "int8" has matrices in 8 bits too, with a scale a column, and computes with them
    so. `inference_only`: leave TorchScript out of the bundle, and of the torch weights those that
    the ONNX file holds.
    """

    inference_only: bool = False
    quantize: Literal["none", "fp16", "int8-tables", "int8"] = "none"
    index_type: Literal["int32", "int64"] = "int32"


class Recipe(Strict):
    """All that one training run needs."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    description: str = ""
    data: DataConfig
    init: InitConfig | None = None
    model: ModelConfig
    training: TrainingConfig = TrainingConfig()
    export: ExportConfig = ExportConfig()

    @property
    def made_trees(self) -> tuple[str, ...]:
        """The tree sources, beside the data's own, that the model is measured with."""
        own = ("self",) if self.model.parses else ()
        if self.model.trees != "binary" or self.data.task in PAIR_TASKS:
            return own
        return tuple(dict.fromkeys((self.model.tree_source, *own)))

    @property
    def measured_trees(self) -> tuple[str, ...]:
        """The trees that the model is measured with: texts have none but those it is trained
        on."""
        if self.data.task == "texts":
            return self.training.trees
        return tuple(dict.fromkeys(("gold", *self.made_trees)))

    @model_validator(mode="after")
    def _texts_fit(self) -> Self:
        if self.data.task == "texts":
            if self.model.trees != "binary":
                raise ValueError("data.task = 'texts': expected model.trees = 'binary'")
            if self.model.parses and (self.init is None or "parser" not in self.init.parts):
                raise ValueError("data.task: texts teach no parser; start from a bundle ([init])")
            if (found := self.training.stop_on) == "held":
                raise ValueError(f"training.stop_on: of texts 'dev' or 'nothing', found {found!r}")
            if self.training.trees != (("self",) if self.model.parses else ("gold",)):
                wanted = "gold = false, sources = ['self']" if self.model.parses else "gold alone"
                raise ValueError(f"training: texts have no treebank's trees; expected {wanted}")
        elif self.training.phrase_penalty:
            raise ValueError("training.phrase_penalty: it is for data.task = 'texts'")
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
        return self

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a TOML recipe. Raises ConfigError if the file is missing or does not validate."""
        return cls.parse(read_toml(path, "recipe"), source=str(path))
