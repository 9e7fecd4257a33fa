"""The plain rival of a model of texts: TF-IDF and logistic regression, by scikit-learn."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from thinstack.measure.figures import Figures
from thinstack.measure.text_figures import text_figures
from thinstack.training.texts import Text

__all__ = ["NAME", "plain_rival"]

NAME: Final = "TF-IDF, logistic regression"

MOST: Final = 50_000
"""Texts that it learns from; of more, so many evenly spread."""


def plain_rival(train: Sequence[Text], dev: Sequence[Text], labels: Sequence[str]) -> Figures:
    """Figures on `dev` of a logistic regression (C = 10) over the TF-IDF-weighted word 1- and
    2-grams of `train`."""
    learnt = [
        train[place] for place in np.linspace(0, len(train) - 1, min(len(train), MOST), dtype=int)
    ]
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\S+")
    model = make_pipeline(words, LogisticRegression(C=10.0, max_iter=1000))
    model.fit([_spaced(text) for text in learnt], [text.label for text in learnt])
    found = model.predict_proba([_spaced(text) for text in dev])
    scores = np.zeros((len(dev), len(labels)))
    scores[:, [labels.index(name) for name in model.classes_]] = found
    gold = np.array([labels.index(text.label) for text in dev], np.int64)
    return text_figures(scores, gold, labels)


def _spaced(text: Text) -> str:
    """The words of a text, as they were cut, with a space between."""
    return " ".join(word for sentence in text.sentences for word in sentence)
