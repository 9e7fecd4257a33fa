"""The configuration of a model: leaf embedding, composition cell, encoder, task head, and the form
of its sentences. The pydantic models round-trip through JSON and TOML."""

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from thinstack.core.config.base import Rate
from thinstack.core.config.base import Strict as Strict
from thinstack.core.scale import check_sets

SCHEMA_VERSION: Final = 1

Device = Literal["cpu", "cuda", "webgpu", "auto"]
"""The device of a model; `auto` is CUDA if it works, else WebGPU on a GPU, else the CPU."""

TreeSource = Literal["auto", "self", "balanced", "left", "right"]
"""The source of trees for raw words; `auto` is the one that the model was trained with
(`ModelConfig.tree_source`), `self` the parse of a model with a parser."""

MadeTree = Literal["balanced", "left", "right", "self"]
"""How to build a tree over words; `self` is the model's own parse."""

EvaluationSource = Literal["gold", "auto", "self", "balanced", "left", "right"]
"""The trees for an evaluation: the treebank's (`gold`), or those of a `TreeSource`."""

TreeKind = Literal["binary", "constituency", "dependency", "sequence"]
"""The trees of a model, see `ModelConfig.trees`."""


Aggregation = Literal["tree", "mean"]
"""How to combine the sentences of a text, see `ModelConfig.aggregation`."""


class EmbeddingConfig(Strict):
    """The leaf embedding: how words become vectors."""

    kind: Literal["words", "wordpieces"]
    """Vocabulary: whole words, or pieces, which cover any word."""
    size: int = Field(gt=0)
    """Length of a word vector."""
    dropout: Rate = 0.0
    """Dropout rate of word vectors."""
    name: str | None = None
    """Name of a registered embedding. Default: `words.v1`, a table of word vectors, or
    `wordpieces.v1`, the mean of the vectors of a word's pieces."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the embedding."""

    @property
    def registered(self) -> str:
        """The registered name of the embedding."""
        return self.name or f"{self.kind}.v1"


TRACKING: Final = "spinn.v1"
"""The registered encoder of a model with a tracker."""


class CellConfig(Strict):
    """A composition cell, which makes the vector of a phrase from the vectors of its parts."""

    name: str
    """Name of a registered cell."""
    hidden_size: int = Field(gt=0)
    """Size of a node's state."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the cell."""


class TrackerConfig(Strict):
    """SPINN's tracking LSTM (Bowman et al. 2016, 3.3-3.4), which reads a sentence while its tree is
    built."""

    size: int = Field(gt=0)
    """Size of the tracking LSTM."""
    lookahead: int = Field(default=1, gt=0)
    """Number of upcoming words that it reads."""
    feeds: bool = True
    """Whether its state is an input of the composition, the e in the paper's (1). Otherwise, trees
    from the data are composed depth by depth, which is faster."""
    parses: bool = True
    """Whether it also predicts trees with a transition classifier, the paper's (5)."""
    dropout: Rate = 0.0
    """Dropout rate of the node states that it reads."""
    forget_bias: float = 0.0
    """Initial bias of its forget gate; 1 in the code of SPINN's authors. `spinn_lstm.v1` has an
    option with the same name."""


class EncoderConfig(Strict):
    """How the encoder applies the cell: layers, directions and output states."""

    name: str | None = None
    """Name of a registered encoder. It replaces all fields below except `options`."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the registered encoder."""
    layers: int = Field(default=1, gt=0)
    """Number of layers. At every node, each layer after the first reads the output of the layer
    below (Irsoy & Cardie 2014)."""
    top_down: CellConfig | Literal["shared"] | None = None
    """Cell of a second pass in each layer, from the root to the leaves, with the fields of
    `model.cell`. "shared" uses the bottom-up cell with the same weights (Tai et al. 2015, footnote
    2)."""
    separate: bool = False
    """Whether the two directions are separate stacks of layers (Tai et al. 2015, Table 1).
    Otherwise, each layer reads both directions of the one below."""
    readout: tuple[str, ...] = Field(default=("up", "down", "leaves"), min_length=1)
    """With a top-down pass, the states that are concatenated to a node's output: those of the two
    directions ("up", "down") and the mean of the top-down states of the leaves below it
    ("leaves")."""
    tracker: TrackerConfig | None = None
    """SPINN's tracking LSTM, for binary trees, one layer and no top-down pass."""

    @property
    def registered(self) -> tuple[str, dict[str, Any]] | None:
        """Name and options of the registered encoder; None for layers of the cell."""
        if self.tracker is not None:
            return TRACKING, self.tracker.model_dump()
        return None if self.name is None else (self.name, self.options)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        changed = self.model_dump(exclude_defaults=True)
        if self.name is not None and (more := {*changed} - {"name", "options"}):
            raise ValueError(f"{sorted(more)} do not apply to a registered encoder; use options")
        if self.name == TRACKING:
            raise ValueError(f"set {TRACKING} with the tracker table, not with name")
        if self.name is None and self.options:
            raise ValueError("options need the name of a registered encoder: set name too")
        if self.tracker is not None and (self.layers > 1 or self.top_down is not None):
            raise ValueError("a tracker needs layers = 1 and no top_down")
        if len(set(self.readout)) != len(self.readout):
            raise ValueError(f"readout lists a part twice: {list(self.readout)}")
        idle = [name for name in ("separate", "readout") if name in changed]
        if self.top_down is None and idle:
            raise ValueError(f"{' and '.join(idle)} only work with top_down; set top_down too")
        return self


