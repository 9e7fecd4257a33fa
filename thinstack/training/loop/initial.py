"""The model of a recipe before training: its vocabulary, leaf table and other pretrained weights,
and its weights, random or from a bundle."""

from collections.abc import Iterable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.weights import load_model, load_state, state_of
from thinstack.core.config import EmbeddingConfig
from thinstack.core.embedding import Leaves
from thinstack.core.model.model import Model
from thinstack.data.words.vectors import recipe_vectors, standardise
from thinstack.data.words.vocabulary import WordVocabulary, mean_unknown
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import ConfigError
from thinstack.plugins.build import build_model
from thinstack.plugins.manager import manager
from thinstack.training.recipe import DataConfig, InitConfig, Part, Recipe

UNSEEN_STD: Final = 0.05
"""Standard deviation of the vectors of words without pretrained ones."""


def initial_model(
    recipe: Recipe,
    table: NDArray[np.float32],
    weights: Mapping[str, Tensor] | None = None,
    start: Bundle | None = None,
) -> Model:
    """Build the model of a recipe, with the weights of its bundle (`start`, if open), or else with
    random weights, the leaf `table` (V, W) and the pretrained `weights` by name."""
    model = build_model(recipe.model, entries=len(table))
    if recipe.init is not None:
        start_from(model, recipe.init, start)
    else:
        model.embedding.table.data.copy_(torch.from_numpy(table))
        for name, value in (weights or {}).items():
            model.get_parameter(name).data.copy_(value)
    return model


def start_from(model: Model, init: InitConfig, start: Bundle | None = None) -> None:
    """Copy the weights of the bundle (`start`, if open) to the parts of a model that `init` names.

    Raises ConfigError for a part that the model or the bundle lacks, and for weights of other
    shapes. Raises BundleError for a bundle without torch weights.
    """
    state, weights = state_of(load_model(start or init.bundle)), state_of(model)
    for part in init.parts:
        names = [name for name in weights if part_of(name) == part]
        problem = "" if names else "neither has one"
        if odd := {name for name in state if part_of(name) == part}.symmetric_difference(names):
            problem = f"they differ in {', '.join(sorted(odd)[:3])}"
        for name in () if problem else names:
            if state[name].shape != weights[name].shape:
                problem = (
                    f"expected {name} of shape {tuple(weights[name].shape)}, found "
                    f"{tuple(state[name].shape)}"
                )
            weights[name] = state[name]
        if problem:
            raise ConfigError(
                f"init.parts: the {part} of {init.bundle} does not fit the model ({problem}); "
                "describe the model as the bundle's config.json does, or drop this part"
            )
    load_state(model, weights)


def part_of(name: str) -> Part:
    """Return the part of a model that a weight belongs to."""
    if name.startswith("encoder.parser."):
        return "parser"
    return cast(Part, name.partition(".")[0])


def first_leaves(
    recipe: Recipe, data: Path, words_used: Iterable[str], width: int, start: Bundle | None = None
) -> Leaves:
    """Return the vocabulary, the leaf table (V, `width`) and other pretrained weights of a recipe.
    `start`: the bundle that training starts from, if open.

    A table of words contains the pretrained vectors, and random vectors for the words of the
    training data, `words_used`, that lack one. Row 0, the unknown word, is the mean of the
    pretrained vectors, or 0. If training starts from a bundle, the vocabulary is the bundle's and
    the table is 0, because it is not used.

    Raises ConfigError if the vectors are narrower than the table or do not fit the encoder, and
    DataError if they cannot be read.
    """
    pieces = recipe.model.embedding.kind == "wordpieces"
    if recipe.init is not None:
        bundle, kind = start or open_bundle(recipe.init.bundle), recipe.model.embedding.kind
        if (expected := bundle.config.embedding.kind) != kind:
            raise ConfigError(
                f"init.bundle: expected model.embedding.kind = {expected!r}, as "
                f"in {recipe.init.bundle}, found {kind!r}; describe the embedding as the "
                "bundle does"
            )
        vocabulary = bundle.vocabulary()
        return Leaves(vocabulary, np.zeros((len(vocabulary), width), np.float32))
    if recipe.data.encoder is not None:
        return _encoder_leaves(recipe, data, recipe.data.encoder)
    words, vectors = tuple[str, ...](), np.zeros((0, width), np.float32)
    if recipe.data.vectors is not None:
        words, vectors = _pretrained(recipe.data, recipe.model.embedding, data, width)
    elif pieces:
        raise ConfigError(
            "data.vectors: a wordpiece model needs a file of pieces and vectors, found none; "
            "use 'wordpieces' for the vectors that ship with thinstack"
        )
    if pieces:
        return Leaves(WordpieceVocabulary(words), vectors)
    pretrained = WordVocabulary(words)
    lacking = (word for word in {*words_used} if pretrained.lookup(word) == pretrained.UNKNOWN)
    unseen = sorted({word.lower() for word in lacking})
    drawn = np.random.default_rng(0).normal(scale=UNSEEN_STD, size=(len(unseen), width))
    unknown = mean_unknown(vectors) if len(vectors) else np.zeros((1, width), np.float32)
    table = np.concatenate([unknown, drawn.astype(np.float32)])
    return Leaves(WordVocabulary((*words, *unseen)), table)


def _encoder_leaves(recipe: Recipe, data: Path, encoder: str) -> Leaves:
    """Read the leaves of a pretrained encoder with the module that the embedding names."""
    embedding = recipe.model.embedding
    spec = manager().find("embedding", embedding.registered)
    if not spec.plugin.pretrained:
        raise ConfigError(
            f"data.encoder: model.embedding {spec.name} does not take a pretrained encoder, "
            f"found {encoder!r}; omit it, or use an embedding that takes one"
        )
    vectors = partial(_pretrained, recipe.data, embedding, data)
    read: Leaves = import_module(spec.plugin.pretrained).leaves(
        encoder,
        data,
        size=embedding.size,
        options=spec.validate(embedding.options).model_dump(),
        vectors=None if recipe.data.vectors is None else vectors,
    )
    return read


def _pretrained(
    files: DataConfig, embedding: EmbeddingConfig, data: Path, width: int
) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """Read words and the first `width` columns of their vectors."""
    assert files.vectors is not None
    words, vectors = recipe_vectors(files.vectors, data)
    if vectors.shape[1] < width:
        table = f"{embedding.registered} of size {embedding.size} has a table of {width} columns"
        narrow = f"{files.vectors} has {vectors.shape[1]}"
        raise ConfigError(
            f"model.embedding: {table}, but {narrow}; lower its size, or use wider vectors"
        )
    columns = vectors[:, :width]
    return words, columns if files.vector_std is None else standardise(columns, files.vector_std)
