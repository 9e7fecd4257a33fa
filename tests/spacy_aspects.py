"""Pipelines with `tree_aspects`, and what a Doc holds by the model of `aspect_models`."""

import spacy

TEXT = "A good battery! Awful staff is here. And a screen."
TOLD = [(2, 3, "battery", "positive"), (5, 6, "staff", "negative"), (11, 12, "screen", "neutral")]


def with_aspects(model, nlp=None, name="tree_aspects", **settings):
    """A pipeline, by default one with a sentencizer, and the component behind it."""
    if nlp is None:
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
    config = {"model": str(model), "threads": 1, **settings}
    nlp.add_pipe("tree_aspects", name=name, config=config)
    return nlp


def told(found):
    return [(each["start"], each["end"], each["text"], each["label"]) for each in found]


def group(doc, key="aspects"):
    return [(span.start, span.end, span.text, span.label_) for span in doc.spans[key]]
