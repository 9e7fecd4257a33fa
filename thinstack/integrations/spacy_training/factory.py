"""Registers `tree_classifier`, a spaCy component that learns classes of texts, one for each text.
docs/spacy.md describes its settings, which are the arguments of the component.

It learns from `doc.cats`, by optimisers of its own: `update` adds gradients up, `finish_update`
moves the weights. Until `thinstack finish` puts a bundle in their place, it runs in torch and saves
weights. If you train a finished component again, it goes on from its weights.
"""

from thinstack.integrations.spacy.pipe import SCORE_WEIGHTS, register_component
from thinstack.integrations.spacy_training.component import TreeClassifier

# spaCy imports this module, which its entry point names, to find the factory whenever a pipeline is
# made: nothing here may fail, and nothing here imports torch.
make_tree_classifier = register_component(
    TreeClassifier,
    "tree_classifier",
    scorer="spacy.textcat_scorer.v2",
    assigns=("doc.cats",),
    weights=SCORE_WEIGHTS,
)
