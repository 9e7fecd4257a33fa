"""What tests of readers share: random dependency trees, and files malformed at one place."""

import pytest
from hypothesis import strategies as st

from thinstack.core import Tree
from thinstack.errors import TreeError


@st.composite
def dependency_trees(draw, words, labels, max_nodes=9):
    """Any tree with a word at every node, crossing edges included."""
    place = draw(st.permutations(range(draw(st.integers(1, max_nodes)))))
    parents = [-1] * len(place)
    for rank, node in enumerate(place[1:], start=1):
        parents[node] = place[draw(st.integers(0, rank - 1))]
    return Tree.from_parents(parents, [draw(words) for _ in place], [draw(labels) for _ in place])


def check_malformed(read, path, message, line, *, good):
    """Reading `path` raises an error of that line, which `skipped` takes; the others are `good`."""
    with pytest.raises(TreeError, match=message) as caught:
        read(path)
    assert (caught.value.source, caught.value.line) == (str(path), line)
    skipped = []
    assert read(path, skipped=skipped) == good
    assert [str(error) for error in skipped] == [str(caught.value)]
    return caught.value
