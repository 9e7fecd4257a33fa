"""The baseline for texts, TF-IDF and logistic regression in scikit-learn, and the comparison of a
model with it."""

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

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
from thinstack.evaluate.figures import Figures, figure_names, interval_line, shown
from thinstack.integrations.show.terminal import WIDEST, matrix
from thinstack.training.loop.measuring import Answers
from thinstack.training.recipe import Recipe

if TYPE_CHECKING:
    from thinstack.training.tasks.texts import Text

NAME: Final = "TF-IDF of words and characters, logistic regression"

MAX_RIVAL_TEXTS: Final = 50_000
"""Maximum texts that the baseline is trained on, evenly spread."""

MAX_WEIGHTS: Final = 1_000_000
"""Maximum weights of words, and of characters: features times classes."""

_FEW: Final = 50
"""Below this number of texts, character n-grams that occur in one text only are features too."""


def plain_rival(train: Sequence["Text"], dev: Sequence["Text"], labels: Sequence[str]) -> Figures:
    """Return the figures on `dev` of the baseline, trained by `learn_plain` on at most
    `MAX_RIVAL_TEXTS` of the texts `train` and a text of each class. `labels`: all classes."""
    size = min(len(train), MAX_RIVAL_TEXTS)
    places = {*np.linspace(0, len(train) - 1, size, dtype=int).tolist()}
    places |= {*{text.label: place for place, text in enumerate(train)}.values()}
    chosen = [train[place] for place in sorted(places)]
    gold = np.array([labels.index(text.label) for text in dev], np.int64)
    words, dev_words = (
        [" ".join(word for part in text.sentences for word in part) for text in texts]
        for texts in (chosen, dev)
    )
    with warnings.catch_warnings(action="ignore"):  # scikit-learn's are not about the model
        score = learn_plain(words, [text.label for text in chosen], labels, characters=True)
        return text_figures(score(dev_words), gold, labels)


def learn_plain(
    texts: Sequence[str], names: Sequence[str], labels: Sequence[str], *, characters: bool = False
) -> Callable[[Sequence[str]], NDArray[np.float64]]:
    """Train a logistic regression (C = 10) over TF-IDF-weighted word 1- and 2-grams, and with
    `characters` also character 2- to 5-grams within words, if two texts share one.

    `texts`: words separated by spaces. `names`: their classes. Returns a function that gives T
    texts the probabilities (T, C) of `labels`.
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
            return learn_plain(texts, names, labels)  # no two texts share an n-gram

    def score(texts: Sequence[str]) -> NDArray[np.float64]:
        scores = np.zeros((len(texts), len(labels)))
        scores[:, [labels.index(name) for name in model.classes_]] = model.predict_proba(texts)
        return scores

    return score


def show_texts(
    answers: Answers, reached: Figures, rival: tuple[str, Figures], recipe: Recipe, to: Console
) -> None:
    """Print the figures of a seed and of the baseline, and the confusion matrix of its answers."""
    labels = recipe.model.shown_labels
    names = figure_names(NAMES, labels)
    table = Table("", title=f"on {recipe.data.reported}, in percent", title_justify="left")
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
    if advice := _advice(reached, rival, recipe):
        lines.append(advice)
    for line in lines:
        to.print(Line(line), soft_wrap=True)
    if len(labels) <= WIDEST:
        to.print(matrix(confusion(answers.predicted, answers.gold, len(labels)), labels))


def _advice(reached: Figures, rival: tuple[str, Figures], recipe: Recipe) -> str:
    """Return what to try if the baseline is ahead."""
    name, figures = rival
    ahead = (figures["accuracy"] or 0.0) - (reached["accuracy"] or 0.0)
    if ahead <= 0:
        return ""
    start, tries = recipe.init.bundle if recipe.init else "none", ["more rows"]
    tries += ["--init sentiment"] if start == "none" else []
    tries += ["--init sentiment-context"] if start in ("none", "sentiment") else []
    tries += [f"--epochs {2 * recipe.training.epochs} or {max(1, recipe.training.epochs // 2)}"]
    return (
        f"the baseline ({name}) is ahead by {ahead:.1f} percentage points: try "
        f"{', '.join(tries)}, or use the baseline if you do not need phrases"
    )
