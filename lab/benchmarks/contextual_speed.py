"""Speed of bundles, raw text to polarity on one thread, against each other, against a classifier of
the same encoder in 8 bits without a tree, and against lexicons.

    python lab/benchmarks/contextual_speed.py --data FOLDER --model BUNDLE [--model BUNDLE ...]
    [--encoder FOLDER] [--lexicons] [--rounds 7] [--json]

Texts are SST's development sentences, detokenised. A bundle is called with 64 of them at a time, in
their order, once with all, and with each alone. The rival is a BERT of a folder, the mean of its
outputs and a linear layer (untrained: weights do not change its speed), exported and quantised by
onnxruntime (`quantize_dynamic`, weights by channel). It gets batches of 64 padded to the longest of
each, in the order of the texts, and once after all were sorted by their pieces. The lexicons are
VADER and TextBlob, a text at a time, as they read them. Every time has the splitting of text in it.
All take turns, round after round; trust the ratios only.
"""

import json
import os
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Final

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import torch
import typer
from beside_rivals import Rival, textblob, vader
from plain_encoder import Pieces, PlainEncoder, padded
from rich.console import Console
from rich.table import Column, Table
from timing import interleaved, ratio

import thinstack
from thinstack._onnxruntime import import_onnxruntime
from thinstack.data.trees.treebank import read_trees
from thinstack.text.raw_text import detokenize

onnxruntime = import_onnxruntime()

Run = Callable[[int], None]

BATCH: Final = 64
CLASSES: Final = 5
ORDERS: Final = {"sorted": True, "in order": False}
"""The rows of the encoder without a tree, and whether its texts are sorted by length."""


def bundle(name: str, texts: Sequence[str], at_once: int) -> Run:
    """The polarity of all texts, so many a call."""
    predictor = thinstack.load(name, threads=1, isolated=False)

    def run(_: int) -> None:
        for start in range(0, len(texts), at_once):
            for result in predictor.stream(texts[start : start + at_once]):
                _ = result.polarity

    return run


def exported(folder: Path) -> bytes:
    """The ONNX model of the encoder without a tree, in 8 bits."""
    model = PlainEncoder(folder, CLASSES, attention="eager").eval()
    example = tuple(map(torch.from_numpy, padded([[1, 2, 3], [4]])))
    with tempfile.TemporaryDirectory() as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of its older exporter, and of what it traces
        whole, small = Path(temporary) / "whole.onnx", Path(temporary) / "small.onnx"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of tracing, and of the older exporter
            torch.onnx.export(
                model,
                example,
                str(whole),
                input_names=["ids", "mask"],
                output_names=["scores"],
                dynamic_axes={name: {0: "texts", 1: "pieces"} for name in ("ids", "mask")},
                opset_version=17,
                dynamo=False,
            )
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(whole, small, per_channel=True, weight_type=QuantType.QInt8)
        return small.read_bytes()


def plain(folder: Path, model: bytes, texts: Sequence[str], *, by_length: bool) -> Run:
    """Scores of all texts, from raw text. A polarity of them would cost next to nothing."""
    pieces, options = Pieces(folder), onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options)

    def scored(rows: Sequence[Sequence[int]]) -> None:
        ids, mask = padded(rows)
        session.run(None, {"ids": ids, "mask": mask})

    def run(_: int) -> None:
        if by_length:
            rows = sorted(pieces(texts), key=len)
            for start in range(0, len(rows), BATCH):
                scored(rows[start : start + BATCH])
        else:
            for start in range(0, len(texts), BATCH):
                scored(pieces(texts[start : start + BATCH]))

    return run


def lexicon(rival: Rival, texts: Sequence[str]) -> Run:
    """What a rival of `beside.py` says of all texts."""

    def run(_: int) -> None:
        rival.opinions(texts)

    return run


def compared(seconds: dict[str, list[float]], texts: int, against: Sequence[str]) -> dict[str, Any]:
    """Sentences a second of each subject, and how many times faster than those of `against` it
    is."""
    return {
        name: {
            "sentences_per_s": texts / median(taken),
            "times_as_fast": {other: ratio(seconds[other], taken) for other in against},
        }
        for name, taken in seconds.items()
    }


def show(found: dict[str, Any], against: Sequence[str]) -> None:
    table = Table(Column(no_wrap=True), "sentences/s", *(f"over {name}" for name in against))
    for name, row in found.items():
        ratios = (f"{row['times_as_fast'][other]:.2f}" for other in against)
        table.add_row(name, f"{row['sentences_per_s']:,.0f}", *ratios)
    Console(width=140).print(table)


def main(
    data: Annotated[Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds sst/.")],
    model: Annotated[list[str], typer.Option(help="Names or folders of bundles, or NAME=BUNDLE.")],
    encoder: Annotated[Path | None, typer.Option(help="Folder of a small BERT.")] = None,
    lexicons: Annotated[bool, typer.Option("--lexicons", help="VADER and TextBlob too.")] = False,
    rounds: Annotated[int, typer.Option(min=1)] = 7,
    limit: Annotated[int | None, typer.Option(help="So many sentences, for trying.")] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Measure sentences a second."""
    torch.set_num_threads(1)
    texts = [detokenize(tree.words) for tree in read_trees(data / "sst/dev.txt")[:limit]]
    subjects: dict[str, Run] = {}
    for named in model:
        name, _, path = named.rpartition("=")
        for at_once in (BATCH, len(texts), 1):
            subjects[f"{name or path}, {at_once} a call"] = bundle(path, texts, at_once)
    against = [*subjects][:1] if len(model) > 1 and encoder is None else []
    if encoder is not None:
        exact = exported(encoder)
        for order, by_length in ORDERS.items():
            name = f"{encoder.name}, 8 bits, {order}"
            subjects[name] = plain(encoder, exact, texts, by_length=by_length)
            against.append(name)
    for rival in (vader(), textblob()) if lexicons else ():
        subjects[rival.name] = lexicon(rival, texts)
        against.append(rival.name)
    found = compared(interleaved(subjects, rounds), len(texts), against)
    if as_json:
        Console().print_json(json.dumps(found))
    else:
        show(found, against)


if __name__ == "__main__":
    typer.run(main)
