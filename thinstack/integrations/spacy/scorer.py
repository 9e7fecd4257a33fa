"""The scorer `thinstack.tree_sentiment_scorer.v1`, by which `nlp.evaluate` scores the
components."""

from collections.abc import Iterable
from typing import Any

from spacy.scorer import Scorer
from spacy.util import registry

_PARTS = ("micro_p", "micro_r", "micro_f", "macro_p", "macro_r", "macro_f", "macro_auc")
SCORE_WEIGHTS: dict[str, float | None] = {"cats_score": 1.0} | {
    f"cats_{name}": None for name in ("score_desc", *_PARTS, "f_per_type")
}
"""The weights of the figures in the score of a training run. Only `cats_score` counts."""


def score(examples: Iterable[Any], **settings: Any) -> dict[str, Any]:
    """The figures of `Scorer.score_cats` for exclusive classes: macro F, accuracy (`cats_micro_f`)
    and more."""
    return Scorer.score_cats(examples, "cats", **{**settings, "multi_label": False})


registry.scorers.register("thinstack.tree_sentiment_scorer.v1", func=lambda: score)
