"""Registers `tree_classifier`, a spaCy component that learns classes of texts, one for each text.
docs/spacy.md describes its settings, which are the arguments of the component.

It learns from `doc.cats`, by optimisers of its own: `update` adds gradients up, `finish_update`
moves the weights. Until it is finished it runs in torch and saves weights. `thinstack finish
PIPELINE OUT` puts a bundle in their place, which needs no torch, and which `tree_sentiment` and
thinstack's commands read too. If you train a finished component again, it goes on from its
weights.
"""

from typing import Any

from thinstack.integrations.spacy.pipe import SCORE_WEIGHTS, note_requirement, register_component
from thinstack.integrations.spacy_training.component import TreeClassifier


def _noted(nlp: Any, component: TreeClassifier) -> TreeClassifier:
    """A component that has read no model yet, in a pipeline that requires thinstack."""
    note_requirement(nlp.meta, component.device)
    return component


# spaCy imports this module, which its entry point names, to find the factory whenever a pipeline is
# made: nothing here may fail, and nothing here imports torch.
make_tree_classifier = register_component(
    TreeClassifier,
    "tree_classifier",
    _noted,
    scorer="spacy.textcat_scorer.v2",
    assigns=("doc.cats",),
    weights=SCORE_WEIGHTS,
)
