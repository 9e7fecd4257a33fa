"""Puts phrases into a group of spans, which displaCy draws."""

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from thinstack.integrations.spacy.results import results
from thinstack.runtime.marked import marked_phrases, neutral_of

__all__ = ["fill_group"]


def fill_group(doc: Doc, key: str, name: str) -> None:
    """Set `doc.spans[key]` to the phrases that say something, by the component `name`.

    They are the phrases that `thinstack.render(doc, "text")` colours and that have a label. They
    are not neutral, and their label is not that of the phrase of the group around them. The group's
    attribute `scores`, float32 (number of spans,), holds the probabilities of their labels, as
    spaCy's `spancat` stores them.
    """
    known, spans, scores = results(doc, name), [], []
    for sentence in known.found if known else ():
        prediction, tokens = sentence.prediction, sentence.arrays[0]
        labels, certain = prediction.label_ids, prediction.certain
        for node in marked_phrases(prediction):
            label = int(labels[node])
            if not certain[node] or label == neutral_of(prediction):
                continue
            first, behind = prediction.spans[node]
            start, end = int(tokens[first, 0]), int(tokens[behind - 1, 1])
            spans.append(Span(doc, start, end, label=prediction.labels[label]))
            scores.append(prediction.scores[node, label])
    group = SpanGroup(doc, name=key, attrs={"scores": np.array(scores, np.float32)}, spans=spans)
    doc.spans[key] = group
