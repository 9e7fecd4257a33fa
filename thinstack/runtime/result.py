"""`Result`, the scores of one text; and `Judgement`, its common base with a sentence."""

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.runtime.aspects import Aspect, about, aspects
from thinstack.runtime.categories import Category
from thinstack.runtime.highlights import highlights
from thinstack.runtime.phrase import Phrase, opinion, shown
from thinstack.runtime.scored import Scored, mean_scores, stored
from thinstack.runtime.vectors import place_of, span_vectors, text_vector
from thinstack.runtime.views import View

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.why import Contribution

MOST_WORDS: Final = 60
"""Longest text in words that a notebook draws as trees; longer ones are shown as colored text."""


class Judgement(ABC):
    """The scores of a text or a sentence by the classes of a view: a `Result` or a `Prediction`."""

    __slots__ = ()

    text: str
    view: View
    start: int = 0

    @property
    @abstractmethod
    def _read(self) -> "tuple[Prediction, ...]":
        """The sentences."""

    @abstractmethod
    def _row(self) -> list[float]:
        """Return the class probabilities; empty without words."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as data for JSON."""

    @property
    def label(self) -> str | None:
        """The most probable class; on a sentiment scale, the most probable one with the sign of the
        polarity. None for a text without words, if it is less probable than `abstain`, and for a
        model without labels."""
        row = self._row()
        return self.view.label(row) if row else None

    @property
    def scores(self) -> dict[str, float]:
        """The probability of each class, {label: probability}. For a text of several sentences,
        that of the tree over them, or the mean of theirs, weighted by words (`aggregation` of
        `thinstack.load`). Empty for a text without words."""
        row = self._row()
        return dict(zip(self.view.labels, row, strict=True)) if row else {}

    @property
    def polarity(self) -> float | None:
        """The polarity, from -1 (negative) to 1 (positive): the mean of the places of the classes
        (`Scale`), weighted by their probabilities. None for a text without words, and if the
        classes are not a sentiment scale."""
        row = self._row()
        return self.view.mean_place(row) if row else None

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """The phrases of all sentences in turn, each in node order: words before the phrases around
        them. Empty if the model scores only sentences."""
        return tuple(phrase for sentence in self._read for phrase in sentence.phrases)

    def vector_of(self, start: int, end: int) -> NDArray[np.float32]:
        """Return the vector (D,), of unit norm, of any words of a sentence: the characters [start,
        end) of the whole text, as in a phrase.

        The words of a phrase of the tree get its vector. For others, one call of the model composes
        the largest phrases inside, from left to right.

        Raises InputError for characters outside the text, in several sentences, without a word, or
        that split a word. Also for a model without vectors, and for words that are not a phrase if
        `predictor` is None.
        """
        sentence, words = place_of(self._read, self.text, start, end, self.start)
        vector: NDArray[np.float32] = span_vectors(sentence, [words], sentence.predictor)[0]
        return vector

    def highlights(self, n: int = 3) -> list[Phrase]:
        """Return at most `n` of the most telling phrases, strongest first.

        They are negative or positive, or of any class without a scale. They are not nested, do not
        begin or end with punctuation (but sentences may), and are not negated by their context, as
        "good" is in "not good". Phrases are extended by their context while that keeps most of
        their strength, the absolute polarity. If the model scores only sentences, they are
        sentences. Raises InputError for a model without labels.
        """
        self.view.need_labels("highlights")
        return highlights(self._read, n)

    @property
    def aspects(self) -> tuple[Aspect, ...]:
        """The terms that the model detects in the text, and the opinion about each, in text order.
        Raises InputError unless it is an aspects model, such as `thinstack.load("aspects")`."""
        return aspects(self._read, self.view)

    def about(self, *terms: str | Category) -> list[Aspect]:
        """Return the opinions about terms that you name: an aspect for each mention, in text order.

        `terms`: such as "battery", or "price|cost" for two names of one term. They match whole
        words in any case and spelling, in the singular and the plural (docs/text.md). A
        `thinstack.Category` is defined by examples and matched by the vectors of phrases. An
        aspects model judges a mention by the term that it detects there. Without such a term, and
        with other sentiment models, the clause around the mention decides or, if that is neutral,
        the context of the clause.

        Raises InputError for a term that is not text or has a name without a letter or digit. Also
        if the model's classes are not a sentiment scale, if it scores only sentences, and for a
        category if it has no vectors.
        """
        return about(self._read, self.view, terms)

    def why(self) -> "list[Contribution]":
        """Return the contribution of each phrase to the label of its sentence, sentence by sentence
        (`thinstack.runtime.why.contributions`). Raises InputError as that function does, and if a
        `predictor` is None."""
        return [part for sentence in self._read for part in sentence.why()]

    def svg(self) -> str:
        """Return the trees as one SVG picture, with the class of every phrase. Raises InputError
        for a model without labels."""
        from thinstack.integrations.show.svg import svg

        return svg(self._read)

    def html(self) -> str:
        """Return the running text as HTML with colored phrases, for long texts. Raises InputError
        for a model without labels."""
        from thinstack.integrations.show.heat import heat

        return heat(self._read)

    def _repr_html_(self) -> str | None:
        """Return the trees for a notebook; None for a model without labels, to show its `repr`."""
        return self.svg() if self.view.labels else None

    def to_json(self, indent: int | None = None) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    def __repr__(self) -> str:
        return shown(self)


