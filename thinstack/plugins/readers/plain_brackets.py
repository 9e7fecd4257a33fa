"""Brackets without labels, such as `( ( The cat ) ( sat . ) )`."""

from collections.abc import Iterable
from functools import partial

from thinstack.data.treebank import read_trees
from thinstack.plugins import ReaderSpec, hookimpl


@hookimpl
def thinstack_readers() -> Iterable[ReaderSpec]:
    """Register `plain_brackets.v1`."""
    return [
        ReaderSpec(
            name="plain_brackets.v1",
            read=partial(read_trees, labelled=False),
            summary="brackets without labels, as SNLI's binary parses",
        )
    ]
