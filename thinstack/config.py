"""What describes a model and how to train it: pydantic models that round-trip through JSON and TOML."""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from thinstack.errors import ConfigError

__all__ = [
    "SCHEMA_VERSION",
    "CellConfig",
    "DataConfig",
    "Device",
    "EmbeddingConfig",
    "EncoderConfig",
    "EvaluationSource",
    "ExportConfig",
    "HeadConfig",
    "ModelConfig",
    "Readout",
    "Recipe",
    "TrackerConfig",
    "TrainingConfig",
    "TreeKind",
    "TreeSource",
]

SCHEMA_VERSION: Final = 1

MOST_PROBLEMS: Final = 10
"""Of a configuration that are told at once."""

Device = Literal["cpu", "cuda", "auto"]
"""Where a model runs; `auto` is CUDA where it works, else the CPU."""

TreeSource = Literal["auto", "self", "balanced", "left", "right"]
"""Where the tree of raw words comes from; `auto` is what the model was trained to get (`ModelConfig.tree_source`), `self` the
parse of a model that has a parser."""

MadeTree = Literal["balanced", "left", "right", "distances", "self"]
"""How a tree is made of words; `distances` cuts at the greatest syntactic distance, by a table that the model brings along;
`self` is the parse of the model itself."""

EvaluationSource = Literal["gold", "auto", "self", "balanced", "left", "right"]
"""Whose trees an evaluation takes: the treebank's own (`gold`), or those of a `TreeSource`."""

TreeKind = Literal["binary", "constituency", "dependency", "sequence"]
"""Trees of a model: binary or any constituency trees (words at the leaves), dependency trees (a word at every node), or plain
sentences, read word by word as a chain."""

Readout = Literal["up", "down", "leaves"]
"""What a node's output is made of, side by side: its bottom-up state, its top-down state, the mean of the top-down states of
the leaves below it. All three is (15) of Teng & Zhang 2017; over a sentence "up" is the last state of an LSTM, "leaves" the
last of the one that reads backwards."""

