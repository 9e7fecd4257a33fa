"""What the page shows of a text, as data for its modules."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.runtime.aspects import Aspect
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.result import Result

MOST_WORDS: Final = 60
"""Words of a text that is drawn as trees; as in `page/model.js` and `js/demo/model.js`."""


def text_data(result: Result, terms: Sequence[str] = ()) -> dict[str, Any]:
    """What a model says of an English text. `label` is the number of a class, or -1 where the model
    is uncertain. `highlights` are the phrases that say most, and `aspects` what is said of terms:
    of these, or else of those that the model finds, None if it finds none. `svg` draws the trees,
    and is None for more than MOST_WORDS words. `html` is the coloured text."""
    finds = result.view.no_term is not None
    aspects = result.about(*terms) if terms else result.aspects if finds else None
    labels = result.view.labels
    words = sum(len(sentence.words) for sentence in result.sentences)
    return {
        "label": -1 if result.label is None else labels.index(result.label),
        "polarity": result.polarity,
        "scores": [*result.scores.values()],
        "highlights": [
            {"text": phrase.text, "label": labels.index(str(phrase.label))}
            for phrase in result.highlights()
        ],
        "aspects": None if aspects is None else [_aspect_data(aspect) for aspect in aspects],
        "sentences": [_sentence_data(sentence) for sentence in result.sentences],
        "svg": result.svg() if words <= MOST_WORDS else None,
        "html": result.html(),
    }


def _aspect_data(aspect: Aspect) -> dict[str, Any]:
    label = -1 if aspect.label is None else [*aspect.scores].index(aspect.label)
    because = None if aspect.because is None else aspect.because.text
    return {"text": aspect.text, "label": label, "because": because}


def _sentence_data(sentence: Prediction) -> dict[str, Any]:
    """A sentence, and its `nodes`, which have scores. They start and end in UTF-16 units of its
    text, by which JavaScript counts."""
    places = _utf16(sentence.text)
    spans = sentence.spans
    starts = places[sentence.offsets[spans[:, 0], 0]].tolist()
    ends = places[sentence.offsets[spans[:, 1] - 1, 1]].tolist()
    labels = np.where(sentence.certain, sentence.label_ids, -1).tolist()
    rows = sentence.node_scores.astype(float).round(6).tolist()
    names = ("start", "end", "label", "scores")
    return {
        "text": sentence.text,
        "words": list(sentence.words),
        "transitions": sentence.transitions.tolist(),
        "nodes": [
            dict(zip(names, node, strict=True))
            for node in zip(starts, ends, labels, rows, strict=True)
        ],
    }


def _utf16(text: str) -> NDArray[np.int64]:
    """For each place in a text, the UTF-16 units before it, (characters + 1,)."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    return np.concatenate([[0], np.cumsum(1 + (codes > 0xFFFF))])
