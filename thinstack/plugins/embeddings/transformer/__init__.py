"""`transformer.v1`: words in the context of their sentence, by a pretrained BERT or MPNet."""

from thinstack.plugins.embeddings.transformer.embedding import (
    TransformerEmbedding as TransformerEmbedding,
)
