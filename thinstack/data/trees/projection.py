"""Carries labels of phrases over to another tree of the same sentence."""

from itertools import zip_longest

from thinstack.core import Tree
from thinstack.data.trees.phrases import check_constituency
from thinstack.errors import TreeError


def project_labels(phrases: Tree, tree: Tree) -> Tree:
    """`tree` with labels: a node that covers the same words as a phrase gets its label, any other
    node gets None (Tai et al. 2015, 5.1).

    Args:
        phrases: constituency tree of the sentence. If several phrases have the same words, the
            topmost one counts.
        tree: dependency tree of the sentence, or any other tree. A node whose subtree has gaps
            (`Tree.gaps`) covers no phrase.

    Raises TreeError if the trees have different words, or if `phrases` has a word at an inner node.
    """
    for place, (ours, theirs) in enumerate(zip_longest(phrases.words, tree.words), start=1):
        if ours != theirs:
            ours, theirs = ("the end" if word is None else repr(word) for word in (ours, theirs))
            found = f"{ours} in the phrases and {theirs} in the tree at word {place}"
            raise TreeError(
                f"expected trees over the same words, found {found}; spell the words alike in both"
            )
    check_constituency(phrases)
    # Parents come after their children, so the topmost phrase is the one that stays.
    known = dict(zip(map(tuple, phrases.spans.tolist()), phrases.labels, strict=True))
    spans = zip(map(tuple, tree.spans.tolist()), tree.gaps.tolist(), strict=True)
    return tree.with_labels(None if gap else known.get(span) for span, gap in spans)
