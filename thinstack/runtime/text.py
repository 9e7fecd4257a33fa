"""From raw text to predictions, through spaCy's tokeniser and the `tree_sentiment` component."""

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from thinstack.config import Device, TreeSource
from thinstack.errors import InputError, MissingExtraError
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.predictor import Predictor

__all__ = ["predict_text"]


def predict_text(
    texts: Iterable[str],
    *,
    model: str | Predictor = "sst",
    source: TreeSource = "auto",
    device: Device = "cpu",
    threads: int | None = None,
    split: bool = True,
) -> Iterator[list[Prediction]]:
    """Predictions over the sentences of each English text; a text without words has none.

    `split`: cut texts into sentences (by spaCy's sentencizer); otherwise each is one. The rest are
    the settings of the component; a Predictor keeps its own `device` and `threads`. Raises
    MissingExtraError without spaCy or onnxruntime, UnknownNameError or BundleError for an unusable
    model, InputError for a text that is no Unicode (bytes that were not in the encoding that they
    were read with).
    """
    nlp = _pipeline(split)
    # Made here and not by nlp.add_pipe, whose settings cannot hold a model that is running.
    from thinstack.integrations.spacy.component import TreeSentiment, predictions

    name = str(model.bundle.path) if isinstance(model, Predictor) else model
    component = TreeSentiment(model=name, source=source, device=device, threads=threads)
    if isinstance(model, Predictor):
        component.use(model)
    else:
        component.load()
    for doc in component.pipe(nlp.pipe(map(_checked, texts, count(1)))):
        yield predictions(doc)


def _checked(text: str, number: int) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"text {number}: no Unicode text, character {error.start} is {text[error.start]!r}"
        ) from None
    return text


def _pipeline(split: bool) -> Any:
    try:
        import spacy
    except ModuleNotFoundError as error:
        if error.name != "spacy":  # spaCy is there, and what it needs is not
            raise
        raise MissingExtraError("spacy", "spacy") from None
    nlp = spacy.blank("en")
    nlp.max_length = 1 << 40  # the limit guards parsers, and there is none here
    if split:
        nlp.add_pipe("sentencizer")
    return nlp
