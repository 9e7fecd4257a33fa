"""Leaf embeddings: from the ids of words, or of their pieces, to the inputs of an encoder's leaves."""

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["WordEmbedding", "WordpieceEmbedding"]


class WordEmbedding(nn.Module):
    """A table of word vectors (V, X) with sparse gradients, and dropout on what is read.

    Attributes:
        index_names: names of the index inputs that it reads.
    """

    def __init__(self, *, entries: int, size: int, dropout: float = 0.0):
        super().__init__()
        self.index_names = ["token_ids"]
        self.table = nn.Parameter(torch.empty(entries, size).normal_(std=0.05))
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Vectors (L, X) of words from their ids `token_ids` (L,)."""
        vectors: Tensor = self.dropout(functional.embedding(inputs["token_ids"], self.table, sparse=True))
        return vectors


class WordpieceEmbedding(nn.Module):
    """A table of wordpiece vectors (V, X) with sparse gradients; a word is the mean of its pieces, and dropout falls on it.

    Attributes:
        index_names: names of the index inputs that it reads.
    """

    def __init__(self, *, entries: int, size: int, dropout: float = 0.0):
        super().__init__()
        self.index_names = ["piece_ids", "pieces_per_word"]
        self.table = nn.Parameter(torch.empty(entries, size).normal_(std=0.05))
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Vectors (L, X) of words, from `piece_ids` (P,) of all pieces and `pieces_per_word` (L,), at least 1 each."""
        counts = inputs["pieces_per_word"]
        starts = torch.cumsum(counts, 0) - counts
        pieces = functional.embedding_bag(inputs["piece_ids"], self.table, starts, mode="mean", sparse=True)
        vectors: Tensor = self.dropout(pieces)
        return vectors
