"""`Result`: what a model says of one text."""

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.runtime.aspects import Aspect, about, aspects
from thinstack.runtime.highlights import highlights
from thinstack.runtime.phrase import Phrase, shown
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.scored import Scored, mean_scores
from thinstack.runtime.views import View

if TYPE_CHECKING:
    from thinstack.runtime.why import Contribution

MOST_WORDS: Final = 60
"""Words of a text that a notebook draws as trees; a longer one is shown as coloured text."""


class Result:
    """What a model says of a text: its label and polarity, those of its sentences, and those of
    every phrase. `thinstack.load()(text)` makes one.

    Attributes:
        text: the text.
        sentences: its sentences in order (`Prediction`); none of a text without words.
        view: the C classes that are shown, and how probable a label must be.
        joint: the tree over the n sentences, as transitions (2n - 1,) and the scores (2n - 1, C) of
            its nodes, sentences first. A text of more than 2,048 words is read in stretches, and
            has no transitions and one row, their mean. None if the text is the mean of its
            sentences, and if it has fewer than two.
    """

    __slots__ = ("_known", "_row", "joint", "sentences", "text", "view")

    def __init__(
        self,
        text: str,
        sentences: tuple[Prediction, ...],
        view: View,
        known: float | None = None,
        joint: Scored | None = None,
    ):
        self.text, self.sentences, self.view, self._known = text, sentences, view, known
        self.joint = joint
        self._row: list[float] | None = None

    @property
    def label(self) -> str | None:
        """The most probable class. None for a text without words, and if no class is as probable as
        `abstain`."""
        return self.view.label(self._means()) if self.sentences else None

    @property
    def scores(self) -> dict[str, float]:
        """The probability of each class, {label: probability}. It is that of the tree over the
        sentences, or the mean over them, weighted by their words (`aggregation` of
        `thinstack.load`). Empty for a text without words."""
        means = self._means()
        return dict(zip(self.view.labels, means, strict=True)) if means else {}

    @property
    def polarity(self) -> float | None:
        """From -1 (negative) to 1 (positive): the mean of the places of the classes (`Scale`),
        weighted by their probabilities. None for a text without words, and if the classes are not a
        scale of sentiment."""
        return self.view.mean_place(self._means()) if self.sentences else None

    @property
    def known(self) -> float | None:
        """The share of words that the model knows, from 0 to 1, without marks of punctuation
        (`thinstack.text.language`). Of English texts nearly all are above 0.7, of texts in other
        languages few are. None for a text without words."""
        if self._known is None and self.sentences:
            predictor = self.sentences[0].predictor
            words = [word for sentence in self.sentences for word in sentence.words]
            self._known = None if predictor is None else predictor.language.known(words)
        return self._known

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """The phrases of all sentences in turn, each in the order of the nodes of its tree: words
        before the phrases around them. Empty if the model scores only sentences."""
        return tuple(phrase for sentence in self.sentences for phrase in sentence.phrases)

    def highlights(self, n: int = 3) -> list[Phrase]:
        """The phrases that say most, at most `n`, the strongest first.

        They are negative or positive, or of any class if classes are not a scale. None is inside
        another, none begins or ends with a mark of punctuation, and none is turned round by what is
        around it, as "good" in "not good". A phrase comes with the words around it as long as they
        keep most of its strength, which is its distance from polarity 0. If a model scores only
        sentences, they are sentences.
        """
        return highlights(self.sentences, n)

    @property
    def aspects(self) -> tuple[Aspect, ...]:
        """The terms that the model finds in the text, and what is said of each, in the order of the
        text. Raises InputError if the model is none of aspects, as `thinstack.load("aspects")`."""
        return aspects(self.sentences, finds=self.view.no_term is not None)

    def about(self, *terms: str) -> list[Aspect]:
        """What the text says of terms that you name: an aspect for each mention, in the order of
        the text.

        `terms`: such as "battery", or "price|cost", which are two names of one. They are found as
        whole words, in any case, in the singular and the plural, however they are spelled
        (docs/text.md). A model of aspects judges a mention as the term that it finds there. With
        another model of sentiment, and where no term is found, it is judged by the smallest phrase
        around it that is not neutral, or else by its sentence.

        Raises InputError for a term that is no text or has a name without a letter or digit. Also
        if the model's classes are no scale of sentiment, and if it scores only sentences.
        """
        return about(self.sentences, self.view, terms, finds=self.view.no_term is not None)

    def why(self) -> "list[Contribution]":
        """How much each phrase contributes to the label of its sentence, sentence by sentence.
        Raises InputError as `Prediction.why` does."""
        return [each for sentence in self.sentences for each in sentence.why()]

    def svg(self) -> str:
        """The trees as one SVG picture, with the class of every phrase."""
        from thinstack.integrations.show.svg import svg

        return svg(self.sentences)

    def html(self) -> str:
        """The running text as HTML, its phrases coloured in place: for long texts."""
        from thinstack.integrations.show.heat import heat

        return heat(self.sentences)

    def _repr_html_(self) -> str:
        """What a notebook shows: the trees, or of a long text its phrases coloured in place."""
        words = sum(len(sentence.words) for sentence in self.sentences)
        return self.svg() if words <= MOST_WORDS else self.html()

    def to_dict(self) -> dict[str, Any]:
        """The result as data ready for JSON: `text`, `label`, `polarity`, `scores`, and
        `sentences`, each as `Prediction.to_dict` has it. From a model of aspects, it also has
        `aspects`, each as `Aspect.to_dict` has it."""
        polarity, more = self.polarity, dict[str, Any]()
        if self.view.no_term is not None:
            more["aspects"] = [each.to_dict() for each in self.aspects]
        return {
            "text": self.text,
            "label": self.label,
            "polarity": None if polarity is None else round(polarity, 6),
            "scores": {label: round(score, 6) for label, score in self.scores.items()},
            "sentences": [sentence.to_dict() for sentence in self.sentences],
        } | more

    def to_json(self, indent: int | None = None) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    def __repr__(self) -> str:
        return shown(self)

    def __reduce__(self) -> tuple[object, ...]:
        return Result, (self.text, self.sentences, self.view, self.known, self.joint)

    def _means(self) -> list[float]:
        """The probabilities of the classes; empty without words."""
        if self._row is None:
            rows = [sentence.node_scores[-1] for sentence in self.sentences]
            if self.joint is not None:
                self._row = self.joint.scores[-1].tolist()
            elif len(rows) > 1:
                self._row = self._weighted(rows)
            else:
                self._row = rows[0].tolist() if rows else []
        return self._row

    def _weighted(self, rows: list[NDArray[np.float32]]) -> list[float]:
        sizes = [len(sentence.words) * sentence.weight for sentence in self.sentences]
        roots, counts = np.stack(rows).astype(np.float64), np.array([len(rows)])
        means: list[float] = mean_scores(roots, np.array(sizes), counts)[0].tolist()
        return means