class HeadConfig(Strict):
    """A task head, which predicts scores from the states of nodes."""

    name: str
    """Name of a registered task head. Phrases and sentences need one that reads nodes or roots;
    pairs need one that reads pairs."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the head."""


class ParserConfig(Strict):
    """A parser, which predicts trees before the encoder composes them."""

    name: str
    """Name of a registered parser. SPINN's own parser is part of `model.encoder.tracker`."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the parser."""


class ModelConfig(Strict):
    """A model: a leaf embedding, an encoder with a composition cell, and a task head."""

    schema_version: Literal[1] = 1
    """Version of these fields. Omit it."""
    labels: tuple[str, ...] = ()
    """The classes, in order; empty if the model only produces vectors. For ratings of pairs, one
    label per whole number from 1; for scores in a table, the whole numbers of their scale."""
    class_sets: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Custom labels, each with the classes of `labels` that it represents. They replace `labels` in
    training and output; classes in no set are omitted."""
    class_weights: tuple[Annotated[float, Field(gt=0)], ...] = ()
    """Weight of each label in `class_sets`. Its score is proportional to the weight times the sum
    of its classes. Default: equal weights."""
    embedding: EmbeddingConfig
    """Leaf embedding, which turns words into vectors."""
    cell: CellConfig
    """Cell, which composes the parts of a phrase."""
    head: HeadConfig
    """Task head, which predicts scores."""
    vectors: HeadConfig | None = None
    """Second task head, which produces vectors (`vector.v1`) in addition to the scores of `head`. A
    model that only produces vectors has it as its `head`. A head for pairs reads the vectors of
    both texts."""
    encoder: EncoderConfig = EncoderConfig()
    """Layers and directions. Default: one bottom-up layer."""
    parser: ParserConfig | None = None
    """Parser of the model. Without it, trees come from the data or from `tree_source`."""
    aggregation: Aggregation = "mean"
    """How to combine the sentences of a text: the mean of their scores, or one tree over their
    trees, which is trained by lessons with texts. "tree" needs a `parser`."""
    trees: TreeKind = "binary"
    """Form of the sentences. "binary" and "constituency" trees have words at the leaves,
    "dependency" trees at every node; "sequence" reads word by word."""
    relations: tuple[str, ...] = ()
    """For dependency trees: the relations that the cell distinguishes. All others count as one."""
    tree_source: MadeTree = "balanced"
    """Source of the trees for raw words. Default: "self" if the model has a parser."""

    @property
    def parses(self) -> bool:
        """Whether the model predicts trees."""
        tracker = self.encoder.tracker
        return self.parser is not None or (tracker is not None and tracker.parses)

    @property
    def gives_vectors(self) -> bool:
        """Whether the model produces vectors of nodes."""
        return self.vectors is not None or not self.labels

    @property
    def shown_labels(self) -> tuple[str, ...]:
        """The labels that users see: those of `class_sets`, or the classes themselves."""
        return tuple(self.class_sets) or self.labels

    def to_json(self) -> str:
        """Return the content of a bundle's `config.json`: all fields, and `hub_labels`."""
        data = self.model_dump(mode="json") | hub_labels(self.labels)
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"

    @model_validator(mode="before")
    @classmethod
    def _without_hub_labels(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {name: value for name, value in data.items() if name not in ("id2label", "label2id")}

    @model_validator(mode="after")
    def _trees_fit(self) -> Self:
        if self.parses and "tree_source" not in self.model_fields_set:
            object.__setattr__(self, "tree_source", "self")  # not frozen during construction
        for name, part in (("tracker", self.encoder.tracker), ("parser", self.parser)):
            if part is not None and self.trees != "binary":
                raise ValueError(f"a {name} needs trees = 'binary', found {self.trees!r}")
        if self.tree_source == "self" and not self.parses:
            raise ValueError("tree_source = 'self' needs a parser")
        if self.parser is not None and self.encoder.tracker is not None:
            raise ValueError("a parser does not work with an encoder.tracker; drop either")
        if self.aggregation == "tree" and self.parser is None:
            raise ValueError("aggregation = 'tree' needs a parser, such as distances.v1")
        if len(self.labels) == 1:
            raise ValueError(f"labels: expected at least two classes, found {self.labels[0]!r}")
        return self

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        check_sets(self.labels, self.class_sets)
        sets, weights = tuple(self.class_sets), len(self.class_weights)
        if weights not in (0, len(sets)):
            raise ValueError(f"class_weights: expected {len(sets)}, one per set, found {weights}")
        named = (("labels", self.labels), ("relations", self.relations), ("class_sets", sets))
        for name, values in named:
            if len(set(values)) != len(values):
                raise ValueError(f"{name} must differ, found {list(values)}")
            if odd := [value for value in values if re.search("[\ud800-\udfff]", value)]:
                raise ValueError(f"{name} must be Unicode text, found {odd[0]!r:.80}")
        if self.relations and self.trees != "dependency":
            raise ValueError(f"relations need trees = 'dependency', found {self.trees!r}")
        return self


def hub_labels(labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return `id2label` and `label2id` for JSON: the mappings between classes and numbers in
    configurations on the Hugging Face hub. They repeat `labels`, and are not settings."""
    return {
        "id2label": {str(place): label for place, label in enumerate(labels)},
        "label2id": {label: place for place, label in enumerate(labels)},
    }
