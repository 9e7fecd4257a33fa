"""A leaf embedding that gives a word its own row of a table."""

from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.embedding import Embedding

__all__ = ["WordEmbedding"]


class WordEmbedding(Embedding):
    """A table of word vectors (V, X) with sparse gradients. Dropout is applied to what is read."""

    name = "words.v1"
    summary = "a word's row of the leaf table"

    def __init__(self, *, entries: int, size: int, dropout: float = 0.0):
        super().__init__(
            table_size=(entries, size), size=size, index_names=["token_ids"], lookup="rows"
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Vectors (L, X) of words from their ids `token_ids` (L,)."""
        vectors: Tensor = self.dropout(
            functional.embedding(inputs["token_ids"], self.table, sparse=True)
        )
        return vectors
