"""Bundles whose vectors can be computed by hand; they depend on the order and the tree."""

import numpy as np
from onnx import checker, helper, numpy_helper, parser

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


_GRAPH = """
<ir_version: 8, opset_import: ["" : 18]>
g (int32[n] token_ids, int32[m] transitions) => (float[N, 4] node_vectors{output}) {
    values = Gather(table, token_ids)
    steps = Cast<to=7>(transitions)
    shifts = Sub(one, steps)
    words_so_far = CumSum(shifts, zero)
    last = Sub(words_so_far, one)
    words = Gather(values, last)
    stack_after, height_at_end, node_vectors = Scan<num_scan_inputs=2, body = step (
        float[256, 4] nodes, int64 height, int64 step, float[4] word
    ) => (float[256, 4] nodes_after, int64 height_after, float[4] row_out) {
        of_right = Sub(height, one)
        of_left = Sub(height, two)
        right_row = Gather(nodes, of_right)
        left_row = Gather(nodes, of_left)
        from_left = MatMul(left_row, left)
        from_right = MatMul(right_row, right)
        both = Add(from_left, from_right)
        joined = Tanh(both)
        reduces = Cast<to=9>(step)
        row = Where(reduces, joined, word)
        top = Where(reduces, of_left, height)
        at = Reshape(top, place)
        update = Unsqueeze(row, axis)
        nodes_after = ScatterND(nodes, at, update)
        height_after = Add(top, one)
        row_out = Identity(row)
    }>(stack, zero, steps, words)
    {scores}
}"""
_SCORES = "logits = MatMul(node_vectors, to_classes) node_scores = Softmax<axis=1>(logits)"


def _model(*, scores):
    constants = {
        "table": TABLE,
        "left": LEFT,
        "right": RIGHT,
        "stack": np.zeros((_STACK, SIZE), np.float32),
        "zero": np.array(0),
        "one": np.array(1),
        "two": np.array(2),
        "place": np.array([1, 1]),
        "axis": np.array([0]),
        **({"to_classes": TO_CLASSES} if scores else {}),
    }
    output = ", float[N, 3] node_scores" if scores else ""
    graph = _GRAPH.replace("{output}", output).replace("{scores}", _SCORES if scores else "")
    model = parser.parse_model(graph)
    weights = (numpy_helper.from_array(value, name) for name, value in constants.items())
    model.graph.initializer.extend(weights)
    helper.set_model_props(model, {"vector_size": str(SIZE)})
    checker.check_model(model)
    return model.SerializeToString()
