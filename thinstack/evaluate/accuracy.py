"""Figures of nodes, texts, pairs and aspects, and calibration of probabilities (Guo et al. 2017),
without torch."""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.scale import Scale
from thinstack.evaluate.figures import Figures, f1, percentage

IntArray = NDArray[np.int64]


def accuracy(
    scores: Sequence[NDArray[np.floating]],
    labels: Sequence[IntArray],
    *,
    scale: Scale | None,
    phrases: bool = True,
    roots: Sequence[int] | None = None,
) -> Figures:
    """Compare the scores (N_i, C) of each tree's nodes with their labels (N_i,), where -1 means no
    label. `roots`: the index of each tree's root; by default, the last.

    Returns, in percent, `root_accuracy`, `root_binary_accuracy`, `phrase_accuracy` and
    `phrase_binary_accuracy`; `root_calibration_error` and `phrase_calibration_error` in percentage
    points (see `confidence_error`); and the numbers of cases, `roots`, `binary_roots`, `phrases`
    and `binary_phrases`. A figure without cases is None.

    *Binary* is the protocol of Socher et al. (2013) on the same model, for sentiment classes.
    Neutral cases are excluded, and the total probability of the negative classes is compared with
    that of the positive classes. Without a `scale`, there are no binary cases. With `phrases`
    False, only roots are measured.
    """
    classes = scores[0].shape[1] if scores else len(scale.sides) if scale else 2
    all_scores = np.concatenate([np.zeros((0, classes)), *scores])
    all_labels = np.concatenate([np.zeros(0, np.int64), *labels])
    sizes = np.array([len(tree) for tree in labels], np.int64)
    within = sizes - 1 if roots is None else np.array(roots, np.int64)
    places_of_roots = np.cumsum(sizes) - sizes + within
    nodes = slice(None) if phrases else slice(0)
    figures: Figures = {}
    counts: Figures = {}
    for name, places in (("root", places_of_roots), ("phrase", nodes)):
        labelled = all_labels[places] >= 0
        rows, gold = all_scores[places][labelled], all_labels[places][labelled]
        binary = binary_right(rows, gold, scale)
        for kind, right in (("", rows.argmax(axis=1) == gold), ("binary_", binary)):
            figures[f"{name}_{kind}accuracy"] = percentage(right)
            counts[f"{kind}{name}s"] = len(right)
        figures[f"{name}_calibration_error"] = calibration_error(rows, gold)
    return figures | counts


def binary_right(
    scores: NDArray[np.floating], labels: IntArray, scale: Scale | None
) -> NDArray[np.bool_]:
    """Return which cases have scores (K, C) with the sign of their labels (K,), -1 if unknown.
    Neutral and unknown cases are excluded; without a `scale`, all are."""
    if scale is None:
        return np.zeros(0, np.bool_)
    sides = np.array(scale.sides)
    polar = (labels >= 0) & (sides[labels] != 0)
    rows = scores[polar]
    positive = rows[:, sides > 0].sum(axis=1) > rows[:, sides < 0].sum(axis=1)
    return np.asarray(positive == (sides[labels[polar]] > 0))


def labels_by_span(spans: IntArray, labels: IntArray, wanted: IntArray) -> IntArray:
    """Return the labels (M,) of the spans `wanted` (M, 2) of another tree over the same words, or
    -1 if they are not among the labelled spans (N, 2).

    If several nodes share a span (unary chains), the last in transition order, the highest, counts.
    """
    label_of = dict(zip(map(tuple, spans.tolist()), labels.tolist(), strict=True))
    return np.array([label_of.get(span, -1) for span in map(tuple, wanted.tolist())], np.int64)


NAMES: Final = {"accuracy": "accuracy", "macro_f1": "macro F1", "binary_accuracy": "binary"}
"""{key: printed name} of the figures."""


def text_figures(
    scores: NDArray[np.floating],
    gold: IntArray,
    labels: Sequence[str],
    predicted: IntArray | None = None,
) -> Figures:
    """Return figures in percent for the scores (T, C) of texts, given their classes (T,), named
    `labels`. `predicted` (T,): the predicted classes; by default, the most probable ones.

    Returns `accuracy`; `macro_f1`, the mean F1 over all classes that occur or were predicted;
    `binary_accuracy` for positive and negative classes, as in `accuracy`; `calibration_error` in
    percentage points. Each is None without texts. `texts` and `binary_texts` are the numbers of
    texts.
    """
    predicted = scores.argmax(1) if predicted is None else predicted
    table = confusion(predicted, gold, scores.shape[1])
    right, both = table.diagonal(), table.sum(0) + table.sum(1)
    by_class = 200.0 * right[both > 0] / both[both > 0]
    binary = binary_right(scores, gold, Scale.of(labels))
    return {
        "accuracy": percentage(predicted == gold),
        "macro_f1": float(by_class.mean()) if len(by_class) else None,
        "binary_accuracy": percentage(binary),
        "calibration_error": calibration_error(scores, gold),
        "texts": len(gold),
        "binary_texts": len(binary),
    }


def confusion(predicted: IntArray, gold: IntArray, classes: int) -> IntArray:
    """Return the confusion matrix (C, C): texts of each class (rows) by assigned class
    (columns)."""
    table = np.zeros((classes, classes), np.int64)
    np.add.at(table, (gold, predicted), 1)
    return table


BINS: Final = 15
"""The number of bins of equal width, as in the tables of Guo et al. 2017."""


def calibration_error(scores: NDArray[np.floating], gold: NDArray[np.int64]) -> float | None:
    """Return the `confidence_error` of probabilities (K, C), given the classes (K,) of all K cases.
    None without cases."""
    return confidence_error(scores.max(axis=1), scores.argmax(axis=1) == gold)


