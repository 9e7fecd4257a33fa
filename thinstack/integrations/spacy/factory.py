"""The factories of `tree_sentiment` and `tree_aspects`: spaCy calls them to make the components
with their settings."""

from collections.abc import Callable
from typing import Any, TypeVar

from spacy.language import Language

from thinstack.bundle.hub import is_address
from thinstack.core.config import Device
from thinstack.errors import BundleError, InputError, UnknownNameError
from thinstack.integrations.spacy.aspects_component import TreeAspects
from thinstack.integrations.spacy.component import Source, TreeSentiment
from thinstack.integrations.spacy.pipe import SCORE_WEIGHTS
from thinstack.integrations.spacy.stored import DocAggregation
from thinstack.runtime.long_sentences import MAX_WORDS

_Component = TypeVar("_Component", bound=TreeSentiment)


def make_tree_sentiment(
    nlp: Any,
    name: str,
    model: str,
    source: Source,
    device: Device,
    threads: int | None,
    aggregation: DocAggregation | None,
    scorer: Callable[..., dict[str, Any]] | None,
    classes: int | None,
    abstain: float | None,
    max_words: int,
    spans_key: str | None,
    isolated: bool | None,
) -> TreeSentiment:
    """The factory behind `nlp.add_pipe("tree_sentiment")`. Raises what `TreeSentiment.load`
    raises."""
    views = classes, abstain, max_words, spans_key, isolated
    settings = model, source, device, threads, aggregation, scorer, *views
    return _started(TreeSentiment(name, *settings), nlp)


def make_tree_aspects(
    nlp: Any,
    name: str,
    model: str,
    about: list[str] | None,
    source: Source,
    device: Device,
    threads: int | None,
    scorer: Callable[..., dict[str, Any]] | None,
    classes: int | None,
    abstain: float | None,
    max_words: int,
    spans_key: str,
    isolated: bool | None,
) -> TreeAspects:
    """The factory behind `nlp.add_pipe("tree_aspects")`. Raises what `TreeAspects` and its `load`
    raise."""
    views = classes, abstain, max_words, spans_key, isolated
    settings = model, about, source, device, threads, scorer, *views
    return _started(TreeAspects(name, *settings), nlp)


def _started(component: _Component, nlp: Any) -> _Component:
    """A component with its model.

    spaCy reads a saved pipeline by calling the factory, then `from_disk`. The `meta` of the
    pipeline notes the `model` that it was saved with. If the setting is that model, its bundle may
    be missing or unusable. If not, the setting was overridden, and `from_disk` leaves its model in
    place.
    """
    name, model = component.name, component.model
    notes = nlp.meta.get("thinstack", {})
    # A renamed component has its old name there.
    others = [noted for old, noted in notes.items() if old not in nlp.component_names]
    noted = notes.get(name, model if model in others else None)
    try:
        if noted != model or not is_address(model):  # a saved pipeline asks no hub
            component.load()
    except (BundleError, InputError, UnknownNameError):
        if noted != model:
            raise
    component.note(nlp.meta, overridden=noted not in (None, model))
    return component


# spaCy imports this module, which its entry point names, whenever a pipeline is made: nothing here
# may fail.
Language.factory(
    "tree_sentiment",
    assigns=["doc.cats", "doc._.tree_sentiment"],
    default_config={
        "model": "sentiment",
        "source": "auto",
        "device": "cpu",
        "threads": None,
        "aggregation": None,
        "max_words": MAX_WORDS,
        "scorer": {"@scorers": "thinstack.tree_sentiment_scorer.v1"},
        "classes": None,
        "abstain": None,
        "spans_key": None,
        "isolated": None,
    },
    default_score_weights=SCORE_WEIGHTS,
    func=make_tree_sentiment,
)
Language.factory(
    "tree_aspects",
    assigns=["doc.spans", "doc._.aspects", "span._.about"],
    default_config={
        "model": "aspects",
        "about": None,
        "source": "auto",
        "device": "cpu",
        "threads": None,
        "max_words": MAX_WORDS,
        "scorer": {"@scorers": "spacy.spancat_scorer.v1"},
        "classes": None,
        "abstain": None,
        "spans_key": "aspects",
        "isolated": None,
    },
    func=make_tree_aspects,
)
