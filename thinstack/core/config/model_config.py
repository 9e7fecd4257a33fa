"""The configuration of a model: leaf embedding, composition cell, encoder, task head, and the form
of its sentences."""

import json
import re
from typing import Any, Final, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from thinstack.core.class_sets import check_sets
from thinstack.core.config.base import Rate, Strict
from thinstack.core.config.hub_labels import hub_labels, without_hub_labels

SCHEMA_VERSION: Final = 1
CLASS_SETS_SCHEMA: Final = 2
"""Of a configuration with `class_sets`, which readers of schema 1 must not skip."""

TRANSITIONS: Final = "transitions.v1"
TRACKING: Final = "spinn.v1"
"""The registered encoder of a model with a tracker."""

Device = Literal["cpu", "cuda", "auto"]
"""Where a model runs; `auto` is CUDA where it works, else the CPU."""

TreeSource = Literal["auto", "self", "balanced", "left", "right"]
"""Where the tree of raw words comes from; `auto` is what the model was trained to get
(`ModelConfig.tree_source`), `self` the parse of a model that has a parser."""

MadeTree = Literal["balanced", "left", "right", "distances", "self"]
"""How a tree is made of words; `distances` cuts at the greatest syntactic distance, by a table that
the model brings along; `self` is the parse of the model itself."""

EvaluationSource = Literal["gold", "auto", "self", "balanced", "left", "right"]
"""Whose trees an evaluation takes: the treebank's own (`gold`), or those of a `TreeSource`."""

TreeKind = Literal["binary", "constituency", "dependency", "sequence"]
"""Trees of a model: binary or any constituency trees (words at the leaves), dependency trees (a
word at every node), or plain sentences, read word by word as a chain."""


class EmbeddingConfig(Strict):
    """The leaf embedding: how words become vectors."""

    kind: Literal["words", "wordpieces"] = Field(
        description="The vocabulary: whole words, or word pieces, which spell any word."
    )
    size: int = Field(gt=0, description="Width of a word's vector.")
    dropout: Rate = Field(
        default=0.0, description="Share of the entries of words' vectors dropped in training."
    )
    name: str | None = Field(
        default=None,
        description="A registered embedding. By default `words.v1`, a table of word vectors, or "
        "`wordpieces.v1`, which gives a word the mean of its pieces' vectors.",
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="Options of the registered embedding."
    )

    @property
    def registered(self) -> str:
        """The registered name of the embedding."""
        return self.name or f"{self.kind}.v1"


class CellConfig(Strict):
    """A composition cell, which makes the vector of a phrase from the vectors of its parts."""

    name: str = Field(description="A registered cell.")
    hidden_size: int = Field(gt=0, description="Width of a node's state.")
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the cell.")


class HeadConfig(Strict):
    """A task head, which predicts scores from the states of nodes."""

    name: str = Field(
        description="A registered task head. Phrases and whole sentences need one that reads nodes "
        "or roots, pairs of sentences one that reads pairs."
    )
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the head.")


class TrackerConfig(Strict):
    """The tracking LSTM of SPINN (Bowman et al. 2016, 3.3-3.4), which reads a sentence as its tree
    is built."""

    size: int = Field(gt=0, description="Width of the tracking LSTM.")
    lookahead: int = Field(
        default=1, gt=0, description="How many of the words still to come it reads."
    )
    feeds: bool = Field(
        default=True,
        description="Whether its state is an input of the composition, the e of (1) in the paper. "
        "Without it, given trees are composed depth by depth, which is faster.",
    )
    parses: bool = Field(
        default=True,
        description="Whether it also learns to make trees, by a transition classifier, (5) in the "
        "paper.",
    )
    dropout: Rate = Field(
        default=0.0,
        description="Share of the entries of nodes' states that it reads dropped in training.",
    )
    forget_bias: float = Field(
        default=0.0,
        description="Where the bias of its forget gate starts; 1 in the code of SPINN's authors. "
        "`spinn_lstm.v1` has an option of the same name.",
    )

    beam: int = Field(default=1, exclude=True, repr=False)

    @field_validator("beam")
    @classmethod
    def _no_wider_beam(cls, value: int) -> int:
        if value != 1:  # bundles of schema 1 say `beam = 1`
            raise ValueError(f"beam search is no longer there, found {value}: leave beam out")
        return value


