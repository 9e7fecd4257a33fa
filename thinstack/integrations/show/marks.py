"""What every picture of a prediction shows of its phrases: names, signs, tones and
probabilities."""

from thinstack.integrations.show.drawn_text import percent
from thinstack.integrations.show.outline import SIGNS, UNCERTAIN, visible
from thinstack.runtime.prediction import Prediction


class Marks:
    """The marks of each phrase of a prediction, by the row of its scores.

    Attributes:
        names: its label, or "uncertain".
        signs: its sign on a scale from negative to positive, or "?" if it is uncertain. Without
            such a scale it is the name.
        tones: its class in style sheets: "t0" (very negative) to "t4", or "plain".
    """

    def __init__(self, prediction: Prediction):
        prediction.view.need_labels("a picture")
        self._labels = [visible(label) for label in prediction.labels]
        self._scores = prediction.node_scores
        scale = prediction.view.scale
        best, sure = prediction.label_ids.tolist(), prediction.certain.tolist()
        pairs = list(zip(best, sure, strict=True))
        self.names = [self._labels[label] if certain else UNCERTAIN for label, certain in pairs]
        self.signs, self.tones = self.names, ["plain"] * len(pairs)
        if scale is not None:
            tones = scale.tones
            signs = [SIGNS[tone].replace("-", "−") for tone in tones]
            self.signs = [signs[label] if certain else "?" for label, certain in pairs]
            self.tones = [f"t{tones[label]}" if certain else "plain" for label, certain in pairs]

    def scores(self, node: int) -> str:
        """The probability of every class for one phrase, as text."""
        pairs = zip(self._labels, self._scores[node].tolist(), strict=True)
        return ", ".join(f"{label} {percent(score)}" for label, score in pairs)
