"""From raw text to predictions: a splitter makes sentences and words, and the model scores them."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, starmap
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.config import TreeSource
from thinstack.errors import InputError
from thinstack.runtime.batching import BATCH_CHARACTERS, BATCH_TEXTS, in_batches
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.predictor import Predictor

__all__ = ["Sentence", "Splitter", "predict_text", "splitter"]


class Sentence(NamedTuple):
    """A sentence of a text.

    It has its own text, its L >= 1 words in treebank conventions, and the characters [start, end)
    of each word in that text, (L, 2) int64. If the splitter tells, it also has the character where
    it starts in the whole text.
    """

    text: str
    words: list[str]
    offsets: NDArray[np.int64]
    start: int = 0


Splitter = Callable[[Iterable[str]], Iterator[list[Sentence]]]
"""What cuts texts into sentences of words: the sentences of each text, in order; a text without
words has none."""


def splitter(*, sentences: bool = True) -> Splitter:
    """The splitter for English texts, which is chosen only here. With `sentences` False, each text
    is one sentence."""
    from thinstack.runtime.english import EnglishSplitter  # which makes this file's Sentences

    return EnglishSplitter(sentences=sentences)


def predict_text(
    predictor: Predictor, texts: Iterable[str], *, source: TreeSource = "auto", split: bool = True
) -> Iterator[list[Prediction]]:
    """Predictions for the sentences of each English text. A text without words has no predictions.

    `split`: whether to cut texts into sentences; otherwise each text is one sentence. Raises
    InputError for a source that the model does not have, and for a text that is not valid Unicode
    because its bytes were read with the wrong encoding. Raises BundleError if the model fails. The
    predictions for earlier texts are given before an error is raised.
    """
    predictor.tree_maker(source)  # an unknown source is an error without texts too
    cut, threads = splitter(sentences=split), predictor.pool.threads
    most, characters = BATCH_TEXTS[predictor.device] * threads, BATCH_CHARACTERS * threads
    shown = predictor.labels, predictor.view.abstain
    for read in in_batches(starmap(_checked, enumerate(texts, 1)), most, len, characters):
        batch = list(cut(read))
        flat = list(chain.from_iterable(batch))
        scored = predictor.trees_and_scores([sentence.words for sentence in flat], source)
        found = (
            Prediction(
                *(text, tuple(words), offsets, *each[:2], *shown),
                weight=each.weight,
                parts=each.parts,
                predictor=predictor,
            )
            for (text, words, offsets, _), each in zip(flat, scored, strict=True)
        )
        for sentences in batch:
            yield list(islice(found, len(sentences)))


def _checked(number: int, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        problem = f"no Unicode text, character {error.start} is {text[error.start]!r}"
        raise InputError(f"text {number}: {problem}") from None
    return text
