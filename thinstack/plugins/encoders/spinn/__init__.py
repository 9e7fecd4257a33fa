"""The encoder of SPINN (Bowman et al. 2016), over input trees or its own parses."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from thinstack.core.cell import Cell, misfit
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.core.encoder import Encoder, Encoding, Judgement, plain_encoding
from thinstack.core.schedule import moved, schedule_transitions
from thinstack.core.stack_schedule import check_sentences, schedule_stack, timetable
from thinstack.errors import ConfigError, PluginError
from thinstack.plugins.encoders.spinn.shift_reduce import ShiftReduce
from thinstack.plugins.encoders.spinn.tracking_lstm import TrackingLSTM


class StackEncoder(Encoder):
    """An encoder that composes input trees by transition if the tracking LSTM feeds the
    composition. Otherwise it composes them by depth, and the tracking LSTM reads the finished
    states.

    Args:
        cell: of arity 2, or 0 (any number). Its `inner_size` is the size of the tracking LSTM,
            which then feeds it, or 0.
        tracker: the tracking LSTM, with a transition classifier if the encoder should parse.

    Attributes:
        feeds: whether the tracking LSTM feeds the composition.
    """

    name = "spinn.v1"
    summary = "parses as it composes, with a tracking LSTM, Bowman et al. 2016"
    onnx = "thinstack.plugins.encoders.spinn.onnx"

    @classmethod
    def build(
        cls,
        *,
        input_size: int,
        cell: Callable[[int, int], Cell],
        size: int,
        lookahead: int,
        feeds: bool,
        parses: bool,
        dropout: float,
        forget_bias: float,
    ) -> "StackEncoder":
        """Build the encoder of a `TrackerConfig`. Raises ConfigError for an unsuitable cell."""
        inner_size = size if feeds else 0
        try:
            composition = cell(input_size, inner_size)
            problem = misfit(composition, "binary", inner_size, layer=1)
        except PluginError as error:
            if not feeds:
                raise
            problem = str(error)
        if problem and feeds:
            raise ConfigError(
                f"model.encoder.tracker: the cell does not accept context of width {size} "
                f"({problem}); use spinn_lstm.v1, or set feeds = false"
            )
        if problem:
            raise ConfigError(f"model.cell: {problem}")
        tracker = TrackingLSTM(
            input_size=composition.hidden_size,
            size=size,
            lookahead=lookahead,
            parses=parses,
            dropout=dropout,
            forget_bias=forget_bias,
        )
        return cls(composition, tracker)

    def __init__(self, cell: Cell, tracker: TrackingLSTM):
        super().__init__(hidden_size=cell.hidden_size, parses=tracker.parses)
        self.by_step, self.by_depth = ShiftReduce(cell, tracker), DepthOrdered(cell)
        self.cell, self.tracker = cell, tracker
        self.feeds = cell.inner_size > 0

    def encode(self, words: Tensor, inputs: dict[str, Tensor], track: bool) -> Encoding:
        """Encode a forest, as in every `Encoder`, over the input trees if there are any. Raises
        ValueError as `check_sentences` does."""
        transitions, lengths, has_trees = check_sentences(words, inputs, self.parses, False)
        if not has_trees:
            parsed = self.parse(words, lengths)
            if not torch.is_grad_enabled():
                return parsed
            transitions = parsed.transitions
        return self.forward(words, transitions, lengths, track)

    def forward(
        self, words: Tensor, transitions: Tensor, lengths: Tensor, track: bool = True
    ) -> Encoding:
        """Encode sentences over input trees, with arguments as in `ShiftReduce.forward`. Without
        `track`, the scores of transitions may have no columns."""
        if self.feeds:
            encoding: Encoding = self.by_step(words, transitions, lengths)
            return encoding
        schedule = there = schedule_transitions(transitions)
        if not torch.jit.is_scripting():  # type: ignore[attr-defined]
            there = moved(schedule, words)
        leaves = words.index_select(0, there.leaf_words)
        none = words.new_zeros([schedule.inner.shape[0], 0])
        stacked, roots, _ = self.by_depth(leaves, none, there)
        free = torch.zeros_like(schedule.stacked)
        choices = words.new_zeros([free.shape[0], 0])
        if track:
            choices, free = self.follow(stacked, schedule.stacked, transitions, lengths)
        return plain_encoding(stacked, there.stacked, roots, transitions.long(), choices, free)

    def parse(self, words: Tensor, lengths: Tensor) -> Encoding:
        """Encode sentences over the encoder's own trees, without gradients."""
        return self.by_step.parse(words, lengths)

    def follow(
        self, outputs: Tensor, places: Tensor, transitions: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the scores of the transitions (N, 2) and where both were possible (N,), in node
        order, from the outputs (N, H) of nodes and the row `places` (N,) of each. `places`,
        `transitions` (N,), `lengths` (B,) and the second result are on one device."""
        table = timetable(lengths)
        plan = schedule_stack(transitions, places + 1, table)
        free = plan.free
        word_rows = places.index_select(0, (transitions == 0).nonzero().squeeze(1))
        if not torch.jit.is_scripting():  # type: ignore[attr-defined]
            table, plan = moved(table, outputs), moved(plan, outputs)
            word_rows = word_rows.to(outputs.device, non_blocking=True)
        counts: list[int] = table.counts.tolist()
        gates = 4 * self.tracker.size
        none = outputs.new_zeros([1, 2 * gates])
        reads = torch.cat([none, self.tracker.read_nodes(outputs)]).view(-1, gates)
        index = (2 * plan.pairs + torch.arange(2, device=outputs.device)).flatten()
        buffer = self.tracker.read_buffer(outputs.index_select(0, word_rows), table.word_ends)
        read = reads.index_select(0, index).view(plan.pairs.shape[0], 2, gates).sum(1)
        read = read + buffer.index_select(0, plan.fronts)
        hidden = outputs.new_zeros([lengths.shape[0], self.tracker.size])
        memory, states = hidden, [hidden[:0]]
        for step in torch.split(read, counts):
            hidden, memory = self.tracker.step(
                step, hidden[: step.shape[0]], memory[: step.shape[0]]
            )
            states.append(hidden)
        choices = self.tracker.choices(torch.cat(states))
        return torch.zeros_like(choices).index_copy(0, table.places, choices), free

    def judge(self, choices: Tensor, free: Tensor, wanted: Tensor) -> Judgement:
        """Return the cross-entropies of the transition classifier, (7), at steps where both
        transitions were possible and the right one is known."""
        # `free` is on the host, which can count the cases without waiting for the device.
        wanted = torch.where(free > 0, wanted.to(free.device, non_blocking=True), -1)
        right = wanted.to(choices.device, non_blocking=True)
        loss = functional.cross_entropy(choices, right, ignore_index=-1, reduction="sum")
        agrees = (choices[:, 1] > choices[:, 0]).long() == right
        return Judgement(loss, agrees.sum(), int((wanted >= 0).sum()))

    def worst_choice(self, choices: Tensor, free: Tensor, taken: Tensor) -> float:
        chosen = free.nonzero().squeeze(1)
        scores = choices.detach().double().index_select(0, chosen)
        step = taken.index_select(0, chosen).unsqueeze(1)
        lost = (scores.gather(1, 1 - step) - scores.gather(1, step)).squeeze(1)
        lost = lost / scores.abs().amax(1).clamp(min=1)
        return float(lost.max()) if lost.numel() else -math.inf
