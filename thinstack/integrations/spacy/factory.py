"""Registers `tree_sentiment`, `tree_aspects` and `tree_vectors`, and starts the components that
spaCy creates."""

from typing import Any

from thinstack.bundle.hub import is_address
from thinstack.errors import BundleError, InputError, UnknownNameError
from thinstack.integrations.spacy.aspects_component import TreeAspects
from thinstack.integrations.spacy.component import TreeSentiment
from thinstack.integrations.spacy.pipe import SCORE_WEIGHTS, register_component
from thinstack.integrations.spacy.vectors_component import TreeVectors


def _start(nlp: Any, component: TreeSentiment) -> None:
    """Load the model of a component. Raises what `TreeSentiment.load` raises.

    spaCy loads a saved pipeline by calling the factory, then `from_disk`. The `meta` of the
    pipeline records the `model` that it was saved with. If the setting is that model, its bundle
    may be missing or unusable. Otherwise the setting was overridden, and `from_disk` keeps its
    model.
    """
    model, notes = component.model, nlp.meta.get("thinstack", {})
    # A renamed component has its old name there.
    others = [noted for old, noted in notes.items() if old not in nlp.component_names]
    noted = notes.get(component.name, model if model in others else None)
    try:
        if noted != model or not is_address(model):  # saved pipelines do not access a hub
            component.load()
    except (BundleError, InputError, UnknownNameError):
        if noted != model:
            raise
    component.note(nlp.meta, overridden=noted not in (None, model))


# spaCy imports this module through its entry point for every pipeline, so nothing here may fail.
make_tree_sentiment = register_component(
    TreeSentiment,
    "tree_sentiment",
    _start,
    scorer="spacy.textcat_scorer.v2",
    assigns=("doc.cats", "doc._.tree_sentiment"),
    weights=SCORE_WEIGHTS,
)
make_tree_aspects = register_component(
    TreeAspects,
    "tree_aspects",
    _start,
    scorer="spacy.spancat_scorer.v1",
    assigns=("doc.spans", "doc._.aspects", "span._.about"),
)
make_tree_vectors = register_component(
    TreeVectors, "tree_vectors", _start, assigns=("doc.vector", "token.vector")
)
