"""Leaf embeddings: from the ids of words, or of their pieces, to the inputs of an encoder's leaves."""

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["WordEmbedding", "WordpieceEmbedding"]


class WordEmbedding(nn.Module):
    """A table of word vectors (V, X) with sparse gradients, and dropout on what is read."""

    def __init__(self, *, entries: int, size: int, dropout: float = 0.0):
        super().__init__()
        self.table = nn.Parameter(torch.empty(entries, size).normal_(std=0.05))
        self.dropout = nn.Dropout(dropout)

    def forward(self, token_ids: Tensor) -> Tensor:
        """Vectors (L, X) of words from their ids (L,)."""
        vectors: Tensor = self.dropout(functional.embedding(token_ids, self.table, sparse=True))
        return vectors


class WordpieceEmbedding(nn.Module):
    """A table of wordpiece vectors (V, X) with sparse gradients; a word is the mean of its pieces, and dropout falls on it."""

    def __init__(self, *, entries: int, size: int, dropout: float = 0.0):
        super().__init__()
        self.table = nn.Parameter(torch.empty(entries, size).normal_(std=0.05))
        self.dropout = nn.Dropout(dropout)

    def forward(self, piece_ids: Tensor, pieces_per_word: Tensor) -> Tensor:
        """Vectors (L, X) of words from the ids of all pieces (P,) and the number of pieces, at least 1, of each word (L,)."""
        starts = torch.cumsum(pieces_per_word, 0) - pieces_per_word
        vectors: Tensor = self.dropout(functional.embedding_bag(piece_ids, self.table, starts, mode="mean", sparse=True))
        return vectors
