"""Registers `tree_classifier`, a spaCy component that learns classes of texts, one for each text.
docs/spacy.md describes its settings, which are the factory's arguments.

It learns from `doc.cats`, by optimisers of its own: `update` adds gradients up, `finish_update`
moves the weights. Until it is finished it runs in torch and saves weights. `thinstack finish
PIPELINE OUT` puts a bundle in their place, which needs no torch, and which `tree_sentiment` and
thinstack's commands read too. If you train a finished component again, it goes on from its
weights.
"""

from collections.abc import Callable
from typing import Any

from spacy.language import Language

from thinstack.core.config import Device
from thinstack.integrations.spacy.pipe import SCORE_WEIGHTS, note_requirement
from thinstack.integrations.spacy_training.component import AVERAGE, TreeClassifier


def make_tree_classifier(
    nlp: Any,
    name: str,
    model: str,
    learning_rate: float | None,
    vector_learning_rate: float | None,
    average: float,
    device: Device,
    threads: int | None,
    scorer: Callable[..., dict[str, Any]] | None,
    isolated: bool | None,
) -> TreeClassifier:
    """The component that `nlp.add_pipe("tree_classifier")` adds. It has read no model yet."""
    note_requirement(nlp.meta, device)
    rates = learning_rate, vector_learning_rate
    return TreeClassifier(name, model, *rates, average, device, threads, scorer, isolated)


# spaCy imports this module, which its entry point names, to find the factory whenever a pipeline is
# made: nothing here may fail, and nothing here imports torch.
Language.factory(
    "tree_classifier",
    assigns=["doc.cats"],
    default_config={
        "model": "sentiment",
        "learning_rate": None,
        "vector_learning_rate": None,
        "average": AVERAGE,
        "device": "cpu",
        "threads": None,
        "scorer": {"@scorers": "spacy.textcat_scorer.v2"},
        "isolated": None,
    },
    default_score_weights=SCORE_WEIGHTS,
    func=make_tree_classifier,
)
