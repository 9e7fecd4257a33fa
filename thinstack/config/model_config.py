"""What describes a model: leaf embedding, composition cell, encoder, task head, and what its
sentences come as."""

from typing import Any, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from thinstack.config.base import Rate, Strict

__all__ = [
    "SCHEMA_VERSION",
    "CellConfig",
    "Device",
    "EmbeddingConfig",
    "EncoderConfig",
    "EvaluationSource",
    "HeadConfig",
    "MadeTree",
    "ModelConfig",
    "ParserConfig",
    "TrackerConfig",
    "TreeKind",
    "TreeSource",
]

SCHEMA_VERSION: Final = 1

TRANSITIONS: Final = "transitions.v1"

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
    """Leaf embedding. `kind` is its vocabulary: words, or the pieces of words. `name` is that of a
    registered embedding, by default `words.v1`, a table of word vectors, or `wordpieces.v1`, which
    gives a word the mean of its pieces' vectors; `options` go to the plugin's own config. `size` is
    the width of a word's vector.
    """

    kind: Literal["words", "wordpieces"]
    size: int = Field(gt=0)
    dropout: Rate = 0.0
    name: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    @property
    def registered(self) -> str:
        """Registered name of the embedding."""
        return self.name or f"{self.kind}.v1"


class CellConfig(Strict):
    """A composition cell by its registered name; `options` go to the plugin's own config."""

    name: str
    hidden_size: int = Field(gt=0)
    options: dict[str, Any] = Field(default_factory=dict)


class HeadConfig(Strict):
    """A task head by its registered name; `options` go to the plugin's own config."""

    name: str
    options: dict[str, Any] = Field(default_factory=dict)


class TrackerConfig(Strict):
    """The tracking LSTM of SPINN (Bowman et al. 2016, 3.3-3.4), of width `size`.

    `lookahead`: how many words of the buffer it reads. `feeds`: whether its state is an input of
    the composition, the e of (1); without it, given trees are composed by depth. `parses`: whether
    it has a transition classifier (5), so that the model makes trees of its own. `dropout`: of the
    outputs of nodes that it reads.
    """

    size: int = Field(gt=0)
    lookahead: int = Field(default=1, gt=0)
    feeds: bool = True
    parses: bool = True
    dropout: Rate = 0.0

    beam: int = Field(default=1, exclude=True, repr=False)

    @field_validator("beam")
    @classmethod
    def _no_wider_beam(cls, value: int) -> int:
        if value != 1:  # bundles of schema 1 say `beam = 1`
            raise ValueError(f"beam search is no longer there, found {value}: leave beam out")
        return value


class ParserConfig(Strict):
    """A parser, which makes trees of words, by its registered name; `options` go to its
    constructor. `transitions.v1` is the tracking LSTM of SPINN with its transition classifier; its
    options are the fields of `TrackerConfig`, and it is kept as `encoder.tracker`."""

    name: str
    options: dict[str, Any] = Field(default_factory=dict)


class EncoderConfig(Strict):
    """How the cell of a model is put to work.

    `layers`: each layer after the first reads, at every node, what the layer below made of it
    (Irsoy & Cardie 2014). `top_down`: the cell of a pass from the root back to the leaves in each
    layer; "shared" is the bottom-up cell itself, one set of weights for both directions (Tai,
    footnote 2). `separate`: whether the directions are two stacks of layers, each reading its own
    below (Tai, Table 1), instead of both reading both. `readout`: what outputs are made of, if
    there is a top-down pass; the encoder knows the names. `tracker`: the tracking LSTM of SPINN,
    for one layer without a top-down pass.

    `name` is that of a registered encoder, which takes the place of all this; `options` go to its
    constructor.
    """

    name: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    layers: int = Field(default=1, gt=0)
    top_down: CellConfig | Literal["shared"] | None = None
    separate: bool = False
    readout: tuple[str, ...] = Field(default=("up", "down", "leaves"), min_length=1)
    tracker: TrackerConfig | None = None

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
    """A model: leaf embedding, encoder of one composition cell, task head. `labels` are its
    classes, in order.

    `trees`: what its sentences come as. `relations`: names of the edge types of dependency trees
    that the cell tells apart; any other is of kind 1, these of kinds 2 and up. `tree_source`: what
    makes the trees of raw words, by default the model itself if it parses, else balanced trees.
    `parser`: what makes trees of the model's own.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    labels: tuple[str, ...] = Field(min_length=2)
    embedding: EmbeddingConfig
    cell: CellConfig
    head: HeadConfig
    encoder: EncoderConfig = EncoderConfig()
    parser: ParserConfig | None = None
    trees: TreeKind = "binary"
    relations: tuple[str, ...] = ()
    tree_source: MadeTree = "balanced"

    @property
    def parses(self) -> bool:
        """Whether the model makes trees of its own."""
        tracker = self.encoder.tracker
        return self.parser is not None or (tracker is not None and tracker.parses)

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
    def _distinct_names(self) -> Self:
        for name, values in (("labels", self.labels), ("relations", self.relations)):
            if len(set(values)) != len(values):
                raise ValueError(f"{name} must differ, got {list(values)}")
        if self.relations and self.trees != "dependency":
            raise ValueError(f"relations belong to dependency trees, found trees = {self.trees!r}")
        return self
