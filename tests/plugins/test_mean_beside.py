"""The mean of the words below a node, beside another cell's output."""

from functools import reduce

import pytest
import torch

from thinstack.core.cell import Links
from thinstack.errors import ConfigError, UnknownNameError
from thinstack.plugins.manager import manager

X, H = 4, 3
NONE = torch.zeros(1, 0)


def cell_of(**options):
    torch.manual_seed(0)
    sizes = {"input_size": X, "hidden_size": H, "inner_size": 0}
    return manager().find("cell", "mean_beside.v1").create(options, **sizes).double()


def joined(cell, left, right):
    """The state of a node over two."""
    pairs = zip(left, right, strict=True)
    owners, kinds = torch.zeros(2, dtype=torch.long), torch.ones(2, dtype=torch.long)
    if cell.arity == 0:
        return cell.compose(NONE, [torch.cat(pair) for pair in pairs], Links(owners, kinds))
    links = Links(torch.arange(0), torch.ones(1, 2, dtype=torch.long))
    return cell.compose(NONE, [torch.stack(pair, 1) for pair in pairs], links)


def over(cell, words):
    """The states of words and of the left-branching tree over them."""
    leaves = [cell.leaf(word[None]) for word in words]
    return leaves, reduce(lambda left, right: joined(cell, left, right), leaves)


@pytest.mark.parametrize("name", ["nary_lstm.v1", "child_sum_lstm.v1", "lexicalized_lstm.v1"])
@pytest.mark.parametrize("columns", [None, 2])
def test_every_word_below_counts_once(name, columns):
    cell = cell_of(cell=name, columns=columns)
    words, width = torch.randn(3, X).double(), columns or X
    leaves, top = over(cell, words)
    expected = cell.inner.output(over(cell.inner, words)[1])
    torch.testing.assert_close(cell.output(top)[:, :H], expected)
    torch.testing.assert_close(cell.output(top)[0, H:], words.mean(0)[:width])
    torch.testing.assert_close(cell.output(leaves[1])[0, H:], words[1, :width])


def test_the_whole_state_and_the_number_of_words_may_stand_beside_the_mean():
    cell = cell_of(reads="state", columns=2)
    words = torch.randn(2, X).double()
    top, (h, c) = over(cell, words)[1], over(cell.inner, words)[1]
    log = torch.tensor([[2.0]]).double().log()
    expected = torch.cat([h, c, words.mean(0, keepdim=True)[:, :2], log], 1)
    torch.testing.assert_close(cell.output(top), expected)
    assert cell.hidden_size == 2 * H + 2 + 1


def test_what_it_cannot_be_made_of_is_refused():
    with pytest.raises(ConfigError, match=f"at most {X} columns, found {X + 1}"):
        cell_of(columns=X + 1)
    with pytest.raises(ConfigError, match=r"'nary_lstm\.v1': arity: "):
        cell_of(options={"arity": 0})
    with pytest.raises(UnknownNameError, match=r"no_cell\.v1"):
        cell_of(cell="no_cell.v1")
