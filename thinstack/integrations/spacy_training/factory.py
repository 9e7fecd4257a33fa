"""Registers `tree_classifier`, a spaCy component that learns one class per text. docs/spacy.md
describes its settings, which are the arguments of the component.

It is trained on `doc.cats` with its own optimizers: `update` accumulates gradients, `finish_update`
updates the weights. Until `thinstack finish` replaces them by a bundle, it runs in torch and saves
weights. Further training of a finished component continues from its weights.
"""

from thinstack.integrations.spacy.pipe import SCORE_WEIGHTS, register_component
from thinstack.integrations.spacy_training.component import TreeClassifier

# spaCy imports this module through its entry point for every pipeline, so nothing here may fail
# or import torch.
make_tree_classifier = register_component(
    TreeClassifier,
    "tree_classifier",
    scorer="spacy.textcat_scorer.v2",
    assigns=("doc.cats",),
    weights=SCORE_WEIGHTS,
)
