"""How well trees agree with a treebank's trees: unlabelled bracketing, without torch."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thinstack.evaluate.figures import Figures, percentage

IntArray = NDArray[np.int64]


def bracketing(trees: Sequence[IntArray], gold: Sequence[IntArray]) -> Figures:
    """The agreement of trees with the treebank's trees over the same sentences. A tree is given as
    the words [start, end) of its nodes (N, 2).

    A span is the words of a phrase of two words or more. F1 is over all spans of all sentences at
    once (micro-averaged): twice the number of spans that both trees have, divided by the number of
    spans in both. Binary trees over the same words have equally many spans, so precision and recall
    are the same as F1. Returns, in percent, or None without cases:

    - `span_f1`: without the span of the whole sentence, which no tree can miss;
    - `span_f1_with_root`: with that span;
    - `span_f1_by_sentence`: with that span, the mean over sentences of two words or more, so that
      short sentences count as much as long ones;
    - `exact_trees`: the share of sentences with all spans as in the treebank, among sentences of
      three words or more, because fewer words have only one tree.

    Also returns `spans` and `spans_with_root`, the numbers of spans in the treebank's trees, and
    `trees`, the number of sentences of three words or more.
    """
    pairs = [(_spans(ours), _spans(theirs)) for ours, theirs in zip(trees, gold, strict=True)]
    # Columns: spans in both trees, in ours, in the treebank's.
    rows = [(len(np.intersect1d(*pair, assume_unique=True)), *map(len, pair)) for pair in pairs]
    counts = np.array(rows, np.int64).reshape(-1, 3)
    words = np.array([spans.max() for spans in gold], np.int64)
    exact = (counts == counts[:, :1]).all(axis=1)[words >= 3]
    all_spans = counts.sum(axis=0)
    inner = all_spans - (words >= 2).sum()
    both, ours, theirs = counts[words >= 2].T
    by_sentence = 200 * both / (ours + theirs)
    return {
        "span_f1": _f1(*inner.tolist()),
        "span_f1_with_root": _f1(*all_spans.tolist()),
        "span_f1_by_sentence": float(by_sentence.mean()) if by_sentence.size else None,
        "exact_trees": percentage(exact),
        "spans": int(inner[2]),
        "spans_with_root": int(all_spans[2]),
        "trees": int(exact.size),
    }


def _spans(spans: IntArray) -> IntArray:
    """A number for each different span (N, 2) of two words or more."""
    starts, ends = spans[spans[:, 1] - spans[:, 0] >= 2].T
    return np.unique(starts * (spans.max() + 1) + ends)


def _f1(both: int, ours: int, gold: int) -> float | None:
    return 100 * 2 * both / (ours + gold) if ours + gold else None
