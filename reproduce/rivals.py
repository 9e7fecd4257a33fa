"""Plain rivals of the trees: classifiers of sentences that know nothing of structure, by
scikit-learn."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.config import Recipe
from thinstack.config.data_config import PAIR_TASKS
from thinstack.data.treebank import Labelled
from thinstack.errors import ConfigError, DataError, MissingExtraError, UnknownNameError
from thinstack.training.datasets import read_sentences

Texts = list[str]
Classes = NDArray[np.int64]

PENALTIES: Final = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""What C of LinearSVC is chosen from, by cross-validation."""
FOLDS: Final = 5


def run_rival(name: str, recipe: Recipe, data: Path) -> dict[str, float]:
    """Train the rival `name` on the sentences of a recipe, with files in the folder `data`, and
    measure it on their development part.

    "tfidf": a linear support vector machine over TF-IDF-weighted word 1- and 2-grams, and character
    3- to 5-grams where cross-validation finds them of use. It learns from the held-out sentences
    too. "bayes": multinomial naive Bayes over the counts of words; "svm": a linear support vector
    machine over which words there are (Socher et al. 2013, Table 1: NB, SVM). These two learn from
    every labelled phrase, with the settings that scikit-learn has by itself.

    Returns `root_accuracy` in percent; `roots`, the number of sentences; `parameters`, weights that
    are not zero and biases; of "bayes" and "svm" also `phrase_accuracy` and `phrases`. Raises
    UnknownNameError, ConfigError for a recipe of pairs, DataError for too few sentences,
    MissingExtraError without scikit-learn, and what reading the data raises.
    """
    if name not in RIVALS:
        raise UnknownNameError("rival", name, RIVALS)
    if recipe.data.task in PAIR_TASKS:
        raise ConfigError(
            f"rival {name!r} classifies sentences; expected a task of these, found "
            f"{recipe.data.task!r}"
        )
    train, held, dev = read_sentences(recipe, data)
    read = _phrases if name in OF_PHRASES else _sentences
    texts, classes = read([*train, *held])
    _check(classes, data / recipe.data.train)
    asked, gold = _sentences(dev)
    if not len(gold):
        raise DataError(
            f"{data / recipe.data.reported}: expected sentences that have a class, found none"
        )
    parts, kinds = _phrases(dev) if name in OF_PHRASES else ([], gold[:0])
    predicted, parameters = RIVALS[name](texts, classes, [*asked, *parts])
    right = predicted == np.concatenate([gold, kinds])
    found = {
        "root_accuracy": 100.0 * float(right[: len(gold)].mean()),
        "roots": len(gold),
        "parameters": parameters,
    }
    if parts:
        found |= {
            "phrase_accuracy": 100.0 * float(right[len(gold) :].mean()),
            "phrases": len(parts),
        }
    return found


def _sentences(treebank: Sequence[Labelled]) -> tuple[Texts, Classes]:
    """The words of every sentence that has a class, between spaces, and that class."""
    known = [(tree, int(labels[tree.root])) for tree, labels in treebank if labels[tree.root] >= 0]
    classes = np.array([label for _, label in known], np.int64)
    return [" ".join(tree.words) for tree, _ in known], classes


def _phrases(treebank: Sequence[Labelled]) -> tuple[Texts, Classes]:
    """The words of every node that has a class, and that class."""
    texts, classes = [], []
    for tree, labels in treebank:
        for (start, end), label in zip(tree.spans.tolist(), labels.tolist(), strict=True):
            if label >= 0:
                texts.append(" ".join(tree.words[start:end]))
                classes.append(label)
    return texts, np.array(classes, np.int64)


def _check(classes: Classes, path: Path) -> None:
    counts = np.unique(classes, return_counts=True)[1]
    if len(counts) < 2 or counts.max() < FOLDS:
        raise DataError(
            f"{path}: expected sentences of two classes or more, and {FOLDS} or more of one, for "
            f"the folds of cross-validation; found {len(classes)} sentences of {len(counts)} "
            "classes"
        )


def _tfidf(texts: Texts, classes: Classes, asked: Texts) -> tuple[Classes, int]:
    """The classes predicted for `asked`, and the number of parameters."""
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.model_selection import GridSearchCV, KFold
        from sklearn.pipeline import FeatureUnion
        from sklearn.svm import LinearSVC
    except ImportError:
        raise MissingExtraError("sklearn", "reproduce") from None
    # "?" is a word too.
    words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\S+", sublinear_tf=True)
    characters = TfidfVectorizer(ngram_range=(3, 5), analyzer="char_wb", sublinear_tf=True)
    folds = KFold(FOLDS, shuffle=True, random_state=0)
    searches = []
    for parts in ({"words": words}, {"words": words, "characters": characters}):
        features: Any = FeatureUnion(list(parts.items()))
        machine = LinearSVC(random_state=0, max_iter=10_000)
        search = GridSearchCV(machine, {"C": PENALTIES}, cv=folds)
        searches.append((search.fit(features.fit_transform(texts), classes), features))
    search, features = max(searches, key=lambda found: found[0].best_score_)
    classifier = search.best_estimator_
    parameters = int(np.count_nonzero(classifier.coef_)) + classifier.intercept_.size
    return classifier.predict(features.transform(asked)), parameters


def _bayes(texts: Texts, classes: Classes, asked: Texts) -> tuple[Classes, int]:
    try:
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.naive_bayes import MultinomialNB
    except ImportError:
        raise MissingExtraError("sklearn", "reproduce") from None
    words = CountVectorizer(token_pattern=r"\S+")
    classifier = MultinomialNB().fit(words.fit_transform(texts), classes)
    parameters = classifier.feature_log_prob_.size + classifier.class_log_prior_.size
    return classifier.predict(words.transform(asked)), parameters


def _svm(texts: Texts, classes: Classes, asked: Texts) -> tuple[Classes, int]:
    try:
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.svm import LinearSVC
    except ImportError:
        raise MissingExtraError("sklearn", "reproduce") from None
    words = CountVectorizer(token_pattern=r"\S+", binary=True)
    machine = LinearSVC(random_state=0, max_iter=10_000)
    classifier = machine.fit(words.fit_transform(texts), classes)
    parameters = int(np.count_nonzero(classifier.coef_)) + classifier.intercept_.size
    return classifier.predict(words.transform(asked)), parameters


Rival = Callable[[Texts, Classes, Texts], tuple[Classes, int]]
RIVALS: Final[Mapping[str, Rival]] = {"tfidf": _tfidf, "bayes": _bayes, "svm": _svm}
"""What predicts the classes of the last texts, and how many parameters it has."""
OF_PHRASES: Final = frozenset({"bayes", "svm"})
"""Rivals that learn from every labelled phrase."""
