"""Sections of a recipe: how the model learns, how it is exported, and the head of its card."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from thinstack.core.config import MadeTree
from thinstack.core.config.base import Rate, Strict


class TrainingConfig(Strict):
    """How the model learns."""

    seeds: tuple[Annotated[int, Field(ge=0, lt=2**63)], ...] = Field(default=(1,), min_length=1)
    """A model is trained for each. The bundle holds the one that did best on what `stop_on` names,
    or the first."""
    epochs: int = Field(default=10, gt=0)
    """Passes over the training data, at most."""
    batch_size: int = Field(default=25, gt=0)
    """Sentences, or pairs, of a minibatch."""
    rule: Literal["adagrad", "rmsprop", "adam", "adamw"] = "adagrad"
    """The optimiser of all weights but the leaf table and `model.parser`. "adamw" takes
    `weight_decay` from matrices alone, and not by way of their gradients."""
    learning_rate: float = Field(default=0.05, gt=0)
    """Learning rate of `rule`."""
    vector_learning_rate: float = Field(default=0.1, ge=0)
    """Learning rate of the leaf table; 0 leaves it as it is."""
    vector_rule: Literal["sgd", "adagrad", "adam"] = "sgd"
    """The optimiser of the leaf table. "adam" moves only rows that the minibatch reads; all rows
    share one count of steps."""
    parser_learning_rate: float = Field(default=2e-3, gt=0)
    """Learning rate of `model.parser`, which has Adam; it falls in a line to 0."""
    parser_epochs: int = Field(default=0, ge=0)
    """Further epochs for `model.parser` alone, once the weights to keep are chosen."""
    encoder_learning_rate: float = Field(default=1.5e-4, gt=0)
    """Learning rate of the top layer of a pretrained encoder."""
    layer_decay: float = Field(default=0.9, gt=0, le=1)
    """Each layer of the pretrained encoder has so many times the learning rate of the one above
    it."""
    frozen_layers: int = Field(default=0, ge=0)
    """So many of the lowest layers of a pretrained encoder learn nothing, nor does what lies below
    them, the leaf table too. A step then takes less time."""
    warm_up: Rate = 0.0
    """Over this share of the training all learning rates but the parser's rise from 0, then they
    fall in a line to 0. With 0 they stay as they are."""
    rate_factor: float = Field(default=1.0, gt=0, le=1)
    """All learning rates but the parser's are multiplied by it each time `rate_epochs` are over
    (0.75 in Bowman et al. 2016, 4.1). With 1 they are not."""
    rate_epochs: float = Field(default=1.0, gt=0)
    """How often `rate_factor` comes in: after so many epochs, or parts of one."""
    clip: float | None = Field(default=None, gt=0)
    """Gradients of the weights that `rule` learns are shortened to this length, over the sum of
    the losses of a minibatch divided by its number of sentences. Without it they are left as
    they are."""
    weight_decay: float = Field(default=1e-4, ge=0)
    """Weight of the L2 term, on the weights that `rule` learns."""
    stop_on: Literal["dev", "held", "nothing"] = "held"
    """What chooses the epoch to keep and stops early: a held-out tenth of the training data
    ("held"), the development data, or nothing, which trains on all of it for all epochs."""
    patience: int = Field(default=4, gt=0)
    """Training stops after so many epochs without a better one."""
    gold: bool = True
    """Whether the trees of the data are trained on."""
    sources: tuple[MadeTree, ...] = ()
    """Other trees to train on. Each epoch every sentence takes one of its trees, drawn evenly;
    phrases count that the data's tree has too. "self" are the model's own parses, made anew before
    each epoch; the first epoch takes the data's trees instead (scheduled sampling of whole
    sentences, Bowman et al. 2016, 3.4)."""
    alpha: float = Field(default=1.0, ge=0)
    """For a model that parses: weight of the loss of its trees beside that of the task, (7) of
    Bowman et al. 2016."""
    precision: Literal["float32", "bf16", "auto"] = "float32"
    """"bf16" computes in bfloat16, on devices that have it; others are refused. "auto" does where
    it is faster and the model can: on such a GPU, or a CPU that takes less time for a step, which
    each run measures in a fraction of a second. Weights, losses and evaluation stay in float32."""
    buckets: int = Field(default=20, gt=0)
    """Minibatches are cut from so many times their number of sentences, sorted by length, which
    takes less time; 1 draws them from all."""
    average: Rate = 0.0
    """A running average of the weights is kept; this is how much of it each epoch leaves standing.
    0 keeps the weights of the epoch itself."""

    @property
    def trees(self) -> tuple[str, ...]:
        """The names of the trees that the model is trained on."""
        return ("gold", *self.sources) if self.gold else self.sources

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"seeds must differ, got {list(self.seeds)}")
        if not self.trees:
            raise ValueError("gold = false leaves no trees to train on: name some in sources")
        return self


class ExportConfig(Strict):
    """How the trained model is exported."""

    inference_only: bool = False
    """Leave out of the bundle the TorchScript file, and of the torch weights those that the ONNX
    file holds."""
    quantize: Literal["none", "fp16", "int8-tables", "int8"] = "none"
    """How the ONNX file stores weights. "int8-tables": 8 bits with a scale a row for the leaf table
    (fp16 if the embedding does more than look words up), fp16 for matrices. "int8": 8 bits for
    matrices too, with a scale a column, and products computed in 8 bits."""
    gpu: bool = False
    """Add a file for GPUs to the bundle. It has no weights that the ONNX file has; where it is
    missing, a GPU runs the ONNX file, with more copies."""
    calibrate: bool = True
    """Fit a temperature on the development data and divide the weights of the head's last layer by
    it, so that scores are nearer to shares of right answers; which class is the most probable
    stays. Not of relatedness, nor of fewer than 50 cases."""


class CardConfig(Strict):
    """The fields at the top of the card, as the Hugging Face hub has them. A field that is left out
    is not written. All other fields come from the model and its figures."""

    language: tuple[str, ...] = ()
    """Languages of the texts by their codes, such as ["en"]."""
    license: str | None = None
    """Licence of the weights, as the hub calls it: "mit", "apache-2.0", "other"."""
    base_model: str | None = None
    """The model of the hub that the weights come from, such as "user/name"."""
    dataset: str | None = None
    """The name on the hub of the data that is reported on. By default its file's."""
    tags: tuple[str, ...] = ()
    """Tags beside those of every bundle (thinstack, onnx)."""
