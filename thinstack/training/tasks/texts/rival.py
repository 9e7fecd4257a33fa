"""Trains the plain rival of a model of texts, TF-IDF and logistic regression by scikit-learn, and
prints the figures of both."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from thinstack.evaluate.accuracy import NAMES, confusion, text_figures
from thinstack.evaluate.figures import Figures, figure_names, shown
from thinstack.integrations.show.terminal import WIDEST, matrix
from thinstack.training.loop.measuring import Answers
from thinstack.training.tasks.texts.reading import Text

NAME: Final = "TF-IDF, logistic regression"

MAX_RIVAL_TEXTS: Final = 50_000
"""The most texts that the rival learns from. Of more texts it takes so many, evenly spread."""


def plain_rival(train: Sequence[Text], dev: Sequence[Text], labels: Sequence[str]) -> Figures:
    """The figures of the rival on `dev`, after `learn_plain` has learnt from `train`, or from
    `MAX_RIVAL_TEXTS` of its texts. `labels`: all classes, in order."""
    size = min(len(train), MAX_RIVAL_TEXTS)
    learnt = [train[place] for place in np.linspace(0, len(train) - 1, size, dtype=int)]
    score = learn_plain(list(map(_spaced, learnt)), [text.label for text in learnt], labels)
    gold = np.array([labels.index(text.label) for text in dev], np.int64)
    return text_figures(score(list(map(_spaced, dev))), gold, labels)


def learn_plain(
    texts: Sequence[str], names: Sequence[str], labels: Sequence[str]
) -> Callable[[Sequence[str]], NDArray[np.float64]]:
    """A function that gives T texts the probabilities (T, C) of `labels`.

    It is a logistic regression (C = 10) over TF-IDF-weighted 1- and 2-grams of words. It learns
    from `texts` of the classes `names`. Texts are words with spaces between them.
    """
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\S+")
    model = make_pipeline(words, LogisticRegression(C=10.0, max_iter=1000)).fit(texts, names)

    def score(texts: Sequence[str]) -> NDArray[np.float64]:
        scores = np.zeros((len(texts), len(labels)))
        scores[:, [labels.index(name) for name in model.classes_]] = model.predict_proba(texts)
        return scores

    return score


def _spaced(text: Text) -> str:
    """The words of a text with spaces between them."""
    return " ".join(word for sentence in text.sentences for word in sentence)


def show_texts(
    answers: Answers, own: Figures, rival: tuple[str, Figures], labels: Sequence[str], to: Console
) -> None:
    """Print the figures of a seed beside the rival's, and the confusion matrix of its answers."""
    names = figure_names(NAMES, labels)
    table = Table(title="beside a plain rival, percent", title_justify="left")
    table.add_column("")
    for name in names.values():
        table.add_column(name, justify="right")
    for title, figures in (("this model", own), rival):
        table.add_row(title, *(shown(key, figures[key]) for key in names))
    to.print(table)
    accuracy, texts = own["accuracy"], own["texts"]
    assert accuracy is not None
    assert texts is not None
    error = (accuracy * (100 - accuracy) / texts) ** 0.5
    to.print(f"of {texts:,} texts: just by chance, an accuracy is off by some {error:.1f}")
    if len(labels) <= WIDEST:
        to.print(matrix(confusion(answers.predicted, answers.gold, len(labels)), labels))
