"""Speed and memory of the encoder over SST trees against an LSTM, a recursion and
`pytorch-tree-lstm`, all in one run.

    python lab/benchmarks/encoder.py --data FOLDER [--threads 2] [--bf16] [--json]

Inputs of words are random and X = 300 wide. Everything runs in turn, round after round, on the same
sentences. Two threads that wait for each other spin, which on a busy machine starves them: set
OMP_WAIT_POLICY=passive there, and trust the ratios only.
"""

import json
import random
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.table import Table
from subjects import (
    Batch,
    ChildSumLayers,
    Encoder,
    Gemms,
    PackedLSTM,
    PaddedLSTM,
    Recursion,
    Subject,
)
from timing import better_of, interleaved, peak_bytes, ratio, sst_trees
from torch import Tensor, nn

from thinstack.core import Tree
from thinstack.core.schedule import schedule_transitions
from thinstack.core.shared_weights import one_weight_gradient

INPUT = 300
CASES = [
    *(("inference", batch) for batch in (512, 32, 1)),
    *(("training step", batch) for batch in (128, 25)),
]
OURS, LSTM, SCRIPT, LAYERS = "thinstack", "nn.LSTM", "thinstack, TorchScript", "pytorch-tree-lstm"
RECURSION, FLOOR = "node-by-node recursion", "GEMMs of the steps alone"
# Throughput over that of a rival that the project set out to reach, at D = 300, with 2 threads
# but for training steps, which had one.
TARGETS = {
    ("inference", 512): {LSTM: 0.75, RECURSION: 11.0, LAYERS: 2.4},
    ("training step", 128): {LSTM: 1.3, LAYERS: 2.5},
    ("training step", 25): {LSTM: 0.9},
}
# bytes held at once, without the gates of the widest step, over the bytes of one state a node
MEMORY_TARGET = 1.5


@dataclass(frozen=True)
class Result:
    """One subject in one case; `ratio` is thinstack's throughput over the subject's, and `target`
    what it should be."""

    case: str
    batch: int
    hidden: int
    subject: str
    sentences_per_s: float
    ratio: float
    target: float | None = None


def subjects_of(hidden: int, *, training: bool) -> dict[str, Callable[[Batch], Subject]]:
    """What makes each subject for a batch. Those made of one module share its weights over all
    batches."""
    encoder, lstm = Encoder.Module(INPUT, hidden), nn.LSTM(INPUT, hidden, batch_first=True)
    found: dict[str, Callable[[Batch], Subject]] = {
        OURS: lambda batch: Encoder(encoder, batch),
        f"{LSTM}, packed": lambda batch: PackedLSTM(lstm, batch),
        f"{LSTM}, padded": lambda batch: PaddedLSTM(lstm, batch),
    }
    if ChildSumLayers.installed:
        layers = ChildSumLayers.module_of(INPUT, hidden)
        found[LAYERS] = lambda batch: ChildSumLayers(layers, batch)
    if not training:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            scripted = torch.jit.freeze(torch.jit.script(encoder.eval()))
        recursion, gemms = Recursion.Module(INPUT, hidden), Gemms.Module(INPUT, hidden)
        found[SCRIPT] = lambda batch: Encoder(scripted, batch)
        found[RECURSION] = lambda batch: Recursion(recursion, batch)
        found[FLOOR] = lambda batch: Gemms(gemms, batch)
    return found


def infer(subject: Subject) -> Tensor:
    with torch.inference_mode():
        return subject()


def train(subject: Subject) -> None:
    """Forward, and backward from a gradient of every output to the parameters and the inputs."""
    leaves = [subject.inputs.requires_grad_(), *subject.module.parameters()]
    with one_weight_gradient():  # as `thinstack train` does
        outputs = subject()
    torch.autograd.grad(outputs, leaves, torch.ones_like(outputs))


