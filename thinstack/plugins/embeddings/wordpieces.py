"""A leaf embedding that gives a word the mean of the rows of its pieces."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.embedding import Embedding

__all__ = ["WordpieceEmbedding"]


class WordpieceEmbedding(Embedding):
    """A table of vectors of pieces (V, X) with sparse gradients. A word is the mean of its pieces,
    and dropout is applied to that."""

    name = "wordpieces.v1"
    summary = "the mean of the rows of a word's pieces"
    vocabulary = "wordpieces"

    def __init__(self, *, entries: int, size: int, dropout: float = 0.0):
        index_names = ["piece_ids", "pieces_per_word"]
        super().__init__(
            table_size=(entries, size), size=size, index_names=index_names, lookup="mean"
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Vectors (L, X) of words, from `piece_ids` (P,) of all pieces and `pieces_per_word` (L,).
        Each word has at least one piece."""
        counts = inputs["pieces_per_word"]
        starts = torch.cumsum(counts, 0) - counts
        pieces = functional.embedding_bag(
            inputs["piece_ids"], self.table, starts, mode="mean", sparse=True
        )
        vectors: Tensor = self.dropout(pieces)
        return vectors
