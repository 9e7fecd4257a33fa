"""`python -m reproduce compose`: sentences of the lesson `composed.v1`, to read."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from thinstack.core import Tree
from thinstack.data.trees.brackets import to_brackets
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.data.trees.treebank import read_labelled
from thinstack.training.lesson import Treebank
from thinstack.training.lessons.composed import composer_of


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is drawn: `number` texts of `families`, or of all; with the words of a `treebank` of
    five classes, if there is one; with `held_out`, from the frames that training leaves out."""

    number: int
    seed: int = 1
    families: tuple[str, ...] = ()
    held_out: bool = False
    treebank: Path | None = None


def composed_lines(files: Sequence[Path], drawing: Drawing, *, brackets: bool) -> Iterator[str]:
    """A line for each text: its tree in brackets, or JSON with its words and labels.

    Raises ConfigError for templates that are wrong, DataError for a treebank that cannot be read.
    """
    trees = []
    if drawing.treebank is not None:
        trees = [LabelledTree(*each) for each in read_labelled(drawing.treebank, tuple("01234"))]
    weights = tuple((name, 1.0) for name in drawing.families)
    composer = composer_of(Treebank(trees, 5), tuple(files), weights, held_out=drawing.held_out)
    for each in composer.draw(drawing.number, drawing.seed):
        if brackets:
            yield in_brackets(each.tree)
            continue
        yield json.dumps(
            {
                "family": each.family,
                "frame": each.frame,
                "text": " ".join(each.tree.tree.words),
                "label": int(each.tree.labels[-1]),
                "sentences": [in_brackets(sentence) for sentence in each.sentences],
            },
            ensure_ascii=False,
        )


def in_brackets(labelled: LabelledTree) -> str:
    """A binary tree as a treebank writes it. Unknown labels are "?"."""
    tree = labelled.tree
    names = ["?" if label < 0 else str(label) for label in labelled.labels.tolist()]
    return to_brackets(Tree.from_transitions(tree.transitions, tree.words, names))
