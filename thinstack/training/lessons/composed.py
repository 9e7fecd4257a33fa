"""A lesson of sentences that are composed by rules, with a label at every node."""

from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field

from thinstack.data.trees.subtrees import LabelledTree
from thinstack.training.lesson import Lesson, Treebank
from thinstack.training.lessons._composer import Composer, words_of_treebank
from thinstack.training.lessons._composition import read_composition

__all__ = ["Composed", "composer_of"]


class Composed(Lesson):
    """Sentences from templates, whose words are known and whose other labels follow by rules: "not
    bad" is good. Their labels are five probabilities each."""

    name: ClassVar[str] = "composed.v1"
    summary: ClassVar[str] = "sentences from templates, with labels by rules"
    anew: ClassVar[bool] = True
    parsed: ClassVar[bool] = True
    soft: ClassVar[bool] = True

    share: float = Field(
        default=1.0, gt=0, description="How many are drawn for each training sentence and epoch."
    )
    grammars: tuple[str, ...] = Field(
        default=tuple(f"grammar/composed-{name}.json" for name in ("english", "words", "people")),
        min_length=1,
        description="The files of templates, rules and words, in the folder of the data or beside "
        "the recipe. Those of `recipes/grammar` in the repository of thinstack are some.",
    )
    families: dict[str, float] = Field(
        default={},
        description="The families of sentences to draw from, with their weights. Without any, "
        "all, with the weights of the files.",
    )
    sentences: bool = Field(
        default=False,
        description="Whether a text of two sentences gives its sentences, not one tree over both.",
    )

    @property
    def files(self) -> tuple[str, ...]:
        """The files of templates."""
        return self.grammars

    def trees(self, treebank: Treebank, draw: np.random.Generator) -> list[LabelledTree]:
        """Texts with the labels of their nodes. Raises ConfigError for templates that are wrong, or
        if there is nothing to draw from."""
        number = round(self.share * len(treebank.trees))
        paths = tuple(self.path(name, treebank.folders) for name in self.grammars)
        composer = composer_of(treebank, paths, tuple(self.families.items()))
        texts = composer.draw(number, int(draw.integers(2**63)))
        if not self.sentences:
            return [each.text for each in texts]
        return [sentence for each in texts for sentence in each.sentences]


@lru_cache(maxsize=8)  # it is the same in each epoch
def composer_of(
    treebank: Treebank,
    paths: tuple[Path, ...],
    weights: tuple[tuple[str, float], ...] = (),
    *,
    held_out: bool = False,
) -> Composer:
    """What draws texts from the templates in some files, with words of a treebank. `weights` and
    `held_out`: as a `Composer` takes them."""
    grammar, classes = read_composition(paths), treebank.classes
    more = {
        name: words_of_treebank(treebank.trees, wanted, classes)
        for name, wanted in grammar.from_treebank.items()
    }
    return Composer(grammar, classes, dict(weights), held_out=held_out, more=more)
