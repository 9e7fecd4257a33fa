"""Bundles whose vectors can be computed by hand: a node is made of its two parts, and the order and
the tree both matter."""

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

from thinstack.bundle import write_bundle
from thinstack.core.config import ModelConfig

LABELS = ("negative", "neutral", "positive")
WORDS = ("good", "awful", "film", "plot", "the", "but", ".")
SIZE, _STACK = 4, 256
_RNG = np.random.default_rng(0)
TABLE = _RNG.normal(size=(len(WORDS) + 1, SIZE)).astype(np.float32)
LEFT, RIGHT = _RNG.normal(size=(2, SIZE, SIZE)).astype(np.float32)
TO_CLASSES = np.outer([2, -2, 1, 0], [-1, 0, 1]).astype(np.float32)


def joined_by_hand(left, right):
    """The state of a node from those of its parts."""
    return np.tanh(left @ LEFT.astype(float) + right @ RIGHT.astype(float))


def rows_by_hand(words, transitions):
    """The state of each node, that of a word from the table."""
    rows, stack, following = [], [], iter(words)
    for step in transitions:
        if step:
            right, left = stack.pop(), stack.pop()
            row = joined_by_hand(left, right)
        else:
            word = next(following).lower()
            row = TABLE[WORDS.index(word) + 1 if word in WORDS else 0].astype(float)
        stack.append(row)
        rows.append(row)
    return np.array(rows)


def vectors_by_hand(words, transitions):
    """The vector of each node, of unit norm."""
    rows = rows_by_hand(words, transitions)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def write_vector_bundle(path, *, labels=LABELS):
    """A model of classes and vectors; of vectors alone with no `labels`. Its trees are
    balanced."""
    head, vectors = {"name": "node_classifier.v1"}, {"name": "vector.v1", "options": {"size": SIZE}}
    config = {
        "labels": labels,
        "embedding": {"kind": "words", "size": SIZE},
        "cell": {"name": "nary_lstm.v1", "hidden_size": SIZE},
        "head": head if labels else vectors,
        "vectors": vectors if labels else None,
        "tree_source": "balanced",
    }
    files = {
        "vocabulary.txt": "".join(f"{word}\n" for word in WORDS).encode(),
        "onnx/model.onnx": _model(scores=bool(labels)),
        "README.md": b"A card.",
    }
    return write_bundle(path, files, config=ModelConfig.parse(config, source="test"))


def _model(*, scores):
    node = helper.make_node
    constants = {
        "table": TABLE,
        "left": LEFT,
        "right": RIGHT,
        "to_classes": TO_CLASSES,
        "stack": np.zeros((_STACK, SIZE), np.float32),
        "zero": np.array(0),
        "one": np.array(1),
        "two": np.array(2),
        "place": np.array([1, 1]),
    }
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            node("Sub", ["height", "one"], ["of_right"]),
            node("Sub", ["height", "two"], ["of_left"]),
            node("Gather", ["nodes", "of_right"], ["right_row"]),
            node("Gather", ["nodes", "of_left"], ["left_row"]),
            node("MatMul", ["left_row", "left"], ["from_left"]),
            node("MatMul", ["right_row", "right"], ["from_right"]),
            node("Add", ["from_left", "from_right"], ["both"]),
            node("Tanh", ["both"], ["joined"]),
            node("Cast", ["step"], ["reduces"], to=TensorProto.BOOL),
            node("Where", ["reduces", "joined", "word"], ["row"]),
            node("Where", ["reduces", "of_left", "height"], ["top"]),
            node("Reshape", ["top", "place"], ["at"]),
            node("Unsqueeze", ["row", "zero_axis"], ["update"]),
            node("ScatterND", ["nodes", "at", "update"], ["nodes_after"]),
            node("Add", ["top", "one"], ["height_after"]),
            node("Identity", ["row"], ["row_out"]),
        ],
        "step",
        [
            value("nodes", TensorProto.FLOAT, [_STACK, SIZE]),
            value("height", TensorProto.INT64, []),
            value("step", TensorProto.INT64, []),
            value("word", TensorProto.FLOAT, [SIZE]),
        ],
        [
            value("nodes_after", TensorProto.FLOAT, [_STACK, SIZE]),
            value("height_after", TensorProto.INT64, []),
            value("row_out", TensorProto.FLOAT, [SIZE]),
        ],
        [numpy_helper.from_array(np.array([0]), "zero_axis")],
    )
    nodes = [
        node("Gather", ["table", "token_ids"], ["values"]),
        node("Cast", ["transitions"], ["steps"], to=TensorProto.INT64),
        node("Sub", ["one", "steps"], ["shifts"]),
        node("CumSum", ["shifts", "zero"], ["words_so_far"]),
        node("Sub", ["words_so_far", "one"], ["last"]),
        node("Gather", ["values", "last"], ["words"]),
        node(
            "Scan",
            ["stack", "zero", "steps", "words"],
            ["stack_after", "height_at_end", "node_vectors"],
            body=body,
            num_scan_inputs=2,
        ),
    ]
    outputs = [value("node_vectors", TensorProto.FLOAT, ["N", SIZE])]
    if scores:
        nodes.append(node("MatMul", ["node_vectors", "to_classes"], ["logits"]))
        nodes.append(node("Softmax", ["logits"], ["node_scores"], axis=1))
        outputs.append(value("node_scores", TensorProto.FLOAT, ["N", len(LABELS)]))
    inputs = [value(name, TensorProto.INT32, [name]) for name in ("token_ids", "transitions")]
    used = {*constants} - (set() if scores else {"to_classes"})
    initial = [numpy_helper.from_array(constants[name], name) for name in sorted(used)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, initial)
    opset = [helper.make_opsetid("", 18)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    helper.set_model_props(model, {"vector_size": str(SIZE)})
    checker.check_model(model)
    return model.SerializeToString()
