"""Speed of exported models in onnxruntime over SST sentences, against an exported `nn.LSTM` on the
same tokens, all in one run.

    python lab/benchmarks/onnx_speed.py --data FOLDER [--threads 2] [--json]

A binary Tree-LSTM and an LSTM of D = X = 300, with tables of the same words and heads of 5 classes.
The LSTM gets its sentences as it is fastest: padded together, in eight parts of like length, or by
length. Then comes how long a new process takes to its first prediction with the bundled model.
Trust the ratios only.
"""

import json
import logging
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from timing import better_of, interleaved, ratio, sst_trees
from torch import Tensor, nn

from thinstack._onnxruntime import import_onnxruntime
from thinstack.core import Forest, Tree
from thinstack.core.config import ModelConfig
from thinstack.export.onnx.model import export_onnx
from thinstack.plugins.build import build_model

onnxruntime = import_onnxruntime()

SIZE, CLASSES, BATCHES, SETS = 300, 5, (1, 16, 64, 256), 3
ROOTS, NODES, INT8, LSTM = (
    "Tree-LSTM, roots",
    "Tree-LSTM, all nodes",
    "Tree-LSTM, roots, int8",
    "nn.LSTM",
)
KINDS = ("padded", "in parts", "by length")
PAIRS = [(ROOTS, LSTM), (NODES, ROOTS), (INT8, ROOTS)]
# (subject, rival, batch): the most time of the subject over the rival's that the project set out to
# reach.
TARGETS = {(ROOTS, LSTM, 256): 1.4, (ROOTS, LSTM, 64): 1.65}
TARGETS |= {(NODES, ROOTS, batch): 1.15 for batch in (16, 64, 256)} | {
    (INT8, ROOTS, batch): 0.5 for batch in (16, 64, 256)
}
START_TARGET = 0.7  # seconds

PREDICT = 'import thinstack; thinstack.load("sentiment").predict([["A", "wonderful", "film"]])'
SPACY = 'import spacy; nlp = spacy.blank("en")'
# What a process does -> what is not counted of it.
STARTS = {
    "thinstack.load": (PREDICT, "pass"),
    "spaCy component": (f'{SPACY}; nlp.add_pipe("tree_sentiment"); nlp("A wonderful film")', SPACY),
}

Arrays = dict[str, NDArray[np.int32]]


@dataclass(frozen=True)
class Result:
    """`ratio` is the subject's time over the rival's; `target` what it should be at most."""

    batch: int
    subject: str
    rival: str
    milliseconds: float
    ratio: float
    target: float | None


class LastState(nn.Module):
    """Probabilities (B, C) from the last state of an LSTM over padded ids (B, T)."""

    def __init__(self, entries: int):
        super().__init__()
        self.table = nn.Embedding(entries, SIZE)
        self.lstm = nn.LSTM(SIZE, SIZE, batch_first=True)
        self.linear = nn.Linear(SIZE, CLASSES)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        states, _ = self.lstm(self.table(ids))
        last = states[torch.arange(ids.shape[0]), lengths.long() - 1]
        return torch.softmax(self.linear(last), 1)


def tree_lstms(entries: int) -> dict[str, bytes]:
    """The files of the tree models, of the same weights."""
    config = ModelConfig.model_validate(
        {
            "labels": [str(label) for label in range(CLASSES)],
            "embedding": {"kind": "words", "size": SIZE},
            "cell": {"name": "nary_lstm.v1", "hidden_size": SIZE},
            "head": {"name": "node_classifier.v1"},
        }
    )
    model = build_model(config, entries=entries)
    kinds: dict[str, dict[str, Any]] = {
        ROOTS: {"outputs": "roots"},
        NODES: {},
        INT8: {"outputs": "roots", "quantize": "int8"},
    }
    return {
        name: export_onnx(model, config, vocabulary_digest="none", **options)
        for name, options in kinds.items()
    }


def lstm(entries: int) -> bytes:
    """The file of the LSTM, as torch exports it."""
    batch, longest = torch.export.Dim("batch"), torch.export.Dim("longest")
    example = (torch.zeros(3, 7, dtype=torch.int32), torch.tensor([7, 5, 3], dtype=torch.int32))
    sizes = ({0: batch, 1: longest}, {0: batch})
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            LastState(entries).eval(),
            example,
            dynamo=True,
            opset_version=18,
            dynamic_shapes=sizes,
            verbose=False,
        )
    program.model_proto.ir_version = 8
    return program.model_proto.SerializeToString()


