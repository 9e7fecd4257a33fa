"""The reader of brackets without labels, such as `( ( The cat ) ( sat . ) )`."""

from functools import partial

from thinstack.data.trees.treebank import read_trees
from thinstack.plugins import Reader

__all__ = ["PlainBrackets"]


class PlainBrackets(Reader):
    """Reads trees in brackets without labels, by `thinstack.data.trees.treebank.read_trees`."""

    name = "plain_brackets.v1"
    summary = "brackets without labels, as SNLI's binary parses"
    read = staticmethod(partial(read_trees, labelled=False))
