"""A leaf embedding with a table row for each word."""

from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.embedding import Embedding


class WordEmbedding(Embedding):
    """A table of word vectors (V, X) with sparse gradients. Dropout applies to the rows read."""

    name = "words.v1"
    summary = "a word's row of the leaf table"

    def __init__(self, *, entries: int, size: int, dropout: float = 0.0):
        names = ["token_ids"]
        super().__init__(table_size=(entries, size), size=size, index_names=names, lookup="rows")
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return vectors (L, X) of words, from `token_ids` (L,)."""
        rows = functional.embedding(inputs["token_ids"], self.table, sparse=True)
        vectors: Tensor = self.dropout(rows)
        return vectors
