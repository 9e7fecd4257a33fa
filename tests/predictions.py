"""Predictions of texts, predictions made by hand, and models that are watched or fail."""

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


class Watched:
    """A session that keeps of each run the names of the outputs, the feeds and what it gave."""

    device = "cpu"

    def __init__(self, session):
        self.session, self.runs = session, []

    def run(self, outputs, feeds):
        found = self.session.run(outputs, feeds)
        self.runs.append((outputs, feeds, found))
        return found


def failing(monkeypatch, predictor, word, error):
    """Make the model fail of any sentence with this word; returns a list that gets the number of
    sentences of each call."""
    real, calls = predictor.trees_and_scores, []

    def trees_and_scores(words, trees):
        calls.append(len(words))
        if any(word in sentence for sentence in words):
            raise error
        return real(words, trees)

    monkeypatch.setattr(predictor, "trees_and_scores", trees_and_scores)
    return calls
