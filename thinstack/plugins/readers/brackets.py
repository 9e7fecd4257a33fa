"""Penn Treebank brackets, one label at every node."""

from collections.abc import Iterable

from thinstack.data.treebank import read_trees
from thinstack.plugins import ReaderSpec, hookimpl


@hookimpl
def thinstack_readers() -> Iterable[ReaderSpec]:
    """Register `brackets.v1`."""
    return [
        ReaderSpec(
            name="brackets.v1", read=read_trees, summary="Penn Treebank brackets with labels"
        )
    ]
