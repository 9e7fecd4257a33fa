"""The mean of the words below a node, counted by hand."""

import numpy as np
import torch

from thinstack.core import Forest
from thinstack.data.brackets import from_brackets
from thinstack.plugins.cells.word_mean import WordMean
from thinstack.testing.reference import encode

X = 3


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
