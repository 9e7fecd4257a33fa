"""How fast the encoder is on a device, over its rivals there and on the CPU, and how fast bundles
are over words and raw text."""

import copy
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import torch
from encoder import train
from placement_batches import File
from subjects import Batch, Encoder, PackedLSTM, PaddedLSTM, Recursion, Subject
from timing import better_of, interleaved, ratio
from torch import nn

import thinstack
from thinstack.core import Tree
from thinstack.runtime.session import start_session
from thinstack.text import batching
from thinstack.text.raw_text import detokenize

NODES = (1 << 12, 1 << 15, 1 << 17, 1 << 19)
RIVAL_BATCH = 512
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
    return over_rivals(subjects, device, rounds, inferred)


def step_speed(trees: Sequence[Tree], device: str, batch: int, rounds: int) -> dict[str, float]:
    """Throughput of a training step of the same, forward and backward, over that of `nn.LSTM` on
    the device, and over itself on two CPU cores."""
    drawn = [Batch.of(random.Random(n).sample(trees, batch), SIZE) for n in range(3)]
    there = [one.to(device) for one in drawn]
    encoder, lstm = Encoder.Module(SIZE, SIZE), nn.LSTM(SIZE, SIZE, batch_first=True).to(device)
    moved = copy.deepcopy(encoder).to(device)
    subjects: dict[str, list[Subject]] = {
        OURS: [Encoder(moved, one) for one in there],
        f"{LSTM}, packed": [PackedLSTM(lstm, one) for one in there],
        f"{LSTM}, padded": [PaddedLSTM(lstm, one) for one in there],
        "itself on two CPU cores": [Encoder(encoder, one) for one in drawn],
    }
    return over_rivals(subjects, device, rounds, train)


def over_rivals(
    subjects: dict[str, list[Subject]], device: str, rounds: int, run: Callable[[Subject], object]
) -> dict[str, float]:
    """How many times as fast ours is as each of the others."""
    runs = {name: in_rounds(made, device, run) for name, made in subjects.items()}
    seconds = interleaved(runs, rounds)
    better_of(seconds, LSTM, ("packed", "padded"))
    ours = seconds.pop(OURS)
    return {f"over {name}": ratio(taken, ours) for name, taken in seconds.items()}


def inferred(subject: Subject) -> None:
    with torch.inference_mode():
        subject()


def in_rounds(
    batches: Sequence[Subject], device: str, run: Callable[[Subject], object]
) -> Callable[[int], None]:
    """A pass over one of the batches; it ends when the device is done."""

    def once(number: int) -> None:
        run(batches[number % len(batches)])
        if device == "cuda":
            torch.cuda.synchronize()

    return once


def parse_speed(
    bundle: str, trees: Sequence[Tree], device: str, sentences: int, rounds: int
) -> dict[str, float]:
    """Sentences a second over a bundle's own trees: raw text, split on the way, on the device and
    on the CPU; and words, by the nodes of a batch. What `run` returns lies on the host, so the
    device is done."""
    chosen = random.Random(0).sample(trees, min(len(trees), sentences))
    predictor, cpu = thinstack.load(bundle, device=device), thinstack.load(bundle, threads=2)
    words = [tree.words for tree in chosen]
    texts = [detokenize(sentence) for sentence in words]
    few = texts[: max(1, len(texts) // 8)]

    def of_words(nodes: int) -> Callable[[int], None]:
        def run(_: int) -> None:
            usual = batching.BATCH_NODES[device]
            batching.BATCH_NODES[device] = nodes
            try:
                predictor.trees_and_scores(words, "self")
            finally:
                batching.BATCH_NODES[device] = usual

        return run

    on_two = "raw text on two CPU cores"
    subjects: dict[str, Callable[[int], object]] = {
        "raw text, own parse": lambda _: list(predictor.stream(texts, source="self")),
        on_two: lambda _: list(cpu.stream(few, source="self")),
    }
    subjects |= {f"words, own parse, {nodes:,} nodes a batch": of_words(nodes) for nodes in NODES}
    seconds = interleaved(subjects, rounds)
    done = {on_two: len(few)}
    return {name: done.get(name, len(words)) / median(taken) for name, taken in seconds.items()}


def session_speed(
    bundle: str, trees: Sequence[Tree], device: str, most: int, rounds: int
) -> dict[str, float]:
    """Milliseconds of one run of a bundle's file for GPUs, with its own trees, by the sentences of
    the batch: of what is not Python."""
    file = File.of(bundle, bundle)
    session = start_session(file.content, device, bundle, file.on_gpu)
    subjects: dict[str, Callable[[int], object]] = {}
    for size in (1, 16, 64, 256, 1024, 4096):
        if size <= most:
            feeds = file.feeds(random.Random(size).sample(trees, size), given=False)
            subjects[f"{size:,} sentences"] = lambda _, feeds=feeds: session.run(
                ["node_scores", "parse"], feeds
            )
    seconds = interleaved(subjects, 4 * rounds)
    return {name: 1000 * median(taken) for name, taken in seconds.items()}


def rival_speed(
    folder: Path, trees: Sequence[Tree], device: str, sentences: int, rounds: int
) -> dict[str, float]:
    """Sentences a second of raw text of an encoder without a tree, in 16 bits on CUDA, with new
    weights, which do not change its speed. Batches of 512 texts of like length."""
    from plain_encoder import Pieces, padded
    from transformers import AutoConfig, AutoModel

    model: Any = AutoModel.from_config(AutoConfig.from_pretrained(folder))
    model = model.eval().to(device, torch.float16 if device == "cuda" else torch.float32)
    pieces = Pieces(folder)
    chosen = random.Random(0).sample(trees, min(len(trees), sentences))
    texts = [detokenize(tree.words) for tree in chosen]

    @torch.inference_mode()
    def run(_: int) -> None:
        rows = sorted(pieces(texts), key=len)
        for start in range(0, len(rows), RIVAL_BATCH):
            ids, mask = (torch.from_numpy(each) for each in padded(rows[start:][:RIVAL_BATCH]))
            found = model(ids.to(device), attention_mask=mask.to(device))
            found.last_hidden_state.mean(1).cpu()

    (taken,) = interleaved({"": run}, rounds).values()
    return {"raw text, an encoder without a tree": len(texts) / median(taken)}
