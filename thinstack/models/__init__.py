"""Models in torch: leaf embedding, encoder and task head, built from a configuration."""

from thinstack.models.build import build_model
from thinstack.models.model import Model
from thinstack.models.spinn_model import SpinnModel
from thinstack.models.tree_model import TreeModel
from thinstack.models.weights import load_model, weights_of

__all__ = ["Model", "SpinnModel", "TreeModel", "build_model", "load_model", "weights_of"]
