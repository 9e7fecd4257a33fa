"""The built-in readers of tree files. Each calls a function of `thinstack.data.trees`."""

from functools import partial

from thinstack.data.trees.conllu import read_conllu, read_labelled_conllu
from thinstack.data.trees.json_lines import read_questions
from thinstack.data.trees.treebank import read_trees
from thinstack.plugins.kinds import hookimpl
from thinstack.plugins.reader import Reader

__all__ = ["thinstack_readers"]


class Brackets(Reader):
    """Penn Treebank brackets with a label at every node."""

    name = "brackets.v1"
    summary = "Penn Treebank brackets with labels"
    read = staticmethod(read_trees)


class PlainBrackets(Reader):
    """Brackets without labels, such as `( ( The cat ) ( sat . ) )`."""

    name = "plain_brackets.v1"
    summary = "brackets without labels, as SNLI's binary parses"
    read = staticmethod(partial(read_trees, labelled=False))


class Conllu(Reader):
    """Dependency trees in CoNLL-U."""

    name = "conllu.v1"
    summary = "CoNLL-U dependency trees"
    read = staticmethod(read_conllu)


class LabelledConllu(Reader):
    """Dependency trees in CoNLL-U whose labels are classes."""

    name = "labelled_conllu.v1"
    summary = "CoNLL-U dependency trees with classes, in comments and MISC"
    read = staticmethod(read_labelled_conllu)


class Questions(Reader):
    """Questions with their class and constituency parse."""

    name = "questions.v1"
    summary = "JSON lines of questions with their class and parse, as TREC's"
    read = staticmethod(read_questions)


@hookimpl
def thinstack_readers() -> list[type[Reader]]:
    """All of them."""
    return [Brackets, Conllu, LabelledConllu, PlainBrackets, Questions]