def session(file: bytes, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = (
        threads,
        1,
        3,
    )
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def flat(trees: list[Tree], ids: dict[str, int]) -> Arrays:
    """The inputs of a tree model."""
    words = np.array([ids[word] for tree in trees for word in tree.words], np.int32)
    return {"token_ids": words, "transitions": Forest.of_binary(trees).transitions.astype(np.int32)}


def padded(trees: list[Tree], ids: dict[str, int]) -> Arrays:
    """The inputs of the LSTM."""
    lengths = np.array([len(tree.words) for tree in trees], np.int32)
    rows = np.zeros((len(trees), lengths.max()), np.int32)
    for row, tree in zip(rows, trees, strict=True):
        row[: len(tree.words)] = [ids[word] for word in tree.words]
    return {"ids": rows, "lengths": lengths}


def padded_kinds(trees: list[Tree], ids: dict[str, int]) -> dict[str, list[Arrays]]:
    """The same sentences in one batch or several, by each of KINDS."""
    by_length: dict[int, list[Tree]] = {}
    for tree in sorted(trees, key=lambda tree: -len(tree.words)):
        by_length.setdefault(len(tree.words), []).append(tree)
    ordered = [tree for group in by_length.values() for tree in group]
    part = max(1, -(-len(trees) // 8))
    parts = [ordered[start : start + part] for start in range(0, len(ordered), part)]
    groups = ([ordered], parts, by_length.values())
    return {
        kind: [padded(group, ids) for group in of_kind]
        for kind, of_kind in zip(KINDS, groups, strict=True)
    }


def measure(
    sessions: dict[str, Any], trees: list[Tree], ids: dict[str, int], batch: int, rounds: int
) -> list[Result]:
    """Time all subjects in turn; three sets of sentences, drawn at random, take turns."""
    passes = max(1, 16 // batch)
    drawn = [random.sample(trees, batch) for _ in range(SETS * passes)]
    inputs: dict[str, list[list[Arrays]]] = {
        name: [[flat(one, ids)] for one in drawn] for name in (ROOTS, NODES, INT8)
    }
    for kind in KINDS:
        inputs[f"{LSTM}, {kind}"] = [padded_kinds(one, ids)[kind] for one in drawn]

    def in_round(name: str) -> Callable[[int], object]:
        running = sessions[LSTM if name.startswith(LSTM) else name]
        return lambda number: [
            running.run(None, one) for part in inputs[name][number % SETS :: SETS] for one in part
        ]

    seconds = interleaved({name: in_round(name) for name in inputs}, rounds)
    better_of(seconds, LSTM, KINDS)
    return [
        Result(
            batch,
            subject,
            rival,
            1000 * median(seconds[subject]) / passes,
            ratio(seconds[subject], seconds[rival]),
            TARGETS.get((subject, rival, batch)),
        )
        for subject, rival in PAIRS
    ]


def starts(rounds: int) -> dict[str, float]:
    """Seconds from the start of a process to its first prediction, beyond those of a process that
    only starts the rest."""
    found: dict[str, list[float]] = {name: [] for name in STARTS}
    for _ in range(rounds):
        for name, (whole, rest) in STARTS.items():
            found[name].append(_seconds(whole) - _seconds(rest))
    return {name: median(seconds) for name, seconds in found.items()}


def _seconds(program: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return time.perf_counter() - start


def main(
    data: Annotated[
        Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/train.txt.")
    ],
    threads: Annotated[int, typer.Option(min=1)] = 1,
    rounds: Annotated[
        int, typer.Option(min=1, help="Rounds of each case; medians over them are reported.")
    ] = 15,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Compare the speed of exported models with an exported LSTM's, and time the start of a
    process."""
    console = Console()
    torch.manual_seed(0)
    random.seed(0)
    trees = sst_trees(data)
    ids = {
        word: number
        for number, word in enumerate(dict.fromkeys(word for tree in trees for word in tree.words))
    }
    files = {**tree_lstms(len(ids)), LSTM: lstm(len(ids))}
    sessions = {name: session(file, threads) for name, file in files.items()}
    results = [one for batch in BATCHES for one in measure(sessions, trees, ids, batch, rounds)]
    started = starts(max(3, rounds // 3))
    if as_json:
        console.print_json(
            json.dumps(
                {"threads": threads, "results": [asdict(one) for one in results], "start": started}
            )
        )
        return
    title = (
        f"{threads} threads, D = X = {SIZE}, onnxruntime {onnxruntime.__version__}, torch "
        f"{torch.__version__}"
    )
    table = Table("batch", "subject", "against", title=title)
    for column in ("ms a batch", "time / its time", "target"):
        table.add_column(column, justify="right")
    for one in results:
        verdict = (
            ""
            if one.target is None
            else f"{one.target:.2f} {'met' if one.ratio <= one.target else 'MISSED'}"
        )
        table.add_row(
            str(one.batch),
            one.subject,
            one.rival,
            f"{one.milliseconds:.2f}",
            f"{one.ratio:.2f}",
            verdict,
        )
    console.print(table)
    for name, seconds in started.items():
        verdict = "met" if seconds <= START_TARGET else "MISSED"
        console.print(
            f"Start to first prediction, {name}: {seconds:.2f} s; target at most {START_TARGET}: "
            f"{verdict}"
        )


if __name__ == "__main__":
    typer.run(main)
