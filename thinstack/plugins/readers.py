"""The built-in readers of tree files. Each calls a function of `thinstack.data.trees`."""

from collections.abc import Callable
from functools import partial

from thinstack.core import Tree
from thinstack.data.trees.conllu import read_conllu, read_labelled_conllu
from thinstack.data.trees.treebank import read_trees
from thinstack.plugins.kinds import hookimpl
from thinstack.plugins.reader import Reader


def _reader(name: str, summary: str, read: Callable[..., list[Tree]]) -> type[Reader]:
    return type(name, (Reader,), {"name": name, "summary": summary, "read": staticmethod(read)})


@hookimpl
def thinstack_readers() -> list[type[Reader]]:
    """Return the readers."""
    classes = "CoNLL-U dependency trees with classes, in comments and MISC"
    plain = "brackets without labels, as SNLI's binary parses"
    return [
        _reader("brackets.v1", "Penn Treebank brackets with labels", read_trees),
        _reader("conllu.v1", "CoNLL-U dependency trees", read_conllu),
        _reader("labelled_conllu.v1", classes, read_labelled_conllu),
        _reader("plain_brackets.v1", plain, partial(read_trees, labelled=False)),
    ]
