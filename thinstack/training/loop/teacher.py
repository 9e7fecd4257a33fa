"""Asks teachers: bundles that parse sentences and give class probabilities to all phrases; and
stores their answers in files, so that a resumed run does not ask again."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import open_bundle
from thinstack.core import Tree
from thinstack.core.transitions import joining_nodes
from thinstack.data.files.writing import replacing
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.errors import ConfigError
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.scored import mean_scores
from thinstack.training.recipe import TeacherConfig

OnRead = Callable[[str, int, int], object]
"""Called with what a teacher reads, how many are done, and how many there are."""

AT_ONCE: Final = 1000
"""Sentences per file. A resumed run asks again about at most this many."""

LEAST_MASS: Final = 0.01
"""Below this probability of a set of classes, the classes in it get equal shares."""


class AnswerCache:
    """The answers of teachers about trees, sentences or strings, `at_once` of them per file.

    A file is named after the digest of the teachers and the question, so that an answer is never
    used for another question. Without a `folder`, nothing is stored. `on_read` is called after each
    file.
    """

    def __init__(
        self,
        folder: Path | None = None,
        on_read: OnRead = lambda *_: None,
        *,
        at_once: int = AT_ONCE,
    ):
        self._folder, self._on_read, self._at_once = folder, on_read, at_once
        self._used = set[Path]()

    def answers(
        self,
        what: str,
        teachers: Sequence[str],
        asked: Sequence[Any],
        ask: Callable[[Sequence[Any]], NDArray[Any]],
    ) -> Iterator[NDArray[Any]]:
        """Yield the rows that `ask` returns for what is `asked`, one file at a time. `teachers`:
        their digests. `what` names the question for `on_read`."""
        for start in range(0, len(asked), self._at_once):
            part = asked[start : start + self._at_once]
            path, rows = self._path(teachers, part), None
            if path is not None:
                self._used.add(path)
                with suppress(OSError, EOFError, ValueError):
                    rows = np.load(path, allow_pickle=False)
            if rows is None:
                rows = ask(part)
                self.store(teachers, part, rows)
            yield rows
            self._on_read(what, start + len(part), len(asked))

    def store(self, teachers: Sequence[str], part: Sequence[Any], rows: NDArray[Any]) -> None:
        """Store the answers about at most `at_once` trees, sentences or strings."""
        if (path := self._path(teachers, part)) is not None:
            with replacing(path) as temporary, temporary.open("wb") as file:
                np.save(file, rows)

    def remove_unused(self) -> None:
        """Remove the files of questions that were not asked."""
        if self._folder is not None:
            for path in set(self._folder.glob("*.npy")) - self._used:
                path.unlink()

    def _path(self, teachers: Sequence[str], part: Sequence[Any]) -> Path | None:
        if self._folder is None:
            return None
        asked = [
            [one.words, one.transitions.tolist()] if isinstance(one, Tree) else one for one in part
        ]
        digest = hashlib.sha256(json.dumps([teachers, asked]).encode()).hexdigest()
        return self._folder / f"{digest:.32}.npy"


class Teacher:
    """The bundles of a recipe's teacher.

    `threads`: of each `Predictor`. `words`: soft labels (C,) of words, which replace the teacher's
    within phrases. Raises ConfigError for a bundle that has other classes than `labels` or does not
    score phrases.
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
        self._bundles = [Predictor(open_bundle(name), threads=threads) for name in config.bundles]
        for name, bundle in zip(config.bundles, self._bundles, strict=True):
            if tuple(bundle.labels) != tuple(labels):
                raise ConfigError(
                    f"teacher.bundles: expected the classes of model.labels ({', '.join(labels)}), "
                    f"but {name} has {', '.join(bundle.labels)}; use a bundle with the model's "
                    "classes"
                )
            if not bundle.phrases:
                raise ConfigError(
                    f"teacher.bundles: {name} scores only whole sentences; use a bundle trained "
                    "on phrases"
                )
        self._config, self._threads = config, threads
        self._cache, self._words = cache, words

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Return the binary tree of each sentence of words. Raises ConfigError if no bundle
        parses."""
        bundles, name = self._bundles, self._config.parser
        if name is not None:
            bundles = [Predictor(open_bundle(name), threads=self._threads)]
        parser = next((bundle for bundle in bundles if bundle.config.parses), None)
        if parser is None:
            names = name or ", ".join(self._config.bundles)
            raise ConfigError(
                f"teacher.parser: expected a bundle that parses, which {names} does not; use "
                "one, such as sentiment"
            )
        digests = [parser.bundle.manifest.digest]

        def ask(words: Sequence[Sequence[str]]) -> NDArray[np.int8]:
            scored = parser.trees_and_scores(words, "self")
            steps = [sentence.transitions for sentence in scored]
            if self._bundles == [parser]:
                # The scores are needed next, and encoding takes most of the time of both.
                scores = np.concatenate([sentence.scores for sentence in scored])
                trees = list(map(Tree.from_transitions, steps, words))
                self._cache.store(digests, trees, scores.astype(np.float16))
            return np.concatenate(steps)

        steps = self._cache.answers("texts, for their trees", digests, sentences, ask)
        trees = _split(steps, [2 * len(words) - 1 for words in sentences])
        return list(map(Tree.from_transitions, trees, sentences))

    def soft_labels(self, trees: Sequence[LabelledTree], what: str) -> list[NDArray[np.float16]]:
        """Return the soft labels (N, C) of the nodes of each binary tree. `what` names the trees.

        They are the mean probabilities of all bundles, mixed with the labels of the tree (see
        `with_labels`). Sentences of a text are scored separately, and the nodes above them only
        have their labels. A root with a set of classes gets the probabilities `within_set`, in a
        text from the mean of its sentences.
        """

        def ask(part: Sequence[Tree]) -> NDArray[np.float16]:
            words, steps = [tree.words for tree in part], [tree.transitions for tree in part]
            scores = [np.concatenate(model.node_scores(words, steps)) for model in self._bundles]
            mean: NDArray[np.float16] = np.mean(scores, axis=0).astype(np.float16)
            return mean

        sentences = [one.sentence_trees() for one in trees]
        digests = [model.bundle.manifest.digest for model in self._bundles]
        answers = self._cache.answers(what, digests, [*chain.from_iterable(sentences)], ask)
        means = _split(answers, [sum(map(len, trees_of_text)) for trees_of_text in sentences])
        labels = []
        for mean, one in zip(means, trees, strict=True):
            lengths = np.array(one.sentences or [len(one.tree.words)])
            above = joining_nodes(one.tree.spans, lengths)
            rows = np.insert(mean, above - np.arange(len(above)), 0, axis=0)
            soft = with_labels(rows, one.labels, self._config.alpha)
            if one.root_set:
                roots = mean[np.cumsum(2 * lengths - 1) - 1]
                (whole,) = mean_scores(roots, lengths, np.array([len(lengths)]))
                soft[-1] = within_set(whole, one.root_set)
            for node, word in _words_in(one.tree) if self._words else ():
                soft[node] = self._words.get(word, soft[node])
            labels.append(soft)
        return labels


def with_labels(
    probabilities: NDArray[np.floating], labels: NDArray[np.int64], alpha: float
) -> NDArray[np.float16]:
    """Mix the labels (N,) of nodes with a teacher's `probabilities` (N, C). A label has the weight
    `alpha`, or 1 if all probabilities are 0; without a label (-1), the teacher has the weight 1."""
    classes = np.eye(probabilities.shape[1])[labels]
    mixed = alpha * classes + (1 - alpha) * probabilities.astype(np.float64)
    mixed = np.where(probabilities.any(1, keepdims=True), mixed, classes)
    return np.where(labels[:, np.newaxis] >= 0, mixed, probabilities).astype(np.float16)


def within_set(probabilities: NDArray[np.floating], classes: Sequence[int]) -> NDArray[np.floating]:
    """Scale the probabilities (C,) of a set of classes to the sum 1, and set the others to 0. If
    the set has less than `LEAST_MASS`, its classes get equal probabilities."""
    shares: NDArray[np.floating] = np.zeros(len(probabilities))
    masses = probabilities[[*classes]].astype(np.float64)
    shares[[*classes]] = masses / masses.sum() if masses.sum() >= LEAST_MASS else 1 / len(classes)
    return shares


def word_labels(trees: Sequence[LabelledTree], classes: int) -> dict[str, NDArray[np.float16]]:
    """Return {word: share of each class (C,)} for the labeled words within phrases of trees."""
    counts: dict[str, NDArray[np.float64]] = defaultdict(lambda: np.zeros(classes))
    for one in trees:
        for node, word in _words_in(one.tree):
            if one.labels[node] >= 0:
                counts[word][one.labels[node]] += 1
    return {word: (count / count.sum()).astype(np.float16) for word, count in counts.items()}


def _words_in(tree: Tree) -> Iterator[tuple[int, str]]:
    """Yield the node of each word, unless the tree is a single word."""
    if len(tree) > 1:
        leaves = np.flatnonzero(tree.spans[:, 1] - tree.spans[:, 0] == 1).tolist()
        yield from zip(leaves, tree.words, strict=True)


def _split(rows: Iterator[NDArray[Any]], sizes: Sequence[int]) -> list[NDArray[Any]]:
    parts = list(rows)
    return np.split(np.concatenate(parts), np.cumsum(sizes)[:-1]) if parts else []