def confidence_error(confidence: NDArray[np.floating], right: NDArray[np.bool_]) -> float | None:
    """Return the expected calibration error, in percentage points, of K cases, given the greatest
    probability (K,) of each and whether its class was right (K,) (Guo et al. 2017, equation 3).
    None without cases.

        ECE = sum over bins m of |B_m| / K |acc(B_m) - conf(B_m)|

    Bin m of M = `BINS` contains the cases whose greatest probability, conf, is above (m - 1) / M
    and at most m / M; acc is the share of them that are right.
    """
    if not len(right):
        return None
    top = confidence.astype(np.float64)
    bins = np.clip(np.ceil(top * BINS).astype(np.int64), 1, BINS)
    # |B_m| (acc - conf) is the sum over the bin of right - top.
    return 100.0 * float(np.abs(np.bincount(bins, right - top)).sum()) / len(right)


def relatedness(predicted: NDArray[np.floating], gold: NDArray[np.floating]) -> Figures:
    """Return the agreement of predicted with gold ratings (P,) (Tai et al. 2015, Table 3).

    Returns `pearson`, `spearman` and `mse` (in ratings squared), each None if it is undefined; and
    `pairs`, the number of pairs.
    """
    errors = predicted.astype(np.float64) - gold
    return {
        "pearson": pearson(predicted, gold),
        "spearman": _correlation("spearmanr", predicted, gold),
        "mse": float(np.mean(errors**2)) if len(errors) else None,
        "pairs": len(errors),
    }


def pearson(predicted: NDArray[np.floating], gold: NDArray[np.floating]) -> float | None:
    """Return Pearson's r of two samples (P,); None if it is undefined, because there are fewer than
    two pairs or a sample is constant."""
    return _correlation("pearsonr", predicted, gold)


def _correlation(
    name: str, predicted: NDArray[np.floating], gold: NDArray[np.floating]
) -> float | None:
    from scipy import stats  # not at the top: it takes long

    if len(gold) < 2:
        return None
    # scipy warns about constant and nearly constant samples: the first are undefined, the second
    # come from an untrained model.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pair = predicted.astype(np.float64), gold.astype(np.float64)
        value = float(getattr(stats, name)(*pair).statistic)
    return value if math.isfinite(value) else None


def entailment(predicted: NDArray[np.integer], gold: NDArray[np.integer]) -> Figures:
    """Return the `accuracy` in percent of the predicted classes of pairs (P,), None without pairs;
    and `pairs`, the number of pairs."""
    right = predicted == gold
    return {"accuracy": percentage(right), "pairs": len(right)}


ASPECT_NAMES: Final[Mapping[str, str]] = {
    "polarity_accuracy": "polarity of terms",
    "polarity_f1": "macro-F1",
    "mixed_accuracy": "in sentences with both polarities",
    "term_f1": "F1 of terms",
    "aspect_f1": "F1 of terms with polarity",
    "phrase_terms": "terms that are phrases",
}
"""{key: printed name} of the figures. All are in percent."""

SIDES: Final = (-1, 0, 1)

Term = tuple[int, int, int]
"""The words [start, end) of a term, and its polarity sign: -1 negative, 0 neutral, 1 positive."""


class Judged(NamedTuple):
    """A sentence with its k terms.

    Attributes:
        gold: the terms, with their polarity signs.
        sides: (k,) the predicted signs of these terms.
        phrases: (k,) whether each is a phrase of the model's tree.
        predicted: the terms that the model detects; None if it does not detect terms.
    """

    gold: list[Term]
    sides: list[int]
    phrases: list[bool]
    predicted: list[Term] | None = None


def aspect_figures(sentences: Iterable[Judged]) -> Figures:
    """Return the figures of `ASPECT_NAMES`; None for those without cases. The macro-F1 is the mean
    over the three signs. Mixed sentences have a positive and a negative term, and all their terms
    count. The F1 of terms requires an exact match of the words."""
    judged = list(sentences)
    both = [one for one in judged if {-1, 1} <= {side for *_, side in one.gold}]
    sides, sides_of_both = _pairs(judged), _pairs(both)
    finding = [one for one in judged if one.predicted is not None]
    words = [({t[:2] for t in one.gold}, {t[:2] for t in one.predicted or ()}) for one in finding]
    of_sides = [
        f1(int((sides == side).all(1).sum()), *(sides == side).sum(0).tolist()) for side in SIDES
    ]
    phrases = np.array([is_phrase for one in judged for is_phrase in one.phrases], np.bool_)
    return {
        "polarity_accuracy": percentage(sides[:, 0] == sides[:, 1]),
        "polarity_f1": sum(one or 0.0 for one in of_sides) / len(SIDES) if len(sides) else None,
        "mixed_accuracy": percentage(sides_of_both[:, 0] == sides_of_both[:, 1]),
        "term_f1": _f1(words),
        "aspect_f1": _f1([({*one.gold}, {*(one.predicted or ())}) for one in finding]),
        "phrase_terms": percentage(phrases),
    }


def _pairs(judged: Sequence[Judged]) -> NDArray[np.int64]:
    """Return the gold and the predicted sign of each term, (k, 2)."""
    pairs = [
        (gold, side) for one in judged for (*_, gold), side in zip(one.gold, one.sides, strict=True)
    ]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _f1(sets: Sequence[tuple[set[Any], set[Any]]]) -> float | None:
    return f1(
        sum(len(gold & predicted) for gold, predicted in sets),
        sum(len(gold) for gold, _ in sets),
        sum(len(predicted) for _, predicted in sets),
    )
