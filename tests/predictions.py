"""Predictions of texts, and predictions made by hand."""

from collections.abc import Iterator

from thinstack.runtime.prediction import Prediction
from thinstack.runtime.scored import Scored
from thinstack.runtime.views import View


def sentences_of(model, texts, **settings) -> Iterator[list[Prediction]]:
    """The sentences of each text."""
    for result in model.stream(texts, **settings):
        yield list(result.sentences)


def prediction_of(words, transitions, scores, labels, abstain=0.0, **more) -> Prediction:
    """A prediction with this tree and these scores."""
    view = View.of(tuple(labels), abstain)
    return Prediction.of_words(words, Scored(transitions, scores, **more), view)
