"""A leaf embedding of words as the mean of their pieces."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.embedding import Embedding


class WordpieceEmbedding(Embedding):
    """A table of vectors of pieces (V, X) with sparse gradients; dropout applies to words."""

    name = "wordpieces.v1"
    summary = "the mean of the rows of a word's pieces"
    vocabulary = "wordpieces"

    def __init__(self, *, entries: int, size: int, dropout: float = 0.0):
        names = ["piece_ids", "pieces_per_word"]
        super().__init__(table_size=(entries, size), size=size, index_names=names, lookup="mean")
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return vectors (L, X), from `piece_ids` (P,) and `pieces_per_word` (L,) >= 1."""
        counts = inputs["pieces_per_word"]
        starts = torch.cumsum(counts, 0) - counts
        ids = inputs["piece_ids"]
        means = functional.embedding_bag(ids, self.table, starts, mode="mean", sparse=True)
        vectors: Tensor = self.dropout(means)
        return vectors
