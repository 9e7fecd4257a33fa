"""The shift-reduce executor on given trees, and on those that a tracking LSTM chooses, against the
reference recursion in float64."""

import pytest
import torch
from core.stacks import (
    FED,
    PLAIN,
    X,
    batch_of,
    cell_of,
    drawn,
    in_node_order,
    mixed_sizes,
    tracker_of,
)
from oracle import by_reference, gradients
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from thinstack.core.transitions import validate
from thinstack.plugins.cells.spinn_lstm import SpinnLSTM
from thinstack.plugins.encoders.spinn.shift_reduce import ShiftReduce
from thinstack.plugins.encoders.spinn.tracking_lstm import TrackingLSTM


def executor_of(name, lookahead=1, **drawn):
    cell = cell_of(name)
    return ShiftReduce(cell, tracker_of(cell, lookahead, **drawn))


def run(executor, batch):
    return in_node_order(executor(batch.words, batch.transitions, batch.lengths))


@pytest.mark.parametrize("lookahead", [1, 2, 5])
@pytest.mark.parametrize("name", PLAIN | FED)
def test_random_trees_and_their_gradients(name, lookahead):
    """Gradients are those that autograd finds in the reference, twice over one graph."""
    executor, batch = executor_of(name, lookahead), batch_of([3, 1, 6, 2, 5, 12, 1])
    words = batch.words.requires_grad_()
    wanted, nodes = [words, *executor.parameters()], run(executor, batch)
    reference = by_reference(executor.cell, executor.tracker, *batch)
    torch.testing.assert_close(nodes, reference, rtol=0, atol=1e-10)
    expected = gradients(reference[:3], wanted)
    first = gradients(nodes[:3], wanted)
    torch.testing.assert_close(first, expected, rtol=0, atol=1e-9)
    torch.testing.assert_close(gradients(nodes[:3], wanted), first, rtol=0, atol=0)
    assert all(grad.any() for grad in first[1:]), "a weight without a gradient checks nothing"
    # Roots depend on the tracking LSTM where it feeds the cell, never on its classifier.
    names = ["words", *(name for name, _ in executor.named_parameters())]
    of_roots = zip(names, gradients([nodes.roots], wanted), strict=True)
    idle = "tracker.w_transition", "tracker.b_transition"
    unread = idle if executor.cell.inner_size else "tracker."
    assert [name for name, grad in of_roots if not grad.any()] == [
        name for name in names if name.startswith(unread)
    ]


class Allocated(TorchDispatchMode):
    """Counts the bytes of all tensors that are made."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        old = {part.untyped_storage().data_ptr() for part in args if isinstance(part, Tensor)}
        made = func(*args, **(kwargs or {}))
        for part in made if isinstance(made, (tuple, list)) else [made]:
            if isinstance(part, Tensor) and part.untyped_storage().data_ptr() not in old:
                self.bytes += part.untyped_storage().nbytes()
        return made


@pytest.mark.parametrize("mode", ["forward", "forward and back", "parse"])
def test_twice_the_words_take_twice_the_memory(mode):
    """Section 3.5: nothing of the size of the stack is made at each step, there or back."""
    cell = drawn(SpinnLSTM(input_size=X, hidden_size=8, inner_size=4))
    executor = ShiftReduce(cell, drawn(TrackingLSTM(input_size=8, size=4, parses=True)))

    def taken(words):
        inputs = batch_of([words] * 12)
        with Allocated() as count, torch.set_grad_enabled(mode == "forward and back"):
            if mode == "parse":
                executor.parse(inputs.words, inputs.lengths)
            else:
                found = executor(inputs.words, inputs.transitions, inputs.lengths)
            if mode == "forward and back":
                (found.stacked.sum() + found.choices.sum()).backward()
        return count.bytes

    assert taken(60) < 2.15 * taken(30)


def check_trees(transitions, lengths):
    """One tree over all of its words for each sentence."""
    assert len(transitions) == sum(2 * words - 1 for words in lengths)
    for taken, words in zip(
        transitions.split([2 * words - 1 for words in lengths]), lengths, strict=True
    ):
        validate(taken.numpy(), words)


LEAN = (-6.0, -1.5, 0.0, 1.5, 6.0)
"""What is added to the score of REDUCE: from a parser that all but never REDUCEs to one that all
but always does."""


@pytest.mark.parametrize("lean", LEAN)
def test_ten_thousand_random_inputs(lean):
    """2,000 for each lean, of 1 to 14 words, by 8 sets of weights from small to large."""
    reduces = words = 0
    for seed in range(8):
        parser = executor_of(
            ("spinn_lstm_fed", "nary_lstm")[seed % 2], 1 + seed % 3, seed=seed, scale=0.2 * 2**seed
        )
        parser.tracker.b_transition.data = torch.tensor([0, lean], dtype=torch.float64)
        batch = batch_of(mixed_sizes(250, seed), seed)
        found = parser.parse(batch.words, batch.lengths)
        check_trees(found.transitions, batch.lengths.tolist())
        free = found.free == 1
        assert torch.equal(found.transitions[free], found.choices[free].argmax(1))
        reduces, words = reduces + int(found.transitions[free].sum()), words + int(free.sum())
    share = reduces / words
    assert {-6.0: share < 0.3, 0.0: 0.2 < share < 0.8, 6.0: share > 0.7}.get(
        lean, 0.05 < share < 0.95
    ), share


@pytest.mark.parametrize("lookahead", [1, 2, 5])
@pytest.mark.parametrize("name", PLAIN | FED)
def test_the_parse_of_the_reference(name, lookahead):
    for seed, size in enumerate((1, 6, 15)):
        parser = executor_of(name, lookahead, seed=seed)
        words, lengths, given = batch_of(mixed_sizes(size, seed + 20), seed)
        expected = by_reference(parser.cell, parser.tracker, words, lengths)
        found = in_node_order(parser.parse(words, lengths))
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
        assert not any(part.requires_grad for part in found)
        assert size < 15 or found.transitions.tolist() != given.tolist()


LENGTHS = [[1], [2], [300], [], [2, 1, 300, 1, 7, 2], [1, 1, 1]]


@pytest.mark.parametrize("lean", [-6.0, 0.0, 6.0])
@pytest.mark.parametrize("sizes", LENGTHS, ids=str)
def test_sentences_of_any_length(sizes, lean):
    parser = executor_of("spinn_lstm_fed", 2)
    parser.tracker.b_transition.data += torch.tensor([0, lean])
    words, lengths, _ = batch_of(sizes)
    found = in_node_order(parser.parse(words, lengths))
    check_trees(found.transitions, sizes)
    assert found.roots.shape == (len(sizes), 4)
    assert torch.isfinite(found.outputs).all()
    given = in_node_order(parser(words, found.transitions, lengths))
    torch.testing.assert_close(given, found, rtol=0, atol=1e-12)
