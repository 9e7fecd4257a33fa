"""The settings of training: seeds, epochs, optimizers and early stopping."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from thinstack.core.config import MadeTree
from thinstack.core.config.base import Rate, Strict


class TrainingConfig(Strict):
    """How the model is trained."""

    seeds: tuple[Annotated[int, Field(ge=0, lt=2**63)], ...] = Field(default=(1,), min_length=1)
    """One model is trained per seed. The bundle contains the model with the best watched figure, or
    the first one if `stop_on` is "nothing"."""
    epochs: int = Field(default=10, ge=0)
    """Maximum number of passes over the training data. 0 trains only the parser of a model that
    starts from a bundle (`parser_epochs`)."""
    batch_size: int = Field(default=25, gt=0)
    """Sentences or pairs per minibatch."""
    rule: Literal["adagrad", "rmsprop", "adam", "adamw"] = "adagrad"
    """Optimizer for all weights except the leaf table and `model.parser`. "adamw" applies decoupled
    `weight_decay`, to matrices only."""
    learning_rate: float = Field(default=0.05, gt=0)
    """Learning rate of `rule`."""
    vector_learning_rate: float = Field(default=0.1, ge=0)
    """Learning rate of the leaf table. 0 freezes it."""
    vector_rule: Literal["sgd", "adagrad", "adam"] = "sgd"
    """Optimizer for the leaf table. "adam" updates only the rows in the minibatch; all rows share
    one step count."""
    parser_learning_rate: float = Field(default=2e-3, gt=0)
    """Learning rate of `model.parser` (Adam), with linear decay to 0."""
    parser_epochs: int = Field(default=0, ge=0)
    """Additional epochs for `model.parser` only, after the best weights are chosen."""
    encoder_learning_rate: float = Field(default=1.5e-4, gt=0)
    """Learning rate of the top layer of a pretrained encoder."""
    layer_decay: float = Field(default=0.9, gt=0, le=1)
    """Factor between the learning rates of each pretrained encoder layer and the one above it."""
    frozen_layers: int = Field(default=0, ge=0)
    """Number of the pretrained encoder's lowest layers to freeze, together with everything below
    them, including the leaf table. This makes training steps faster."""
    warm_up: Rate = 0.0
    """Share of training in which all learning rates except the parser's rise from 0; afterwards
    they decay linearly to 0. 0 keeps them constant."""
    rate_factor: float = Field(default=1.0, gt=0, le=1)
    """Factor by which all learning rates except the parser's are multiplied every `rate_epochs`
    (0.75 in Bowman et al. 2016, 4.1)."""
    rate_epochs: float = Field(default=1.0, gt=0)
    """Number of epochs, or fraction of one, after which `rate_factor` is applied."""
    clip: float | None = Field(default=None, gt=0)
    """Maximum gradient norm of the weights that `rule` trains, for the loss of a minibatch divided
    by its number of sentences. By default, gradients are not clipped."""
    weight_decay: float = Field(default=1e-4, ge=0)
    """Weight of the L2 term on the weights that `rule` trains."""
    stop_on: Literal["dev", "held", "nothing"] = "held"
    """Data that selects the best epoch and stops training early: a held-out tenth of the training
    data ("held"), the development data ("dev"), or "nothing", which trains on all data for all
    epochs."""
    patience: int = Field(default=4, gt=0)
    """Number of epochs without improvement after which training stops."""
    gold: bool = True
    """Whether to train on the trees of the data."""
    sources: tuple[MadeTree, ...] = ()
    """Other trees to train on. In each epoch, every sentence uses one of its trees at random, and
    only phrases that are also in the data's tree count. "self": the model's own parses, updated
    before each epoch; the first epoch uses the data's trees instead (scheduled sampling of whole
    sentences, Bowman et al. 2016, 3.4)."""
    alpha: float = Field(default=1.0, ge=0)
    """For a model with a parser: weight of the parser's loss relative to the task's (Bowman et al.
    2016 (7))."""
    precision: Literal["float32", "bf16", "auto"] = "float32"
    """Precision of training. "bf16" computes in bfloat16 and requires a device that supports it.
    "auto" uses it for models that support it, on such a GPU, or on a CPU if a timed step is faster.
    Weights, losses and evaluation stay in float32."""
    buckets: int = Field(default=20, gt=0)
    """Number of minibatches that are formed together from sentences sorted by length, which is
    faster. 1 draws each minibatch from all sentences."""
    average: Rate = 0.0
    """Decay per epoch of a running average of the weights, which is used instead of the weights
    themselves. 0 disables averaging."""

    @property
    def trees(self) -> tuple[str, ...]:
        """The names of the trees that the model is trained on."""
        return ("gold", *self.sources) if self.gold else self.sources

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"seeds must differ, found {list(self.seeds)}")
        if not self.trees:
            raise ValueError("gold = false leaves no trees to train on: add a source")
        return self
