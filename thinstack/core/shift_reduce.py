"""The shift-reduce executor: the thin stack (Bowman et al. 2016, Algorithm 1), transition by
transition.

It serves what cannot know its order beforehand: a tracking LSTM that feeds the composition, and a
model that parses by itself. At each step the tracking LSTM reads the buffers and stacks of all
sentences that go on, then those that REDUCE are composed.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from thinstack.core.beam import likeliest, trace
from thinstack.core.cell import Cell, Links
from thinstack.core.hypotheses import Hypotheses, Step, first_hypotheses, first_of, rows_of
from thinstack.core.stack_encoding import StackEncoding
from thinstack.core.stack_schedule import Timetable, numbers_by_making, schedule_stack, timetable
from thinstack.core.thin_stack import gradients_of, read, write
from thinstack.spinn.tracking_lstm import TrackingLSTM

__all__ = ["ShiftReduce"]


class _Stack(NamedTuple):
    """The thin stack S: a row for each node, by its number, and row 0 for none. `parts` are those
    of the states; `reads` (1 + N, 8T) is what the tracking LSTM reads. Tables of gradients and the
    token are as `thin_stack` has them."""

    parts: list[Tensor]
    part_gradients: list[Tensor]
    reads: Tensor
    read_gradients: Tensor
    token: Tensor


class ShiftReduce(nn.Module):
    """Runs a cell over binary trees with words at the leaves, with or without a tracking LSTM.

    Where the cell has inputs at inner nodes, they are the h of the tracking LSTM: the e of (1).
    There are no gradients of gradients.

    Args:
        cell: of arity 2, or 0, any number; its `inner_size` is 0 or the tracking LSTM's size.
        tracker: None for none.
    """

    def __init__(self, cell: Cell, tracker: TrackingLSTM | None = None):
        super().__init__()
        self.cell = cell
        self.tracker = tracker
        self.tracker_size = 0 if tracker is None else tracker.size
        self.parses = tracker is not None and tracker.parses

    def forward(self, leaf_inputs: Tensor, transitions: Tensor, lengths: Tensor) -> StackEncoding:
        """Encode sentences over given trees.

        Args:
            leaf_inputs: (L, X) of the words.
            transitions: (N,) of whole trees, 0 SHIFT and 1 REDUCE.
            lengths: (B,) the words of each sentence, at least 1.
        """
        table = timetable(lengths)
        numbers = numbers_by_making(transitions, table)
        plan = schedule_stack(transitions, numbers, table)
        counts: list[int] = table.counts.tolist()
        reduce_counts: list[int] = plan.reduce_counts.tolist()
        pairs, reducing = torch.split(plan.pairs, counts), torch.split(plan.reducing, reduce_counts)
        leaves = self.cell.leaf(leaf_inputs)
        outputs = [self.cell.output(leaves)]
        stack, buffer = self._start(leaves, outputs[0], table, 1)
        # All at once, for a gather's backward pass goes through all rows of what it gathers from.
        fronts = torch.split(buffer.index_select(0, plan.fronts), counts)
        hidden = leaf_inputs.new_zeros([lengths.shape[0], self.tracker_size])
        memory, choices = hidden, [self._choices(hidden[:0])]
        made = 1 + leaf_inputs.shape[0]
        for step in range(len(counts)):
            if self.tracker is not None:
                gates = _add_up(stack, pairs[step]) + fronts[step]
                hidden, memory = self.tracker.step(
                    gates, hidden[: counts[step]], memory[: counts[step]]
                )
            choices.append(self._choices(hidden[: counts[step]]))
            if reduce_counts[step] > 0:
                rows = reducing[step]
                stack, output = self._reduce(
                    stack, pairs[step].index_select(0, rows), hidden.index_select(0, rows), made
                )
                outputs.append(output)
                made += reduce_counts[step]
        scores = _in_node_order(choices, table)
        return _encoding(outputs, numbers, transitions.long(), scores, plan.free, table)

    def parse(self, leaf_inputs: Tensor, lengths: Tensor, beam: int = 1) -> StackEncoding:
        """Encode sentences over the trees that the transition classifier chooses: at each step the
        likelier transition or, with a `beam` above 1, those of the likeliest of so many hypotheses.

        SHIFT is possible while there are words, REDUCE while two nodes are on the stack, so that
        each sentence gets one tree over all its words, by 2n - 1 transitions. No gradients are
        kept. Other arguments are those of `forward`. Raises ValueError without a transition
        classifier.
        """
        if not self.parses:
            raise ValueError(
                "parsing needs a tracking LSTM with a transition classifier: parses = True"
            )
        with torch.no_grad():
            table = timetable(lengths)
            counts: list[int] = table.counts.tolist()
            made = 1 + leaf_inputs.shape[0]
            leaves = self.cell.leaf(leaf_inputs)
            outputs = [self.cell.output(leaves)]
            stack, buffer = self._start(leaves, outputs[0], table, beam)
            now = first_hypotheses(leaf_inputs, lengths, table, self.tracker_size, beam)
            steps: list[Step] = []
            for count in counts:
                now = first_of(now, count * beam)
                now, step = self._decide(stack, buffer, now, beam)
                rows = step.taken.nonzero().squeeze(1)
                if rows.shape[0] > 0:
                    context = now.hidden.index_select(0, rows)
                    stack, output = self._reduce(
                        stack, step.pairs.index_select(0, rows), context, made
                    )
                    step.numbers.index_copy_(
                        0, rows, torch.arange(made, made + rows.shape[0], device=rows.device)
                    )
                    outputs.append(output)
                    made += rows.shape[0]
                now.queue.scatter_(1, now.height.unsqueeze(1) - 1, step.numbers.unsqueeze(1))
                steps.append(step)
            return _parsed(outputs, steps, table, beam)

    def _decide(
        self, stack: _Stack, buffer: Tensor, now: Hypotheses, beam: int
    ) -> tuple[Hypotheses, Step]:
        """Let the tracking LSTM read and choose; the hypotheses after that, and what they do, with
        no node made yet."""
        pairs = now.queue.gather(
            1, now.height.unsqueeze(1) + torch.arange(-2, 0, device=now.height.device)
        )
        has_word, has_pair = now.front < now.ends, now.height > 3
        hidden, memory = now.hidden, now.memory
        if self.tracker is not None:
            front = torch.where(has_word, now.front, buffer.shape[0] - 1)
            gates = _add_up(stack, pairs) + buffer.index_select(0, front)
            hidden, memory = self.tracker.step(gates, hidden, memory)
        choices = self._choices(hidden)
        free, scores, source = (has_word & has_pair).long(), now.scores, pairs[:0, 0]
        if beam > 1:
            source, taken, scores = likeliest(choices, has_word, has_pair, now.scores, beam)
            hidden, memory = hidden.index_select(0, source), memory.index_select(0, source)
            pairs, choices, free = (
                pairs.index_select(0, source),
                choices.index_select(0, source),
                free.index_select(0, source),
            )
            front, height = now.front.index_select(0, source), now.height.index_select(0, source)
            queue = now.queue.index_select(0, source)
        else:
            taken = (has_pair & ((choices[:, 1] > choices[:, 0]) | ~has_word)).long()
            front, height, queue = now.front, now.height, now.queue
        after = Hypotheses(
            front + 1 - taken, height + 1 - 2 * taken, queue, now.ends, hidden, memory, scores
        )
        return after, Step(pairs, front + 1, taken, choices, free, scores, source)

    def _start(
        self, leaves: list[Tensor], outputs: Tensor, table: Timetable, beam: int
    ) -> tuple[_Stack, Tensor]:
        """The stack with the words in it, ready to be pushed, and what the tracking LSTM reads of
        the buffer (L + 1, 4T)."""
        nodes = table.places.shape[0]
        if beam > 1:  # hypotheses may make a node at every step and be given up
            nodes = outputs.shape[0] + beam * nodes
        parts = [part.new_empty([1 + nodes, part.shape[1]]) for part in leaves]
        reads = outputs.new_empty([1 + nodes, 8 * self.tracker_size])
        reads[0] = 0
        read_words, buffer = outputs[:, :0], outputs.new_zeros([1 + outputs.shape[0], 0])
        if self.tracker is not None:
            read_words = self.tracker.read_nodes(outputs)
            buffer = self.tracker.read_buffer(outputs, table.word_ends)
        stack = _Stack(
            parts,
            [gradients_of(part) for part in parts],
            reads,
            gradients_of(reads),
            outputs.new_zeros([]),
        )
        return _push(stack, leaves, read_words, 1), buffer

    def _choices(self, hidden: Tensor) -> Tensor:
        """Scores (n, 2) of SHIFT and REDUCE from the h of the tracking LSTM (n, T); (n, 0) without
        one."""
        if self.tracker is not None:
            return self.tracker.choices(hidden)
        return hidden[:, :0]

    def _reduce(
        self, stack: _Stack, pairs: Tensor, context: Tensor, first: int
    ) -> tuple[_Stack, Tensor]:
        """Compose pairs of nodes (n, 2) into the rows from `first` on; returns the stack and their
        outputs (n, H)."""
        children: list[Tensor] = []
        fixed = self.cell.arity > 0
        for k, part in enumerate(stack.parts):
            rows = read(part, stack.part_gradients[k], stack.token, pairs.flatten())
            children.append(rows.view(pairs.shape[0], 2, part.shape[1]) if fixed else rows)
        if fixed:
            links = Links(pairs[:0, 0], torch.ones_like(pairs))
        else:
            owner = torch.arange(2 * pairs.shape[0], device=pairs.device) // 2
            links = Links(owner, torch.ones_like(owner))
        state = self.cell.compose(context[:, : self.cell.inner_size], children, links)
        output = self.cell.output(state)
        read_nodes = output[:, :0]
        if self.tracker is not None:
            read_nodes = self.tracker.read_nodes(output)
        return _push(stack, state, read_nodes, first), output


def _push(stack: _Stack, state: list[Tensor], reads: Tensor, first: int) -> _Stack:
    token = stack.token
    for k, part in enumerate(stack.parts):
        token = write(part, stack.part_gradients[k], token, first, state[k])
    token = write(stack.reads, stack.read_gradients, token, first, reads)
    return _Stack(stack.parts, stack.part_gradients, stack.reads, stack.read_gradients, token)


def _add_up(stack: _Stack, pairs: Tensor) -> Tensor:
    """What two places of the stack (n, 2) add to the gates of the tracking LSTM, (n, 4T)."""
    gates = stack.reads.shape[1] // 2
    index = (2 * pairs + torch.arange(2, device=pairs.device)).flatten()
    rows = read(
        stack.reads.view(-1, gates), stack.read_gradients.view(-1, gates), stack.token, index
    )
    return rows.view(pairs.shape[0], 2, gates).sum(1)


def _parsed(outputs: list[Tensor], steps: list[Step], table: Timetable, beam: int) -> StackEncoding:
    """What the best hypotheses found."""
    none = outputs[0][:0]
    numbers, taken, free = [table.order[:0]], [table.order[:0]], [table.order[:0]]
    choices = [none.new_zeros([0, 2])]
    if beam > 1 and len(steps) > 0:
        rows = trace([step.source for step in steps], [step.scores for step in steps], beam)
        steps = [rows_of(steps[k], rows[k]) for k in range(len(steps))]
    for step in steps:
        numbers.append(step.numbers)
        taken.append(step.taken)
        free.append(step.free)
        choices.append(step.choices)
    return _encoding(
        outputs,
        _in_node_order(numbers, table),
        _in_node_order(taken, table),
        _in_node_order(choices, table),
        _in_node_order(free, table),
        table,
    )


def _in_node_order(by_step: list[Tensor], table: Timetable) -> Tensor:
    """What was found at each step, put in the order of the nodes."""
    found = torch.cat(by_step)
    return torch.zeros_like(found).index_copy(0, table.places, found)


def _encoding(
    outputs: list[Tensor],
    numbers: Tensor,
    transitions: Tensor,
    choices: Tensor,
    free: Tensor,
    table: Timetable,
) -> StackEncoding:
    stacked, places = torch.cat(outputs), numbers - 1
    roots = stacked.index_select(0, places.index_select(0, table.roots))
    return StackEncoding(stacked, places, roots, transitions, choices, free)
