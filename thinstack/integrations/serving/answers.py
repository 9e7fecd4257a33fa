"""What the page is told of a model and of a text: data that its modules take from either side."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core.scale import tones_of
from thinstack.integrations.show.heat import heat
from thinstack.integrations.show.svg import svg
from thinstack.runtime.documents import document_scores
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.text import predict_text

MOST_WORDS: Final = 60
"""Words of a text that is drawn as trees; as in `page/model.js` and `js/demo/model.js`."""


def model_data(predictor: Predictor, name: str) -> dict[str, Any]:
    """The classes of a model and, where they are a scale, the tone of each."""
    return {"name": name, "labels": list(predictor.labels), "tones": tones_of(predictor.labels)}


def text_data(predictor: Predictor, text: str) -> dict[str, Any]:
    """What a model says of an English text: `label`, `scores`, `sentences`, `svg` and `html`.

    `label` is the number of a class, or -1 where the model is uncertain. `svg` draws the trees, and
    is None for more than MOST_WORDS words. `html` is the coloured text.

    A sentence has `text`, `words`, `transitions` and `nodes`, what has scores in it: `start` and
    `end`, in the UTF-16 units of its text, by which JavaScript counts, `label` and `scores`.
    Raises InputError for a text that is no Unicode, BundleError if the model fails.
    """
    (sentences,) = predict_text(predictor, [text])
    scores, label = [], -1
    if sentences:
        scores = document_scores(sentences).tolist()
        best = int(np.argmax(scores))
        label = best if scores[best] >= sentences[0].abstain else -1
    words = sum(len(sentence.words) for sentence in sentences)
    return {
        "label": label,
        "scores": scores,
        "sentences": [_sentence_data(sentence) for sentence in sentences],
        "svg": svg(sentences) if words <= MOST_WORDS else None,
        "html": heat(sentences),
    }


def _sentence_data(sentence: Prediction) -> dict[str, Any]:
    places = _utf16(sentence.text)
    spans = sentence.spans
    starts = places[sentence.offsets[spans[:, 0], 0]].tolist()
    ends = places[sentence.offsets[spans[:, 1] - 1, 1]].tolist()
    labels = np.where(sentence.certain, sentence.label_ids, -1).tolist()
    rows = sentence.scores.astype(float).round(6).tolist()
    names = ("start", "end", "label", "scores")
    return {
        "text": sentence.text,
        "words": list(sentence.words),
        "transitions": sentence.transitions.tolist(),
        "nodes": [
            dict(zip(names, each, strict=True))
            for each in zip(starts, ends, labels, rows, strict=True)
        ],
    }


def _utf16(text: str) -> NDArray[np.int64]:
    """For each place in a text, the UTF-16 units before it, (characters + 1,)."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    return np.concatenate([[0], np.cumsum(1 + (codes > 0xFFFF))])
