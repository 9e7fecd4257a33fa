"""The plain rival of a model of texts, TF-IDF and logistic regression by scikit-learn; and what is
printed of the model beside it, and beside the model where learning started."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text as Line
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union
from threadpoolctl import threadpool_limits

from thinstack.evaluate.accuracy import NAMES, confusion, text_figures
from thinstack.evaluate.figures import (
    Figures,
    figure_names,
    interval_line,
    percent,
    percentage,
    shown,
)
from thinstack.integrations.show.marks import shorten
from thinstack.integrations.show.outline import as_text, visible
from thinstack.integrations.show.terminal import WIDEST, matrix
from thinstack.training.loop.measuring import Answers
from thinstack.training.recipe import Recipe
from thinstack.training.tasks.texts.reading import Text

NAME: Final = "TF-IDF of words and characters, logistic regression"

MAX_RIVAL_TEXTS: Final = 50_000
"""The most texts that the rival learns from. Of more texts it takes so many, evenly spread."""

MAX_WEIGHTS: Final = 1_000_000
"""The most weights of words, and of characters: features, times classes."""

_FEW: Final = 50
"""Of fewer texts, pieces of words count that stand in one text only."""

_LISTED: Final = 3
"""Texts that became right, and wrong."""


def plain_rival(train: Sequence[Text], dev: Sequence[Text], labels: Sequence[str]) -> Figures:
    """The figures of the rival on `dev`, after `learn_plain` has learnt from `train`, or from
    `MAX_RIVAL_TEXTS` of its texts and a text of each class. `labels`: all classes, in order."""
    size = min(len(train), MAX_RIVAL_TEXTS)
    places = {*np.linspace(0, len(train) - 1, size, dtype=int).tolist()}
    places |= {*{text.label: place for place, text in enumerate(train)}.values()}
    learnt = [train[place] for place in sorted(places)]
    classes = [text.label for text in learnt]
    gold = np.array([labels.index(text.label) for text in dev], np.int64)
    with warnings.catch_warnings(action="ignore"):  # Those of scikit-learn are not about the model.
        score = learn_plain(list(map(_spaced, learnt)), classes, labels, characters=True)
        return text_figures(score(list(map(_spaced, dev))), gold, labels)


def learn_plain(
    texts: Sequence[str], names: Sequence[str], labels: Sequence[str], *, characters: bool = False
) -> Callable[[Sequence[str]], NDArray[np.float64]]:
    """A function that gives T texts the probabilities (T, C) of `labels`.

    It is a logistic regression (C = 10) over TF-IDF-weighted 1- and 2-grams of words. With
    `characters`, 2- to 5-grams of the characters of words come beside them, if two texts have one
    in common. It learns from `texts` of the classes `names`. Texts are words with spaces between
    them.
    """
    most = {"max_features": MAX_WEIGHTS // len(labels)}
    grams = [TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\S+", **most)]
    if characters:
        least = 1 if len(texts) < _FEW else 2
        pieces = {"analyzer": "char_wb", "ngram_range": (2, 5), "min_df": least}
        grams.append(TfidfVectorizer(sublinear_tf=True, **pieces, **most))
    plain = LogisticRegression(C=10.0, max_iter=1000)
    model = make_pipeline(make_union(*grams), plain)
    # Vectors are so small that several threads wait for each other.
    with threadpool_limits(1, user_api="blas"):
        try:
            model.fit(texts, names)
        except ValueError:
            if not characters:
                raise
            return learn_plain(texts, names, labels)  # no two texts have a piece in common

    def score(texts: Sequence[str]) -> NDArray[np.float64]:
        scores = np.zeros((len(texts), len(labels)))
        scores[:, [labels.index(name) for name in model.classes_]] = model.predict_proba(texts)
        return scores

    return score


def _spaced(text: Text) -> str:
    """The words of a text with spaces between them."""
    return " ".join(word for sentence in text.sentences for word in sentence)


def show_texts(
    answers: Answers, reached: Figures, rival: tuple[str, Figures], recipe: Recipe, to: Console
) -> None:
    """Print the figures of a seed beside the rival's, and the confusion matrix of its answers."""
    labels = recipe.model.shown_labels
    names = figure_names(NAMES, labels)
    table = Table(title=f"on {recipe.data.reported}, in percent", title_justify="left")
    table.add_column("")
    for name in names.values():
        table.add_column(name, justify="right")
    for title, figures in (("this model", reached), rival):
        table.add_row(title, *(shown(key, figures[key]) for key in names))
    to.print(table)
    lines = [interval_line(reached)]
    if recipe.training.stop_on == "dev":
        lines.append(
            "the same texts selected the best epoch, so these figures are slightly optimistic; for "
            "unbiased figures, pass a held-out table: --test FILE"
        )
    for line in (*lines, *_what_to_try(reached, rival, recipe)):
        to.print(Line(line), soft_wrap=True)
    if len(labels) <= WIDEST:
        to.print(matrix(confusion(answers.predicted, answers.gold, len(labels)), labels))


def _what_to_try(reached: Figures, rival: tuple[str, Figures], recipe: Recipe) -> Iterator[str]:
    """What to do where the rival is ahead."""
    name, figures = rival
    ahead = (figures["accuracy"] or 0.0) - (reached["accuracy"] or 0.0)
    if ahead <= 0:
        return
    start, tries = recipe.init.bundle if recipe.init else "none", ["more rows"]
    tries += ["--init sentiment"] if start == "none" else []
    tries += ["--init sentiment-context"] if start in ("none", "sentiment") else []
    tries += [f"--epochs {2 * recipe.training.epochs} or {max(1, recipe.training.epochs // 2)}"]
    yield (
        f"the baseline ({name}) is ahead by {ahead:.1f} percentage points: try "
        f"{', '.join(tries)}, or use the baseline if you do not need phrases"
    )


def show_changes(
    before: NDArray[np.int64], answers: Answers, texts: Sequence[Text], recipe: Recipe, to: Console
) -> None:
    """Print the accuracy over `texts` of the classes (T,) that the model where learning started
    gave them, and of the trained model's `answers`; then which texts became right, and wrong."""
    gold, after, labels = answers.gold, answers.predicted, recipe.model.shown_labels
    better, worse = (after == gold) & (before != gold), (after != gold) & (before == gold)
    first, now = (percent(percentage(classes == gold)) for classes in (before, after))
    assert recipe.init is not None
    to.print(
        f"compared with {as_text(recipe.init.bundle)}: accuracy {first} -> {now}; of "
        f"{len(texts):,} texts, {better.sum():,} became right and {worse.sum():,} wrong",
        soft_wrap=True,
    )
    for title, changed in (("right", better), ("wrong", worse)):
        for place in np.flatnonzero(changed)[:_LISTED].tolist():
            text, then, answer = texts[place], labels[before[place]], labels[after[place]]
            line = f"  {title}: line {text.line}, {then} -> {answer}: "
            to.print(as_text(line + shorten(visible(text.text), 70)), soft_wrap=True)
