"""Models in torch: leaf embedding, encoder and task head, built from a configuration."""

from thinstack.models.build import build_model
from thinstack.models.model import Model
from thinstack.models.weights import load_model, weights_of

__all__ = ["Model", "build_model", "load_model", "weights_of"]