Rate = Annotated[float, Field(ge=0, lt=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @classmethod
    def parse(cls, data: object, *, source: str) -> Self:
        """Validate `data`, read from `source`. Raises ConfigError that names the field and what it should be."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, item['loc'])) or 'it'}: {item['msg']} (found {item['input']!r:.80})"
                for item in error.errors()[:MOST_PROBLEMS]
            )
            more = error.error_count() - MOST_PROBLEMS
            raise ConfigError(f"{source}: {problems}{f'; and {more} more' if more > 0 else ''}") from None


class EmbeddingConfig(_Strict):
    """Leaf embedding. `kind` is its vocabulary: words, or the pieces of words. `name` is that of a registered embedding, by
    default `words.v1`, a table of word vectors, or `wordpieces.v1`, which gives a word the mean of its pieces' vectors;
    `options` go to the plugin's own config. `size` is the width of a word's vector.
    """

    kind: Literal["words", "wordpieces"]
    size: int = Field(gt=0)
    dropout: Rate = 0.0
    name: str | None = None
    options: dict[str, Any] = {}

    @property
    def registered(self) -> str:
        """Registered name of the embedding."""
        return self.name or f"{self.kind}.v1"


class CellConfig(_Strict):
    """A composition cell by its registered name; `options` go to the plugin's own config."""

    name: str
    hidden_size: int = Field(gt=0)
    options: dict[str, Any] = {}


class HeadConfig(_Strict):
    """A task head by its registered name; `options` go to the plugin's own config."""

    name: str
    options: dict[str, Any] = {}


class TrackerConfig(_Strict):
    """The tracking LSTM of SPINN (Bowman et al. 2016, 3.3-3.4), of width `size`.

    `lookahead`: how many words of the buffer it reads. `feeds`: whether its state is an input of the composition, the e of (1);
    without it, given trees are composed by depth. `parses`: whether it has a transition classifier (5), so that
    the model makes trees of its own. `beam`: how many hypotheses of a sentence's tree are kept while it does. `dropout`: of the
    outputs of nodes that it reads.
    """

    size: int = Field(gt=0)
    lookahead: int = Field(default=1, gt=0)
    feeds: bool = True
    parses: bool = True
    beam: int = Field(default=1, gt=0)
    dropout: Rate = 0.0


class EncoderConfig(_Strict):
    """How the cell of a model is put to work.

    `layers`: each layer after the first reads, at every node, what the layer below made of it (Irsoy & Cardie 2014).
    `top_down`: the cell of a pass from the root back to the leaves in each layer; "shared" is the bottom-up cell itself, one
    set of weights for both directions (Tai, footnote 2). `separate`: whether the directions are two stacks of layers, each
    reading its own below (Tai, Table 1), instead of both reading both. `readout`: what outputs are made of, if there is a
    top-down pass. `tracker`: the tracking LSTM of SPINN, for one layer without a top-down pass.
    """

    layers: int = Field(default=1, gt=0)
    top_down: CellConfig | Literal["shared"] | None = None
    separate: bool = False
    readout: tuple[Readout, ...] = Field(default=("up", "down", "leaves"), min_length=1)
    tracker: TrackerConfig | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.tracker is not None and (self.layers > 1 or self.top_down is not None):
            raise ValueError("a tracker goes with one layer and no top_down")
        if len(set(self.readout)) != len(self.readout):
            raise ValueError(f"readout names a part twice: {list(self.readout)}")
        idle = [name for name in ("separate", "readout") if getattr(self, name) != type(self).model_fields[name].default]
        if self.top_down is None and idle:
            raise ValueError(f"{' and '.join(idle)} say how two directions go together, but there is no top_down")
        return self


class ModelConfig(_Strict):
    """A model: leaf embedding, encoder of one composition cell, task head. `labels` are its classes, in order.

    `trees`: what its sentences come as. `relations`: names of the edge types of dependency trees that the cell tells apart;
    any other is of kind 1, these of kinds 2 and up. `tree_source`: what makes the trees of raw words, by default the model
    itself if it parses, else balanced trees.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    labels: tuple[str, ...] = Field(min_length=2)
    embedding: EmbeddingConfig
    cell: CellConfig
    head: HeadConfig
    encoder: EncoderConfig = EncoderConfig()
    trees: TreeKind = "binary"
    relations: tuple[str, ...] = ()
    tree_source: MadeTree = "balanced"

    @property
    def parses(self) -> bool:
        """Whether the model makes trees of its own."""
        return self.encoder.tracker is not None and self.encoder.tracker.parses

    @model_validator(mode="before")
    @classmethod
    def _own_trees(cls, data: Any) -> Any:
        if isinstance(data, dict) and "tree_source" not in data:
            try:
                encoder = EncoderConfig.model_validate(data.get("encoder", {}))
            except ValidationError:
                return data  # the field itself says what is wrong
            if encoder.tracker is not None and encoder.tracker.parses:
                return {**data, "tree_source": "self"}
        return data

    @model_validator(mode="after")
    def _trees_fit(self) -> Self:
        if self.encoder.tracker is not None and self.trees != "binary":
            raise ValueError(f"a tracker reads binary trees, found trees = {self.trees!r}")
        if self.tree_source == "self" and not self.parses:
            raise ValueError("tree_source 'self' needs an encoder.tracker that parses")
        return self

    @model_validator(mode="after")
    def _distinct_names(self) -> Self:
        for name, values in (("labels", self.labels), ("relations", self.relations)):
            if len(set(values)) != len(values):
                raise ValueError(f"{name} must differ, got {list(values)}")
        if self.relations and self.trees != "dependency":
            raise ValueError(f"relations belong to dependency trees, found trees = {self.trees!r}")
        return self


class DataConfig(_Strict):
    """Files of a recipe, relative to the data folder that the command names.

    `format`: the registered reader of the two tree files.

    `statement`: what a bundle's card says of the data: what it is, its terms, and whom to cite.

    `vectors`: pretrained leaf vectors (`.npz` or GloVe text), of which the first columns are taken, as many as the leaf table
    has (`embedding.size`, but for embeddings with a table of another width), scaled to the standard deviation `vector_std` if
    that is given. A wordpiece model needs them, for they bring the pieces.
    """

    train: str
    dev: str
    format: str = "brackets.v1"
    vectors: str | None = None
    vector_std: float | None = Field(default=None, gt=0)
    statement: str = ""


class TrainingConfig(_Strict):
    """AdaGrad on everything but the leaf vectors, which have a learning rate (and rule) of their own (Tai 5.3).

    `stop_on`: what early stopping looks at: the development file, a held-out tenth of the training file ("held"), or nothing,
    which runs all `epochs` on the whole training file.
    `gold`, `sources`: whether to train on the treebank's own trees, and on those of which tree sources; each epoch every
    sentence takes one of them, drawn evenly. Of other trees the phrases count that the treebank's tree has too.
    "self" among them are the model's own parses, made anew before each epoch but the first, which takes the treebank's
    instead: scheduled sampling (Bowman et al. 2016, 3.4) of whole sentences, taught by a dynamic oracle.
    `alpha`: weight of the loss of transitions beside that of the task, (7) of Bowman et al. 2016, for a model that parses.
    `buckets`: minibatches are cut from so many times their number of sentences, sorted by length; more than 1 makes sentences
    of a minibatch alike in length, which saves a model with a tracking LSTM time.
    `average`: how much of the running average of the weights each epoch leaves standing; what is kept is the average, and
    0 makes that the last epoch's weights.
    """

    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(default=(1,), min_length=1)
    epochs: int = Field(default=10, gt=0)
    batch_size: int = Field(default=25, gt=0)
    learning_rate: float = Field(default=0.05, gt=0)
    vector_learning_rate: float = Field(default=0.1, ge=0)
    vector_rule: Literal["sgd", "adagrad"] = "sgd"
    weight_decay: float = Field(default=1e-4, ge=0)
    stop_on: Literal["dev", "held", "nothing"] = "held"
    patience: int = Field(default=4, gt=0)
    gold: bool = True
    sources: tuple[MadeTree, ...] = ()
    alpha: float = Field(default=1.0, ge=0)
    buckets: int = Field(default=1, gt=0)
    average: Rate = 0.0

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


class ExportConfig(_Strict):
    """How the trained model is exported.

    `quantize`: how weights are stored in the ONNX file; "int8-tables" is 8 bits with a scale a row for the leaf table (fp16,
    where the embedding does more than to look words up in it), and fp16 for matrices; "int8" has matrices in 8 bits too, with a
    scale a column, and computes with them so. `inference_only`: leave TorchScript out of the
    bundle, and of the torch weights those that the ONNX file holds.
    """

    inference_only: bool = False
    quantize: Literal["none", "fp16", "int8-tables", "int8"] = "none"
    index_type: Literal["int32", "int64"] = "int32"


class Recipe(_Strict):
    """All that one training run needs."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    description: str = ""
    data: DataConfig
    model: ModelConfig
    training: TrainingConfig = TrainingConfig()
    export: ExportConfig = ExportConfig()

    @model_validator(mode="after")
    def _own_trees(self) -> Self:
        if "self" in self.training.sources and not self.model.parses:
            raise ValueError("training.sources: 'self' needs a model.encoder.tracker that parses")
        tracker = self.model.encoder.tracker
        if tracker is not None and tracker.beam > 1:
            raise ValueError(
                "model.encoder.tracker.beam: a recipe ends with an ONNX file, which keeps one hypothesis; set it to 1"
            )
        return self

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a TOML recipe. Raises ConfigError if the file is missing or does not validate."""
        try:
            data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigError(f"{path}: not a readable TOML recipe: {error}") from None
        return cls.parse(data, source=str(path))
