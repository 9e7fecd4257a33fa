"""Leaf embeddings against NumPy."""

import numpy as np
import pytest
import torch
from torch import Tensor

from thinstack.models.embedding import WordEmbedding, WordpieceEmbedding

V, X = 11, 3
INDEX_TYPES = [torch.int32, torch.int64]


def piece_inputs(ids: Tensor, counts: Tensor) -> dict[str, Tensor]:
    return {"piece_ids": ids, "pieces_per_word": counts}


@pytest.fixture
def words() -> WordEmbedding:
    torch.manual_seed(1)
    return WordEmbedding(entries=V, size=X, dropout=0.5).eval()


@pytest.fixture
def pieces() -> WordpieceEmbedding:
    torch.manual_seed(1)
    return WordpieceEmbedding(entries=V, size=X, dropout=0.5).eval()


@pytest.mark.parametrize("dtype", INDEX_TYPES)
def test_words_are_rows_of_the_table(words, dtype: torch.dtype) -> None:
    assert torch.equal(words({"token_ids": torch.tensor([4, 0, 10, 4], dtype=dtype)}), words.table[[4, 0, 10, 4]])
    assert words({"token_ids": torch.zeros(0, dtype=dtype)}).shape == (0, X)


@pytest.mark.parametrize("dtype", INDEX_TYPES)
def test_a_word_is_the_mean_of_its_pieces(pieces, dtype: torch.dtype) -> None:
    ids, counts = [7, 1, 2, 2, 9, 0], [1, 3, 2]
    table = pieces.table.detach().numpy()
    expected = np.stack([table[7], table[[1, 2, 2]].mean(0), table[[9, 0]].mean(0)])
    found = pieces(piece_inputs(torch.tensor(ids, dtype=dtype), torch.tensor(counts, dtype=dtype)))
    np.testing.assert_allclose(found.detach(), expected, rtol=0, atol=1e-7)
    assert pieces(piece_inputs(torch.zeros(0, dtype=dtype), torch.zeros(0, dtype=dtype))).shape == (0, X)


def test_gradients_of_the_tables_are_sparse_and_right(words, pieces) -> None:
    words({"token_ids": torch.tensor([4, 0, 4])}).sum().backward()
    pieces(piece_inputs(torch.tensor([7, 1, 1, 2]), torch.tensor([1, 3]))).sum().backward()
    for table, rows in ((words.table, {0: 1, 4: 2}), (pieces.table, {7: 1, 1: 2 / 3, 2: 1 / 3})):
        assert table.grad.is_sparse
        expected = torch.zeros(V, X)
        for row, value in rows.items():
            expected[row] = value
        torch.testing.assert_close(table.grad.to_dense(), expected)


def test_dropout_falls_on_words_in_training_only(words, pieces) -> None:
    ids = torch.arange(V).repeat(20)
    for module, inputs in ((words, {"token_ids": ids}), (pieces, piece_inputs(ids, torch.ones_like(ids)))):
        whole = module.eval()(inputs)
        dropped = module.train()(inputs)
        zero = dropped == 0
        assert 0.3 < zero.float().mean() < 0.7
        torch.testing.assert_close(dropped[~zero], 2 * whole[~zero])


def test_names_of_the_index_inputs(words, pieces) -> None:
    assert words.index_names == ["token_ids"]
    assert pieces.index_names == ["piece_ids", "pieces_per_word"]
