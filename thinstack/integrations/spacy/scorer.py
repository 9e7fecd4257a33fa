"""The figures that `nlp.evaluate` gives for `tree_sentiment`."""

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["WEIGHTS", "make_scorer", "score"]

_FIGURES = (
    "score_desc",
    "micro_p",
    "micro_r",
    "micro_f",
    "macro_p",
    "macro_r",
    "macro_f",
    "macro_auc",
    "f_per_type",
)
WEIGHTS: dict[str, float | None] = {"cats_score": 1.0} | {
    f"cats_{figure}": None for figure in _FIGURES
}
"""What each figure counts in the score of a pipeline."""


def score(examples: Iterable[Any], **settings: Any) -> dict[str, Any]:
    """`Scorer.score_cats` on `doc.cats` for exclusive classes: `cats_score` (macro F),
    `cats_micro_f` (accuracy) and more."""
    from spacy.scorer import Scorer

    return Scorer.score_cats(examples, "cats", **{**settings, "multi_label": False})


def make_scorer() -> Callable[..., dict[str, Any]]:
    """What `@scorers = "thinstack.tree_sentiment_scorer.v1"` gives."""
    return score
