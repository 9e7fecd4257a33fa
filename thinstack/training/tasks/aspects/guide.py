"""Makes examples of sentences with terms: their trees, and what each node has to say."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import open_bundle
from thinstack.core import Tree
from thinstack.core.config import ModelConfig
from thinstack.core.scale import Scale
from thinstack.core.transitions import spans_of
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import ConfigError
from thinstack.runtime.predictor import Predictor
from thinstack.text.with_phrases import with_phrases
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import labelled_tree
from thinstack.training.tasks.aspects.reading import LabelledSentence

NO_TERM_CLASS: Final = 0
"""The place of "no term" among a model's classes. The others are those of sentiment."""


class Guide:
    """A bundle of sentiment that makes the trees of sentences, and says how their phrases sound.

    `labels`: those of the model that learns, "no term" first. Raises ConfigError for a bundle that
    makes no trees, does not score phrases, or is none of sentiment.
    """

    def __init__(self, name: str, labels: Sequence[str]):
        own = Scale.of(labels[1:])
        assert own is not None, "the task has looked"
        self._predictor = Predictor(open_bundle(name))
        theirs = self._predictor.view.scale
        if not (self._predictor.config.parses and self._predictor.phrases and theirs):
            raise ConfigError(
                "task.guide, or else the bundle of [init]: expected one that makes trees and "
                f"scores the sentiment of phrases, which {name} does not; take another, such as "
                "sentiment"
            )
        self._adds = np.array(theirs.sides)[:, None] == np.array(own.sides)

    def examples(
        self,
        sentences: Sequence[LabelledSentence],
        vocabulary: Vocabulary,
        config: ModelConfig,
        *,
        polarity_weight: float,
        phrase_weight: float,
    ) -> list[Example]:
        """An example for each sentence.

        Its tree is the guide's, changed so that every term is a phrase. Its soft labels (N, C) are
        as `aspect_losses` takes them. A term counts `polarity_weight` times for its label. Any
        other node counts `phrase_weight` times for the sentiment that the guide gives it.
        """
        words = [each.words for each in sentences]
        parsed = [each.transitions for each in self._predictor.trees_and_scores(words, "self")]
        trees = [
            with_phrases(steps, [term[:2] for term in each.terms])
            for steps, each in zip(parsed, sentences, strict=True)
        ]
        scores = self._predictor.node_scores(words, trees)
        found = []
        for each, steps, rows in zip(sentences, trees, scores, strict=True):
            sentiment = phrase_weight * self._sentiment(rows)
            soft = np.concatenate([np.ones((len(steps), 1)), sentiment], 1).astype(np.float16)
            targets = np.full(len(steps), NO_TERM_CLASS)
            nodes = {(start, end): n for n, (start, end) in enumerate(spans_of(steps).tolist())}
            for start, end, label in each.terms:
                node, place = nodes[start, end], config.labels.index(label)
                targets[node], soft[node] = place, 0
                soft[node, place] = polarity_weight
            tree = Tree.from_transitions(steps, each.words)
            gold = labelled_tree(tree, targets, vocabulary, config, "nodes")
            found.append(Example({"gold": gold._replace(soft=soft)}))
        return found

    def _sentiment(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """The probabilities (N, C - 1) of the model's classes of sentiment, from the guide's."""
        masses = scores @ self._adds.astype(scores.dtype)
        shares: NDArray[np.float32] = masses / masses.sum(1, keepdims=True).clip(1e-6)
        return shares
