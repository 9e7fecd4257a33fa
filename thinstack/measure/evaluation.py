"""Accuracy of an ONNX bundle on a labelled treebank, without torch: with its trees, trees made from
words, or raw text."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinstack.config import EvaluationSource
from thinstack.core import Tree
from thinstack.data.raw_text import detokenize
from thinstack.data.treebank import Labelled, read_labelled
from thinstack.errors import InputError
from thinstack.measure.bracketing import bracketing
from thinstack.measure.metrics import labels_by_span, measure
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.text import predict_text

__all__ = ["evaluate", "evaluate_file"]


_PHRASES = ("phrase_accuracy", "phrase_binary_accuracy")
_PHRASE_COUNTS = ("phrases", "binary_phrases")


def evaluate_file(
    predictor: Predictor,
    path: str | Path,
    *,
    source: EvaluationSource = "gold",
    text: bool = False,
    read: Callable[[str | Path], list[Tree]] | None = None,
) -> dict[str, Any]:
    """`evaluate` on a file of labelled PTB bracket trees, or one that `read` reads.

    Raises TreeError with the place of a malformed tree or a label out of range, DataError for an
    unreadable file.
    """
    treebank = read_labelled(path, predictor.labels, read=read)
    return evaluate(predictor, treebank, source=source, text=text)


def evaluate(
    predictor: Predictor,
    treebank: Sequence[Labelled],
    *,
    source: EvaluationSource = "gold",
    text: bool = False,
) -> dict[str, Any]:
    """Accuracies in percent and counts, by the keys of `thinstack.measure.metrics.Accuracy`; what has no
    case is None.

    `source`: "gold" takes the treebank's trees. Any other makes the trees from the words; phrases
    are then those that both trees have, and the keys of `thinstack.measure.bracketing.Bracketing` tell how
    well the trees agree. `text`: the words are detokenised first and read by spaCy, as a user's
    text would be; only whole sentences are then compared. Raises TreeError for gold trees that are
    not binary, InputError for gold trees over raw text.
    """
    if text:
        sentences = _sentences_of_text(predictor, treebank, source)
        figures = measure(
            [scores for scores, _ in sentences], [known for _, known in sentences]
        ).to_dict()
        return figures | dict.fromkeys(_PHRASES, None) | dict.fromkeys(_PHRASE_COUNTS, 0)
    if source == "gold":
        labels = [known for _, known in treebank]
        scores = [
            prediction.scores
            for prediction in predictor.predict_trees([tree for tree, _ in treebank])
        ]
        return measure(scores, labels).to_dict()
    predictions = predictor.predict([tree.words for tree, _ in treebank], source=source)
    spans, gold = (
        [prediction.spans for prediction in predictions],
        [tree.spans for tree, _ in treebank],
    )
    labels = [
        labels_by_span(*item)
        for item in zip(gold, (known for _, known in treebank), spans, strict=True)
    ]
    figures = measure([prediction.scores for prediction in predictions], labels).to_dict()
    return figures | bracketing(spans, gold).to_dict()


def _sentences_of_text(
    predictor: Predictor, treebank: Sequence[Labelled], source: EvaluationSource
) -> list[tuple[NDArray[np.float32], NDArray[np.int64]]]:
    """The scores (1, C) of each sentence, read as raw text, and its label (1,); one that is white
    space to spaCy has none."""
    if source == "gold":
        raise InputError("raw text has no gold trees: name another tree source, such as auto")
    texts = (detokenize(tree.words) for tree, _ in treebank)
    found = predict_text(texts, model=predictor, source=source, split=False)
    return [
        (read[0].scores[-1:], known[-1:])
        for read, (_, known) in zip(found, treebank, strict=True)
        if read
    ]
