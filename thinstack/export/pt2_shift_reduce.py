"""The shift-reduce executor for `torch.export`: `thinstack.core.shift_reduce` as a `while_loop`
over transitions."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from thinstack.core.cell import Links
from thinstack.export.pt2_executor import loop, named, require, size_of
from thinstack.spinn.stack_encoder import StackEncoder

__all__ = ["Sentences", "sentence_lengths", "shift_reduce"]


class Sentences(NamedTuple):
    """B sentences, by falling length, so that those that still go on are the first ones. Arrays are
    int64.

    Attributes:
        given: (N,) the transitions that are to be taken, in node order; -1 where the model is to
            choose.
        sizes: (B,) nodes of each sentence.
        nodes: (B,) the first node of each.
        inner: (B,) how many inner nodes the sentences before it have, as they came.
        words: (B,) the first word of each; ends: (B,) the one after the last.
        stacks: (B,) where in `_State.stack` that of each starts.
        buffer: (L + 1, 4T) what the tracking LSTM reads of the buffer.
    """

    given: Tensor
    sizes: Tensor
    nodes: Tensor
    inner: Tensor
    words: Tensor
    ends: Tensor
    stacks: Tensor
    buffer: Tensor


class _State(NamedTuple):
    """What the steps write.

    Nodes go by numbers: 1 .. L the words, then the inner nodes by sentence, 0 for none; so do the
    rows of `reads` (1 + N, 8T), what the tracking LSTM reads of a node. `stack` holds numbers, two
    of nothing at the bottom of each sentence's, which is `height` (B,) high; `front` (B,) is the
    next word; `hidden` and `memory` (B, T) are those of the tracking LSTM; `taken` (N,) and
    `numbers` (N,), in node order, are the transitions and the nodes that they made.
    """

    reads: Tensor
    stack: Tensor
    height: Tensor
    front: Tensor
    hidden: Tensor
    memory: Tensor
    taken: Tensor
    numbers: Tensor


def sentence_lengths(transitions: Tensor) -> Tensor:
    """The words (B,) of each sentence, from transitions (N,): a tree's last one leaves the stack
    lower than any later."""
    depth = torch.cumsum(1 - 2 * transitions, 0)
    later = torch.cummin(torch.cat([depth, torch.full([1], transitions.shape[0] + 1)]).flip(0), 0)[
        0
    ].flip(0)
    last = (depth < later[1:]).nonzero().squeeze(1)
    return (torch.diff(last, prepend=torch.full([1], -1)) + 1) // 2


def shift_reduce(
    encoder: StackEncoder, words: Tensor, lengths: Tensor, transitions: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs of the nodes (N, H), the transitions that were taken (N,), and the positions of the
    roots (B,).

    Args:
        words: (L, X).
        lengths: (B,) the words of each sentence.
        transitions: (N,) to be taken; with a parser (0,) too, for the model to choose.
    """
    cell, tracker = encoder.cell, encoder.tracker
    require(
        (lengths >= 1).all() & (lengths.sum() == words.shape[0]),
        "lengths must be at least 1 and make up all the words",
    )
    count, nodes = size_of(lengths.sum()), size_of((2 * lengths - 1).sum())
    with named(f"{type(cell).__name__}.leaf"):
        # Of as many rows as the lengths say, which torch knows nothing of: it would take the
        # example's number for typical.
        leaves = cell.leaf(words.index_select(0, torch.arange(count)))
    with named(f"{type(cell).__name__}.output"):
        outputs = cell.output(leaves)
    word_ends = torch.repeat_interleave(torch.cumsum(lengths, 0), lengths, output_size=count)
    sentences = _sentences(
        lengths, _wanted(transitions, nodes), tracker.read_buffer(outputs, word_ends)
    )
    state = _start(
        sentences, tracker.read_nodes(outputs), tracker.size, count + 2 * lengths.shape[0]
    )
    places = 1 + torch.arange(count)
    tables = tuple(
        part.new_zeros([1 + nodes, part.shape[1]]).index_copy(0, places, part) for part in leaves
    )
    steps = torch.cat([sentences.sizes, torch.zeros([1], dtype=torch.long)]).max()
    loop(_Transition(encoder), steps, tuple(sentences), (*state, *tables))
    whole = (state.height == 3).all() & (state.front == sentences.ends).all()
    require(
        whole,
        "transitions must be 0 (SHIFT) or 1 (REDUCE) and make one whole tree of each sentence",
    )
    with named(f"{type(cell).__name__}.output"):
        found = cell.output(list(tables))
    return found.index_select(0, state.numbers), state.taken, torch.cumsum(2 * lengths - 1, 0) - 1


def _wanted(transitions: Tensor, nodes: int) -> Tensor:
    """The transitions, (nodes,), -1 each where there are none."""
    given = torch.ones_like(transitions).sum()
    require(
        (given == 0) | (given == nodes),
        "expected no transitions, or 2n - 1 for the n words of each sentence",
    )
    require(
        ((transitions == 0) | (transitions == 1)).all(),
        "transitions must be 0 (SHIFT) or 1 (REDUCE)",
    )
    return torch.cat([transitions, torch.full([nodes], -1)]).index_select(0, torch.arange(nodes))


