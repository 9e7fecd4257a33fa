"""The mean of the words below a node, counted by hand."""

import numpy as np
import pytest
import torch

from thinstack.core import Forest
from thinstack.core.cell import Links
from thinstack.data.brackets import from_brackets
from thinstack.errors import ConfigError
from thinstack.plugins.cells.word_mean import WordMean
from thinstack.plugins.manager import manager
from thinstack.testing.reference import encode

X = 3
NONE = torch.zeros(0, dtype=torch.long)


def test_a_constituency_tree() -> None:
    """Every word counts once, however deep it lies."""
    cell = WordMean(input_size=X, hidden_size=X)
    words = torch.randn(4, X, dtype=torch.float64)
    forest = Forest.of([from_brackets("(3 (2 a) (3 (2 (2 b) (2 c)) (2 d)))")])
    found = np.concatenate([cell.output(state) for state in encode(cell, forest, words)])
    a, b, c, d = words.numpy()
    expected = [a, b, c, (b + c) / 2, d, (b + c + d) / 3, (a + b + c + d) / 4]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_a_dependency_tree() -> None:
    """A node's own word counts too."""
    cell = WordMean(input_size=X, hidden_size=X, inner_size=X)
    parents, none = np.array([1, 3, 1, -1, 3]), np.zeros(5, np.int64)
    forest = Forest(parents=parents, slots=none, kinds=none + 1, sizes=np.array([5]))
    words = torch.randn(5, X, dtype=torch.float64)
    is_leaf = torch.tensor([True, False, True, False, True])
    states = encode(cell, forest, words[is_leaf], words[~is_leaf])
    found = np.concatenate([cell.output(state) for state in states])
    v = words.numpy()
    expected = [v[0], (v[0] + v[1] + v[2]) / 3, v[2], v.mean(0), v[4]]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert [int(state[1]) for state in states] == [1, 3, 1, 5, 1]


def test_it_has_no_parameters() -> None:
    assert not WordMean(input_size=X, hidden_size=X, inner_size=X).state_dict()


@pytest.mark.parametrize("inner_size", [0, X])
@pytest.mark.parametrize("rows", [0, 2])
def test_rows_of_none(rows: int, inner_size: int) -> None:
    cell = WordMean(input_size=X, hidden_size=X, inner_size=inner_size)
    children = [torch.zeros(0, X), torch.zeros(0, 1)]
    for state in (
        cell.leaf(torch.zeros(rows, X)),
        cell.compose(torch.zeros(rows, inner_size), children, Links(NONE, NONE)),
    ):
        assert [tuple(part.shape) for part in state] == [(rows, X), (rows, 1)]
        assert cell.output(state).shape == (rows, X)


def test_it_is_registered() -> None:
    cell = (
        manager()
        .cell("word_mean.v1")
        .create({}, input_size=X, hidden_size=X, inner_size=X, kinds=3)
    )
    assert isinstance(cell, WordMean)
    assert (cell.arity, cell.kinds, cell.state_sizes, cell.inner_size) == (0, 0, [X, 1], X)


def test_another_hidden_size_is_refused() -> None:
    with pytest.raises(
        ConfigError, match="hidden_size of a mean of words must be input_size = 3, found 4"
    ):
        manager().cell("word_mean.v1").create({}, input_size=X, hidden_size=4)


def test_an_inner_input_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="inner_size must be 0 or input_size = 3, got 2"):
        WordMean(input_size=X, hidden_size=X, inner_size=2)


def test_it_has_no_options() -> None:
    with pytest.raises(ConfigError, match=r"word_mean\.v1.*weights"):
        manager().cell("word_mean.v1").create({"weights": 2}, input_size=X, hidden_size=X)
