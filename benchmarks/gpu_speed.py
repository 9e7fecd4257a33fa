"""How fast the encoder is on a device, over its rivals there and on the CPU, and the bundled model
over words and raw text."""

import copy
import random
from collections.abc import Callable, Sequence
from statistics import median

import torch
from subjects import Batch, Encoder, PackedLSTM, PaddedLSTM, Recursion, Subject
from timing import better_of, interleaved, ratio
from torch import nn

import thinstack
from thinstack.core import Tree
from thinstack.text import batching
from thinstack.text.raw_text import detokenize

NODES = (1 << 12, 1 << 15, 1 << 17, 1 << 19)
SIZE = 300
OURS, LSTM = "ours", "nn.LSTM"


def encoder_speed(trees: Sequence[Tree], device: str, batch: int, rounds: int) -> dict[str, float]:
    """Throughput of the binary Tree-LSTM on the device, schedule included, over that of each rival
    on the same sentences, X = D = 300. On CUDA `nn.LSTM` is cuDNN's."""
    drawn = [Batch.of(random.Random(n).sample(trees, batch), SIZE) for n in range(3)]
    there = [one.to(device) for one in drawn]
    encoder, recursion = Encoder.Module(SIZE, SIZE), Recursion.Module(SIZE, SIZE)
    moved, lstm = copy.deepcopy(encoder).to(device), nn.LSTM(SIZE, SIZE, batch_first=True)
    lstm = lstm.to(device)
    scheduled = [one.to(device, trees=True) for one in drawn]
    subjects: dict[str, list[Subject]] = {
        OURS: [Encoder(moved, one) for one in there],
        "itself, scheduled on the device": [Encoder(moved, one) for one in scheduled],
        f"{LSTM}, packed": [PackedLSTM(lstm, one) for one in there],
        f"{LSTM}, padded": [PaddedLSTM(lstm, one) for one in there],
        "itself on two CPU cores": [Encoder(encoder, one) for one in drawn],
        "the CPU recursion": [Recursion(recursion, one) for one in drawn],
    }
    runs = {name: in_rounds(made, device) for name, made in subjects.items()}
    seconds = interleaved(runs, rounds)
    better_of(seconds, LSTM, ("packed", "padded"))
    ours = seconds.pop(OURS)
    return {f"over {name}": ratio(taken, ours) for name, taken in seconds.items()}


def in_rounds(batches: Sequence[Subject], device: str) -> Callable[[int], None]:
    """A pass over one of the batches; it ends when the device is done."""

    def run(number: int) -> None:
        with torch.inference_mode():
            batches[number % len(batches)]()
        if device == "cuda":
            torch.cuda.synchronize()

    return run


def parse_speed(
    trees: Sequence[Tree], device: str, sentences: int, rounds: int
) -> dict[str, float]:
    """Sentences a second over the model's own trees: raw text, split on the way, and words, by the
    nodes of a batch. What `run` returns lies on the host, so the device is done."""
    chosen = random.Random(0).sample(trees, min(len(trees), sentences))
    predictor = thinstack.load("sentiment", device=device)
    words = [tree.words for tree in chosen]
    texts = [detokenize(sentence) for sentence in words]

    def of_words(nodes: int) -> Callable[[int], None]:
        def run(_: int) -> None:
            usual = batching.BATCH_NODES[device]
            batching.BATCH_NODES[device] = nodes
            try:
                predictor.trees_and_scores(words, "self")
            finally:
                batching.BATCH_NODES[device] = usual

        return run

    subjects: dict[str, Callable[[int], object]] = {
        "raw text, own parse": lambda _: list(predictor.stream(texts, source="self"))
    }
    subjects |= {f"words, own parse, {nodes:,} nodes a batch": of_words(nodes) for nodes in NODES}
    seconds = interleaved(subjects, rounds)
    return {name: len(words) / median(taken) for name, taken in seconds.items()}