def _sentences(lengths: Tensor, given: Tensor, buffer: Tensor) -> Sentences:
    order = torch.argsort(lengths, descending=True, stable=True)
    ends = torch.cumsum(lengths, 0)
    before = ends - lengths
    each = torch.arange(lengths.shape[0])
    arrays = (2 * lengths - 1, 2 * before - each, before - each, before, ends, before + 2 * each)
    return Sentences._make([given, *(array.index_select(0, order) for array in arrays), buffer])


def _start(sentences: Sentences, reads: Tensor, size: int, places: int) -> _State:
    """Before the first transition. `reads`: (L, 8T) of the words; `places`: of the stacks."""
    trees, nodes = sentences.sizes.shape[0], sentences.given.shape[0]
    hidden = reads.new_zeros([trees, size])
    return _State(
        reads=reads.new_zeros([1 + nodes, reads.shape[1]]).index_copy(
            0, 1 + torch.arange(reads.shape[0]), reads
        ),
        stack=torch.zeros([places], dtype=torch.long),
        height=torch.full([trees], 2),
        front=sentences.words.clone(),
        hidden=hidden,
        memory=hidden.clone(),
        taken=torch.zeros([nodes], dtype=torch.long),
        numbers=torch.zeros([nodes], dtype=torch.long),
    )


class _Transition(nn.Module):
    """One transition of each sentence that goes on."""

    def __init__(self, encoder: StackEncoder):
        super().__init__()
        self.cell, self.tracker = encoder.cell, encoder.tracker

    def forward(self, step: Tensor, *given: Tensor) -> None:
        fixed, fields = len(Sentences._fields), len(_State._fields)
        all_sentences, state = Sentences(*given[:fixed]), _State(*given[fixed : fixed + fields])
        rows = torch.arange(size_of((all_sentences.sizes > step).sum()))
        arrays = (array.index_select(0, rows) for array in all_sentences[1:-1])
        now = Sentences._make([all_sentences.given, *arrays, all_sentences.buffer])
        height, front = state.height.index_select(0, rows), state.front.index_select(0, rows)
        pairs = state.stack.index_select(
            0, ((now.stacks + height).unsqueeze(1) + torch.arange(-2, 0)).flatten()
        ).view(-1, 2)
        hidden, memory = self._track(state, now, rows, pairs, front)
        taken = self._choose(
            now.given.index_select(0, now.nodes + step), hidden, height > 3, front < now.ends
        )
        made = now.buffer.shape[0] + now.inner + step - (front - now.words)
        number = torch.where(taken > 0, made, front + 1)
        reducing = taken.nonzero().squeeze(1)
        self._reduce(
            state,
            given[fixed + fields :],
            *(each.index_select(0, reducing) for each in (pairs, hidden, number)),
        )
        state.stack.index_copy_(0, now.stacks + height - 2 * taken, number)
        state.height.index_copy_(0, rows, height + 1 - 2 * taken)
        state.front.index_copy_(0, rows, front + 1 - taken)
        state.hidden.index_copy_(0, rows, hidden)
        state.memory.index_copy_(0, rows, memory)
        state.taken.index_copy_(0, now.nodes + step, taken)
        state.numbers.index_copy_(0, now.nodes + step, number)

    def _track(
        self, state: _State, now: Sentences, rows: Tensor, pairs: Tensor, front: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The next h and c of the tracking LSTM."""
        gates = 4 * self.tracker.size
        index = (2 * pairs + torch.arange(2)).flatten()
        on_stack = state.reads.view(-1, gates).index_select(0, index).view(-1, 2, gates).sum(1)
        word = torch.where(front < now.ends, front, now.buffer.shape[0] - 1)
        read = on_stack + now.buffer.index_select(0, word)
        return self.tracker.step(
            read, state.hidden.index_select(0, rows), state.memory.index_select(0, rows)
        )

    def _choose(self, given: Tensor, hidden: Tensor, has_pair: Tensor, has_word: Tensor) -> Tensor:
        """The transition of each sentence: the given one or, where that is -1, the likelier that is
        possible."""
        if not self.tracker.parses:
            return given
        choices = self.tracker.choices(hidden)
        own = has_pair & ((choices[:, 1] > choices[:, 0]) | ~has_word)
        return torch.where(given < 0, own.long(), given)

    def _reduce(
        self,
        state: _State,
        tables: tuple[Tensor, ...],
        pairs: Tensor,
        context: Tensor,
        numbers: Tensor,
    ) -> None:
        """Compose pairs of nodes (n, 2) into nodes of these numbers (n,)."""
        n = pairs.shape[0]
        children = [table.index_select(0, pairs.flatten()) for table in tables]
        if self.cell.arity > 0:
            children = [part.view(n, 2, part.shape[1]) for part in children]
            links = Links(pairs[:0, 0], torch.ones_like(pairs))
        else:
            owner = torch.arange(2 * n) // 2
            links = Links(owner, torch.ones_like(owner))
        with named(f"{type(self.cell).__name__}.compose"):
            states = self.cell.compose(context[:, : self.cell.inner_size], children, links)
        with named(f"{type(self.cell).__name__}.output"):
            output = self.cell.output(states)
        state.reads.index_copy_(0, numbers, self.tracker.read_nodes(output))
        for table, part in zip(tables, states, strict=True):
            table.index_copy_(0, numbers, part)
