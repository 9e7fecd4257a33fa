"""The texts that are most like a text, by what a model makes of them (Tai et al. 2015, Table 4)."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from rich.text import Text
from torch import Tensor
from torch.nn.functional import cosine_similarity

from thinstack.bundle import Bundle
from thinstack.bundle.weights import load_model
from thinstack.cli.options import print_json
from thinstack.core.cell import sum_by_owner
from thinstack.core.forest import EMPTY, Forest
from thinstack.core.model.model import Model
from thinstack.data.tables.containers import check_container
from thinstack.errors import InputError, escaped, shown
from thinstack.text.batching import piece_counts
from thinstack.text.given_trees import tree_maker
from thinstack.text.sentences import check_text, splitter

By = Literal["vectors", "mean", "score"]
"""How alike two texts are: the cosine of the model's sentence vectors, the cosine of the means of
their word vectors, or the score that a model of scored pairs gives them."""

TOGETHER = 64
"""Texts that are encoded at a time."""


class Neighbour(NamedTuple):
    """A text, and how much it is like the text that was asked for."""

    text: str
    score: float


class Texts:
    """Texts, each read as one sentence, among which to find the nearest.

    A text that comes again counts once, and texts without words are left out. Trees come from where
    the model's trees for raw words come from.

    Raises InputError for a model whose trees cannot be made from words or which has no such
    measure, for what is no text, and if no text has words. Raises BundleError for a bundle without
    torch weights.
    """

    def __init__(self, bundle: Bundle, texts: Sequence[str], *, by: By = "vectors"):
        check_container(texts, "texts")
        self._reader, self._by = _Reader(bundle), by
        self._scale = _scale(bundle, self._reader.model) if by == "score" else None
        distinct = list(dict.fromkeys(texts))
        read = zip(distinct, self._reader.words(distinct), strict=True)
        self._texts = [(text, words) for text, words in read if words]
        if not self._texts:
            raise InputError("found no text with words to compare with: give one on each line")
        self._vectors = self._reader.vectors([words for _, words in self._texts], by)

    def nearest(self, text: str, top: int = 5) -> list[Neighbour]:
        """The `top` texts that are most like `text`, the nearest first. Texts of the same words are
        left out. Raises InputError for a text without words."""
        (words,) = self._reader.words([text])
        if not words:
            raise InputError(f"{shown(text)} has no words: give a text, such as 'A dog runs.'")
        scores = self._scores(self._reader.vectors([words], self._by))
        order = torch.argsort(scores, descending=True, stable=True).tolist()
        others = [place for place in order if self._texts[place][1] != words]
        return [Neighbour(self._texts[place][0], float(scores[place])) for place in others[:top]]

    @torch.inference_mode()
    def _scores(self, vector: Tensor) -> Tensor:
        """How much each text is like the one of `vector` (1, H): (T,)."""
        if self._scale is None:
            return cosine_similarity(vector, self._vectors)
        pairs = torch.cat([vector.expand_as(self._vectors), self._vectors], 1)
        return self._reader.model.head.scores(pairs) @ self._scale


class _Reader:
    """A model, and what it needs to read texts."""

    def __init__(self, bundle: Bundle):
        if bundle.config.trees not in ("binary", "sequence"):
            raise InputError(
                f"{bundle.path}: this model reads {bundle.config.trees} trees, which cannot be "
                "made from a text: choose a model of plain sentences or of binary trees"
            )
        self.bundle, self.model = bundle, load_model(bundle)
        self.vocabulary, self._cut = bundle.vocabulary(), splitter(sentences=False)
        self._makes_trees = self.model.parses and bundle.config.tree_source == "self"

    def words(self, texts: Sequence[str]) -> list[list[str]]:
        """The words of each text, none of a text that has none."""
        checked = [check_text(text, number) for number, text in enumerate(texts)]
        return [cut[0].words if cut else [] for cut in self._cut(checked)]

    @torch.inference_mode()
    def vectors(self, sentences: Sequence[list[str]], by: By) -> Tensor:
        """A vector for each sentence of words: the output of its root (T, H), or for "mean" the
        mean of its word vectors (T, X)."""
        found = []
        for start in range(0, len(sentences), TOGETHER):
            forest = self._forest(sentences[start : start + TOGETHER])
            inputs = self.model.inputs(forest)
            if by == "mean":
                lengths = torch.from_numpy(forest.lengths)
                owner = torch.repeat_interleave(lengths)
                sums = sum_by_owner(self.model.embed(inputs), owner, len(lengths))
                found.append(sums / lengths[:, None])
            else:
                found.append(self.model.encode(inputs, False).roots)
        return torch.cat(found)

    def _forest(self, sentences: Sequence[list[str]]) -> Forest:
        self._check_pieces(sentences)
        lengths = np.array([len(words) for words in sentences])
        fields = self.vocabulary.fields(list(chain.from_iterable(sentences)))
        if self.bundle.config.trees == "sequence":
            return Forest(sizes=lengths, lengths=lengths, **fields)
        trees = EMPTY
        if not self._makes_trees:
            make = tree_maker(self.bundle.config.tree_source)
            trees = np.concatenate([make(words) for words in sentences]).astype(np.int64)
        return Forest(sizes=2 * lengths - 1, lengths=lengths, transitions=trees, **fields)

    def _check_pieces(self, sentences: Sequence[list[str]]) -> None:
        if not (most := self.model.embedding.max_pieces):
            return
        for words, counts in zip(sentences, piece_counts(sentences, self.vocabulary), strict=True):
            if counts > most:
                raise InputError(
                    f"{shown(' '.join(words))} has {counts} pieces, and this model reads at most "
                    f"{most}: shorten the text or leave it out"
                )


def _scale(bundle: Bundle, model: Model) -> Tensor:
    """The scores (C,) that the classes of a model of scored pairs stand for. Raises InputError for
    any other model."""
    if not hasattr(model.head, "ratings"):
        raise InputError(
            f"{bundle.path}: expected a model of scored pairs, found the task head "
            f"{bundle.config.head.name}: choose --by vectors or --by mean, or train a model of "
            "pairs with scores, as docs/training.md says"
        )
    return torch.tensor([float(label) for label in bundle.config.labels])


def print_nearest(
    nearest: Mapping[str, Sequence[Neighbour]], by: By, *, as_json: bool = False
) -> None:
    """Print the nearest texts of each text, as tables or as JSON."""
    if as_json:
        for_each = ((text, [one._asdict() for one in others]) for text, others in nearest.items())
        print_json([{"text": text, "by": by, "nearest": others} for text, others in for_each])
        return
    console = Console()
    for query, others in nearest.items():
        table = Table(by, "", title=Text(escaped(query)), title_justify="left", box=None)
        for text, score in others:
            table.add_row(f"{score:.3f}", Text(escaped(text)))
        console.print(table, "")
