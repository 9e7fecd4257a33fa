"""The contract of a leaf embedding, which turns the ids of words, or of their pieces, into the
inputs of an encoder."""

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
    from thinstack.data.words.vocabulary import WordVocabulary
    from thinstack.data.words.wordpiece import WordpieceVocabulary


Lookup = Literal["rows", "mean", "context", "none"]
"""What `Embedding.forward` gives in evaluation mode:

- `rows`: a word's own row of the table.
- `mean`: the mean of the rows of a word's pieces.
- `context`: what the module that `Embedding.onnx` names writes, of rows of the table.
- `none`: what the module computes of its table in a way of its own; it is exported as it is
  written.
"""

READ = {"rows": WORD_FIELDS["words"], "mean": WORD_FIELDS["wordpieces"]}

Vectors = Callable[[int], tuple[tuple[str, ...], NDArray[np.float32]]]
"""Gives the words of `data.vectors`, and so many columns of their vectors."""


class Leaves(NamedTuple):
    """The vocabulary of a leaf embedding, and its pretrained weights.

    Attributes:
        vocabulary: V words, or pieces.
        table: (V, W) their vectors.
        weights: other pretrained weights, by their names in a model.
    """

    vocabulary: "WordVocabulary | WordpieceVocabulary"
    table: NDArray[np.float32]
    weights: Mapping[str, Tensor] = MappingProxyType({})


class FineTuning(NamedTuple):
    """What suits a model that goes on learning, from a table of texts.

    Attributes:
        texts: how many texts it is shown; the number of epochs follows from it.
        epochs: the least and the greatest number of them.
        training: fields of a recipe's `[training]`.
        own_classes: what differs if the classes of the table are those of the model, or sets of
            them; its epochs are the greatest number.
        quantize: how the weights of a model of texts are stored, as in a recipe's `[export]`.
    """

    texts: int
    epochs: tuple[int, int]
    training: Mapping[str, Any]
    own_classes: Mapping[str, Any]
    quantize: str


def drawn(*size: int, std: float) -> Tensor:
    """Weights of this size, drawn from a normal distribution of mean 0.

    Without memory (torch's device "meta") nothing is drawn, for torch would import its compiler
    first, which takes a second.
    """
    weights = torch.empty(size)
    return weights if weights.is_meta else weights.normal_(std=std)


class Embedding(nn.Module):
    """Turns words into vectors (L, X), with a table (V, W) that has a row for each vocabulary
    entry.

    Training fills the table with the first W columns of pretrained vectors. The table has its own
    learning rate and optimiser, and may have sparse gradients; other weights may not. In evaluation
    mode, a word's vector depends on no other word, or, if `lengths` is read, only on the words of
    its sentence. L = 0 must work. The rules of a `Cell` for TorchScript and ONNX also apply.

    Args:
        table_size: V and W.
        size: width X of a word's vector.
        index_names: names of the index inputs that it reads: `token_ids` of words, or `piece_ids`
            and `pieces_per_word`. If a word's vector depends on its sentence, `lengths` follows,
            the number of words in each sentence.
        lookup: how it looks words up. With `rows` and `mean`, W is X, and exports can store the
            table in 8 bits.

    Attributes:
        name: a versioned name, such as `my_embedding.v1`, by which saved models find it.
        summary: a description of the embedding in one line.
        vocabulary: the vocabulary that a registered embedding reads, `words` or `wordpieces`.
        onnx: with lookup `context`, the module that exports it, as a dotted path. The module has a
            function `words(g, embedding, inputs, quantize)`, which gives the
            `thinstack.export.onnx.encoder.Words` of a graph.
        pretrained: the module that reads a pretrained encoder (`data.encoder`), as a dotted path;
            empty if the embedding takes none. The module has a function `leaves`. It takes the
            encoder's name, the folder of the data and, by their names, `size` and all `options` of
            the embedding, and `vectors` (`Vectors`, or None). It returns `Leaves`.
        fine_tuning: what suits a model with this embedding, None for the usual settings.
        undecayed: names of weights that AdamW does not decay, in addition to all biases.
        plans: whether `forward` takes inputs that are on the host even if the table is not. It then
            moves what it makes of them (`thinstack.core.schedule.moved`). Otherwise a model moves
            them before.
        table: (V, W), drawn at random.
        entries: V.
        max_pieces: maximum number of pieces of a sentence, 0 without a limit.

    Raises ValueError for an unknown `lookup`, and for sizes or names that do not match it. Raises
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
                f"lookup {lookup!r} needs a table of size = {size} columns and reads "
                f"{READ[lookup]}, "
                f"found {table_size[1]} columns and {index_names}; say lookup = 'none'"
            )
        self.index_names = list(index_names)
        self.entries = int(table_size[0])
        self.size = int(size)
        self.lookup: str = lookup
        self.max_pieces = 0
        self.table = nn.Parameter(drawn(*table_size, std=0.05))

    def layers_above(self) -> dict[str, int]:
        """Number of layers of a pretrained encoder above each of its weights, by name. The learning
        rate decreases from layer to layer. Weights that are not listed have the rate of the
        model."""
        return {}

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """The vectors of words, from the index inputs by name, int32 or int64.

        Shapes:
            inputs: `token_ids` (L,), or `piece_ids` (P,) of all pieces and `pieces_per_word` (L,),
                at least 1 each. If `index_names` has it, also `lengths` (B,), at least 1 each.
            returned: (L, X).
        """
        raise NotImplementedError("an Embedding must define forward")
