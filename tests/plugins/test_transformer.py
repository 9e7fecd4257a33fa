"""Words in their context against `transformers.BertModel`, one sentence at a time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from tiny_encoder import OPTIONS, PIECES, POSITIONS, WIDTH, contextual_recipe, write_encoder
from torch import Tensor
from torch.nn import functional

from thinstack.core.embedding import Embedding
from thinstack.errors import ConfigError
from thinstack.plugins.manager import manager
from thinstack.training.loop.initial import first_leaves, initial_model

SENTENCES = [
    [[5, 6], [7], [8, 9, 10]],
    [[11]],
    [[12, 13], [14] * 3, *([n] for n in range(15, 15 + POSITIONS))],  # beyond the positions
    [[15], [5, 5]],
]


class Pretrained(NamedTuple):
    folder: Path
    bert: Any

    def embedding(self, options: dict[str, Any] | None = None, **sizes: Any) -> Embedding:
        """What training starts from, in evaluation mode."""
        recipe = contextual_recipe(options, embedding=sizes)
        read = first_leaves(recipe, self.folder, [], WIDTH)
        assert read.vocabulary.entries == PIECES
        return initial_model(recipe, read.table, read.weights).embedding.eval()

    def words(self, sentence: Sequence[Sequence[int]], layers: int = 2) -> Tensor:
        """(L, D), by BERT itself."""
        pieces = [piece for word in sentence for piece in word]
        ids = torch.tensor([[OPTIONS["first"], *pieces, OPTIONS["last"]]])
        places = torch.arange(ids.shape[1]).clamp(max=POSITIONS - 1)[None]
        states = self.bert(ids, position_ids=places, output_hidden_states=True).hidden_states
        parts = states[layers][0, 1:-1].split([len(word) for word in sentence])
        return torch.stack([part.mean(0) for part in parts])


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pretrained")
    return Pretrained(folder, write_encoder(folder / "encoder"))


def inputs(sentences, dtype=torch.int64):
    words = [word for sentence in sentences for word in sentence]
    fields = {
        "piece_ids": [piece for word in words for piece in word],
        "pieces_per_word": [len(word) for word in words],
        "lengths": [len(sentence) for sentence in sentences],
    }
    return {name: torch.tensor(value, dtype=dtype) for name, value in fields.items()}


@pytest.mark.parametrize(
    ("layers", "dtype"), [(2, torch.int32), (2, torch.int64), (1, torch.int64)]
)
@torch.no_grad()
def test_words_are_the_means_of_berts_outputs(pretrained, layers, dtype):
    embedding = pretrained.embedding({"layers": layers})
    expected = torch.cat([pretrained.words(sentence, layers) for sentence in SENTENCES])
    found = embedding(inputs(SENTENCES, dtype))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    assert embedding(inputs([], dtype)).shape == (0, WIDTH)
    assert embedding.max_pieces == POSITIONS - 2


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is:DeprecationWarning")
def test_torchscript_gives_the_same(pretrained):
    embedding = pretrained.embedding({"rows": True, "static": 3}, size=2 * WIDTH + 3)
    given, scripted = inputs(SENTENCES), torch.jit.script(embedding)
    torch.testing.assert_close(scripted(given), embedding(given))
    assert scripted(inputs([])).shape == (0, 2 * WIDTH + 3)


@torch.no_grad()
def test_rows_and_a_static_table_stand_beside_the_outputs(pretrained):
    embedding = pretrained.embedding({"rows": True, "static": 3}, size=2 * WIDTH + 3, dropout=0.5)
    rows = functional.layer_norm(pretrained.bert.embeddings.word_embeddings.weight, [WIDTH])
    words = [word for sentence in SENTENCES for word in sentence]
    beside = torch.stack([torch.cat([rows, embedding.static], 1)[word].mean(0) for word in words])
    found = embedding(inputs(SENTENCES))
    torch.testing.assert_close(found[:, WIDTH:], beside, rtol=0, atol=1e-5)
    outputs = torch.cat([pretrained.words(sentence) for sentence in SENTENCES])
    torch.testing.assert_close(found[:, :WIDTH], outputs, rtol=0, atol=1e-5)
    dropped = embedding.train()(inputs(SENTENCES))[:, WIDTH:]
    zero = dropped == 0
    assert 0.3 < zero.float().mean() < 0.7
    torch.testing.assert_close(dropped[~zero], 2 * beside[~zero], rtol=0, atol=1e-5)


def test_gradients_are_berts_and_that_of_the_table_is_sparse(pretrained):
    embedding, bert = pretrained.embedding(), pretrained.bert
    bert.zero_grad()
    torch.manual_seed(0)
    weight = torch.randn(sum(map(len, SENTENCES)), WIDTH)
    (torch.cat([pretrained.words(sentence) for sentence in SENTENCES]) * weight).sum().backward()
    (embedding(inputs(SENTENCES)) * weight).sum().backward()
    assert embedding.table.grad.is_sparse
    own = embedding.encoder.layers[0]
    theirs = bert.encoder.layer[0]
    for found, expected in (
        (embedding.table.grad.to_dense(), bert.embeddings.word_embeddings.weight.grad),
        (embedding.encoder.position.grad, bert.embeddings.position_embeddings.weight.grad),
        (own.key.w.grad, theirs.attention.self.key.weight.grad.t()),
        (own.narrower.b.grad, theirs.output.dense.bias.grad),
    ):
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


def test_encoder_dropout_is_of_the_encoder_in_training_alone(pretrained):
    embedding, given = pretrained.embedding({"encoder_dropout": 0.5}), inputs(SENTENCES)
    whole = embedding(given)
    assert torch.equal(whole, embedding(given))
    assert not torch.allclose(whole, embedding.train()(given), atol=0.1)
    still = pretrained.embedding({"encoder_dropout": 0.0}, dropout=0.5).train()
    torch.testing.assert_close(still(given), whole)


@pytest.mark.parametrize(
    ("size", "options"), [(34, {}), (2, {}), (33, {}), (67, {"rows": True}), (32, {"static": 3})]
)
def test_sizes_that_do_not_go_together_are_refused(size, options):
    spec = manager().find("embedding", "transformer.v1")
    with pytest.raises(ConfigError, match=rf"4 heads share evenly; found size = {size}, static"):
        spec.create(OPTIONS | options, entries=9, size=size, dropout=0.0)
    fits = size + {34: 2, 2: 2, 33: 3, 67: -3, 32: 3}[size]
    spec.create(OPTIONS | options, entries=9, size=fits, dropout=0.0)
