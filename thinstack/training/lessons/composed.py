"""A lesson of sentences that are composed by rules, with a label at every node."""

import re
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field

from thinstack.data.trees.subtrees import LabelledTree
from thinstack.training.lesson import Lesson, Treebank
from thinstack.training.lessons._composer import Composer
from thinstack.training.lessons._composition import GRAMMARS, FromTreebank, read_composition

__all__ = ["Composed", "composer_of", "words_of_treebank"]


class Composed(Lesson):
    """Sentences from templates. Their words have labels, and rules give the other labels: "bad" is
    negative, so "not bad" is positive. A label is five probabilities."""

    name: ClassVar[str] = "composed.v1"
    summary: ClassVar[str] = "sentences from templates, with labels by rules"
    anew: ClassVar[bool] = True
    parsed: ClassVar[bool] = True
    soft: ClassVar[bool] = True

    share: float = Field(
        default=1.0, gt=0, description="How many are drawn for each sentence and epoch."
    )
    grammars: tuple[str, ...] = Field(
        default=GRAMMARS,
        min_length=1,
        description="The files of templates, words and rules, in the folder of the data or beside "
        "the recipe. Those of the default are in `lab/recipes/grammar` in the repository of "
        "thinstack.",
    )
    families: dict[str, float] = Field(
        default_factory=dict,
        description="The families to draw from, with their weights. Without any, all are drawn "
        "from, with the weights of the files.",
    )
    sentences: bool = Field(
        default=False,
        description="Whether a text of two sentences gives these. Otherwise it is one tree over "
        "their trees.",
    )

    @property
    def files(self) -> tuple[str, ...]:
        """The files of templates, words and rules."""
        return self.grammars

    def trees(self, treebank: Treebank, draw: np.random.Generator) -> list[LabelledTree]:
        """Texts with the labels of their nodes. Raises ConfigError for templates that are wrong, or
        if there is nothing to draw from."""
        paths = tuple(self.path(name, treebank.folders) for name in self.grammars)
        composer = composer_of(treebank, paths, tuple(self.families.items()))
        number = round(self.share * len(treebank.trees))
        texts = composer.draw(number, int(draw.integers(2**63)))
        if self.sentences:
            return [sentence for text in texts for sentence in text.sentences]
        return [text.tree for text in texts]


@lru_cache(maxsize=8)  # it is the same in each epoch
def composer_of(
    treebank: Treebank,
    paths: tuple[Path, ...],
    weights: tuple[tuple[str, float], ...] = (),
    *,
    held_out: bool = False,
) -> Composer:
    """What draws texts from the templates in some files, with words of a treebank. `weights` and
    `held_out` are as a `Composer` takes them. Raises ConfigError as that does."""
    composition, classes = read_composition(paths), treebank.classes
    more = {
        name: words_of_treebank(treebank, wanted)
        for name, wanted in composition.from_treebank.items()
    }
    return Composer(composition, classes, dict(weights), held_out=held_out, more=more)


def words_of_treebank(treebank: Treebank, wanted: FromTreebank) -> dict[str, str]:
    """The words of a treebank that stand alone after certain words, with the side of their most
    frequent class as their label, doubled for the ends of five classes. Neutral ones are left
    out."""
    counts, middle = Counter[tuple[str, int]](), (treebank.classes - 1) / 2
    for each in treebank.trees:
        tree, labels = each.tree, each.labels
        spans, words = tree.spans.tolist(), tree.words
        for below in tree.children:
            if len(below) == 2 and words[spans[below[0]][0]] in wanted.after:
                (first, place), (_, last) = spans[below[0]], spans[below[1]]
                if place - first == 1 == last - place and labels[below[1]] >= 0:
                    counts[words[place], int(labels[below[1]])] += 1
    often, chosen = Counter[str](), dict[str, str]()
    for (word, label), count in counts.most_common():
        often[word] += count
        sign = "" if label == middle else "-" if label < middle else "+"
        chosen.setdefault(word, sign * (2 if treebank.classes == 5 and label in (0, 4) else 1))
    return {
        word: label
        for word, label in chosen.items()
        if label and often[word] >= wanted.least and word.isalpha() and word.islower()
        if word not in wanted.left_out and not re.search(wanted.not_like, word)
    }
