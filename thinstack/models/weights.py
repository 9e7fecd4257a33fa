"""Weights as safetensors: out of a model, and back into one that is built from a bundle."""

from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save

from thinstack.bundles import Bundle, open_bundle
from thinstack.errors import BundleError
from thinstack.manifest import WEIGHTS_FILE
from thinstack.models.build import build_model
from thinstack.models.model import Model

__all__ = ["load_model", "weights_of"]


def weights_of(model: Model) -> bytes:
    """The weights of a model as the content of a safetensors file."""
    return save({name: value.detach().cpu().clone().contiguous() for name, value in model.state_dict().items()})


def load_model(bundle: Bundle | str | Path) -> Model:
    """The torch model of a bundle, in evaluation mode.

    Raises BundleError if the bundle is inference-only or its weights are not those of its configuration.
    """
    if not isinstance(bundle, Bundle):
        bundle = open_bundle(bundle)
    if WEIGHTS_FILE not in bundle.manifest.files:
        raise BundleError(f"{bundle.path}: an inference-only bundle, without torch weights; train its recipe to get them")
    model = build_model(bundle.config, entries=len(bundle.vocabulary()))
    try:
        model.load_state_dict(load(bundle.read(WEIGHTS_FILE)))
    except (SafetensorError, RuntimeError) as error:
        raise BundleError(f"{bundle.path / WEIGHTS_FILE}: not the weights of this configuration: {error}") from None
    return model.eval()
