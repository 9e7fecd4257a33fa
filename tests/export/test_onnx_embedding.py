"""Words put together from their pieces, and tables stored small."""

import numpy as np
import onnx
import pytest
from export_models import runtimes, session_of

from thinstack.export.onnx.embedding import Table, mean_of_pieces
from thinstack.export.onnx.graph import Graph

FLOAT, INT32, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT32, onnx.TensorProto.INT64


def lookup(values, quantize):
    g = Graph("g")
    ids = g.input("ids", INT32, ["n"])
    g.output(Table(g, values, quantize).rows(ids), "rows", FLOAT, ["n", values.shape[1]])
    return g.model({})


@pytest.fixture(scope="module")
def large():
    """A table of the size of a wordpiece vocabulary."""
    return np.random.default_rng(0).normal(0, 0.25, (30522, 200)).astype(np.float32)


@pytest.mark.parametrize(
    ("quantize", "megabytes", "error"),
    [
        ("int8-tables", (6.1, 6.25), 0.5 / 127),
        ("fp16", (12.2, 12.3), 2**-11),
        ("none", (24.4, 24.5), 0),
    ],
)
def test_size_and_error_of_a_stored_table(large, quantize, megabytes, error):
    file = lookup(large, quantize)
    assert megabytes[0] < len(file) / 1e6 < megabytes[1]
    ids = np.array([0, 7, 30521, 7], np.int32)
    (found,) = session_of(file).run(None, {"ids": ids})
    assert found.dtype == np.float32
    largest = np.abs(large[ids]).max(axis=1, keepdims=True)
    assert (np.abs(found - large[ids]) <= error * largest * (1 + 1e-5)).all()


@pytest.fixture(scope="module")
def pieces():
    g = Graph("g")
    table = Table(g, np.random.default_rng(1).normal(size=(20, 3)).astype(np.float32), "none")
    inputs = g.input("piece_ids", INT64, ["P"]), g.input("pieces_per_word", INT64, ["L"])
    words = mean_of_pieces(table, *inputs)
    g.output(words.vectors, "words", FLOAT, ["L", 3])
    g.output(words.distinct, "distinct", FLOAT, ["U", 3])
    g.output(words.rows, "rows", INT64, ["L"])
    return g.model({})


def test_words_of_one_equal_piece_are_one_word(pieces):
    counts = np.array([1, 2, 1, 1, 2, 1])
    ids = np.array([7, 7, 3, 3, 7, 7, 3, 0])  # 7, 7 3, 3, 7, 7 3, 0
    for run in runtimes(pieces):
        _, distinct, rows = run(None, {"piece_ids": ids, "pieces_per_word": counts})
        assert len(distinct) == 5
        assert rows[0] == rows[3]
        assert len(set(rows.tolist())) == 5
