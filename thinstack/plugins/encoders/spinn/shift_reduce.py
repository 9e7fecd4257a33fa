"""The shift-reduce executor: the thin stack (Bowman et al. 2016, Algorithm 1), transition by
transition, for models that cannot know the order in advance: those whose tracking LSTM feeds the
composition, and those that parse. At each step, the tracking LSTM reads the buffers and stacks of
all unfinished sentences; then the nodes of those that REDUCE are composed.

The thin stack is a table with a row for every node, written once and read by row number. Plain
autograd would copy the whole table at each step of the backward pass. Here, the gradient of the
table passes along a chain of *tokens*: every read and write takes the last token and returns the
next. Reads add to that gradient in place, and writes take their rows from it, so that a step
touches only the rows that it read or wrote. Each backward pass has its own gradient.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from thinstack.core.cell import Cell, Links
from thinstack.core.encoder import Encoding, plain_encoding
from thinstack.core.schedule import moved
from thinstack.core.stack_schedule import Timetable, numbers_by_making, schedule_stack, timetable
from thinstack.plugins.encoders.spinn.tracking_lstm import TrackingLSTM


def token_of(store: Tensor) -> Tensor:
    """Return the first token of a table, with the table's shape but not its memory."""
    return store.new_zeros([]).expand(store.shape)


class _Write(torch.autograd.Function):
    """S' = S with rows R. Backward, with the gradient G of S': dR = those rows of G, and dS = G,
    since rows R are never read through S."""

    @staticmethod
    def forward(ctx: Any, token: Tensor, rows: Tensor, store: Tensor, first: int) -> Tensor:
        ctx.first, ctx.last = first, first + rows.shape[0]
        store[ctx.first : ctx.last] = rows
        return token_of(store)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, table: Tensor) -> tuple[Tensor, Tensor, None, None]:
        return table, table[ctx.first : ctx.last].clone(), None, None


class _Read(torch.autograd.Function):
    """R = S[index]. Backward, with the gradients G of R and T of the next token: dS = T, with G
    added to its rows `index`."""

    @staticmethod
    def forward(ctx: Any, token: Tensor, store: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        ctx.index = index
        return store.index_select(0, index), token_of(store)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, table: Tensor) -> tuple[Tensor, None, None]:
        # In place, because the chain of tokens does not branch: nothing else uses this gradient.
        return table.index_add_(0, ctx.index, grad), None, None


class _Stack(NamedTuple):
    """The thin stack S: tables, each with a token. There is a row per node, and row 0 for no node.
    The tables are the parts of the states, then the tracker's (2 + 2N, 4T), with two rows per
    node."""

    tables: list[Tensor]
    tokens: list[Tensor]


