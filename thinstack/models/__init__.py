"""Models in torch: leaf embedding, encoder and task head, built from a configuration."""

from thinstack.models.build import build_model
from thinstack.models.tree_model import TreeModel, WordModel, WordpieceModel

__all__ = ["TreeModel", "WordModel", "WordpieceModel", "build_model"]
