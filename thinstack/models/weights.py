"""Weights as safetensors: out of a model, and back into one that is built from a bundle."""

from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from thinstack.bundles import Bundle, open_bundle
from thinstack.errors import BundleError
from thinstack.manifest import WEIGHTS_FILE
from thinstack.models.build import build_model
from thinstack.models.model import Model

__all__ = ["load_model", "load_state", "state_of", "weights_of"]


def state_of(module: nn.Module) -> dict[str, Tensor]:
    """The module's state by name, each tensor once: one that several of its parts share goes by the first of its names."""
    return {names[0]: value.detach() for names, value in _shared(module)}


def load_state(module: nn.Module, state: dict[str, Tensor]) -> None:
    """Put back what `state_of` gave. Raises RuntimeError for the state of another module."""
    others = {name: names[0] for names, _ in _shared(module) for name in names[1:]}
    module.load_state_dict({**state, **{name: state[first] for name, first in others.items() if first in state}})


def _shared(module: nn.Module) -> list[tuple[list[str], Tensor]]:
    """Every tensor of the module's state, with all its names."""
    names: dict[int, tuple[list[str], Tensor]] = {}
    for name, value in module.state_dict(keep_vars=True).items():
        names.setdefault(id(value), ([], value))[0].append(name)
    return list(names.values())


def weights_of(model: Model) -> bytes:
    """The weights of a model as the content of a safetensors file."""
    return save({name: value.cpu().clone().contiguous() for name, value in state_of(model).items()})


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
        load_state(model, load(bundle.read(WEIGHTS_FILE)))
    except (SafetensorError, RuntimeError) as error:
        raise BundleError(f"{bundle.path / WEIGHTS_FILE}: not the weights of this configuration: {error}") from None
    return model.eval()
