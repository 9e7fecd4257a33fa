"""Makes examples of sentences with terms: their trees, and what each node has to say."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.config import ModelConfig
from thinstack.core.scale import Scale
from thinstack.core.transitions import spans_of
from thinstack.data.trees.with_phrases import with_phrases
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import ConfigError
from thinstack.runtime.predictor import Predictor
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import labelled_tree
from thinstack.training.tasks.aspects.reading import Labelled

NO_TERM_CLASS: Final = 0


def examples_of_terms(
    sentences: Sequence[Labelled],
    guide: Predictor,
    vocabulary: Vocabulary,
    config: ModelConfig,
    *,
    polarity_weight: float,
    phrase_weight: float,
) -> list[Example]:
    """An example for each sentence.

    Its tree is the one that `guide` makes, changed so that every term is a phrase. A node that is
    no term has the sentiment that the guide gives it, and counts `phrase_weight` times for that. A
    term counts `polarity_weight` times for its label.
    """
    words = [each.words for each in sentences]
    parsed = [each.transitions for each in guide.trees_and_scores(words, "self")]
    trees = [
        with_phrases(steps, [term[:2] for term in each.terms])
        for steps, each in zip(parsed, sentences, strict=True)
    ]
    scores = guide.node_scores(words, trees)
    sides = _sides(config.labels)
    columns = [sides.index(side) for side in _sides(guide.labels)]
    found = []
    for each, steps, rows in zip(sentences, trees, scores, strict=True):
        tree = Tree.from_transitions(steps, each.words)
        soft = np.zeros((len(steps), len(config.labels)), np.float16)
        soft[:, NO_TERM_CLASS] = 1
        soft[:, 1:][:, columns] = phrase_weight * rows
        targets = np.zeros(len(steps), np.int64)
        nodes = {tuple(span): node for node, span in enumerate(spans_of(steps).tolist())}
        for start, end, label in each.terms:
            node, place = nodes[start, end], config.labels.index(label)
            targets[node], soft[node] = place, 0
            soft[node, place] = polarity_weight
        labelled = labelled_tree(tree, targets, vocabulary, config, "nodes")
        found.append(Example({"gold": labelled._replace(soft=soft)}))
    return found


def _sides(labels: Sequence[str]) -> list[int]:
    """The sides of the classes, without "no term"."""
    scale = Scale.of([label for label in labels if label != "no term"])
    assert scale is not None
    return list(scale.sides)
