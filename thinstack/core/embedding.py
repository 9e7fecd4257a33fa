"""The contract of a leaf embedding, which maps the ids of words or pieces to encoder inputs."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from thinstack.core.forest import WORD_FIELDS
from thinstack.errors import PluginError

if TYPE_CHECKING:
    from thinstack.data.words.vocabulary import Vocabulary


Lookup = Literal["rows", "mean", "context", "none"]
"""What `Embedding.forward` returns in evaluation mode:

- `rows`: a word's own row of the table.
- `mean`: the mean of the rows of a word's pieces.
- `context`: the output of the module named by `Embedding.onnx`, from rows of the table.
- `none`: any other function of its table; the module is exported by tracing.
"""

READ = {"rows": WORD_FIELDS["words"], "mean": WORD_FIELDS["wordpieces"]}

Vectors = Callable[[int], tuple[tuple[str, ...], NDArray[np.float32]]]
"""A function that returns the words of `data.vectors`, and this many columns of their vectors."""


class Leaves(NamedTuple):
    """The vocabulary of a leaf embedding, and its pretrained weights."""

    vocabulary: "Vocabulary"  # V words, or pieces
    table: NDArray[np.float32]  # (V, W) their vectors
    weights: Mapping[str, Tensor] = MappingProxyType({})  # others, by their names in a model


class FineTuning(NamedTuple):
    """Recommended settings for fine-tuning a model on a table of texts. `own_classes` are others
    for a table with the model's classes, or sets of them; its epochs are the maximum."""

    texts: int  # to show, which determines the epochs
    epochs: tuple[int, int]  # minimum and maximum
    training: Mapping[str, Any]  # fields of a recipe's `[training]`
    own_classes: Mapping[str, Any]
    quantize: str  # the storage of a text model's weights, as in `[export]`


def drawn(*size: int, std: float) -> Tensor:
    """Return weights of this size from a normal distribution with mean 0; none are drawn on the
    device "meta", for which torch would import its compiler for a second."""
    weights = torch.empty(size)
    return weights if weights.is_meta else weights.normal_(std=std)


class Embedding(nn.Module):
    """A module that maps words to vectors (L, X), with a table (V, W) of a row per vocabulary
    entry.

    Training fills the table with the first W columns of pretrained vectors. The table has its own
    learning rate and optimizer, and only it may have sparse gradients. In evaluation mode, a word's
    vector depends on no other word or, if `lengths` is read, only on its sentence. L = 0 must work.
    The rules of a `Cell` for TorchScript and ONNX also apply.

    Args:
        table_size: V and W.
        size: width X of a word's vector.
        index_names: names of its index inputs: `token_ids`, or `piece_ids` and `pieces_per_word`.
            If a word's vector depends on its sentence, `lengths` follows.
        lookup: how it looks words up. With `rows` and `mean`, W is X, and exports can store the
            table in 8 bits.

    Attributes:
        name: a versioned name, such as `my_embedding.v1`, by which saved models find it.
        summary: a description of the embedding in one line.
        vocabulary: the vocabulary that a registered embedding reads, `words` or `wordpieces`.
        onnx: with lookup `context`, the module that exports it, as a dotted path, with a function
            `words(g, embedding, inputs, quantize)` that returns the
            `thinstack.export.onnx.encoder.Words` of a graph.
        pretrained: the module that reads a pretrained encoder (`data.encoder`), as a dotted path;
            "" if the embedding takes none. Its function `leaves` takes the encoder's name, the data
            folder and, by name, `size`, `options` (all of the embedding) and `vectors` (`Vectors`,
            or None), and returns `Leaves`.
        fine_tuning: recommended settings for a model with this embedding; None for the defaults.
        undecayed: names of weights that AdamW does not decay, in addition to all biases.
        plans: whether `forward` takes inputs on the host even if the table is not there, and moves
            what it computes (`thinstack.core.schedule.moved`). Otherwise the model moves them.
        table: (V, W), randomly initialized.
        entries: V.
        max_pieces: maximum number of pieces of a sentence, 0 without a limit.

    Raises ValueError for an unknown `lookup`, and for sizes or names that do not match it, and
    PluginError for a class with another vocabulary.
    """

    plugin_kind: ClassVar[str] = "embedding"
    name: ClassVar[str]
    summary: ClassVar[str] = ""
    vocabulary: ClassVar[Literal["words", "wordpieces"]] = "words"
    onnx: ClassVar[str] = ""
    pretrained: ClassVar[str] = ""
    fine_tuning: ClassVar[FineTuning | None] = None
    undecayed: ClassVar[tuple[str, ...]] = ()
    plans: ClassVar[bool] = False

    def __init_subclass__(cls, **keywords: Any):
        super().__init_subclass__(**keywords)
        if cls.vocabulary not in WORD_FIELDS:
            raise PluginError(
                f"{cls.__name__}: vocabulary must be words or wordpieces, found {cls.vocabulary!r}"
            )

    def __init__(
        self,
        *,
        table_size: tuple[int, int],
        size: int,
        index_names: list[str],
        lookup: Lookup = "none",
    ):
        super().__init__()
        if lookup not in (*READ, "context", "none"):
            raise ValueError(f"lookup must be rows, mean, context or none, found {lookup!r}")
        if lookup in READ and (table_size[1] != size or index_names != READ[lookup]):
            raise ValueError(
                f"lookup {lookup!r}: expected {size} columns (size) and {READ[lookup]}, found "
                f"{table_size[1]} columns and {index_names}; set lookup = 'none'"
            )
        self.index_names = list(index_names)
        self.entries = int(table_size[0])
        self.size = int(size)
        self.lookup: str = lookup
        self.max_pieces = 0
        self.table = nn.Parameter(drawn(*table_size, std=0.05))

    def layers_above(self) -> dict[str, int]:
        """Return {weight name: number of layers above it} of a pretrained encoder, whose learning
        rate decreases from layer to layer. Other weights use the model's rate."""
        return {}

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return the vectors of words, from the index inputs by name, int32 or int64.

        Shapes:
            inputs: `token_ids` (L,), or `piece_ids` (P,) and `pieces_per_word` (L,) >= 1. If it is
                in `index_names`, also `lengths` (B,) >= 1.
            returned: (L, X).
        """
        raise NotImplementedError("an Embedding must define forward")
