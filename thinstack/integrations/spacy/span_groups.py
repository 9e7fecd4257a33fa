"""Puts phrases into a group of spans, which displaCy draws."""

from collections.abc import Iterator

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from thinstack.integrations.spacy.doc_results import results
from thinstack.integrations.spacy.places import characters_of, places_of, tokens_at
from thinstack.runtime.marked import marked_phrases, neutral_of


class PhraseGroup(SpanGroup):
    """The phrases that say something, by a component. `thinstack.render(doc, "text")` colours them,
    they have a label, and are not neutral. A phrase is left out if the phrase of the group around
    it has the same label. `attrs["scores"]`, float32 (number of spans,), holds the probabilities of
    their labels, as spaCy's `spancat` stores them.

    The group is set again when tokens of the Doc were merged or split, since spaCy leaves spans at
    the numbers of their old tokens. A phrase that now begins or ends inside a token is left out. A
    Doc that spaCy has read or copied has a plain group.
    """

    def __init__(self, doc: Doc, key: str, component: str):
        self._component, self._tokens = component, doc.to_array("IDX")
        super().__init__(doc, name=key)
        self._fill()

    def __len__(self) -> int:
        self._settle()
        return super().__len__()

    def __getitem__(self, i: int) -> Span:
        self._settle()
        return super().__getitem__(i)

    def __iter__(self) -> Iterator[Span]:
        self._settle()
        return super().__iter__()

    def to_bytes(self) -> bytes:
        """The group as bytes, as any of spaCy's."""
        self._settle()
        return super().to_bytes()

    def copy(self, doc: Doc | None = None) -> SpanGroup:
        """A plain group of the same spans."""
        self._settle()
        return super().copy(doc)

    def _settle(self) -> None:
        try:
            tokens = self.doc.to_array("IDX")
        except RuntimeError:  # the Doc is gone; spaCy says so where a span is asked for
            return
        if not np.array_equal(tokens, self._tokens):
            self._tokens = tokens
            self._fill()

    def _fill(self) -> None:
        spans, scores = _phrases(self.doc, self._component)
        attrs = {**self.attrs, "scores": np.array(scores, np.float32)}
        plain = SpanGroup(self.doc, name=self.name, attrs=attrs, spans=spans)
        self.from_bytes(plain.to_bytes())


def _phrases(doc: Doc, name: str) -> tuple[list[Span], list[float]]:
    """The spans of the group, each with its label and the probability of that."""
    known, places, spans, scores = results(doc, name), places_of(doc), [], []
    for sentence in known.found if known else ():
        prediction, characters = sentence.prediction, sentence.arrays[0]
        labels, certain = prediction.label_ids, prediction.certain
        for node in marked_phrases(prediction):
            label = int(labels[node])
            if not certain[node] or label == neutral_of(prediction):
                continue
            first, behind = prediction.spans[node]
            asked = characters[first, 0], characters[behind - 1, 1]
            tokens = tokens_at(doc, [asked])
            if (characters_of(places, tokens) == asked).all():
                start, end = tokens[0].tolist()
                spans.append(Span(doc, start, end, label=prediction.labels[label]))
                scores.append(float(prediction.node_scores[node, label]))
    return spans, scores
