"""The reader of questions with their classes and constituency parses."""

from thinstack.data.trees.questions import read_questions
from thinstack.plugins import Reader

__all__ = ["Questions"]


class Questions(Reader):
    """Reads questions with their class and parse, by
    `thinstack.data.trees.questions.read_questions`."""

    name = "questions.v1"
    summary = "JSON lines of questions with their class and parse, as TREC's"
    read = staticmethod(read_questions)
