"""Span groups of phrases and aspects, which displaCy draws."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span, SpanGroup
from spacy.util import registry

from thinstack.integrations.spacy.doc_results import predictions, word_places
from thinstack.runtime.highlights import marked_phrases, neutral_of

COLOURS: Final = {
    "very negative": "#f0955a",
    "negative": "#fbc999",
    "positive": "#b3d6f7",
    "very positive": "#7fb4e6",
}
"""Label colors for displaCy, whose text is always dark."""

Marked = tuple[tuple[int, int], str, float]
"""The characters [start, end) of a span of a group, its label, and the label's probability."""


class PhraseGroup(SpanGroup):
    """The phrases of a component that have a label and are not neutral, as `thinstack.render(doc,
    "text")` colors them. A phrase is left out if the phrase around it in the group has the same
    label. `attrs["scores"]`, float32 (number of spans,), contains the probabilities of the labels,
    as in spaCy's `spancat`.

    The group is rebuilt after tokens of the Doc were merged or split, because spaCy does not update
    the token indices of spans. A phrase that now begins or ends inside a token is left out. A Doc
    that spaCy has read or copied has a plain group.
    """

    def __init__(self, doc: Doc, key: str, component: str):
        self._component, self._tokens = component, doc.to_array("IDX")
        spans, scores = self._spans(doc)
        super().__init__(doc, name=key, attrs={"scores": scores}, spans=spans)

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
        """Serialize the group to bytes like any of spaCy's."""
        self._settle()
        return super().to_bytes()

    def copy(self, doc: Doc | None = None) -> SpanGroup:
        """Return a plain group of the same spans."""
        self._settle()
        return super().copy(doc)

    def _settle(self) -> None:
        try:
            tokens = self.doc.to_array("IDX")
        except RuntimeError:  # the Doc was garbage-collected; spaCy reports that on access
            return
        if not np.array_equal(tokens, self._tokens):
            self._tokens = tokens
            spans, scores = self._spans(self.doc)
            attrs = {**self.attrs, "scores": scores}
            plain = SpanGroup(self.doc, name=self.name, attrs=attrs, spans=spans)
            self.from_bytes(plain.to_bytes())

    def _spans(self, doc: Doc) -> tuple[list[Span], NDArray[np.float32]]:
        """Return the spans of the group, and the probabilities of their labels."""
        spans, scores = list[Span](), list[float]()
        for (start, end), label, score in self._marked(doc):
            span = doc.char_span(start, end, label=label)
            if span is not None:
                spans.append(span)
                scores.append(score)
        return spans, np.array(scores, np.float32)

    def _marked(self, doc: Doc) -> Iterator[Marked]:
        for sentence in predictions(doc, self._component):
            nodes = [
                node
                for node in marked_phrases(sentence)
                if sentence.certain[node] and sentence.label_ids[node] != neutral_of(sentence)
            ]
            places = word_places(sentence, sentence.spans[nodes]).tolist()
            for node, (start, end) in zip(nodes, places, strict=True):
                label = sentence.label_ids[node]
                score = float(sentence.node_scores[node, label])
                yield (start, end), sentence.labels[label], score


registry.displacy_colors.register("thinstack", func=COLOURS)
