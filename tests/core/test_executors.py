"""The depth-ordered executor and the one from the roots down against the reference recursion, in
float64, over forests of any shape; over plain sentences, against the LSTMs of torch."""

import numpy as np
import pytest
import torch
from core.cells import KINDS, AnyArity, FixedArity, H, X
from hypothesis import given
from hypothesis import strategies as st
from oracle import assert_agrees, forest_of, outputs_top_down
from torch import nn

from thinstack.core import Forest
from thinstack.core.depth_ordered import DepthOrdered, TopDown
from thinstack.core.model.tree_encoder import Layer, TreeEncoder
from thinstack.core.schedule import schedule_lengths
from thinstack.plugins.cells.nary_lstm import NaryLSTM
from thinstack.testing import forests


@pytest.fixture(scope="module")
def cells():
    """Cells by arity."""
    torch.manual_seed(7)
    fixed = {arity: [FixedArity(arity, X), FixedArity(arity)] for arity in (1, 2, 3)}
    return {0: [AnyArity()], **fixed}


@pytest.fixture(scope="module")
def downward(cells):
    """Cells that also run from the roots down."""
    return [cells[1][0], cells[0][0]]


def check_up(cell, run, forest, seed=3):
    """Outputs of nodes, of roots and head words, against the recursion."""
    batch = forests.batch_of(cell, forest, seed)
    wanted = [*(part.requires_grad_() for part in batch[1:]), *cell.parameters()]
    expected = forests.by_recursion(cell, batch)
    assert_agrees(
        lambda: forests.by_depth(run, cell, batch), expected, wanted, rtol_of_gradients=1e-10
    )


def check_down(cell, run, forest, schedule, seed=0):
    inputs = random_inputs(len(forest.parents), seed).requires_grad_()
    expected = [outputs_top_down(cell, forest, inputs)]
    assert_agrees(lambda: [down(run, schedule, inputs)], expected, [inputs, *cell.parameters()])


def random_inputs(nodes, seed=0):
    random = torch.Generator().manual_seed(seed)
    return torch.randn(nodes, X, generator=random, dtype=torch.float64)


def down(run, schedule, inputs):
    """Outputs from the roots down, in node order."""
    rows = torch.cat([schedule.leaves, schedule.inner])
    return run(inputs[rows], schedule)[schedule.stacked]


def mixed(sizes, arity, seed):
    """A forest of any shape, its nodes in any order, trees interleaved; a fixed arity leaves slots
    empty."""
    forest = forests.random_forest(sizes, arity=arity, kinds=KINDS, seed=seed)
    place = np.random.default_rng(seed).permutation(len(forest.parents))
    order, parents = np.argsort(place), np.append(place, -1)[forest.parents]
    return Forest(parents[order], forest.slots[order], forest.kinds[order], forest.sizes)


SEEDS = st.integers(0, 2**31)


@given(st.lists(st.integers(1, 8), max_size=3), st.integers(0, 3), SEEDS, SEEDS)
def test_any_forest_in_any_order(cells, downward, sizes, arity, shape, seed):
    forest = mixed(sizes, arity, shape)
    for cell in cells[arity]:
        check_up(cell, DepthOrdered(cell), forest, seed)
    forest = forest._replace(slots=forest.slots % KINDS)  # no more than the cells know kinds
    for cell in downward:
        check_down(cell, TopDown(cell), forest, forests.schedule_of(forest, arity), seed)


@pytest.mark.parametrize("lengths", [[], [1], [1, 1], [5], [2, 7, 1, 4]])
def test_sentences_no_trees_and_one_node(downward, lengths):
    sizes = torch.tensor(lengths, dtype=torch.long)
    for cell in downward:
        chains = forest_of({"lengths": sizes.numpy()})
        check_down(cell, TopDown(cell), chains, schedule_lengths(sizes))


SIZE = 1500
"""Neither a chain of so many nodes nor such a star could be computed by recursion."""


@torch.no_grad()
def test_a_long_chain():
    """Against a loop."""
    torch.manual_seed(2)
    cell, x = AnyArity(), random_inputs(SIZE)
    p = {name: part.detach() for name, part in cell.named_parameters()}
    h = torch.tanh(x[0] @ p["w"])
    m = h + 1
    for word in x[1:]:
        last = h
        h = torch.tanh(word @ p["w"] + (h @ p["u"] + p["e"][1]) * m / 2)
        m = h + 1 - last
    line = forest_of({"lengths": np.array([SIZE])})
    _, root, _ = forests.by_depth(DepthOrdered(cell), cell, forests.CellInputs(line, x[:1], x[1:]))
    torch.testing.assert_close(root[0], h, rtol=0, atol=1e-12)
    found = down(TopDown(cell), schedule_lengths(torch.tensor([SIZE])), x.flip(0))
    torch.testing.assert_close(found[0], h, rtol=0, atol=1e-12)


def test_inputs_are_left_as_they_were(cells, downward):
    forest = mixed([4], 2, seed=0)
    batch = forests.batch_of(cells[2][0], forest)
    before = batch.copied()
    forests.by_depth(DepthOrdered(cells[2][0]), cells[2][0], batch)
    assert all(map(torch.equal, batch[1:], before[1:]))
    for cell in downward:
        inputs = random_inputs(4)
        TopDown(cell)(inputs, forests.schedule_of(forest, 2))
        assert torch.equal(inputs, random_inputs(4))


def cell_of(lstm, suffix):
    """The cell with the weights of one layer and direction; torch has two biases for each gate."""
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    w, u, b_w, b_u = (getattr(lstm, f"{name}_{suffix}") for name in names)
    cell = NaryLSTM(input_size=w.shape[1], inner_size=w.shape[1], hidden_size=H, arity=1)
    with torch.no_grad():
        for mine, theirs in ((cell.w, w.t()), (cell.u, u.t()), (cell.b, b_w + b_u)):
            i, f, g, o = theirs.chunk(4, -1)
            mine.copy_(torch.cat([i, f, o, g], -1))
    return cell


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_bidirectional_lstm(layers, dtype, atol):
    """Of several layers, each but the first reads both directions of the one below."""
    torch.manual_seed(2)
    lstm = nn.LSTM(X, H, num_layers=layers, bidirectional=True).to(dtype)
    numbers = [f"l{number}" for number in range(layers)]
    cells = [Layer(cell_of(lstm, name), cell_of(lstm, f"{name}_reverse")) for name in numbers]
    lengths, words = [4, 1, 7, 2], random_inputs(14).to(dtype)
    outputs, finals = zip(*(lstm(sentence) for sentence in words.split(lengths)), strict=True)
    schedule = schedule_lengths(torch.tensor(lengths))

    def encoded(*readout):
        encoder = TreeEncoder(cells, words_at_leaves=False, readout=readout).to(dtype)
        return encoder(words, schedule)

    found = encoded("up", "down").stacked[schedule.stacked]
    torch.testing.assert_close(found, torch.cat(outputs), rtol=0, atol=atol)
    last = torch.stack([hidden[-2:].flatten() for hidden, _ in finals])
    torch.testing.assert_close(encoded("up", "leaves").roots, last, rtol=0, atol=atol)
