"""The leaf table and the head of vectors before they learn, from what a teacher says of pieces."""

from collections.abc import Iterable
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from thinstack.core.embedding import Leaves
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.plugins.build import build_model
from thinstack.training.recipe import Recipe
from thinstack.training.tasks.vectors.encoder import TeacherTable, main_directions
from thinstack.training.tasks.vectors.loss import cell_of, head_of_vectors

AnyVocabulary = WordVocabulary | WordpieceVocabulary

RARE: Final = 1e-3
"""A piece of frequency p weighs a / (a + p) (Arora et al. 2017)."""


def start_of(
    recipe: Recipe, vocabulary: AnyVocabulary, words: Iterable[str], teacher: TeacherTable
) -> Leaves:
    """The leaves before they learn. Each piece has the main directions of the teacher's vector of
    it, rare pieces with more weight. The head maps the mean of words back to the teacher's columns.

    `words`: those of the training texts, whose pieces are counted.
    """
    model = build_model(recipe.model, entries=1)
    cell, head = cell_of(model), head_of_vectors(model)
    pieces = list(vocabulary.entries)
    turned = teacher.turned_strings([piece.removeprefix("##") for piece in pieces])
    counts = _counts(vocabulary, words)
    weights = RARE / (RARE + counts / max(counts.sum(), 1))
    centred = turned - turned[counts > 0].mean(0)
    counted = centred * (np.sqrt(counts + 1) * weights)[:, None]
    directions = main_directions(counted, cell.columns)
    table = (centred @ directions) * weights[:, None]
    table /= table.std()
    linear = torch.zeros(head.classes, head.hidden_size)
    first = sum(cell.state_sizes[: cell.own])
    linear[:, first : first + cell.columns] = torch.from_numpy(directions)
    name = "head" if model.vectors is None else "vectors"
    return Leaves(vocabulary, table.astype(np.float32), {f"{name}.linear.weight": linear})


def _counts(vocabulary: AnyVocabulary, words: Iterable[str]) -> NDArray[np.float64]:
    """How often each piece stands in the words."""
    ids = vocabulary.fields(list(words))["piece_ids"]
    return np.bincount(ids, minlength=len(vocabulary.entries)).astype(np.float64)
