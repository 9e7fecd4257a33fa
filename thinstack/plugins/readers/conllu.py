"""The reader of dependency trees in CoNLL-U."""

from thinstack.data.trees.conllu import read_conllu
from thinstack.plugins import Reader

__all__ = ["Conllu"]


class Conllu(Reader):
    """Reads dependency trees in CoNLL-U, by `thinstack.data.trees.conllu.read_conllu`."""

    name = "conllu.v1"
    summary = "CoNLL-U dependency trees"
    read = staticmethod(read_conllu)
