"""What one batch does on a GPU, foretold without one: the places of nodes, times how often each
ran on the CPU."""

import math
from collections.abc import Iterator, Mapping, Sequence

from placement_graph import Level, crossings
from placement_run import LAUNCH_NOTHING, Counts, Feeds, Ran, Shape, size_of

Runs = Mapping[str, Sequence[Ran]]
# What reads as much of its first input as it gives.
_PICKS = {"Gather", "GatherElements", "GatherND", "Slice"}


class Values:
    """How often the graphs of a batch ran, and the bytes of the values in them."""

    def __init__(self, main: Level, runs: Runs, feeds: Feeds):
        self.main, self.runs = main, runs
        self.sizes = {name: float(array.nbytes) for name, array in feeds.items()}
        for level in main.levels():
            for placed in level.nodes:
                self._note(placed.node.name, placed.node.output)
            given = list(level.graph.output)
            for position, each in enumerate(level.graph.input):
                if level.loops and 0 < position <= len(given):  # a loop's values: as it left them
                    self.sizes[each.name] = self.sizes.get(given[position - 1].name, 8.0)

    def _note(self, node: str, names: Sequence[str]) -> None:
        ran = self.runs.get(node, ())
        for position, name in enumerate(each for each in names if each):
            if ran:
                self.sizes[name] = sum(size_of(each.outputs[position]) for each in ran) / len(ran)

    def runs_of(self, level: Level) -> int:
        """How often a graph ran: as often as any of its nodes."""
        if level is self.main:
            return 1
        return max((len(self.runs.get(each.node.name, ())) for each in level.nodes), default=0)

    def copies(self, level: Level, names: Sequence[str]) -> Iterator[tuple[int, int]]:
        """How often each value is copied, and the bytes of all of its copies: as often as it is
        made in the graph, or once a run of the graph if it comes from outside."""
        makers = {name: each.node.name for each in level.nodes for name in each.node.output}
        for name in names:
            made = name in makers
            count = len(self.runs.get(makers[name], ())) if made else self.runs_of(level)
            yield count, round(count * self.sizes.get(name, 8.0))


def foretold(main: Level, runs: Runs, feeds: Feeds) -> Counts:
    """What a batch that ran on the CPU would do on the GPU."""
    values = Values(main, runs, feeds)
    totals = {"gpu": 0, "host": 0, "host in loops": 0}
    copied = {True: [0, 0], False: [0, 0]}
    for level in main.levels():
        for placed in level.nodes:
            count = len(runs.get(placed.node.name, ()))
            starts = placed.gpu and placed.node.op_type not in LAUNCH_NOTHING
            totals["gpu"] += count * starts
            totals["host"] += count * (not placed.gpu)
            totals["host in loops"] += count * (level.loops > 0 and not placed.gpu)
        for to_gpu, names in ((True, level.to_gpu), (False, level.to_host)):
            for count, size in values.copies(level, names):
                copied[to_gpu][0] += count
                copied[to_gpu][1] += size
    edges = {True: 0, False: 0}
    for each in crossings(main):
        if each.level is not main:
            edges[each.to_gpu] += values.runs_of(each.level)
    (inward, bytes_in), (back, bytes_back) = copied[True], copied[False]
    return Counts(
        totals["gpu"],
        totals["host"],
        totals["host in loops"],
        inward,
        back,
        bytes_in,
        bytes_back,
        edges[True],
        edges[False],
    )


def operations(runs: Runs) -> int:
    """The floating-point operations of all products of a batch, from the shapes that they had."""
    return sum(2 * _multiplications(ran) for each in runs.values() for ran in each)


def _multiplications(ran: Ran) -> int:
    shapes = [sides for _, sides in ran.inputs]
    if ran.operator in ("MatMul", "MatMulInteger", "MatMulIntegerToFloat"):
        return math.prod(ran.outputs[0][1]) * shapes[0][-1]
    if ran.operator == "Gemm":  # (M, N), and what both sides share
        rows, columns = ran.outputs[0][1]
        return columns * math.prod(shapes[0]) if rows else 0
    if ran.operator == "LSTM":  # X (T, B, I), W (D, 4H, I), R (D, 4H, H)
        steps, batch, _ = shapes[0]
        return steps * batch * (math.prod(shapes[1]) + math.prod(shapes[2]))
    return 0


def traffic(runs: Runs) -> int:
    """The bytes that the nodes of a batch read and write, weights among them. Nodes that a GPU
    would fuse count each for itself."""
    return sum(_moved(ran) for each in runs.values() for ran in each)


def _moved(ran: Ran) -> int:
    if ran.operator in LAUNCH_NOTHING:
        return 0  # its body's nodes count, or nothing moves
    read: Sequence[Shape] = ran.inputs
    if ran.operator in _PICKS:
        read = (*ran.outputs, *ran.inputs[1:])
    return sum(map(size_of, read)) + ran.given
