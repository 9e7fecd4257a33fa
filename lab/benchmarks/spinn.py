"""Speed of SPINN over SST sentences of at most 30 words against an LSTM and a recursion, all in one
run (Bowman et al. 3.5).

    python lab/benchmarks/spinn.py --data FOLDER [--threads 2] [--json]

Inference with D = X = 300 and random inputs of words, tracker 64. The exported file is compared as
a whole model, over the ids of words, with the same model in TorchScript. Trust the ratios only. On
a busy machine set OMP_WAIT_POLICY=passive, which costs many small steps more than few large ones.
"""

import io
import json
import random
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Annotated

import numpy as np
import torch
import typer
from rich.console import Console
from rich.table import Table
from subjects import Batch, PackedLSTM, PaddedLSTM, Recursion, Subject
from timing import better_of, interleaved, ratio, sst_trees
from torch import Tensor, nn

from thinstack._onnxruntime import import_onnxruntime
from thinstack.core import Tree
from thinstack.core.config import ModelConfig
from thinstack.core.model.tree_encoder import Layer, TreeEncoder
from thinstack.core.schedule import moved, schedule_transitions
from thinstack.export.onnx.model import export_onnx
from thinstack.export.torchscript import export_torchscript
from thinstack.plugins.build import build_model
from thinstack.plugins.cells.spinn_lstm import SpinnLSTM
from thinstack.plugins.encoders.spinn import StackEncoder
from thinstack.plugins.encoders.spinn.tracking_lstm import TrackingLSTM

onnxruntime = import_onnxruntime()

SIZE, TRACKER, LONGEST, ENTRIES = 300, 64, 30, 5000
LSTM, RECURSION = "nn.LSTM", "node-by-node recursion"
PLAIN, TRACKED, OWN = "SPINN-PI-NT (by depth)", "SPINN-PI (tracker 64)", "SPINN (own parse)"
SCRIPT, ONNX = "SPINN, TorchScript", "SPINN, ONNX"
# (subject, rival, batch): the least throughput of the subject over the rival's that the project set
# out to reach.
TARGETS = {
    (PLAIN, RECURSION, 512): 11.0,
    (PLAIN, LSTM, 512): 0.75,
    (TRACKED, LSTM, 512): 0.35,
    (TRACKED, LSTM, 32): 0.25,
    (OWN, TRACKED, 512): 1 / 1.15,
    (ONNX, SCRIPT, 64): 0.5,
    (ONNX, SCRIPT, 1): 1 / 1.2,
}


@dataclass(frozen=True)
class Result:
    """`ratio` is the subject's throughput over the rival's; `target` what it should be at least."""

    batch: int
    subject: str
    rival: str
    sentences_per_s: float
    ratio: float
    target: float | None


class Plain(Subject):
    """SPINN-PI-NT by the depth-ordered executor; the schedule is part of a pass."""

    def __init__(self, module: TreeEncoder, batch: Batch):
        super().__init__(module, batch, batch.words)
        self.transitions = batch.transitions

    def __call__(self) -> Tensor:
        schedule = moved(schedule_transitions(self.transitions), self.inputs)
        return self.module(self.inputs, schedule)[0]


class Tracked(Subject):
    """SPINN-PI over given transitions; the timetable is part of a pass."""

    def __init__(self, module: StackEncoder, batch: Batch):
        super().__init__(module, batch, batch.words)
        self.transitions, self.words = batch.transitions, torch.tensor(batch.lengths)

    def __call__(self) -> Tensor:
        return self.module(self.inputs, self.transitions, self.words)[0]


class Own(Tracked):
    """SPINN over transitions of its own. Its weights are random, so its trees are; they are as many
    nodes."""

    def __call__(self) -> Tensor:
        return self.module.parse(self.inputs, self.words)[0]


def subjects_of(device: str) -> dict[str, Callable[[Batch], Subject]]:
    """What makes each subject for a batch on the device; a subject's weights are the same for all
    batches."""
    plain = TreeEncoder([Layer(SpinnLSTM(input_size=SIZE, hidden_size=SIZE))])
    tracker = TrackingLSTM(input_size=SIZE, size=TRACKER, parses=True)
    tracked = StackEncoder(
        SpinnLSTM(input_size=SIZE, hidden_size=SIZE, inner_size=TRACKER), tracker
    )
    lstm, recursion = nn.LSTM(SIZE, SIZE, batch_first=True), Recursion.Module(SIZE, SIZE)
    for module in (plain, tracked, lstm, recursion):
        module.to(device)
    return {
        PLAIN: lambda one: Plain(plain, one),
        TRACKED: lambda one: Tracked(tracked, one),
        OWN: lambda one: Own(tracked, one),
        f"{LSTM}, packed": lambda one: PackedLSTM(lstm, one),
        f"{LSTM}, padded": lambda one: PaddedLSTM(lstm, one),
        RECURSION: lambda one: Recursion(recursion, one),
    }


