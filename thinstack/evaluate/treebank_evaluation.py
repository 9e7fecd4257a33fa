"""Measure an ONNX bundle on a labelled treebank, without torch: with the treebank's trees, trees
built from words, or raw text. Also measure the agreement of trees by unlabelled bracketing."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.config import EvaluationSource
from thinstack.core.transitions import spans_of
from thinstack.data.trees.treebank import Labelled, read_labelled, read_trees
from thinstack.errors import InputError, TreeError
from thinstack.evaluate.accuracy import accuracy, labels_by_span
from thinstack.evaluate.figures import Figures, f1, percentage
from thinstack.runtime.predictor import Predictor
from thinstack.text.raw_text import detokenize

IntArray = NDArray[np.int64]


def evaluate_file(
    predictor: Predictor,
    path: str | Path,
    *,
    source: EvaluationSource = "gold",
    text: bool = False,
    read: Callable[[str | Path], list[Tree]] | None = None,
    relabel: Mapping[str, str] | None = None,
) -> Figures:
    """Run `evaluate_predictor` on a file of labelled PTB bracket trees, or on one for `read`.

    If the model's recipe renamed labels (`task.relabel`), the labels of the file are renamed in the
    same way, and sentences without a class are omitted. `relabel` renames further labels.

    Raises TreeError, with file and place, for a malformed tree, one that does not fit the model or
    a label out of range; DataError for a file that cannot be read; InputError for a label of
    `relabel` that no tree has.
    """
    if relabel:
        labels = {label for tree in (read or read_trees)(path) for label in tree.labels if label}
        if absent := [name for name in relabel if name not in labels]:
            there = f"it has {', '.join(map(repr, sorted(labels))):.300}"
            raise InputError(f"--relabel: {path} has no label {absent[0]!r:.60}; {there}")
    names = predictor.bundle.relabel() | {**(relabel or {})}
    treebank = read_labelled(path, predictor.config.labels, read=read, relabel=names)
    try:
        return evaluate_predictor(predictor, treebank, source=source, text=text)
    except TreeError as error:
        raise TreeError(error.message, source=str(path)) from None


def evaluate_predictor(
    predictor: Predictor,
    treebank: Sequence[Labelled],
    *,
    source: EvaluationSource = "gold",
    text: bool = False,
) -> Figures:
    """Return the figures of `thinstack.evaluate.accuracy.accuracy` for a treebank with the model's
    classes.

    The predictor may show fewer classes (`View`). If the labels have no polarity, the binary
    figures are None. `source`: "gold" uses the treebank's trees; a model of plain sentences then
    reads only their words. Any other source builds the trees from the words; then the phrases in
    both trees are compared, and the figures of `bracketing` measure the agreement of the trees.
    `text`: whether to join the words first, and read them like a user's text; then only whole
    sentences are compared.

    Raises TreeError for gold trees that are not binary, InputError for gold trees over raw text.
    """
    trees = [tree for tree, _ in treebank]
    labels = [predictor.view.classes(classes) for _, classes in treebank]
    measured = partial(accuracy, scale=predictor.view.scale, phrases=predictor.phrases)
    roots = [classes[[tree.root]] for tree, classes in zip(trees, labels, strict=True)]
    if text:
        if source == "gold":
            raise InputError("raw text has no gold trees: choose another tree source, such as auto")
        texts = (detokenize(tree.words) for tree in trees)
        results = predictor.stream(texts, source=source, split=False)
        # A sentence that the splitter reads as white space yields no case.
        read = [
            (sentence.node_scores[-1:], root)
            for result, root in zip(results, roots, strict=True)
            for sentence in result.sentences
        ]
        return measured([rows for rows, _ in read], [root for _, root in read], phrases=False)
    if source == "gold":
        scores = [item.node_scores for item in predictor.predict_trees(trees)]
        return measured(scores, labels if predictor.phrases else roots)
    predictions = predictor.predict([tree.words for tree in trees], source=source)
    scores = [item.node_scores for item in predictions]
    if predictor.config.trees == "sequence":
        return measured(scores, roots)
    spans = [spans_of(item.transitions) for item in predictions]
    gold = [tree.spans for tree in trees]
    shared = [labels_by_span(*item) for item in zip(gold, labels, spans, strict=True)]
    return measured(scores, shared if predictor.phrases else roots) | bracketing(spans, gold)


def bracketing(trees: Sequence[IntArray], gold: Sequence[IntArray]) -> Figures:
    """Return the agreement of trees with the treebank's trees over the same sentences. A tree is
    the words [start, end) of its nodes (N, 2).

    A span is the words of a phrase of two words or more. F1 is over all spans of all sentences at
    once (micro-averaged): twice the number of spans in common, divided by the total number of spans
    of both. Binary trees over the same words have equally many spans, so precision and recall equal
    F1. Returns, in percent, or None without cases:

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
        "span_f1": f1(*inner.tolist()),
        "span_f1_with_root": f1(*all_spans.tolist()),
        "span_f1_by_sentence": float(by_sentence.mean()) if by_sentence.size else None,
        "exact_trees": percentage(exact),
        "spans": int(inner[2]),
        "spans_with_root": int(all_spans[2]),
        "trees": int(exact.size),
    }


def _spans(spans: IntArray) -> IntArray:
    """Return a unique number for each different span (N, 2) of two words or more."""
    starts, ends = spans[spans[:, 1] - spans[:, 0] >= 2].T
    return np.unique(starts * (spans.max() + 1) + ends)
