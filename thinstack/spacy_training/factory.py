"""`tree_classifier`, a spaCy component that learns classes of texts, which exclude each other.

    [components.tree_classifier]
    factory = "tree_classifier"
    model = "sst"

Settings (the factory's arguments):

- `model`: where learning starts: name or folder of a bundle, whose leaf table, cell and parser are
  taken (default `sst`, which thinstack brings along), or `none`: word vectors, a fresh cell and
  balanced trees.
- `learning_rate`, `vector_learning_rate`: of all weights and of the leaf table; by default (None)
  those of `thinstack train`, as all else is: 0.05 and 1, and less for the classes of the start.
- `average`: what is scored and saved is a running average of the weights over this share of all
  updates so far (default 0.15); 0 is the weights as they are, 1 the mean since the start.
- `device`, `threads`: as those of `tree_sentiment`; learning takes one thread of the CPU.
- `scorer`: for `nlp.evaluate`; by default that of spaCy's `textcat`.

It learns from `doc.cats`, the one category above 0.5 of each Doc; Docs without one are left out.
It sets `doc.cats`: for each class the mean of its probabilities over `doc.sents`, weighted by
words, or over the whole Doc where no sentences are set; all 0.0 for a Doc without words. For
sentences while it learns, put what sets them into `annotating_components`.

It has optimisers of its own: spaCy's, and its `dropout`, are not used. `update` adds gradients up,
`finish_update` moves the weights. Until it is finished it runs in torch and saves weights;
`thinstack finish PIPELINE OUT` puts a bundle in their place, which needs no torch and which
`tree_sentiment` and thinstack's commands read too. A finished one that is trained again goes on
from its weights, and is to be finished again.
"""

from collections.abc import Callable
from typing import Any

from spacy.language import Language

from thinstack.config import Device
from thinstack.integrations.spacy.requirements import note_requirement
from thinstack.integrations.spacy.scorer import SCORE_WEIGHTS
from thinstack.spacy_training.component import AVERAGE, TreeClassifier

__all__ = ["make_tree_classifier"]


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
) -> TreeClassifier:
    """The factory behind `nlp.add_pipe("tree_classifier")`; reads no model yet."""
    note_requirement(nlp.meta, device)
    rates = learning_rate, vector_learning_rate
    return TreeClassifier(name, model, *rates, average, device, threads, scorer)


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
    },
    default_score_weights=SCORE_WEIGHTS,
    func=make_tree_classifier,
)
