"""Gives the leaf embedding of a recipe its vocabulary and pretrained weights."""

from collections.abc import Iterable
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import Bundle
from thinstack.core.config import EmbeddingConfig
from thinstack.core.embedding import Leaves
from thinstack.data.words.vectors import recipe_vectors, standardise
from thinstack.data.words.vocabulary import WordVocabulary, mean_unknown
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import ConfigError
from thinstack.plugins.manager import manager
from thinstack.training.loop.initial import vocabulary_of
from thinstack.training.recipe import DataConfig, Recipe

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
    DataError if they cannot be read. Raises what the embedding raises for a
    pretrained encoder.
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
            "'wordpieces' names the vectors that thinstack brings along"
        )
    else:
        words, vectors = (), np.zeros((0, width), np.float32)
    if pieces:
        return Leaves(WordpieceVocabulary(words), vectors)
    known = WordVocabulary(words)
    every = set(words_used)
    unseen = sorted({word.lower() for word in every if known.lookup(word) == known.UNKNOWN})
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
            f"data.encoder: model.embedding {spec.name} takes no pretrained encoder, found "
            f"{encoder!r}; leave it out, or name an embedding that takes one"
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
        found = f"{files.vectors} has {vectors.shape[1]}"
        raise ConfigError(
            f"model.embedding: {table}, but {found}; make it smaller, or name wider vectors"
        )
    kept = vectors[:, :width]
    return words, kept if files.vector_std is None else standardise(kept, files.vector_std)
