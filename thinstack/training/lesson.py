"""The contract of a lesson: additional trees to train on."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, SerializeAsAny

from thinstack.core import Tree
from thinstack.data.trees.subtrees import LabelledTree as LabelledTree
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.plugins.named import Named, named


@dataclass(frozen=True, slots=True, eq=False)
class Treebank:
    """The data that lessons use.

    Attributes:
        trees: the training sentences over binary trees, with the classes of their nodes.
        classes, labels: the number of classes, from negative to positive, and their names.
        joins: whether the model reads a text of several sentences as one tree.
        aside: the words of each held-out sentence. No lesson may contain them.
        folders: the folders with the files of lessons, for `Lesson.path`.
        parse: returns the binary trees of sentences given as words. Available with a teacher.
        vocabulary: of the model. Available only to lessons that are drawn for each epoch.
        say: prints a line for the user, such as what a lesson has skipped.
    """

    trees: Sequence[LabelledTree]
    classes: int
    aside: Sequence[Sequence[str]] = ()
    folders: Sequence[Path] = ()
    parse: Callable[[Sequence[Sequence[str]]], list[Tree]] | None = None
    vocabulary: Vocabulary | None = None
    labels: Sequence[str] = ()
    joins: bool = False
    say: Callable[[str], object] = lambda line: None

    def word_ids(self) -> NDArray[np.int64]:
        """Return the ids of all words, one tree after the other, or those of their first pieces."""
        assert self.vocabulary is not None
        fields = self.vocabulary.fields([word for one in self.trees for word in one.tree.words])
        if "token_ids" in fields:
            return np.asarray(fields["token_ids"])
        counts = fields["pieces_per_word"]
        return np.asarray(fields["piece_ids"][np.cumsum(counts) - counts])


class Lesson(Named):
    """Additional trees to train on. The fields of a lesson are its settings in a recipe.

    Attributes:
        anew: whether its trees are drawn again for each epoch. Otherwise, they are created once,
            before the first epoch.
        taught: whether a teacher labels its trees. Labels from the lesson are mixed with the
            teacher's, like those of the training file. Only for lessons that are created once.
        parsed: whether a parser is trained on its trees, unless the recipe sets `for_parser`.
        soft: whether its trees have soft labels, or sets of classes. A lesson that is `taught` and
            has them does not need a teacher.
    """

    plugin_kind: ClassVar[str] = "lesson"
    anew: ClassVar[bool] = False
    taught: ClassVar[bool] = False
    parsed: ClassVar[bool] = False
    soft: ClassVar[bool] = False

    weight: float = Field(default=1.0, gt=0)
    """Weight of its sentences in the loss; sentences of the training file have weight 1."""
    every: int = Field(default=1, ge=1)
    """Number of epochs over which its sentences are distributed. Only for lessons that are created
    once, such as `texts.v1`."""
    for_parser: bool | None = None
    """Whether a parser is trained on its trees. By default, each lesson decides; for `alone.v1`, it
    is."""

    @property
    def teaches_parser(self) -> bool:
        """Whether a parser is trained on its trees: `for_parser` or, by default, `parsed`."""
        return self.parsed if self.for_parser is None else self.for_parser

    @abstractmethod
    def trees(self, treebank: Treebank, draw: np.random.Generator) -> list[LabelledTree]:
        """Return the trees of the lesson. All random choices use `draw`."""

    @property
    def title(self) -> str:
        """Its name without the version."""
        return self.name.partition(".")[0]


Lessons = tuple[Annotated[SerializeAsAny[Lesson], named("lesson")], ...]
"""The lessons of a recipe."""
