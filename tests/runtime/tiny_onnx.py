"""A small ONNX model with the signature of the real ones, and the same in plain Python, sentence by
sentence."""

import math
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from runtime.own_parse import parser_of

from thinstack.bundle.bundle import Bundle, write_bundle
from thinstack.config import (
    CellConfig,
    EmbeddingConfig,
    EncoderConfig,
    HeadConfig,
    ModelConfig,
    TrackerConfig,
)

WORDS = ["the", "film", "is", "good", "bad", "-LRB-"]
PIECES = ["[UNK]", "film", "##s", "good", "bad", "##ly"]
ROWS = {"words": len(WORDS) + 1, "wordpieces": len(PIECES)}
# Values that sums keep exactly, so that no rounding depends on what else is in a batch.
TABLE = (np.arange(1, 8) ** 2 / 64).astype(np.float32)


def config(kind: str, tree_source: str = "balanced", *, parses: bool = False) -> ModelConfig:
    return ModelConfig(
        labels=("bad", "good"),
        embedding=EmbeddingConfig(kind=kind, size=1),
        cell=CellConfig(name="nary_lstm.v1", hidden_size=1),
        head=HeadConfig(name="node_classifier.v1"),
        encoder=EncoderConfig(tracker=TrackerConfig(size=1, feeds=False) if parses else None),
        tree_source=tree_source,
    )


def model(
    kind: str,
    index: int = TensorProto.INT32,
    *,
    table: NDArray[np.float32] = TABLE,
    metadata: dict[str, str] | None = None,
    parser: str | None = None,
) -> bytes:
    """Node i scores [p, 1 - p], p = sigmoid(v - t), v the value of the last word shifted, t the
    transition (0 or 1).

    The value of a word is its row of the table; of a word of pieces, the sum of their rows.
    `parser`: whether it parses, and how (`own_parse.PARSERS`).
    """
    node = helper.make_node
    steps = "taken" if parser else "transitions"
    graph = [
        node("Cast", [steps], ["steps"], to=TensorProto.INT64),
        node("Sub", ["one", "steps"], ["shift"]),
        node("CumSum", ["shift", "axis"], ["shifted"]),
        node("Sub", ["shifted", "one"], ["last"]),
        node("Gather", ["values", "last"], ["v"]),
        node("Cast", [steps], ["t"], to=TensorProto.FLOAT),
        node("Sub", ["v", "t"], ["logit"]),
        node("Sigmoid", ["logit"], ["p"]),
        node("Sub", ["onef", "p"], ["q"]),
        node("Unsqueeze", ["p", "last_axis"], ["p1"]),
        node("Unsqueeze", ["q", "last_axis"], ["q1"]),
        node("Concat", ["p1", "q1"], ["node_scores"], axis=1),
        node("Slice", ["node_scores", "minus_one", "end", "zero"], ["root_scores"]),
    ]
    if kind == "words":
        names = ["token_ids"]
        graph.insert(0, node("Gather", ["table", "token_ids"], ["values"]))
    else:
        names = ["piece_ids", "pieces_per_word"]
        graph[:0] = [
            node("Gather", ["table", "piece_ids"], ["piece_values"]),
            node("CumSum", ["piece_values", "axis"], ["sums"]),
            node("Cast", ["pieces_per_word"], ["per_word"], to=TensorProto.INT64),
            node("CumSum", ["per_word", "axis"], ["ends"]),
            node("Concat", ["zerof", "sums"], ["padded"], axis=0),
            node("Sub", ["ends", "per_word"], ["starts"]),
            node("Gather", ["padded", "ends"], ["upto"]),
            node("Gather", ["padded", "starts"], ["before"]),
            node("Sub", ["upto", "before"], ["values"]),
        ]
    constants = {
        "table": table,
        "one": np.array(1),
        "onef": np.array(1, np.float32),
        "zerof": np.zeros(1, np.float32),
        "axis": np.array(0),
        "zero": np.array([0]),
        "last_axis": np.array([1]),
        "minus_one": np.array([-1]),
        "end": np.array([2**31]),
    }
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 2])
        for name in ("node_scores", "root_scores")
    ]
    if parser:
        parse = parser_of(parser, index)
        graph, constants = [*parse.nodes, *graph], constants | parse.constants
        names, outputs = [*names, "lengths"], [*outputs, parse.output]
    used = {name for item in graph for name in item.input}
    proto = helper.make_model(
        helper.make_graph(
            graph,
            "tiny",
            [
                helper.make_tensor_value_info(name, index, [None])
                for name in [*names, "transitions"]
            ],
            outputs,
            [
                numpy_helper.from_array(value, name)
                for name, value in constants.items()
                if name in used
            ],
        ),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=8,
    )
    helper.set_model_props(proto, metadata or {})
    return proto.SerializeToString()


def bundle(
    folder: Path, kind: str = "words", *, tree_source: str = "balanced", onnx: bytes | None = None
) -> Bundle:
    return _write(folder, kind, model(kind) if onnx is None else onnx, config(kind, tree_source))


def parsing_bundle(
    folder: Path, kind: str = "words", *, tree_source: str = "self", onnx: bytes | None = None
) -> Bundle:
    """One whose model has a parser."""
    content = model(kind, parser="capped") if onnx is None else onnx
    return _write(folder, kind, content, config(kind, tree_source, parses=True))


def _write(folder: Path, kind: str, onnx: bytes, config: ModelConfig) -> Bundle:
    entries = WORDS if kind == "words" else PIECES
    files = {
        "vocabulary.txt": "".join(f"{entry}\n" for entry in entries).encode(),
        "onnx/model.onnx": onnx,
    }
    return write_bundle(folder, files, config=config)


def expected(kind: str, words: Sequence[str], transitions: Sequence[int]) -> NDArray[np.float64]:
    """What the model gives to one sentence of known words."""
    pieces = {"film": [1], "films": [1, 2], "good": [3], "goods": [3, 2], "badly": [4, 5]}
    rows = []
    last = -1
    for step in transitions:
        last += step == 0
        ids = [WORDS.index(words[last]) + 1] if kind == "words" else pieces[words[last]]
        p = 1 / (1 + math.exp(step - sum((i + 1) ** 2 / 64 for i in ids)))
        rows.append([p, 1 - p])
    return np.array(rows)


def random_tree(words: int, rng: random.Random) -> NDArray[np.int8]:
    """Transitions of a random binary tree: while both are possible, SHIFT or REDUCE by a coin."""
    steps, stack, left = [], 0, words
    while left or stack > 1:
        reduce = stack > 1 and (not left or rng.random() < 0.5)
        steps.append(int(reduce))
        stack, left = (stack - 1, left) if reduce else (stack + 1, left - 1)
    return np.array(steps, np.int8)
