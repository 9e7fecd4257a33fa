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
    too. Returns `root_accuracy` in percent; `roots`, the number of sentences; `parameters`, weights
    that are not zero and biases. Raises UnknownNameError, ConfigError for a recipe of pairs,
    DataError for too few sentences, MissingExtraError without scikit-learn, and what reading the
    data raises.
    """
    rivals: Mapping[str, Callable[[Texts, Classes, Texts], tuple[Classes, int]]] = {"tfidf": _tfidf}
    if name not in rivals:
        raise UnknownNameError("rival", name, rivals)
    if recipe.data.task in PAIR_TASKS:
        raise ConfigError(
            f"rival {name!r} classifies sentences; expected a task of these, found "
            f"{recipe.data.task!r}"
        )
    train, held, dev = read_sentences(recipe, data)
    texts, classes = _sentences([*train, *held])
    _check(classes, data / recipe.data.train)
    asked, gold = _sentences(dev)
    if not len(gold):
        raise DataError(
            f"{data / recipe.data.reported}: expected sentences that have a class, found none"
        )
    predicted, parameters = rivals[name](texts, classes, asked)
    return {
        "root_accuracy": 100.0 * float((predicted == gold).mean()),
        "roots": len(gold),
        "parameters": parameters,
    }


def _sentences(treebank: Sequence[Labelled]) -> tuple[Texts, Classes]:
    """The words of every sentence that has a class, between spaces, and that class."""
    known = [(tree, int(labels[tree.root])) for tree, labels in treebank if labels[tree.root] >= 0]
    classes = np.array([label for _, label in known], np.int64)
    return [" ".join(tree.words) for tree, _ in known], classes


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
