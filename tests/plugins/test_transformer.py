"""Words in their context against transformers, one sentence at a time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from tiny_encoder import (
    MPNET,
    MPNET_PIECES,
    OPTIONS,
    PIECES,
    POSITIONS,
    WIDTH,
    contextual_recipe,
    write_encoder,
)
from torch import Tensor
from torch.nn import functional

from thinstack.core.embedding import Embedding
from thinstack.errors import ConfigError
from thinstack.plugins.embeddings.transformer.layers import RelativeBias
from thinstack.plugins.manager import manager
from thinstack.training.loop.initial import first_leaves, initial_model

SENTENCES = [
    [[5, 6], [7], [8, 9, 10]],
    [[11]],
    [[12, 13], [14] * 3, *([n] for n in range(15, 15 + POSITIONS))],  # beyond the positions
    [[15], [5, 5]],
]


KINDS = {"Bert": (OPTIONS, PIECES, 0), "MPNet": (MPNET, MPNET_PIECES, 2)}
"""The options of each kind, its pieces, and where its positions begin."""
NAMES = {
    "Bert": ("attention.self.key", "output.dense"),
    "MPNet": ("attention.attn.k", "output.dense"),
}


class Pretrained(NamedTuple):
    folder: Path
    kind: str
    theirs: Any

    def embedding(self, options: dict[str, Any] | None = None, **sizes: Any) -> Embedding:
        """What training starts from, in evaluation mode."""
        own, pieces, _ = KINDS[self.kind]
        recipe = contextual_recipe(own | (options or {}), embedding=sizes)
        read = first_leaves(recipe, self.folder, [], WIDTH)
        assert read.vocabulary.entries == pieces
        return initial_model(recipe, read.table, read.weights).embedding.eval()

    def words(self, sentence: Sequence[Sequence[int]], layers: int = 2) -> Tensor:
        """(L, D), by transformers."""
        options, _, first_position = KINDS[self.kind]
        pieces = [piece for word in sentence for piece in word]
        ids = torch.tensor([[options["first"], *pieces, options["last"]]])
        places = torch.arange(ids.shape[1]).clamp(max=POSITIONS - 1)[None] + first_position
        states = self.theirs(ids, position_ids=places, output_hidden_states=True).hidden_states
        parts = states[layers][0, 1:-1].split([len(word) for word in sentence])
        return torch.stack([part.mean(0) for part in parts])

    def sentences(self, layers: int = 2) -> Tensor:
        return torch.cat([self.words(sentence, layers) for sentence in SENTENCES])


@pytest.fixture(scope="module", params=KINDS)
def pretrained(tmp_path_factory, request):
    folder, kind = tmp_path_factory.mktemp("pretrained"), request.param
    return Pretrained(folder, kind, write_encoder(folder / "encoder", kind=kind))


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
def test_words_are_the_means_of_the_outputs_of_transformers(pretrained, layers, dtype):
    embedding = pretrained.embedding({"layers": layers})
    expected = pretrained.sentences(layers)
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
    rows = functional.layer_norm(pretrained.theirs.embeddings.word_embeddings.weight, [WIDTH])
    words = [word for sentence in SENTENCES for word in sentence]
    beside = torch.stack([torch.cat([rows, embedding.static], 1)[word].mean(0) for word in words])
    found = embedding(inputs(SENTENCES))
    torch.testing.assert_close(found[:, WIDTH:], beside, rtol=0, atol=1e-5)
    torch.testing.assert_close(found[:, :WIDTH], pretrained.sentences(), rtol=0, atol=1e-5)
    dropped = embedding.train()(inputs(SENTENCES))[:, WIDTH:]
    zero = dropped == 0
    assert 0.3 < zero.float().mean() < 0.7
    torch.testing.assert_close(dropped[~zero], 2 * beside[~zero], rtol=0, atol=1e-5)


def test_gradients_are_theirs_and_that_of_the_table_is_sparse(pretrained):
    embedding, theirs = pretrained.embedding(), pretrained.theirs
    theirs.zero_grad()
    torch.manual_seed(0)
    weight = torch.randn(sum(map(len, SENTENCES)), WIDTH)
    (pretrained.sentences() * weight).sum().backward()
    (embedding(inputs(SENTENCES)) * weight).sum().backward()
    assert embedding.table.grad.is_sparse
    own, (key, narrower) = embedding.encoder.layers[0], NAMES[pretrained.kind]
    layer, first = theirs.encoder.layer[0], KINDS[pretrained.kind][2]
    table, places = theirs.embeddings.word_embeddings, theirs.embeddings.position_embeddings
    pairs = [
        (embedding.table.grad.to_dense(), table.weight.grad),
        (embedding.encoder.position.grad, places.weight.grad[first:]),
        (own.key.w.grad, layer.get_submodule(key).weight.grad.t()),
        (own.narrower.b.grad, layer.get_submodule(narrower).bias.grad),
    ]
    if pretrained.kind == "MPNet":
        bias = theirs.encoder.relative_attention_bias
        pairs.append((embedding.encoder.relative.weight.grad, bias.weight.grad))
    for found, expected in pairs:
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


def test_buckets_of_distances_are_those_of_transformers():
    encoder = pytest.importorskip("transformers.models.mpnet.modeling_mpnet").MPNetEncoder
    bias = RelativeBias(heads=1)
    bias.weight.data = torch.arange(32.0).unsqueeze(1)
    distance = torch.arange(300) - torch.arange(300).unsqueeze(1)
    expected = encoder.relative_position_bucket(distance)
    assert torch.equal(bias(300)[0, 0].long(), expected)


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
    with pytest.raises(ConfigError, match=rf"4 heads; found size = {size}, static"):
        spec.create(OPTIONS | options, entries=9, size=size, dropout=0.0)
    fits = size + {34: 2, 2: 2, 33: 3, 67: -3, 32: 3}[size]
    spec.create(OPTIONS | options, entries=9, size=fits, dropout=0.0)
