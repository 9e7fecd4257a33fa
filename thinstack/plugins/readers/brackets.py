"""Penn Treebank brackets, one label at every node."""

from thinstack.data.treebank import read_trees
from thinstack.plugins import Reader

__all__ = ["Brackets"]


class Brackets(Reader):
    """See `thinstack.data.treebank`."""

    name = "brackets.v1"
    summary = "Penn Treebank brackets with labels"
    read = staticmethod(read_trees)
