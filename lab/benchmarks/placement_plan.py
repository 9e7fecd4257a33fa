"""What batches would cost on classes of GPUs: arithmetic with what `placement.py` counts, and no
measurement. Only the CPU's time is measured, on one core.

A batch costs its launches, copies and waits, and the longer of two: its products at the card's
rate, or the bytes that its nodes read and write at the card's bandwidth. The products that a file
has the CPU do in 8 bits count as the GPU's, in 32 bits.
"""

import math
import textwrap
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from placement_batches import File
from placement_counts import foretold, operations, traffic
from placement_graph import place
from placement_kernels import Kernels
from placement_run import Counts, Feeds, onnxruntime, optimised, run_on_cpu

from thinstack.core import Tree

LAUNCH, COPY, WAIT = 5e-6, 20e-6, 50e-6  # seconds
CORES: Final = 16
NODES: Final = 131_072  # of a batch on a GPU, as thinstack cuts them
SIZES: Final = (64, 1_000, 10_000)


@dataclass(frozen=True)
class Card:
    """A class of GPUs: operations and bytes a second."""

    name: str
    rate: float
    bandwidth: float


CARDS: Final = (
    Card("an integrated GPU", 1e12, 50e9),
    Card("a laptop's or older card", 10e12, 300e9),
    Card("a data centre's card", 60e12, 2e12),
)


@dataclass(frozen=True)
class Load:
    """What a file's batches ask of a machine.

    Attributes:
        counts: of a batch of 64 sentences on WebGPU.
        operations, traffic, nodes: a sentence's floating-point operations, bytes and nodes, of that
            batch; a 64th of the weights' bytes is among them.
        core_seconds: what one core of this machine takes for a sentence, in the better batch.
    """

    file: str
    counts: Counts
    operations: float
    traffic: float
    nodes: float
    core_seconds: float

    def gpu_seconds(self, card: Card, sentences: int) -> float:
        batches = math.ceil(sentences * self.nodes / NODES)
        return batches * overhead(self.counts) + sentences * self.a_sentence(card)

    def a_sentence(self, card: Card) -> float:
        return max(self.operations / card.rate, self.traffic / card.bandwidth)

    def cpu_seconds(self, sentences: int) -> float:
        return sentences * self.core_seconds / CORES

    def pays_from(self, card: Card) -> int | None:
        """The fewest sentences for which the card beats all cores; None if it never does."""
        gained = self.core_seconds / CORES - self.a_sentence(card)
        return math.ceil(overhead(self.counts) / gained) if gained > 0 else None


def overhead(counts: Counts) -> float:
    """Seconds of a batch that do not depend on its sentences. A batch's inputs go in and its
    results come back once."""
    copies = counts.copies_in + counts.copies_back
    copies += (counts.edges_in or 0) + (counts.edges_back or 0)
    return counts.kernels * LAUNCH + (copies + 2) * COPY + (counts.waits + 1) * WAIT


def planned(file: File, trees: Sequence[Tree]) -> Load:
    """What a file's batches ask: counted over 64 sentences and timed over batches of 64 and 256
    sentences of like length."""
    ordered = sorted(trees, key=lambda tree: len(tree.words))
    middle = len(ordered) // 2
    few, more = (ordered[middle - size // 2 : middle + size // 2] for size in (64, 256))
    feeds = file.feeds(few, given=False)
    model = optimised(file.on_gpu)
    runs = run_on_cpu(model, feeds)
    seconds = min(
        _seconds(file, file.feeds(batch, given=False)) / len(batch) for batch in (few, more)
    )
    return Load(
        file.name,
        foretold(place(model, Kernels.read("webgpu")), runs, feeds),
        operations(runs) / len(few),
        traffic(runs) / len(few),
        sum(2 * len(tree.words) - 1 for tree in few) / len(few),
        seconds,
    )


def _seconds(file: File, feeds: Feeds) -> float:
    """The least time of a processor in five runs with one thread."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(file.content, options)
    taken = []
    for _ in range(5):
        start = time.process_time()
        session.run(None, feeds)
        taken.append(time.process_time() - start)
    return min(taken)


def filled(text: str) -> str:
    """A paragraph in the width of a page."""
    return textwrap.fill(text, 140, break_long_words=False, break_on_hyphens=False)


def plan_lines(loads: Sequence[Load]) -> Iterator[str]:
    """The table of costs, in milliseconds, and from how many sentences a card pays."""
    head = [
        "file",
        "on",
        *(f"{size:,} sentences, ms" for size in SIZES),
        f"beats {CORES} cores from",
    ]
    yield from (
        "",
        filled(_explained(loads)),
        "",
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
    )
    for load in loads:
        times = [f"{1000 * load.cpu_seconds(size):,.1f}" for size in SIZES]
        yield f"| {load.file} | {CORES} cores | {' | '.join(times)} | |"
        for card in CARDS:
            each = [1000 * load.gpu_seconds(card, size) for size in SIZES]
            pays = load.pays_from(card)
            cells = [load.file, card.name, *(f"{ms:,.1f}" for ms in each)]
            yield f"| {' | '.join(cells)} | {f'{pays:,}' if pays else 'never'} |"


def _explained(loads: Sequence[Load]) -> str:
    cards = " ".join(
        f"On {card.name}: {card.rate / 1e12:g} TFLOP/s, {card.bandwidth / 1e9:g} GB/s."
        for card in CARDS
    )
    asked = " ".join(
        f"A sentence asks {load.operations / 1e6:,.1f} million operations and "
        f"{load.traffic / 1024:,.0f} KiB of `{load.file}`, and {1000 * load.core_seconds:.2f} ms "
        "of one core of this machine."
        for load in loads
    )
    return (
        f"What batches would cost, by arithmetic: a launch {LAUNCH * 1e6:g} µs, a copy "
        f"{COPY * 1e6:g}, a wait {WAIT * 1e6:g}. {cards} {asked}"
    )
