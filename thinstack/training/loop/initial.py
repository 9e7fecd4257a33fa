"""Makes the model of a recipe before it learns, with fresh weights or the weights of a bundle."""

from collections.abc import Collection, Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.weights import load_model, load_state, state_of
from thinstack.core.model.model import Model
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import ConfigError
from thinstack.plugins.build import build_model
from thinstack.training.recipe import InitConfig, Recipe
from thinstack.training.recipe.recipe import Part


def vocabulary_of(
    init: InitConfig, kind: str, start: Bundle | None = None
) -> WordVocabulary | WordpieceVocabulary:
    """The vocabulary of the bundle where learning starts, which `start` is if it is open already.
    `kind`: of the recipe's leaf embedding. Raises ConfigError if the bundle's kind is another one,
    and what `open_bundle` raises."""
    bundle = start or open_bundle(init.bundle)
    if bundle.config.embedding.kind != kind:
        raise ConfigError(
            f"init.bundle: expected model.embedding.kind = {bundle.config.embedding.kind!r}, as "
            f"{init.bundle} has it, found {kind!r}; describe the embedding as the bundle does"
        )
    return bundle.vocabulary()


def initial_model(
    recipe: Recipe,
    table: NDArray[np.float32],
    weights: Mapping[str, Tensor] | None = None,
    start: Bundle | None = None,
) -> Model:
    """The model of a recipe before it learns.

    Its weights come from the recipe's bundle; `start` is that bundle, if it is open already.
    Without a bundle they are fresh, except for the leaf `table` (V, W) and pretrained `weights`, by
    name. Raises what `build_model` and `start_from` raise.
    """
    model = build_model(recipe.model, entries=len(table))
    if recipe.init is not None:
        start_from(model, recipe.init, start)
    else:
        model.embedding.table.data.copy_(torch.from_numpy(table))
        own = dict(model.named_parameters())
        for name, value in (weights or {}).items():
            own[name].data.copy_(value)
    return model


def start_from(model: Model, init: InitConfig, start: Bundle | None = None) -> None:
    """Put the bundle's weights into the parts of a model that `init` names. `start`: the bundle, if
    it is open already.

    Raises ConfigError for a part that the model or the bundle lacks, and for weights of other
    shapes. Raises BundleError for a bundle without torch weights.
    """
    state, own = state_of(load_model(start or init.bundle)), state_of(model)
    for part in init.parts:
        names = [name for name in own if part_of(name) == part]
        problem = "" if names else "neither has one"
        if odd := {name for name in state if part_of(name) == part}.symmetric_difference(names):
            problem = f"they differ in {', '.join(sorted(odd)[:3])}"
        for name in () if problem else names:
            if state[name].shape != own[name].shape:
                problem = (
                    f"expected {name} of shape {tuple(own[name].shape)}, found "
                    f"{tuple(state[name].shape)}"
                )
            own[name] = state[name]
        if problem:
            raise ConfigError(
                f"init.parts: the {part} of {init.bundle} does not fit the model: {problem}; "
                "describe the model as the bundle's config.json does, or leave that part out"
            )
    load_state(model, own)


def freeze(model: torch.nn.Module, parts: Collection[Part]) -> None:
    """Keep these parts of a model as they are: they get no gradients."""
    for name, weight in model.named_parameters():
        if part_of(name) in parts:
            weight.requires_grad_(False)


def part_of(name: str) -> Part:
    """The part of a model that a weight belongs to."""
    if name.startswith("encoder.parser."):
        return "parser"
    parts: dict[str, Part] = {"embedding": "embedding", "encoder": "encoder", "head": "head"}
    return parts[name.partition(".")[0]]
