"""Words by their rows of a table."""

from collections.abc import Iterable

from pydantic import BaseModel
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.embedding import Embedding
from thinstack.plugins import EmbeddingSpec, hookimpl

__all__ = ["WordEmbedding"]


class WordEmbedding(Embedding):
    """A table of word vectors (V, X) with sparse gradients, and dropout on what is read."""

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


@hookimpl
def thinstack_embeddings() -> Iterable[EmbeddingSpec]:
    """Register `words.v1`."""
    spec = EmbeddingSpec(
        name="words.v1",
        build=WordEmbedding,
        config=BaseModel,
        vocabulary="words",
        summary="a word's row of the leaf table",
    )
    return [spec]
