"""Words put together from their pieces, and tables stored small."""

import numpy as np
import onnx
import pytest
from export_models import runtimes

from thinstack.export.onnx.embedding import Table, mean_of_pieces
from thinstack.export.onnx.graph import Graph

FLOAT, INT32, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT32, onnx.TensorProto.INT64


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
