"""`transformer.v1`: words read in their sentence by a pretrained BERT."""

from thinstack.plugins.embeddings.transformer.embedding import TransformerEmbedding

__all__ = ["TransformerEmbedding"]
