"""Questions with their classes and constituency parses."""

from collections.abc import Iterable

from thinstack.data.questions import read_questions
from thinstack.plugins import ReaderSpec, hookimpl


@hookimpl
def thinstack_readers() -> Iterable[ReaderSpec]:
    """Register `questions.v1`."""
    return [
        ReaderSpec(
            name="questions.v1",
            read=read_questions,
            summary="JSON lines of questions with their class and parse, as TREC's",
        )
    ]
