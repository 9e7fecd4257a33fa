"""Writes the weights of a model as safetensors, and loads them into a model built from a bundle."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.gate.onnx_gate import initializers
from thinstack.bundle.manifest import ONNX_FILE, WEIGHTS_FILE
from thinstack.core.config import ModelConfig
from thinstack.core.model.model import Model
from thinstack.errors import BundleError, ThinstackError
from thinstack.plugins.build import build_model

LEVELS, SCALE = ".int8", ".scale"
"""Suffixes of the two parts of an 8-bit weight in an ONNX file: the integers and their scale."""
ONNX_WEIGHTS = "onnx"


def state_of(module: nn.Module) -> dict[str, Tensor]:
    """Return the module's state, each tensor once, by the first of its names."""
    return {names[0]: value.detach() for names, value in _shared(module)}


def load_state(module: nn.Module, state: dict[str, Tensor]) -> None:
    """Load the output of `state_of`. Raises RuntimeError for the state of another module."""
    shared = ((name, names[0]) for names, _ in _shared(module) for name in names[1:])
    copies = {name: state[first] for name, first in shared if first in state}
    module.load_state_dict({**state, **copies})


def _shared(module: nn.Module) -> list[tuple[list[str], Tensor]]:
    """List every tensor of the module's state, with all its names."""
    tensors: dict[int, tuple[list[str], Tensor]] = {}
    for name, value in module.state_dict(keep_vars=True).items():
        tensors.setdefault(id(value), ([], value))[0].append(name)
    return list(tensors.values())


def weights_of(model: Model, *, beside: bytes | None = None) -> bytes:
    """Serialize the weights of a model to the content of a safetensors file.

    `beside`: an ONNX file that will be in the same bundle. A weight that this file contains
    unchanged is stored only as its name there (in the metadata, `onnx`: JSON). Other weights are in
    half precision if that is lossless.
    """
    state = {name: value.cpu().clone().contiguous() for name, value in state_of(model).items()}
    if beside is None:
        return save(state)
    held, places = _held(beside), {}
    for name, value in list(state.items()):
        scaled = value.numpy() * _scale_of_rows(name, state)
        if same := [other for other, weight in held.items() if np.array_equal(weight, scaled)]:
            places[name] = same[0]
            del state[name]
        elif torch.equal(value.half().to(value.dtype), value):
            state[name] = value.half()
    return save(state, {ONNX_WEIGHTS: json.dumps(places)})


def load_model(bundle: Bundle | str | Path) -> Model:
    """Load the torch model of a bundle, in evaluation mode. For an inference-only bundle, its
    weights are rounded as in the ONNX file.

    Raises BundleError if the bundle has no weights, or if they do not fit its configuration.
    """
    if not isinstance(bundle, Bundle):
        bundle = open_bundle(bundle)
    if WEIGHTS_FILE not in bundle.manifest.files:
        raise BundleError(
            f"{bundle.path}: this bundle has no torch weights; train its recipe to get them"
        )
    entries = len(bundle.vocabulary())
    try:
        skeleton, state = _skeleton(bundle.config, entries), _stored(bundle)
        expected = {name: tuple(value.shape) for name, value in state_of(skeleton).items()}
        shapes = {name: tuple(value.shape) for name, value in state.items()}
        if odd := sorted(dict(expected.items() ^ shapes.items())):
            problem = f"shape {expected.get(odd[0])}, found {shapes.get(odd[0])}"
            raise ValueError(f"expected {odd[0]} of {problem}")
        model = build_model(bundle.config, entries=entries)
        load_state(model, state)
    except (SafetensorError, RuntimeError, ValueError, LookupError) as error:
        raise BundleError(
            f"{bundle.path / WEIGHTS_FILE}: these weights do not fit the configuration: {error}"
        ) from None
    return model.eval()


def _skeleton(config: ModelConfig, entries: int) -> Model:
    """Build the model without allocating its weights, whose sizes could exceed any memory."""
    try:
        with torch.device("meta"):
            return build_model(config, entries=entries)
    except ThinstackError:
        raise
    except Exception:  # a third-party part that reads the values of its fresh weights
        return build_model(config, entries=entries)


def _stored(bundle: Bundle) -> dict[str, Tensor]:
    content = bundle.read(WEIGHTS_FILE)
    state = load(content)
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    places = json.loads((header.get("__metadata__") or {}).get(ONNX_WEIGHTS, "{}"))
    if not isinstance(places, dict) or not all(isinstance(place, str) for place in places.values()):
        raise ValueError(f"expected weight names from the ONNX file, found {places!r:.80}")
    held = _held(bundle.read(ONNX_FILE)) if places else {}
    state |= {
        name: torch.from_numpy(held[place] / _scale_of_rows(name, state))
        for name, place in places.items()
    }
    return state


def smoothing(bound: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the factors (K,) for a quantized product (Xiao et al. 2023, "SmoothQuant", (4), from
    the activations only).

    Before rounding, the columns of activations with these bounds are divided by them, and the rows
    of the matrix are multiplied. They are powers of two near the square root of the bounds, so this
    is lossless.
    """
    powers = np.rint(np.log2(np.maximum(bound, np.float32(2**-16))) / 2)
    return np.exp2(powers).astype(np.float32)


def _scale_of_rows(name: str, state: Mapping[str, Tensor]) -> NDArray[np.float32]:
    """Return the scale of the rows of a weight in an ONNX file, (K, 1), or 1."""
    prefix, _, last = name.rpartition(".")
    bound = state.get(f"{prefix}.bound") if last == "w" else None
    if bound is None or not bool(bound.any()):
        return np.ones(1, np.float32)
    return smoothing(bound.float().numpy())[:, np.newaxis]


def _held(exported: bytes) -> dict[str, NDArray[np.float32]]:
    """Return the weights of an ONNX file in float32, 8-bit ones multiplied by their scale."""
    stored = initializers(exported)
    weights = {
        name: item.astype(np.float32) for name, item in stored.items() if item.dtype.kind == "f"
    }
    for name, levels in stored.items():
        weight = name.removesuffix(LEVELS)
        if weight != name and weight + SCALE in weights:
            weights[weight] = levels * weights[weight + SCALE]
    return weights
