"""From raw text to predictions, through spaCy's tokeniser and the `tree_sentiment` component."""

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, Literal

from thinstack.config import TreeSource
from thinstack.errors import InputError, MissingExtraError
from thinstack.integrations.prediction import Prediction

__all__ = ["predict_text"]


def predict_text(
    texts: Iterable[str],
    *,
    model: str = "sst",
    source: TreeSource = "auto",
    device: Literal["cpu", "cuda", "auto"] = "cpu",
    threads: int | None = None,
    split: bool = True,
) -> Iterator[list[Prediction]]:
    """Predictions over the sentences of each English text; a text without words has none.

    `split`: cut texts into sentences (by spaCy's sentencizer); otherwise each is one. The rest are the settings of the
    component. Raises MissingExtraError without spaCy or onnxruntime, UnknownNameError or BundleError for an unusable model,
    InputError for a text that is no Unicode (bytes that were not in the encoding that they were read with).
    """
    nlp = _pipeline(split, model=model, source=source, device=device, threads=threads)
    from thinstack.integrations.spacy_results import predictions

    for doc in nlp.pipe(map(_checked, texts, count(1))):
        yield predictions(doc)


def _checked(text: str, number: int) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"text {number}: no Unicode text, character {error.start} is {text[error.start]!r}") from None
    return text


def _pipeline(split: bool, **settings: Any) -> Any:
    try:
        from spacy.lang.en import English
    except ImportError:
        raise MissingExtraError("spacy", "spacy") from None
    nlp = English()
    nlp.max_length = 1 << 40  # the limit guards parsers, and there is none here
    if split:
        nlp.add_pipe("sentencizer")
    nlp.add_pipe("tree_sentiment", config=settings)
    return nlp