class ShiftReduce(nn.Module):
    """An executor of a cell and a tracking LSTM over binary trees. The inputs of the cell at inner
    nodes, if any, are the tracker's h, the e of (1). Higher-order gradients are not possible."""

    def __init__(self, cell: Cell, tracker: TrackingLSTM):
        super().__init__()
        self.cell, self.tracker = cell, tracker

    def forward(self, leaf_inputs: Tensor, transitions: Tensor, lengths: Tensor) -> Encoding:
        """Encode sentences over input trees.

        Args:
            leaf_inputs: (L, X) of the words.
            transitions: (N,) of whole trees, 0 SHIFT and 1 REDUCE.
            lengths: (B,) words of each sentence, at least 1.
        """
        table = timetable(lengths)
        numbers = numbers_by_making(transitions, table)
        plan = schedule_stack(transitions, numbers, table)
        free = plan.free  # stays on the host, which judges it
        if not torch.jit.is_scripting():  # type: ignore[attr-defined]
            table, plan = moved(table, leaf_inputs), moved(plan, leaf_inputs)
            numbers = numbers.to(leaf_inputs.device, non_blocking=True)
        counts: list[int] = table.counts.tolist()
        reduce_counts: list[int] = plan.reduce_counts.tolist()
        pairs, reducing = torch.split(plan.pairs, counts), torch.split(plan.reducing, reduce_counts)
        stack, outputs, buffer = self._start(leaf_inputs, table)
        # At once, because the backward pass of a gather visits all rows of its source.
        fronts = torch.split(buffer.index_select(0, plan.fronts), counts)
        hidden = leaf_inputs.new_zeros([lengths.shape[0], self.tracker.size])
        memory, choices = hidden, [self.tracker.choices(hidden[:0])]
        next_node = 1 + leaf_inputs.shape[0]
        for step in range(len(counts)):
            gates = _add_up(stack, pairs[step]) + fronts[step]
            hidden, memory = self.tracker.step(
                gates, hidden[: counts[step]], memory[: counts[step]]
            )
            choices.append(self.tracker.choices(hidden))
            if reduce_counts[step] > 0:
                rows = reducing[step]
                below, context = pairs[step].index_select(0, rows), hidden.index_select(0, rows)
                outputs.append(self._reduce(stack, below, context, next_node))
                next_node += reduce_counts[step]
        scores = _in_node_order(choices, table)
        stacked, places = torch.cat(outputs), numbers - 1
        roots = stacked.index_select(0, places.index_select(0, table.roots))
        return plain_encoding(stacked, places, roots, transitions.long(), scores, free)

    def parse(self, leaf_inputs: Tensor, lengths: Tensor) -> Encoding:
        """Encode sentences over the trees that the transition classifier chooses: at each step the
        likelier transition, SHIFT on a tie. No gradients are kept.

        SHIFT is possible while words are left, and REDUCE while two nodes are on the stack, so that
        each sentence gets one tree over all its words, by 2n - 1 transitions.
        """
        with torch.no_grad():
            table = timetable(lengths)
            if not torch.jit.is_scripting():  # type: ignore[attr-defined]
                table = moved(table, leaf_inputs)
            stack, outputs, buffer = self._start(leaf_inputs, table)
            there = lengths.to(leaf_inputs.device, non_blocking=True)
            steps, choices = self._parse(stack, outputs, buffer, there, table)
            numbers, taken, free = _in_node_order(steps, table).unbind(1)
            scores = _in_node_order(choices, table)
            stacked, places = torch.cat(outputs), numbers - 1
            roots = stacked.index_select(0, places.index_select(0, table.roots))
            return plain_encoding(stacked, places, roots, taken.to(lengths.device), scores, free)

    def _parse(
        self,
        stack: _Stack,
        outputs: list[Tensor],
        buffer: Tensor,
        lengths: Tensor,
        table: Timetable,
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Return for the n unfinished sentences of each step (n, 3): the number of the new node,
        the transition, and whether both were possible; and the scores (n, 2). Append the outputs of
        composed nodes to `outputs`."""
        counts: list[int] = table.counts.tolist()
        ends = torch.cumsum(lengths.long(), 0).index_select(0, table.order)
        # The next word of each sentence, and the numbers on its stack, over two zeros, and its
        # height.
        front = ends - lengths.long().index_select(0, table.order)
        height = torch.full_like(ends, 2)
        queue = ends.new_zeros([ends.shape[0], 2 + (len(counts) + 1) // 2])
        hidden = outputs[0].new_zeros([ends.shape[0], self.tracker.size])
        memory, next_node = hidden, 1 + outputs[0].shape[0]
        taken, choices = [queue.new_zeros([0, 3])], [self.tracker.choices(hidden[:0])]
        for count in counts:  # sentences end last first
            front, height, queue = front[:count], height[:count], queue[:count]
            top = height.unsqueeze(1) + torch.arange(-2, 0, device=ends.device)
            pairs, has_word, has_pair = queue.gather(1, top), front < ends[:count], height > 3
            place = torch.where(has_word, front, buffer.shape[0] - 1)
            gates = _add_up(stack, pairs) + buffer.index_select(0, place)
            hidden, memory = self.tracker.step(gates, hidden[:count], memory[:count])
            scores = self.tracker.choices(hidden)
            reduces = has_pair & ((scores[:, 1] > scores[:, 0]) | ~has_word)
            action, number, rows = reduces.long(), front + 1, reduces.nonzero().squeeze(1)
            if rows.shape[0] > 0:
                below, context = pairs.index_select(0, rows), hidden.index_select(0, rows)
                outputs.append(self._reduce(stack, below, context, next_node))
                new = torch.arange(next_node, next_node + rows.shape[0], device=rows.device)
                number = number.index_copy(0, rows, new)
                next_node += rows.shape[0]
            front, height = front + 1 - action, height + 1 - 2 * action
            queue.scatter_(1, height.unsqueeze(1) - 1, number.unsqueeze(1))
            taken.append(torch.stack([number, action, (has_word & has_pair).long()], 1))
            choices.append(scores)
        return taken, choices

    def _start(self, leaf_inputs: Tensor, table: Timetable) -> tuple[_Stack, list[Tensor], Tensor]:
        """Return a stack of words, their outputs (L, H), and buffer parts (L + 1, 4T)."""
        nodes, leaves = table.places.shape[0], self.cell.leaf(leaf_inputs)
        outputs = self.cell.output(leaves)
        tables = [part.new_empty([1 + nodes, part.shape[1]]) for part in leaves]
        reads = outputs.new_empty([2 + 2 * nodes, 4 * self.tracker.size])
        reads[:2] = 0
        tables.append(reads)
        stack = _Stack(tables, [token_of(part) for part in tables])
        _push(stack, leaves, self.tracker.read_nodes(outputs), 1)
        return stack, [outputs], self.tracker.read_buffer(outputs, table.word_ends)

    def _reduce(self, stack: _Stack, pairs: Tensor, context: Tensor, first: int) -> Tensor:
        """Compose pairs of nodes (n, 2) into the rows from `first` on; return outputs (n, H)."""
        fixed, children = self.cell.arity > 0, pairs.new_zeros([0])
        parts: list[Tensor] = []
        for k in range(len(stack.tables) - 1):
            rows = _read(stack, k, pairs.flatten())
            parts.append(rows.view(pairs.shape[0], 2, rows.shape[1]) if fixed else rows)
        if not fixed:
            children = torch.arange(2 * pairs.shape[0], device=pairs.device) // 2
        links = Links(children, torch.ones_like(pairs if fixed else children))
        state = self.cell.compose(context[:, : self.cell.inner_size], parts, links)
        output = self.cell.output(state)
        _push(stack, state, self.tracker.read_nodes(output), first)
        return output


def _push(stack: _Stack, state: list[Tensor], reads: Tensor, first: int) -> None:
    for k, part in enumerate(state):
        _write(stack, k, part, first)
    _write(stack, len(state), reads.view(-1, reads.shape[1] // 2), 2 * first)


def _write(stack: _Stack, k: int, rows: Tensor, first: int) -> None:
    """Write rows (n, W) into unwritten rows of the table `k`, from `first` on."""
    token, table = stack.tokens[k], stack.tables[k]
    if not torch.jit.is_scripting() and torch.is_grad_enabled():  # type: ignore[attr-defined]
        stack.tokens[k] = _Write.apply(token, rows, table, first)  # type: ignore[no-untyped-call]
    else:
        table[first : first + rows.shape[0]] = rows


def _read(stack: _Stack, k: int, index: Tensor) -> Tensor:
    """Return written rows (n, W) of the table `k` by their indices (n,)."""
    token, rows = stack.tokens[k], stack.tables[k]
    if not torch.jit.is_scripting() and torch.is_grad_enabled():  # type: ignore[attr-defined]
        rows, stack.tokens[k] = _Read.apply(token, rows, index)  # type: ignore[no-untyped-call]
    else:
        rows = rows.index_select(0, index)
    return rows


def _add_up(stack: _Stack, pairs: Tensor) -> Tensor:
    """Return the gates' part (n, 4T) of the top two nodes (n, 2) of each stack."""
    index = (2 * pairs + torch.arange(2, device=pairs.device)).flatten()
    rows = _read(stack, len(stack.tables) - 1, index)
    return rows.view(pairs.shape[0], 2, rows.shape[1]).sum(1)


def _in_node_order(by_step: list[Tensor], table: Timetable) -> Tensor:
    """Concatenate the rows of all steps, in the order of the nodes."""
    rows = torch.cat(by_step)
    return torch.zeros_like(rows).index_copy(0, table.places, rows)
