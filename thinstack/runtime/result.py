"""`Result`: the scores of one text; and `Judgement`, what it has in common with a sentence."""

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.runtime.aspects import Aspect, about, aspects
from thinstack.runtime.categories import Category
from thinstack.runtime.highlights import highlights
from thinstack.runtime.phrase import Phrase, shown
from thinstack.runtime.scored import Scored, mean_scores
from thinstack.runtime.span_vectors import place_of, span_vectors
from thinstack.runtime.vectors import stored, text_vector
from thinstack.runtime.views import View

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.why import Contribution

MOST_WORDS: Final = 60
"""Words of a text that a notebook draws as trees; a longer one is shown as coloured text."""


class Judgement(ABC):
    """What a model says of some text by the view of its classes: of a `Result` or a
    `Prediction`."""

    __slots__ = ()

    text: str
    view: View
    start: int = 0

    @property
    @abstractmethod
    def _read(self) -> "tuple[Prediction, ...]":
        """Its sentences."""

    @abstractmethod
    def _row(self) -> list[float]:
        """The probabilities of the classes; empty without words."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """All of it as data ready for JSON."""

    @property
    def label(self) -> str | None:
        """The most probable class; on a scale of sentiment, of the side that the polarity is on.
        None for a text without words, if it is less probable than `abstain`, and if the model gives
        no labels."""
        row = self._row()
        return self.view.label(row) if row else None

    @property
    def scores(self) -> dict[str, float]:
        """The probability of each class, {label: probability}. That of a text of several sentences
        is that of the tree over them, or the mean over them, weighted by their words (`aggregation`
        of `thinstack.load`). Empty for a text without words."""
        row = self._row()
        return dict(zip(self.view.labels, row, strict=True)) if row else {}

    @property
    def polarity(self) -> float | None:
        """From -1 (negative) to 1 (positive): the mean of the places of the classes (`Scale`),
        weighted by their probabilities. None for a text without words, and if the classes are not a
        scale of sentiment."""
        row = self._row()
        return self.view.mean_place(row) if row else None

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """The phrases of all sentences in turn, each in the order of the nodes of its tree: words
        before the phrases around them. Empty if the model scores only sentences."""
        return tuple(phrase for sentence in self._read for phrase in sentence.phrases)

    def vector_of(self, start: int, end: int) -> NDArray[np.float32]:
        """The vector (D,), of length 1, of any words of a sentence: the characters [start, end) of
        the whole text, as a phrase has them.

        Words that are a phrase of the tree have its vector. Of others, the largest phrases inside
        are joined from left to right by the model, which takes a call of it.

        Raises InputError for characters outside of the text, of several sentences or without a
        word, and for those that cut a word in two. Also if the model gives no vectors, and for
        words that are no phrase if there is no `predictor` any more.
        """
        sentence, words = place_of(self._read, self.text, start, end, self.start)
        vector: NDArray[np.float32] = span_vectors(sentence, [words], sentence.predictor)[0]
        return vector

    def highlights(self, n: int = 3) -> list[Phrase]:
        """The phrases that say most, at most `n`, the strongest first.

        They are negative or positive, or of any class if classes are not a scale. None is inside
        another, none begins or ends with a mark of punctuation, and none is turned round by what is
        around it, as "good" in "not good". A phrase comes with the words around it as long as they
        keep most of its strength, which is its distance from polarity 0. If a model scores only
        sentences, they are sentences. Raises InputError for a model without labels.
        """
        self.view.need_labels("highlights")
        return highlights(self._read, n)

    @property
    def aspects(self) -> tuple[Aspect, ...]:
        """The terms that the model finds in the text, and what is said of each, in the order of the
        text. Raises InputError if the model is none of aspects, as `thinstack.load("aspects")`."""
        return aspects(self._read, self.view)

    def about(self, *terms: str | Category) -> list[Aspect]:
        """What the text says of terms that you name: an aspect for each mention, in the order of
        the text.

        `terms`: such as "battery", or "price|cost", which are two names of one. They are found as
        whole words, in any case, in the singular and the plural, however they are spelled
        (docs/text.md). A `thinstack.Category` has examples in place of names, and is found by the
        vectors of phrases. A model of aspects judges a mention as the term that it finds there.
        With another model of sentiment, and where no term is found, it is judged by the clause
        around it, or if that is neutral by what is around the clause.

        Raises InputError for a term that is no text or has a name without a letter or digit. Also
        if the model's classes are no scale of sentiment, if it scores only sentences, and for a
        category if it gives no vectors.
        """
        return about(self._read, self.view, terms)

    def why(self) -> "list[Contribution]":
        """How much each phrase contributes to the label of its sentence, sentence by sentence
        (`thinstack.runtime.why.contributions`). Raises InputError as that function does, and for
        what has no `predictor` any more."""
        return [part for sentence in self._read for part in sentence.why()]

    def svg(self) -> str:
        """The trees as one SVG picture, with the class of every phrase. Raises InputError for a
        model without labels."""
        from thinstack.integrations.show.svg import svg

        return svg(self._read)

    def html(self) -> str:
        """The running text as HTML, its phrases coloured in place: for long texts. Raises
        InputError for a model without labels."""
        from thinstack.integrations.show.heat import heat

        return heat(self._read)

    def _repr_html_(self) -> str | None:
        """What a notebook shows: the trees; None, for its `repr`, if the model gives no labels."""
        return self.svg() if self.view.labels else None

    def to_json(self, indent: int | None = None) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    def __repr__(self) -> str:
        return shown(self)


class Result(Judgement):
    """The label and polarity of a text, of its sentences and of every phrase, as
    `thinstack.load()(text)` returns them.

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
        """Vector of the text (D,), of length 1; None for a text without words. For several
        sentences, it is the vector of the tree over them (`joint`), or the mean of their vectors,
        weighted by words and normalized. Raises InputError for a model without vectors."""
        if not self.sentences:
            return None
        roots = [stored(sentence.vectors)[-1] for sentence in self.sentences]
        return text_vector(roots, [len(one.words) for one in self.sentences], self.joint)

    def _repr_html_(self) -> str | None:
        """What a notebook shows: the trees or, for a long text, colored phrases. None if the model
        has no labels, so that a notebook shows the `repr`."""
        words = sum(len(sentence.words) for sentence in self.sentences)
        if not self.view.labels:
            return None
        return self.svg() if words <= MOST_WORDS else self.html()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as data for JSON: `text`, `label`, `polarity`, `scores`, and
        `sentences` as from `Prediction.to_dict`. Aspects models add `aspects` as from
        `Aspect.to_dict`."""
        polarity = self.polarity
        data = {
            "text": self.text,
            "label": self.label,
            "polarity": None if polarity is None else round(polarity, 6),
            "scores": {label: round(score, 6) for label, score in self.scores.items()},
            "sentences": [sentence.to_dict() for sentence in self.sentences],
        }
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
