"""The factory of `tree_sentiment`: spaCy calls it to make the component with its settings."""

from collections.abc import Callable
from typing import Any

from spacy.language import Language

from thinstack.bundle.hub.hub_cache import is_address
from thinstack.core.config import Device
from thinstack.errors import BundleError, InputError, UnknownNameError
from thinstack.integrations.spacy.component import DocAggregation, Source, TreeSentiment
from thinstack.integrations.spacy.pipe import SCORE_WEIGHTS
from thinstack.runtime.long_sentences import MAX_WORDS


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
    """The factory behind `nlp.add_pipe("tree_sentiment")`. Raises what `TreeSentiment.load` raises.

    spaCy reads a saved pipeline by calling the factory, then `from_disk`. The `meta` of the
    pipeline notes the `model` that it was saved with. If the setting is that model, its bundle may
    be missing or unusable. If not, the setting was overridden, and `from_disk` leaves its model in
    place.
    """
    views = classes, abstain, max_words, spans_key, isolated
    component = TreeSentiment(name, model, source, device, threads, aggregation, scorer, *views)
    notes = nlp.meta.get("thinstack", {})
    # A renamed component has its old name there.
    noted = notes.get(name, model if model in notes.values() else None)
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
