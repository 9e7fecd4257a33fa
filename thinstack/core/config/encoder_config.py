"""The configuration of an encoder: its cell, layers and directions, or SPINN's tracker."""

from typing import Any, Final, Literal, Self

from pydantic import Field, model_validator

from thinstack.core.config.base import Rate, Strict

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
        changed = [
            name
            for name, field in type(self).model_fields.items()
            if getattr(self, name) != field.get_default(call_default_factory=True)
        ]
        if self.name is not None and (more := set(changed) - {"name", "options"}):
            raise ValueError(f"{sorted(more)} are not for a registered encoder; use options")
        if self.name == TRACKING:
            raise ValueError(f"{TRACKING} is set by the fields of a tracker, not by its name")
        if self.name is None and self.options:
            raise ValueError("options are those of a registered encoder, but there is no name")
        if self.tracker is not None and (self.layers > 1 or self.top_down is not None):
            raise ValueError("a tracker goes with one layer and no top_down")
        if len(set(self.readout)) != len(self.readout):
            raise ValueError(f"readout names a part twice: {list(self.readout)}")
        idle = [name for name in ("separate", "readout") if name in changed]
        if self.top_down is None and idle:
            raise ValueError(
                f"{' and '.join(idle)} describe two directions, but there is no top_down"
            )
        return self
