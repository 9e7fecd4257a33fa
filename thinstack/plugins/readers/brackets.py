"""The reader of Penn Treebank brackets with a label at every node."""

from thinstack.data.trees.treebank import read_trees
from thinstack.plugins import Reader

__all__ = ["Brackets"]


class Brackets(Reader):
    """Reads trees in Penn Treebank brackets with a label at every node, by
    `thinstack.data.trees.treebank.read_trees`."""

    name = "brackets.v1"
    summary = "Penn Treebank brackets with labels"
    read = staticmethod(read_trees)