class ParserConfig(Strict):
    """A parser before the encoder, which makes trees from words."""

    name: str = Field(
        description="A registered parser, or `transitions.v1`: SPINN's tracking LSTM with its "
        "transition classifier, which is kept as `model.encoder.tracker`."
    )
    options: dict[str, Any] = Field(
        default_factory=dict,
        description="Options of the parser; those of `transitions.v1` are the fields of "
        "`model.encoder.tracker`.",
    )


class EncoderConfig(Strict):
    """How the encoder uses the cell: layers, directions, and which states it gives."""

    name: str | None = Field(
        default=None,
        description="A registered encoder. It takes the place of all the fields below but "
        "`options`. `spinn.v1` is kept as `tracker`.",
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="Options of the registered encoder."
    )
    layers: int = Field(
        default=1,
        gt=0,
        description="Layers of the cell. Each after the first reads, at every node, what the "
        "layer below made of it (Irsoy & Cardie 2014).",
    )
    top_down: CellConfig | Literal["shared"] | None = Field(
        default=None,
        description="The cell of a second pass in each layer, from the root back to the leaves: "
        'the fields of `model.cell`. "shared" takes the bottom-up cell, with the same weights (Tai '
        "et al. 2015, footnote 2).",
    )
    separate: bool = Field(
        default=False,
        description="Whether the two directions are stacks of layers of their own (Tai et al. "
        "2015, Table 1). Otherwise each layer reads both directions of the one below.",
    )
    readout: tuple[str, ...] = Field(
        default=("up", "down", "leaves"),
        min_length=1,
        description="With a top-down pass, what a node's output is made of, side by side: its "
        'states in the two directions ("up", "down") and the mean of the top-down states of the '
        'leaves below it ("leaves").',
    )
    tracker: TrackerConfig | None = Field(
        default=None,
        description="SPINN's tracking LSTM, for binary trees, one layer and no top-down pass.",
    )

    @property
    def registered(self) -> tuple[str, dict[str, Any]] | None:
        """Name and options of the registered encoder; None for layers of the cell."""
        if self.tracker is not None:
            return TRACKING, self.tracker.model_dump()
        return None if self.name is None else (self.name, self.options)

    @model_validator(mode="before")
    @classmethod
    def _named_as_a_tracker(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("name") != TRACKING:
            return data
        return {**data, "name": None, "options": {}, "tracker": data.get("options", {})}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        changed = [
            name
            for name, field in type(self).model_fields.items()
            if getattr(self, name) != field.get_default(call_default_factory=True)
        ]
        if self.name is not None and (more := set(changed) - {"name", "options"}):
            raise ValueError(f"{sorted(more)} are not for a registered encoder; take options")
        if self.name is None and self.options:
            raise ValueError("options are those of a registered encoder, but there is no name")
        if self.tracker is not None and (self.layers > 1 or self.top_down is not None):
            raise ValueError("a tracker goes with one layer and no top_down")
        if len(set(self.readout)) != len(self.readout):
            raise ValueError(f"readout names a part twice: {list(self.readout)}")
        idle = [name for name in ("separate", "readout") if name in changed]
        if self.top_down is None and idle:
            raise ValueError(f"{' and '.join(idle)} say how two directions go: no top_down")
        return self


class ModelConfig(Strict):
    """A model: a leaf embedding, an encoder of one composition cell, and a task head."""

    schema_version: Literal[1, 2] = Field(
        default=1, description="Version of these fields; leave it out."
    )
    labels: tuple[str, ...] = Field(
        min_length=2,
        description="The classes, in order. For ratings of pairs, one label for each whole number "
        "from 1 up; for scores of a table, the whole numbers that they go over.",
    )
    class_sets: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Labels of your own, each with the classes of `labels` that it stands for. "
        "They are shown and learnt in place of `labels`; a class in no set is left out.",
    )
    embedding: EmbeddingConfig = Field(description="How words become vectors.")
    cell: CellConfig = Field(description="What composes the parts of a phrase.")
    head: HeadConfig = Field(description="What is predicted.")
    encoder: EncoderConfig = Field(
        default=EncoderConfig(), description="Layers and directions; by default one layer, upwards."
    )
    parser: ParserConfig | None = Field(
        default=None,
        description="What makes trees of the model's own. Without it, a model needs trees from "
        "its data or from `tree_source`.",
    )
    trees: TreeKind = Field(
        default="binary",
        description='What sentences come as. "binary" and "constituency" trees have their words at '
        'the leaves, "dependency" trees at every node; "sequence" reads word by word.',
    )
    relations: tuple[str, ...] = Field(
        default=(),
        description="For dependency trees: the relations that the cell tells apart. All others "
        "count as one.",
    )
    tree_source: MadeTree = Field(
        default="balanced",
        description='What makes the trees of raw words; "self" by default if the model parses. '
        '"distances" is that of older bundles; a recipe cannot ask for it.',
    )

    @property
    def parses(self) -> bool:
        """Whether the model makes trees by itself."""
        tracker = self.encoder.tracker
        return self.parser is not None or (tracker is not None and tracker.parses)

    @property
    def shown_labels(self) -> tuple[str, ...]:
        """The labels that users see: those of `class_sets`, or else the classes themselves."""
        return tuple(self.class_sets) or self.labels

    def to_json(self) -> str:
        """The content of a bundle's `config.json`: all fields, and `hub_labels` of the labels."""
        data = self.model_dump(mode="json") | hub_labels(self.labels)
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"

    @model_serializer(mode="wrap")
    def _without_empty_sets(self, fields: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Schema 1 has no `class_sets`."""
        data: dict[str, Any] = fields(self)
        return {key: value for key, value in data.items() if value or key != "class_sets"}

    @model_validator(mode="before")
    @classmethod
    def _label_ids_are_told_by_the_labels(cls, data: Any) -> Any:
        return without_hub_labels(data) if isinstance(data, dict) else data

    @model_validator(mode="before")
    @classmethod
    def _transitions_are_the_tracker(cls, data: Any) -> Any:
        parser = data.get("parser") if isinstance(data, dict) else None
        if not isinstance(parser, dict | ParserConfig) or dict(parser).get("name") != TRANSITIONS:
            return data
        encoder = dict(data.get("encoder") or {})
        if encoder.get("tracker") is not None:
            raise ValueError(f"{TRANSITIONS} is the encoder.tracker: give one of them")
        tracker = {**dict(parser).get("options", {}), "parses": True}
        return {**data, "parser": None, "encoder": {**encoder, "tracker": tracker}}

    @model_validator(mode="after")
    def _trees_fit(self) -> Self:
        if self.parses and "tree_source" not in self.model_fields_set:
            object.__setattr__(self, "tree_source", "self")  # it is not frozen before it is made
        if self.encoder.tracker is not None and self.trees != "binary":
            raise ValueError(f"a tracker reads binary trees, found trees = {self.trees!r}")
        if self.tree_source == "self" and not self.parses:
            raise ValueError("tree_source 'self' needs a parser")
        if self.parser is not None and self.trees != "binary":
            raise ValueError(f"a parser makes binary trees, found trees = {self.trees!r}")
        if self.parser is not None and self.encoder.tracker is not None:
            raise ValueError("a parser goes without an encoder.tracker")
        return self

    @model_validator(mode="after")
    def _sets_are_apart(self) -> Self:
        schema = CLASS_SETS_SCHEMA if self.class_sets else SCHEMA_VERSION
        object.__setattr__(self, "schema_version", schema)  # as tree_source
        check_sets(self.labels, self.class_sets)
        return self

    @model_validator(mode="after")
    def _distinct_names(self) -> Self:
        shown = tuple(self.class_sets)
        named = (("labels", self.labels), ("relations", self.relations), ("class_sets", shown))
        for name, values in named:
            if len(set(values)) != len(values):
                raise ValueError(f"{name} must differ, got {list(values)}")
            if odd := [each for each in values if re.search("[\ud800-\udfff]", each)]:
                raise ValueError(f"{name} must be Unicode text, found {odd[0]!r:.80}")
        if self.relations and self.trees != "dependency":
            raise ValueError(f"relations belong to dependency trees, found trees = {self.trees!r}")
        return self
