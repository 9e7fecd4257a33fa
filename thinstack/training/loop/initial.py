"""Makes the model of a recipe before it learns: its vocabulary, its leaf table and other pretrained
weights, and its weights, fresh ones or those of a bundle."""

from collections.abc import Iterable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import cast

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


def vocabulary_of(
    init: InitConfig, kind: str, start: Bundle | None = None
) -> WordVocabulary | WordpieceVocabulary:
    """The vocabulary of the bundle where learning starts, which `start` is if it is open already.
    `kind`: of the recipe's leaf embedding. Raises ConfigError if the bundle's is another one."""
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
    name.
    """
    model = build_model(recipe.model, entries=len(table))
    if recipe.init is not None:
        start_from(model, recipe.init, start)
    else:
        model.embedding.table.data.copy_(torch.from_numpy(table))
        parameters = dict(model.named_parameters())
        for name, value in (weights or {}).items():
            parameters[name].data.copy_(value)
    return model


def start_from(model: Model, init: InitConfig, start: Bundle | None = None) -> None:
    """Put the bundle's weights into the parts of a model that `init` names. `start`: the bundle, if
    it is open already.

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
                f"init.parts: the {part} of {init.bundle} does not fit the model: {problem}; "
                "describe the model as the bundle's config.json does, or leave that part out"
            )
    load_state(model, weights)


def part_of(name: str) -> Part:
    """The part of a model that a weight belongs to."""
    if name.startswith("encoder.parser."):
        return "parser"
    return cast(Part, name.partition(".")[0])


UNSEEN_STD = 0.05


def first_leaves(
    recipe: Recipe, data: Path, words_used: Iterable[str], width: int, start: Bundle | None = None
) -> Leaves:
    """The vocabulary, the leaf table and other pretrained weights of a recipe. `width`: the columns
    W of the table. `start`: the bundle where learning starts, if it is open already.

    A table of words holds the pretrained vectors. Words of the training data, `words_used`, that
    these lack get random vectors. Row 0, the unknown word, is the mean of the pretrained vectors,
    or 0 without any. If learning starts from a bundle, the vocabulary is the bundle's, and the
    table is 0 and not used.

    Raises ConfigError if the vectors are narrower than the table or do not fit the encoder, and
    DataError if they cannot be read.
    """
    pieces = recipe.model.embedding.kind == "wordpieces"
    if recipe.init is not None:
        vocabulary = vocabulary_of(recipe.init, recipe.model.embedding.kind, start)
        return Leaves(vocabulary, np.zeros((len(vocabulary), width), np.float32))
    if recipe.data.encoder is not None:
        return _encoder_leaves(recipe, data, recipe.data.encoder)
    if recipe.data.vectors is not None:
        words, vectors = _pretrained(recipe.data, recipe.model.embedding, data, width)
    elif pieces:
        raise ConfigError(
            "data.vectors: a wordpiece model needs a file of pieces and vectors, found none; "
            "'wordpieces' names the vectors that ship with thinstack"
        )
    else:
        words, vectors = (), np.zeros((0, width), np.float32)
    if pieces:
        return Leaves(WordpieceVocabulary(words), vectors)
    pretrained = WordVocabulary(words)
    every = set(words_used)
    unseen = sorted(
        {word.lower() for word in every if pretrained.lookup(word) == pretrained.UNKNOWN}
    )
    drawn = np.random.default_rng(0).normal(scale=UNSEEN_STD, size=(len(unseen), width))
    unknown = mean_unknown(vectors) if len(vectors) else np.zeros((1, width), np.float32)
    table = np.concatenate([unknown, drawn.astype(np.float32)])
    return Leaves(WordVocabulary((*words, *unseen)), table)


def _encoder_leaves(recipe: Recipe, data: Path, encoder: str) -> Leaves:
    """The leaves of a pretrained encoder, read by the module that the embedding names."""
    embedding = recipe.model.embedding
    spec = manager().find("embedding", embedding.registered)
    if not spec.plugin.pretrained:
        raise ConfigError(
            f"data.encoder: model.embedding {spec.name} does not take a pretrained encoder, "
            f"found {encoder!r}; leave it out, or name an embedding that takes one"
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
    """Words and the first `width` columns of their vectors."""
    assert files.vectors is not None
    words, vectors = recipe_vectors(files.vectors, data)
    if vectors.shape[1] < width:
        table = f"{embedding.registered} of size {embedding.size} has a table of {width} columns"
        narrow = f"{files.vectors} has {vectors.shape[1]}"
        raise ConfigError(
            f"model.embedding: {table}, but {narrow}; make it smaller, or name wider vectors"
        )
    columns = vectors[:, :width]
    return words, columns if files.vector_std is None else standardise(columns, files.vector_std)
