"""The reader of dependency trees in CoNLL-U whose labels are classes."""

from thinstack.data.trees.labelled_conllu import read_labelled_conllu
from thinstack.plugins import Reader

__all__ = ["LabelledConllu"]


class LabelledConllu(Reader):
    """Reads dependency trees in CoNLL-U with classes, by
    `thinstack.data.trees.labelled_conllu.read_labelled_conllu`."""

    name = "labelled_conllu.v1"
    summary = "CoNLL-U dependency trees with classes, in comments and MISC"
    read = staticmethod(read_labelled_conllu)
