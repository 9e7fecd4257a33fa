"""Asks a teacher: bundles that give trees to sentences, and probabilities to all phrases."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import open_bundle
from thinstack.core import Tree
from thinstack.core.transitions import joining_nodes
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.errors import ConfigError
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.scored import mean_scores
from thinstack.training.loop.answer_cache import AnswerCache
from thinstack.training.recipe import TeacherConfig

LEAST_MASS: Final = 0.01
"""The least probability of a set of classes in which a teacher tells these apart."""


class Teacher:
    """The bundles of a recipe's teacher.

    `threads`: as a `Predictor` takes them. `words`: soft labels (C,) of words, which stand in place
    of the teacher's. Raises ConfigError for a bundle that has other classes than `labels` or does
    not score phrases.
    """

    def __init__(
        self,
        config: TeacherConfig,
        labels: Sequence[str],
        cache: AnswerCache,
        *,
        threads: int | None = None,
        words: Mapping[str, NDArray[np.float16]] = {},  # it is only read
    ):
        self._bundles = [_bundle(name, labels, threads) for name in config.bundles]
        self._config, self._threads = config, threads
        self._cache, self._words = cache, words

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """The binary tree of each sentence of words, by the bundle that parses. Raises ConfigError
        if no bundle does."""
        parser = self._parser()
        digests = [parser.bundle.manifest.digest]

        def ask(words: Sequence[Sequence[str]]) -> NDArray[np.int8]:
            scored = parser.trees_and_scores(words, "self")
            steps = [sentence.transitions for sentence in scored]
            if self._bundles == [parser]:
                # They are asked for next, and an encoder takes most of the time of both.
                scores = np.concatenate([sentence.scores for sentence in scored])
                trees = list(map(Tree.from_transitions, steps, words))
                self._cache.keep(digests, trees, scores.astype(np.float16))
            return np.concatenate(steps)

        steps = self._cache.answers("texts, for their trees", digests, sentences, ask)
        trees = _cut(steps, [2 * len(words) - 1 for words in sentences])
        return list(map(Tree.from_transitions, trees, sentences))

    def soft_labels(self, trees: Sequence[LabelledTree], what: str) -> list[NDArray[np.float16]]:
        """How often each class counts for the nodes of each binary tree, (N, C).

        It is the mean probability over all bundles. Where a tree has a label, that has
        the share `alpha`, and the probabilities have the rest. Sentences of a text are read by
        themselves, and nodes above them have their own label alone. A root with a set of classes
        has their probabilities (`within_set`), of a text as the mean of its sentences. The `words`
        of the teacher have their own labels alone, within a phrase. `what` names the trees.
        """

        def ask(part: Sequence[Tree]) -> NDArray[np.float16]:
            words, steps = [tree.words for tree in part], [tree.transitions for tree in part]
            scores = [np.concatenate(model.node_scores(words, steps)) for model in self._bundles]
            mean: NDArray[np.float16] = np.mean(scores, axis=0).astype(np.float16)
            return mean

        sentences = [one.sentence_trees() for one in trees]
        digests = [model.bundle.manifest.digest for model in self._bundles]
        answers = self._cache.answers(what, digests, [*chain.from_iterable(sentences)], ask)
        means = _cut(answers, [sum(map(len, trees_of_text)) for trees_of_text in sentences])
        labels = []
        for mean, one in zip(means, trees, strict=True):
            soft = with_labels(_of_text(mean, one), one.labels, self._config.alpha)
            if one.root_set:
                soft[-1] = within_set(_of_whole(mean, one), one.root_set)
            for node, word in _words_in(one.tree) if self._words else ():
                soft[node] = self._words.get(word, soft[node])
            labels.append(soft)
        return labels

    def _parser(self) -> Predictor:
        bundles, name = self._bundles, self._config.parser
        if name is not None:
            bundles = [Predictor(open_bundle(name), threads=self._threads)]
        if parsers := [bundle for bundle in bundles if bundle.config.parses]:
            return parsers[0]
        names = name or ", ".join(self._config.bundles)
        raise ConfigError(
            f"teacher.parser: expected a bundle that parses, which {names} does not; name "
            "one, such as sentiment"
        )


def with_labels(
    probabilities: NDArray[np.floating], labels: NDArray[np.int64], alpha: float
) -> NDArray[np.float16]:
    """Soft labels (N, C): a mixture of the known labels (N,) and the teacher's `probabilities` (N,
    C). The known labels have the share `alpha`, or all if the probabilities of a node are 0. Where
    there is no label (-1), the teacher has it all."""
    labelled = (labels >= 0)[:, np.newaxis]
    classes = np.eye(probabilities.shape[1])[labels]
    mixed = alpha * classes + (1 - alpha) * probabilities.astype(np.float64)
    mixed = np.where(probabilities.any(1, keepdims=True), mixed, classes)
    return np.where(labelled, mixed, probabilities).astype(np.float16)


def within_set(probabilities: NDArray[np.floating], classes: Sequence[int]) -> NDArray[np.floating]:
    """The probabilities (C,) of a set of classes alone, so that their sum is 1. They are even if
    the set has less than `LEAST_MASS`, because shares of almost nothing say nothing."""
    shares: NDArray[np.floating] = np.zeros(len(probabilities))
    masses = probabilities[[*classes]].astype(np.float64)
    shares[[*classes]] = masses / masses.sum() if masses.sum() >= LEAST_MASS else 1 / len(classes)
    return shares


def _of_whole(rows: NDArray[Any], one: LabelledTree) -> NDArray[Any]:
    """The probabilities (C,) of a whole, from the rows of its sentences: the mean of theirs."""
    lengths = np.array(one.sentences or [len(one.tree.words)])
    roots = rows[np.cumsum(2 * lengths - 1) - 1]
    whole: NDArray[Any] = mean_scores(roots, lengths, np.array([len(lengths)]))[0]
    return whole


def _of_text(rows: NDArray[Any], one: LabelledTree) -> NDArray[Any]:
    """The rows of all nodes of a text, from those of its sentences; 0 above sentences."""
    if one.sentences is None:
        return rows
    above = joining_nodes(one.tree.spans, np.array(one.sentences))
    all_rows = np.zeros((len(one.tree), rows.shape[1]), rows.dtype)
    all_rows[np.delete(np.arange(len(one.tree)), above)] = rows
    return all_rows


def word_labels(trees: Sequence[LabelledTree], classes: int) -> dict[str, NDArray[np.float16]]:
    """How often each word of some trees has each class, (C,), of 1. Words without a label are left
    out."""
    counts: dict[str, NDArray[np.float64]] = defaultdict(lambda: np.zeros(classes))
    for one in trees:
        for node, word in _words_in(one.tree):
            if one.labels[node] >= 0:
                counts[word][one.labels[node]] += 1
    return {word: (count / count.sum()).astype(np.float16) for word, count in counts.items()}


def _words_in(tree: Tree) -> Iterator[tuple[int, str]]:
    """The node of each word of a tree of several."""
    if len(tree) > 1:
        leaves = np.flatnonzero(tree.spans[:, 1] - tree.spans[:, 0] == 1).tolist()
        yield from zip(leaves, tree.words, strict=True)


def _bundle(name: str, labels: Sequence[str], threads: int | None) -> Predictor:
    predictor = Predictor(open_bundle(name), threads=threads)
    if tuple(predictor.labels) != tuple(labels):
        raise ConfigError(
            f"teacher.bundles: expected the classes of model.labels ({', '.join(labels)}), but "
            f"{name} has {', '.join(predictor.labels)}; name a bundle with the classes of the model"
        )
    if not predictor.phrases:
        raise ConfigError(
            f"teacher.bundles: {name} scores only whole sentences; name a bundle that was trained "
            "on phrases"
        )
    return predictor


def _cut(rows: Iterator[NDArray[Any]], sizes: Sequence[int]) -> list[NDArray[Any]]:
    """The rows of each sentence."""
    parts = list(rows)
    return np.split(np.concatenate(parts), np.cumsum(sizes)[:-1]) if parts else []
