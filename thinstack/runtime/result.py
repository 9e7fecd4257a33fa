"""`Result`: the scores of one text."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.runtime.judgement import Judgement
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.scored import Scored, mean_scores
from thinstack.runtime.vectors import stored, text_vector
from thinstack.runtime.views import View

MOST_WORDS: Final = 60
"""Words of a text that a notebook draws as trees; a longer one is shown as coloured text."""


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
        sentences: tuple[Prediction, ...],
        view: View,
        share_known: float | None = None,
        joint: Scored | None = None,
    ):
        self.text, self.sentences, self.view, self._known = text, sentences, view, share_known
        self.joint = joint
        self._scores: list[float] | None = None

    @property
    def _read(self) -> tuple[Prediction, ...]:
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
        polarity, more = self.polarity, dict[str, Any]()
        if self.view.no_term is not None:
            more["aspects"] = [aspect.to_dict() for aspect in self.aspects]
        return {
            "text": self.text,
            "label": self.label,
            "polarity": None if polarity is None else round(polarity, 6),
            "scores": {label: round(score, 6) for label, score in self.scores.items()},
            "sentences": [sentence.to_dict() for sentence in self.sentences],
        } | more

    def __reduce__(self) -> tuple[object, ...]:
        return Result, (self.text, self.sentences, self.view, self.known, self.joint)

    def _row(self) -> list[float]:
        if self._scores is None:
            rows = [sentence.node_scores[-1] for sentence in self.sentences]
            if self.joint is not None:
                self._scores = self.joint.scores[-1].tolist()
            elif len(rows) > 1:
                self._scores = self._weighted(rows)
            else:
                self._scores = rows[0].tolist() if rows else []
        return self._scores

    def _weighted(self, rows: list[NDArray[np.float32]]) -> list[float]:
        sizes = [len(sentence.words) * sentence.weight for sentence in self.sentences]
        roots, counts = np.stack(rows).astype(np.float64), np.array([len(rows)])
        means: list[float] = mean_scores(roots, np.array(sizes), counts)[0].tolist()
        return means
