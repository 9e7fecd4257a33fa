"""Plain rivals of the trees: classifiers of sentences and pairs that know nothing of structure, by
scikit-learn."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from reproduce.pair_features import WordPair, indicators, numbers
from reproduce.shown import TRAIN_ACCURACY
from thinstack.data.trees.treebank import Labelled
from thinstack.errors import ConfigError, DataError, UnknownNameError
from thinstack.evaluate.figures import percentage
from thinstack.training.examples.datasets import Split, read_items
from thinstack.training.recipe import Recipe
from thinstack.training.tasks.pairs import Pair

Texts = list[str]
Classes = NDArray[np.int64]

PENALTIES: Final = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""What C of LinearSVC is chosen from, by cross-validation."""
PAIR_PENALTIES: Final = (0.003, 0.01, 0.03, 0.1, 0.3)
"""The same of pairs, which have many more features."""
FOLDS: Final = 5


def run_rival(name: str, recipe: Recipe, data: Path) -> dict[str, float]:
    """Train the rival `name` on the sentences or pairs of a recipe, with files in the folder
    `data`, and measure it on their development part.

    "tfidf": a linear support vector machine over TF-IDF-weighted word 1- and 2-grams, and character
    3- to 5-grams where cross-validation finds them of use. It learns from the held-out sentences
    too. "bayes": multinomial naive Bayes over the counts of words; "svm": a linear support vector
    machine over which words there are (Socher et al. 2013, Table 1: NB, SVM). These two learn from
    every labelled phrase, with the settings that scikit-learn has by itself. "lexicalized": a
    linear support vector machine over `pair_features` of pairs of the task "entailment". It learns
    from the held-out pairs too.

    Returns `root_accuracy` in percent; `roots`, the number of sentences; `parameters`, weights that
    are not zero and biases; of "bayes" and "svm" also `phrase_accuracy` and `phrases`; of pairs
    `accuracy`, `train_accuracy`, `pairs` and `parameters`. Raises UnknownNameError, ConfigError for
    a recipe of another task, DataError for too few sentences or pairs, and what reading the data
    raises.
    """
    if name not in (*RIVALS, OF_PAIRS):
        raise UnknownNameError("rival", name, (*RIVALS, OF_PAIRS))
    task, kind = recipe.task, "pairs in classes" if name == OF_PAIRS else "sentences"
    found = "pairs in classes" if "accuracy" in task.figures else task.items
    if found != ("pairs in classes" if name == OF_PAIRS else "trees"):
        raise ConfigError(
            f"rival {name!r} classifies {kind}; expected a task of these, found {task.name!r}"
        )
    parts = read_items(recipe, data)
    if name == OF_PAIRS:
        return _of_pairs(parts, recipe, data)
    return _of_sentences(parts, name, recipe, data)


def _of_pairs(parts: Split, recipe: Recipe, data: Path) -> dict[str, float]:
    train, held, dev = map(_pairs, parts)
    pairs, classes = [*train[0], *held[0]], np.concatenate([train[1], held[1]])
    _check(classes, data / recipe.data.train)
    predicted, parameters = _lexicalized(pairs, classes, [*dev[0], *pairs])
    right = predicted == np.concatenate([dev[1], classes])
    count = len(dev[1])
    found = {"accuracy": right[:count], TRAIN_ACCURACY: right[count:]}
    accuracies = {name: percentage(cases) or 0.0 for name, cases in found.items()}
    return {**accuracies, "pairs": count, "parameters": parameters}


def _pairs(pairs: Sequence[Pair]) -> tuple[list[WordPair], NDArray[Any]]:
    words: list[WordPair] = [(pair.trees[0].words, pair.trees[1].words) for pair in pairs]
    return words, np.array([pair.target for pair in pairs], str)


def _of_sentences(parts: Split, name: str, recipe: Recipe, data: Path) -> dict[str, float]:
    train, held, dev = parts
    read = _phrases if name in OF_PHRASES else _sentences
    texts, classes = read([*train, *held])
    _check(classes, data / recipe.data.train)
    asked, gold = _sentences(dev)
    if not len(gold):
        raise DataError(
            f"{data / recipe.data.reported}: expected sentences that have a class, found none"
        )
    phrases, kinds = _phrases(dev) if name in OF_PHRASES else ([], gold[:0])
    predicted, parameters = RIVALS[name](texts, classes, [*asked, *phrases])
    right = predicted == np.concatenate([gold, kinds])
    found = {
        "root_accuracy": 100.0 * float(right[: len(gold)].mean()),
        "roots": len(gold),
        "parameters": parameters,
    }
    if phrases:
        found |= {
            "phrase_accuracy": 100.0 * float(right[len(gold) :].mean()),
            "phrases": len(phrases),
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


def _check(classes: NDArray[Any], path: Path) -> None:
    counts = np.unique(classes, return_counts=True)[1]
    if len(counts) < 2 or counts.max() < FOLDS:
        raise DataError(
            f"{path}: expected examples of two classes or more, and {FOLDS} or more of one, for "
            f"the folds of cross-validation; found {len(classes)} examples of {len(counts)} "
            "classes"
        )


def _tfidf(texts: Texts, classes: Classes, asked: Texts) -> tuple[Classes, int]:
    """The classes predicted for `asked`, and the number of parameters."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import GridSearchCV, KFold
    from sklearn.pipeline import FeatureUnion
    from sklearn.svm import LinearSVC

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
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    words = CountVectorizer(token_pattern=r"\S+")
    classifier = MultinomialNB().fit(words.fit_transform(texts), classes)
    parameters = classifier.feature_log_prob_.size + classifier.class_log_prior_.size
    return classifier.predict(words.transform(asked)), parameters


def _svm(texts: Texts, classes: Classes, asked: Texts) -> tuple[Classes, int]:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.svm import LinearSVC

    words = CountVectorizer(token_pattern=r"\S+", binary=True)
    machine = LinearSVC(random_state=0, max_iter=10_000)
    classifier = machine.fit(words.fit_transform(texts), classes)
    parameters = int(np.count_nonzero(classifier.coef_)) + classifier.intercept_.size
    return classifier.predict(words.transform(asked)), parameters


def _lexicalized(
    pairs: Sequence[WordPair], classes: NDArray[Any], asked: Sequence[WordPair]
) -> tuple[NDArray[Any], int]:
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import GridSearchCV, KFold
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    names = CountVectorizer(analyzer=indicators, binary=True, dtype=np.float64).fit(pairs)
    scale = StandardScaler().fit(list(map(numbers, pairs)))

    def features(of: Sequence[WordPair]) -> Any:
        scaled = csr_matrix(scale.transform(list(map(numbers, of))))
        return hstack([names.transform(of), scaled]).tocsr()

    machine = LinearSVC(random_state=0, max_iter=10_000)
    folds = KFold(FOLDS, shuffle=True, random_state=0)
    search = GridSearchCV(machine, {"C": PAIR_PENALTIES}, cv=folds)
    classifier = search.fit(features(pairs), classes).best_estimator_
    parameters = int(np.count_nonzero(classifier.coef_)) + classifier.intercept_.size
    return classifier.predict(features(asked)), parameters


Rival = Callable[[Texts, Classes, Texts], tuple[Classes, int]]
RIVALS: Final[Mapping[str, Rival]] = {"tfidf": _tfidf, "bayes": _bayes, "svm": _svm}
"""What predicts the classes of the last texts, and how many parameters it has."""
OF_PAIRS: Final = "lexicalized"
"""The rival of pairs."""
OF_PHRASES: Final = frozenset({"bayes", "svm"})
"""Rivals that learn from every labelled phrase."""
