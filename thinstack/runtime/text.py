"""From raw text to predictions: a splitter makes sentences of words, and the model scores them."""

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
    """A sentence of a text: its own text, its L >= 1 words in treebank conventions, and the
    characters [start, end) of each in that text, (L, 2) int64; and the character of the whole text
    that it starts at, where the splitter tells."""

    text: str
    words: list[str]
    offsets: NDArray[np.int64]
    start: int = 0


Splitter = Callable[[Iterable[str]], Iterator[list[Sentence]]]
"""What cuts texts into sentences of words: the sentences of each text, in order; a text without
words has none."""


def splitter(*, sentences: bool = True) -> Splitter:
    """The splitter of English texts, chosen here and nowhere else. `sentences` False: each text is
    one."""
    from thinstack.runtime.english import EnglishSplitter  # which makes this file's Sentences

    return EnglishSplitter(sentences=sentences)


def predict_text(
    predictor: Predictor, texts: Iterable[str], *, source: TreeSource = "auto", split: bool = True
) -> Iterator[list[Prediction]]:
    """Predictions over the sentences of each English text; a text without words has none.

    `split`: cut texts into sentences; otherwise each is one. Raises InputError for a source that
    the model does not have and for a text that is no Unicode (bytes that were not in the encoding
    that they were read with), BundleError if the model fails. Texts before one that cannot be
    read are given first.
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