def measure(trees: list[Tree], case: str, batch: int, hidden: int, rounds: int) -> list[Result]:
    """Time all subjects of a case; three sets of sentences take turns."""
    passes, sets = max(1, 32 // batch), 3
    run = train if case == "training step" else infer
    drawn = [Batch.of(random.sample(trees, batch), INPUT) for _ in range(sets * passes)]
    made = {
        name: [make(one) for one in drawn]
        for name, make in subjects_of(hidden, training=run is train).items()
    }

    def in_round(batches: list[Subject]) -> Callable[[int], object]:
        return lambda number: [run(subject) for subject in batches[number % sets :: sets]]

    seconds = interleaved({name: in_round(batches) for name, batches in made.items()}, rounds)
    better_of(seconds, LSTM, ("packed", "padded"))
    targets = TARGETS.get((case, batch), {}) if hidden == 300 else {}
    return [
        Result(
            case,
            batch,
            hidden,
            name,
            passes * batch / median(times),
            ratio(times, seconds[OURS]),
            targets.get(name),
        )
        for name, times in seconds.items()
    ]


def memory(trees: list[Tree], batch: int, hidden: int) -> float:
    """Bytes that an inference pass holds at once, without the gates of the widest step, over the
    bytes of one state a node."""
    one = Batch.of(random.sample(trees, batch), INPUT)
    subject = Encoder(Encoder.Module(INPUT, hidden), one)
    widest = (
        max(3 * len(one.words), 5 * int(schedule_transitions(one.transitions).inner_counts.max()))
        * hidden
        * 4
    )
    return (peak_bytes(lambda: infer(subject)) - widest) / (len(one.transitions) * 2 * hidden * 4)


def main(
    data: Annotated[
        Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/train.txt.")
    ],
    threads: Annotated[int, typer.Option(min=1)] = 2,
    rounds: Annotated[
        int, typer.Option(min=1, help="Rounds of each case; medians over them are reported.")
    ] = 9,
    hidden: Annotated[
        list[int] | None, typer.Option(help="Hidden widths D. [default: 300, 150]")
    ] = None,
    bf16: Annotated[bool, typer.Option(help="All subjects under torch's autocast.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Compare the speed of thinstack's encoder with that of its rivals over SST trees."""
    console = Console()
    if not ChildSumLayers.installed:
        hint = "pip install --no-deps -r lab/benchmarks/requirements.txt"
        Console(stderr=True).print(f"{LAYERS} is not installed and is left out: {hint}")
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    random.seed(0)
    trees = sst_trees(data)
    results, held = [], {}
    for width in hidden or [300, 150]:
        for case, batch in CASES:
            with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
                results += measure(trees, case, batch, width, rounds)
        held[width] = memory(trees, 512, width)
    if as_json:
        console.print_json(
            json.dumps(
                {
                    "threads": threads,
                    "bf16": bf16,
                    "results": [asdict(one) for one in results],
                    "memory": held,
                }
            )
        )
    else:
        report(console, results, held, f"{threads} threads, {'bf16' if bf16 else 'fp32'}")


def report(console: Console, results: list[Result], held: dict[int, float], how: str) -> None:
    """Print the table, and which targets are met."""
    table = Table("subject", title=f"{how}, X = {INPUT}, torch {torch.__version__}")
    for column in ("sentences/s", "thinstack / it", "target"):
        table.add_column(column, justify="right")
    heading = ""
    for one in results:
        if heading != (heading := f"{one.case}, batch {one.batch}, D = {one.hidden}"):
            table.add_section()
            table.add_row(f"[bold]{heading}")
        verdict = (
            ""
            if one.target is None
            else f"{one.target:.2f} {'met' if one.ratio >= one.target else 'MISSED'}"
        )
        table.add_row(f"  {one.subject}", f"{one.sentences_per_s:.0f}", f"{one.ratio:.2f}", verdict)
    console.print(table)
    console.print(f"thinstack / '{FLOOR}' is its share of the floor that matrix products set.")
    for width, share in held.items():
        verdict = "met" if share <= MEMORY_TARGET else "MISSED"
        console.print(
            f"Memory, D = {width}: {share:.2f} of one state a node; target at most "
            f"{MEMORY_TARGET}: {verdict}"
        )


if __name__ == "__main__":
    typer.run(main)
