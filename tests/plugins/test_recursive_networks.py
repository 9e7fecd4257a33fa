"""Recursive networks (Socher et al. 2011-2014; Irsoy & Cardie 2014) in NumPy."""

from functools import reduce

import numpy as np
import pytest
import torch
from equations import OWNER, ROWS, H, X, assert_equations, composed, parameters, random_cell

from thinstack.core.cell import Links
from thinstack.errors import ConfigError, UnknownNameError
from thinstack.plugins.cells.dt_rnn import DTRNN
from thinstack.plugins.cells.mv_rnn import MVRNN
from thinstack.plugins.cells.rntn import RNTN
from thinstack.plugins.cells.rvnn import RvNN
from thinstack.plugins.cells.sdt_rnn import SDTRNN
from thinstack.plugins.manager import manager

WORDS = {"leaf": "word", "input_size": H}


@pytest.mark.parametrize("inner_size", [0, X])
@pytest.mark.parametrize("kinds", [0, 1, 2, 9])
def test_dt_rnn_and_sdt_rnn(kinds, inner_size):
    """One U for all children, or one for each relation: several children of one relation and of
    several, and relations that do not occur."""
    asked = {"kinds": kinds} if kinds else {}
    cell = random_cell(SDTRNN if kinds else DTRNN, inner_size=inner_size, **asked)
    w, u, b = parameters(cell).values()

    def node(x, children, relations):
        pairs = zip(children, relations, strict=True)
        below = sum(h_k @ (u[relation - 1] if kinds else u) for (h_k,), relation in pairs)
        return (np.tanh((0 if x is None else x @ w) + b + below),)

    assert_equations(cell, node, kinds=kinds or 1)


def test_sdt_rnn_counts_a_child_of_kind_0_as_none():
    cell, h = random_cell(SDTRNN, kinds=3), torch.randn(len(OWNER), H).double()
    x, kind = torch.zeros(ROWS, 0).double(), torch.tensor([3, 1, 2, 3, 3, 2])
    some = torch.arange(len(OWNER)) % 2 == 0
    (found,) = composed(cell, x, [h], Links(OWNER, kind * some))
    (expected,) = composed(cell, x, [h[some]], Links(OWNER[some], kind[some]))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def word_leaf(part):
    """The word itself, or a map of it where there is one."""
    return lambda x: (np.tanh(x @ part["w_x"] + part["b_x"]) if "w_x" in part else x,)


@pytest.mark.parametrize("asked", [{}, {"inner_size": X}, WORDS, WORDS | {"inner_size": H}])
def test_rvnn(asked):
    cell = random_cell(RvNN, **asked)
    part = parameters(cell)
    w_left, w_right, v = np.split(part["w"], [H, 2 * H])

    def node(x, children, kinds):
        (a,), (b,) = children
        return (np.tanh(a @ w_left + b @ w_right + (0 if x is None else x @ v) + part["b"]),)

    assert_equations(cell, node, word_leaf(part))


@pytest.mark.parametrize("asked", [{}, WORDS])
def test_rntn(asked):
    cell = random_cell(RNTN, **asked)
    part = parameters(cell)

    def node(x, children, kinds):
        pair = np.concatenate([h for (h,) in children])  # [a; b]
        products = [pair @ part["v"][:, k] @ pair for k in range(H)]
        return (np.tanh(products + pair @ part["w"] + part["b"]),)

    assert_equations(cell, node, word_leaf(part))


def mv_rnn_width(rank):
    """Of a word's vector and the parameters of its matrix."""
    return H + H * H if rank is None else H + 2 * H * rank + H


def word_matrix(m, rank):
    if rank is None:
        return np.eye(H) + m.reshape(H, H)
    u, v, d = np.split(m, [H * rank, 2 * H * rank])
    return u.reshape(H, rank) @ v.reshape(H, rank).T + np.diag(1 + d)


@pytest.mark.parametrize("rank", [None, 1, 2])
@pytest.mark.parametrize("leaf_is", ["projected", "table"])
def test_mv_rnn(leaf_is, rank):
    """A missing child is the vector 0 and the identity."""
    table = leaf_is == "table"
    size = mv_rnn_width(rank) if table else X
    cell = random_cell(MVRNN, input_size=size, leaf=leaf_is, rank=rank)
    part = parameters(cell)

    def node(x, children, kinds):
        (a, b) = (vector for vector, _ in children)
        a_matrix, b_matrix = (
            matrix.reshape(H, H) if kind else np.eye(H)
            for (_, matrix), kind in zip(children, kinds, strict=True)
        )
        p = np.tanh(part["w"].T @ np.concatenate([b_matrix @ a, a_matrix @ b]) + part["b"])
        return p, (part["w_m"].T @ np.concatenate([a_matrix, b_matrix])).flatten()

    def leaf(x):
        z, m = np.split(x if table else x @ part["w_x"] + part["b_x"], [H])
        return z if table else np.tanh(z), word_matrix(m, rank).flatten()

    assert_equations(cell, node, leaf)


@pytest.mark.parametrize("rank", [None, 3])
def test_matrices_of_words_start_near_the_identity(rank):
    torch.manual_seed(1)
    cell = MVRNN(input_size=100, hidden_size=25, rank=rank)
    off = cell.leaf(torch.randn(200, 100))[1].view(200, 25, 25) - torch.eye(25)
    norms = torch.linalg.matrix_norm(off, ord=2)
    assert norms.min() > 0
    assert norms.max() < 0.4


@pytest.mark.parametrize("rank", [None, 1, 2])
def test_a_table_of_another_width_is_refused(rank):
    with pytest.raises(ConfigError, match=rf"{mv_rnn_width(rank)} .*found 3"):
        manager().find("cell", "mv_rnn.v1").create(
            {"leaf": "table", "rank": rank}, input_size=X, hidden_size=H
        )


# -- the mean of the words below a node, beside another cell's output


NO_INPUT = torch.zeros(1, 0)


def cell_of(**options):
    torch.manual_seed(0)
    sizes = {"input_size": X, "hidden_size": H, "inner_size": 0}
    return manager().find("cell", "mean_beside.v1").create(options, **sizes).double()


def joined(cell, left, right):
    """The state of a node over two."""
    pairs = zip(left, right, strict=True)
    owners, kinds = torch.zeros(2, dtype=torch.long), torch.ones(2, dtype=torch.long)
    if cell.arity == 0:
        return cell.compose(NO_INPUT, [torch.cat(pair) for pair in pairs], Links(owners, kinds))
    links = Links(torch.arange(0), torch.ones(1, 2, dtype=torch.long))
    return cell.compose(NO_INPUT, [torch.stack(pair, 1) for pair in pairs], links)


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
