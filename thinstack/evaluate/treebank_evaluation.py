"""Measures an ONNX bundle on a labelled treebank, without torch: with the treebank's trees, trees
made from words, or raw text."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from thinstack.core import Tree
from thinstack.core.config import EvaluationSource
from thinstack.core.transitions import spans_of
from thinstack.data.trees.treebank import Labelled, read_labelled
from thinstack.errors import InputError
from thinstack.evaluate.accuracy import accuracy, labels_by_span
from thinstack.evaluate.bracketing import bracketing
from thinstack.evaluate.figures import Figures
from thinstack.runtime.predictor import Predictor
from thinstack.text.raw_text import detokenize


def evaluate_file(
    predictor: Predictor,
    path: str | Path,
    *,
    source: EvaluationSource = "gold",
    text: bool = False,
    read: Callable[[str | Path], list[Tree]] | None = None,
    relabel: Mapping[str, str] | None = None,
) -> Figures:
    """`evaluate_predictor` on a file of labelled PTB bracket trees, or on one that `read` reads.

    If the model's recipe renamed labels (`task.relabel`), the labels of the file are renamed in the
    same way, and sentences without a class are left out. `relabel` renames further ones.

    Raises TreeError with the place of a malformed tree or of a label out of range, DataError for a
    file that cannot be read.
    """
    names = predictor.bundle.relabel() | {**(relabel or {})}
    treebank = read_labelled(path, predictor.config.labels, read=read, relabel=names)
    return evaluate_predictor(predictor, treebank, source=source, text=text)


def evaluate_predictor(
    predictor: Predictor,
    treebank: Sequence[Labelled],
    *,
    source: EvaluationSource = "gold",
    text: bool = False,
) -> Figures:
    """The figures of `thinstack.evaluate.accuracy.accuracy` over a treebank with the model's
    classes.

    The predictor may show fewer classes (`View`). If the labels have no sides, the binary figures
    have no cases, and are None. `source`: "gold" takes the treebank's trees; a model of plain
    sentences then reads only their words. Any other source makes the trees from the words. Then the
    phrases that both trees have are compared, and the figures of `thinstack.evaluate.bracketing`
    say how well the trees agree. `text`: whether to join the words first, and read them as a user's
    text; then only whole sentences are compared.

    Raises TreeError for gold trees that are not binary, InputError for gold trees over raw text.
    """
    trees = [tree for tree, _ in treebank]
    labels = [predictor.view.classes(classes) for _, classes in treebank]
    measured = partial(accuracy, scale=predictor.view.scale, phrases=predictor.phrases)
    roots = [classes[[tree.root]] for tree, classes in zip(trees, labels, strict=True)]
    if text:
        if source == "gold":
            raise InputError("raw text has no gold trees: name another tree source, such as auto")
        texts = (detokenize(tree.words) for tree in trees)
        results = predictor.stream(texts, source=source, split=False)
        # One that is white space to the splitter has no sentence, so no case.
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