def encoders(
    trees: list[Tree], batch: int, rounds: int, device: str = "cpu"
) -> dict[str, list[float]]:
    """Seconds of each encoder for one round over `batch` sentences a pass; three sets of sentences
    take turns."""
    passes, sets = max(1, 32 // batch), 3
    drawn = [Batch.of(random.sample(trees, batch), SIZE) for _ in range(sets * passes)]
    there = [one.to(device) for one in drawn]
    made = {name: [make(one) for one in there] for name, make in subjects_of(device).items()}

    def in_round(batches: list[Subject]) -> Callable[[int], None]:
        def run(number: int) -> None:
            for subject in batches[number % sets :: sets]:
                subject()
            if device == "cuda":
                torch.cuda.synchronize()

        return run

    with torch.inference_mode():
        seconds = interleaved({name: in_round(batches) for name, batches in made.items()}, rounds)
    better_of(seconds, LSTM, ("packed", "padded"))
    return {name: [one / passes for one in times] for name, times in seconds.items()}


def exported(trees: list[Tree], batch: int, rounds: int, threads: int) -> dict[str, list[float]]:
    """Seconds of the exported model in onnxruntime and TorchScript, as `encoders` has them."""
    config = ModelConfig.model_validate(
        {
            "labels": ["a", "b", "c", "d", "e"],
            "embedding": {"kind": "words", "size": SIZE},
            "cell": {"name": "spinn_lstm.v1", "hidden_size": SIZE},
            "head": {"name": "node_classifier.v1"},
            "encoder": {"tracker": {"size": TRACKER}},
        }
    )
    model = build_model(config, entries=ENTRIES).eval()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 3
    session = onnxruntime.InferenceSession(
        export_onnx(model, config, vocabulary_digest="none"), options
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        scripted = torch.jit.load(io.BytesIO(export_torchscript(model)[0]))
    passes, sets = max(1, 32 // batch), 3
    drawn = []
    for _ in range(sets * passes):
        lengths = np.array([len(tree.words) for tree in random.sample(trees, batch)])
        ids = np.random.default_rng(0).integers(0, ENTRIES, int(lengths.sum()))
        drawn.append({"token_ids": ids, "lengths": lengths, "transitions": ids[:0]})
    narrow = [{name: array.astype(np.int32) for name, array in one.items()} for one in drawn]
    tensors = [{name: torch.from_numpy(array) for name, array in one.items()} for one in drawn]
    with torch.inference_mode():
        seconds = interleaved(
            {
                ONNX: lambda number: [
                    session.run(None, one) for one in narrow[number % sets :: sets]
                ],
                SCRIPT: lambda number: [scripted(one) for one in tensors[number % sets :: sets]],
            },
            rounds,
        )
    return {name: [one / passes for one in times] for name, times in seconds.items()}


def results_of(
    seconds: dict[str, list[float]], batch: int, pairs: list[tuple[str, str]]
) -> list[Result]:
    return [
        Result(
            batch,
            subject,
            rival,
            batch / median(seconds[subject]),
            ratio(seconds[rival], seconds[subject]),
            TARGETS.get((subject, rival, batch)),
        )
        for subject, rival in pairs
    ]


def main(
    data: Annotated[
        Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/train.txt.")
    ],
    threads: Annotated[int, typer.Option(min=1)] = 2,
    rounds: Annotated[
        int, typer.Option(min=1, help="Rounds of each case; medians over them are reported.")
    ] = 9,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Compare the speed of SPINN in its three forms, and of its export, with that of rivals over
    SST sentences."""
    console = Console()
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    random.seed(0)
    trees = [tree for tree in sst_trees(data) if len(tree.words) <= LONGEST]
    results = []
    for batch in (512, 32, 1):
        rivals = [(PLAIN, LSTM), (PLAIN, RECURSION), (TRACKED, LSTM), (OWN, LSTM), (OWN, TRACKED)]
        results += results_of(encoders(trees, batch, rounds), batch, rivals)
    for batch in (64, 1):
        results += results_of(exported(trees, batch, rounds, threads), batch, [(ONNX, SCRIPT)])
    if as_json:
        console.print_json(
            json.dumps({"threads": threads, "results": [asdict(one) for one in results]})
        )
        return
    table = Table(
        "batch",
        "subject",
        "against",
        title=f"{threads} threads, fp32, D = X = {SIZE}, torch {torch.__version__}",
    )
    for column in ("sentences/s", "ratio", "target"):
        table.add_column(column, justify="right")
    for one in results:
        verdict = (
            ""
            if one.target is None
            else f"{one.target:.2f} {'met' if one.ratio >= one.target else 'MISSED'}"
        )
        table.add_row(
            str(one.batch),
            one.subject,
            one.rival,
            f"{one.sentences_per_s:.0f}",
            f"{one.ratio:.2f}",
            verdict,
        )
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
