"""Registers `tree_classifier`, a spaCy component that learns classes of texts, one for each text.

    [components.tree_classifier]
    factory = "tree_classifier"
    model = "sst"

Settings (the factory's arguments):

- `model`: where learning starts. The name or folder of a bundle (default `sst`, which thinstack
  brings along) gives its leaf table, cell and parser. `none` starts from word vectors, a fresh cell
  and balanced trees.
- `learning_rate`, `vector_learning_rate`: the rates of the model's weights and of the leaf table.
  By default (None) they are as in `thinstack train`: 0.05 and 1, and less if the classes are the
  bundle's own.
- `average`: the running average of the weights, which is scored and saved, reaches back over this
  share of all updates so far (default 0.15). 0 takes the weights as they are, 1 their mean since
  the start.
- `device`, `threads`, `isolated`: as in `tree_sentiment`. Learning takes one thread of the CPU.
- `scorer`: for `nlp.evaluate`; by default the scorer of spaCy's `textcat`.

It learns from `doc.cats`: the class of a Doc is its one category above 0.5. Docs without a class
are left out. It sets `doc.cats`: each class gets the mean of its probabilities over `doc.sents`,
weighted by words. If no sentences are set, the whole Doc is one. A Doc without words gets 0.0 for
each class. To learn from sentences, put the component that sets them into `annotating_components`.

It has its own optimisers, and does not use spaCy's or its `dropout`. `update` adds gradients up,
`finish_update` moves the weights. Until it is finished it runs in torch and saves weights.
`thinstack finish PIPELINE OUT` puts a bundle in their place. A bundle needs no torch, and
`tree_sentiment` and thinstack's commands read it too. If you train a finished component again, it
goes on from its weights; then finish it again.
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
        "model": "sst",
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
