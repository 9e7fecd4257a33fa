"""Brackets without labels, such as `( ( The cat ) ( sat . ) )`."""

from functools import partial

from thinstack.data.treebank import read_trees
from thinstack.plugins import Reader

__all__ = ["PlainBrackets"]


class PlainBrackets(Reader):
    """See `thinstack.data.treebank`."""

    name = "plain_brackets.v1"
    summary = "brackets without labels, as SNLI's binary parses"
    read = staticmethod(partial(read_trees, labelled=False))