class Result(Judgement):
    """The label and polarity of a text, its sentences and every phrase, as returned by
    `thinstack.load()(text)`.

    Attributes:
        text: the text.
        sentences: its sentences in order (`Prediction`); empty for a text without words.
        view: the C classes of the view, and the threshold of a label.
        joint: the tree over the n sentences, as transitions (2n - 1,) and the scores (2n - 1, C) of
            its nodes, sentences first. A text of more than 2,048 words has no transitions and one
            row, the mean of its units. None if the text is the mean of its sentences, or has fewer
            than two.
    """

    __slots__ = ("_known", "_scores", "joint", "sentences", "text", "view")

    def __init__(
        self,
        text: str,
        sentences: "tuple[Prediction, ...]",
        view: View,
        share_known: float | None = None,
        joint: Scored | None = None,
    ):
        self.text, self.sentences, self.view, self._known = text, sentences, view, share_known
        self.joint = joint
        self._scores: list[float] | None = None

    @property
    def _read(self) -> "tuple[Prediction, ...]":
        return self.sentences

    @property
    def known(self) -> float | None:
        """Share of words in the model's vocabulary, from 0 to 1, without punctuation
        (`thinstack.text.language`). Nearly all English texts are above 0.7, and few texts in other
        languages. None for a text without words."""
        if self._known is None and self.sentences:
            predictor = self.sentences[0].predictor
            words = [word for sentence in self.sentences for word in sentence.words]
            self._known = None if predictor is None else predictor.language.known(words)
        return self._known

    @property
    def vector(self) -> NDArray[np.float32] | None:
        """Vector of the text (D,), of unit norm; None for a text without words. For several
        sentences, it is the vector of the tree over them (`joint`), or the mean of their vectors,
        weighted by words and normalized. Raises InputError for a model without vectors."""
        if not self.sentences:
            return None
        roots = [stored(sentence.vectors)[-1] for sentence in self.sentences]
        return text_vector(roots, [len(one.words) for one in self.sentences], self.joint)

    def _repr_html_(self) -> str | None:
        """Return the trees or, for a long text, colored phrases, for a notebook. None for a model
        without labels, so that a notebook shows the `repr`."""
        words = sum(len(sentence.words) for sentence in self.sentences)
        if not self.view.labels:
            return None
        return self.svg() if words <= MOST_WORDS else self.html()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as data for JSON: `text`, `label`, `polarity`, `scores`, and
        `sentences` as from `Prediction.to_dict`. Aspects models add `aspects` as from
        `Aspect.to_dict`."""
        sentences = [sentence.to_dict() for sentence in self.sentences]
        data = {"text": self.text, **opinion(self), "sentences": sentences}
        if self.view.no_term is not None:
            data["aspects"] = [aspect.to_dict() for aspect in self.aspects]
        return data

    def __reduce__(self) -> tuple[object, ...]:
        return Result, (self.text, self.sentences, self.view, self.known, self.joint)

    def _row(self) -> list[float]:
        if self._scores is None:
            rows = [sentence.node_scores[-1] for sentence in self.sentences]
            if self.joint is not None:
                rows = [self.joint.scores[-1]]
            elif len(rows) > 1:
                sizes = [len(sentence.words) * sentence.weight for sentence in self.sentences]
                roots, counts = np.stack(rows).astype(np.float64), np.array([len(rows)])
                rows = [*mean_scores(roots, np.array(sizes), counts)]
            self._scores = rows[0].tolist() if rows else []
        return self._scores
