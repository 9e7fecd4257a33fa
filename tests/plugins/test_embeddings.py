"""Leaf embeddings as plugins: the built-in ones against NumPy, and third-party ones."""

import numpy as np
import onnx
import pytest
import torch
from export.export_models import randomised
from onnx import numpy_helper
from training import tiny_recipe

from thinstack.core.embedding import Embedding
from thinstack.errors import ConfigError, PluginError
from thinstack.export.onnx.verify import export_verified_onnx
from thinstack.export.quantize import dequantised
from thinstack.export.torchscript import export_torchscript
from thinstack.plugins.build import build_model
from thinstack.plugins.embeddings.wordpieces import WordpieceEmbedding
from thinstack.plugins.embeddings.words import WordEmbedding
from thinstack.plugins.specs import Spec
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.loop.seeds import run_seed

# Plugins that are there for real may warn.
pytestmark = pytest.mark.filterwarnings("ignore::thinstack.plugins.manager.PluginWarning")

V, X = 11, 3
INDEX_TYPES = [torch.int32, torch.int64]


def piece_inputs(ids, counts):
    return {"piece_ids": ids, "pieces_per_word": counts}


@pytest.fixture
def words():
    torch.manual_seed(1)
    return WordEmbedding(entries=V, size=X, dropout=0.5).eval()


@pytest.fixture
def pieces():
    torch.manual_seed(1)
    return WordpieceEmbedding(entries=V, size=X, dropout=0.5).eval()


@pytest.mark.parametrize("dtype", INDEX_TYPES)
def test_words_are_rows_of_the_table(words, dtype):
    ids = [4, 0, 10, 4]
    assert torch.equal(words({"token_ids": torch.tensor(ids, dtype=dtype)}), words.table[ids])
    assert words({"token_ids": torch.zeros(0, dtype=dtype)}).shape == (0, X)


@pytest.mark.parametrize("dtype", INDEX_TYPES)
def test_a_word_is_the_mean_of_its_pieces(pieces, dtype):
    ids, counts = [7, 1, 2, 2, 9, 0], [1, 3, 2]
    table = pieces.table.detach().numpy()
    expected = np.stack([table[7], table[[1, 2, 2]].mean(0), table[[9, 0]].mean(0)])
    found = pieces(piece_inputs(torch.tensor(ids, dtype=dtype), torch.tensor(counts, dtype=dtype)))
    np.testing.assert_allclose(found.detach(), expected, rtol=0, atol=1e-7)
    none = torch.zeros(0, dtype=dtype)
    assert pieces(piece_inputs(none, none)).shape == (0, X)


def test_gradients_of_the_tables_are_sparse_and_right(words, pieces):
    words({"token_ids": torch.tensor([4, 0, 4])}).sum().backward()
    pieces(piece_inputs(torch.tensor([7, 1, 1, 2]), torch.tensor([1, 3]))).sum().backward()
    for table, rows in ((words.table, {0: 1, 4: 2}), (pieces.table, {7: 1, 1: 2 / 3, 2: 1 / 3})):
        assert table.grad.is_sparse
        expected = torch.zeros(V, X)
        for row, value in rows.items():
            expected[row] = value
        torch.testing.assert_close(table.grad.to_dense(), expected)


def test_dropout_falls_on_words_in_training_only(words, pieces):
    ids = torch.arange(V).repeat(20)
    for module, inputs in (
        (words, {"token_ids": ids}),
        (pieces, piece_inputs(ids, torch.ones_like(ids))),
    ):
        whole = module.eval()(inputs)
        dropped = module.train()(inputs)
        zero = dropped == 0
        assert 0.3 < zero.float().mean() < 0.7
        torch.testing.assert_close(dropped[~zero], 2 * whole[~zero])


def test_a_lookup_needs_a_table_of_the_size_and_the_inputs_that_it_reads():
    for size, names, lookup in (
        (X + 1, ["token_ids"], "rows"),
        (X, ["token_ids"], "mean"),
        (X, ["piece_ids"], "rows"),
    ):
        with pytest.raises(ValueError, match=f"'{lookup}': expected {size} columns"):
            Embedding(table_size=(V, X), size=size, index_names=names, lookup=lookup)
    with pytest.raises(ValueError, match="lookup must be rows, mean, context or none, found 'sum'"):
        Embedding(table_size=(V, X), size=X, index_names=["token_ids"], lookup="sum")
    assert Embedding(table_size=(V, 2), size=X, index_names=["token_ids"]).table.shape == (V, 2)
    with pytest.raises(NotImplementedError, match="must define forward"):
        Embedding(table_size=(V, X), size=X, index_names=["token_ids"])({})


def spec(base=WordEmbedding, **changes):
    return Spec("embedding", type("Mine", (base,), {"name": "mine.v1"} | changes))


def test_another_vocabulary_is_refused():
    with pytest.raises(PluginError, match=r"Mine: .*, found 'characters'"):
        spec(vocabulary="characters")


# Tables narrower than the vectors: tanh(row A + b) of a word, and the sum of rows A over a word's
# pieces.
NARROW = """
import torch
from torch import Tensor, nn
from torch.nn import functional
from thinstack.core.embedding import Embedding
from thinstack.plugins import hookimpl

class Narrow(Embedding):
    name = "narrow.v1"

    def __init__(self, *, entries: int, size: int, width: int = 4):
        super().__init__(table_size=(entries, width), size=size, index_names=["token_ids"])
        self.linear = nn.Linear(width, size)

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        rows = functional.embedding(inputs["token_ids"], self.table, sparse=True)
        return torch.tanh(self.linear(rows))

class Sums(Embedding):
    name = "sums.v1"
    vocabulary = "wordpieces"

    def __init__(self, *, entries: int, size: int, width: int = 4):
        names = ["piece_ids", "pieces_per_word"]
        super().__init__(table_size=(entries, width), size=size, index_names=names)
        self.linear = nn.Linear(width, size, bias=False)

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        pieces, counts = inputs["piece_ids"], inputs["pieces_per_word"].unsqueeze(1)
        ends, places = torch.cumsum(counts, 0), torch.arange(pieces.shape[0], device=pieces.device)
        of_word = torch.logical_and(places < ends, places >= ends - counts).to(self.table.dtype)
        return self.linear(of_word @ functional.embedding(pieces, self.table))

class Wrong(Narrow):
    name = "wrong.v1"

    def __init__(self, *, entries: int, size: int, wrong: dict[str, int]):
        super().__init__(**{"entries": entries, "size": size} | wrong)

@hookimpl
def thinstack_embeddings():
    return [Narrow, Sums, Wrong]
"""

KINDS = {"narrow.v1": "words", "sums.v1": "wordpieces", "wrong.v1": "words", "whole.v1": "words"}
SIZE = 6


@pytest.fixture
def third_party(site):
    """The distribution of these embeddings is installed."""
    site.install("narrow-embeddings", "narrow_embeddings", NARROW)


def recipe(name, **settings):
    embedding = {"name": name, "size": SIZE, "dropout": 0.0, **settings.pop("embedding", {})}
    return tiny_recipe.recipe(settings.pop("kind", KINDS[name]), embedding=embedding, **settings)


def model_of(name):
    torch.manual_seed(0)
    return randomised(build_model(recipe(name).model, entries=30), std=0.7).eval()


@pytest.mark.usefixtures("third_party")
@pytest.mark.parametrize("name", ["narrow.v1", "sums.v1"])
@pytest.mark.parametrize("quantize", ["none", "int8-tables"])
def test_a_third_partys_embedding_is_exported_as_it_is_written(name, quantize):
    model = model_of(name)
    file, report = export_verified_onnx(
        model, recipe(name).model, quantize=quantize, vocabulary_digest="none"
    )
    assert report.quantization == quantize
    stored = [
        numpy_helper.to_array(weight) for weight in onnx.load_from_string(file).graph.initializer
    ]
    [table] = [weight for weight in stored if weight.shape == (30, 4)]  # stored once
    assert table.dtype == (np.float32 if quantize == "none" else np.float16)
    np.testing.assert_array_equal(
        table.astype(np.float32), dequantised(model, quantize).embedding.table.detach()
    )


# A leaf embedding whose package writes its own ONNX.
SLICE = """
from narrow_embeddings import Narrow

class Whole(Narrow):
    name, onnx = "whole.v1", "whole_onnx"

    def __init__(self, *, entries: int, size: int, width: int = 4):
        super().__init__(entries=entries, size=size, width=width)
        self.lookup = "context"
"""
SLICE_ONNX = """
from thinstack.export.onnx.encoder import Table
from thinstack.export.onnx.encoder import Words

def words(g, embedding, inputs, quantize):
    rows = Table(g, embedding.table.detach().numpy(), quantize).rows(inputs["token_ids"].long())
    weight, bias = (each.detach().numpy() for each in embedding.linear.parameters())
    vectors = g.weight(bias, "bias").addmm(rows, g.weight(weight.T, "weight")).tanh()
    return Words(vectors, vectors)
"""


@pytest.fixture
def whole(site, third_party):
    site.write("whole_onnx", SLICE_ONNX)
    site.install("whole-embedding", "whole_embedding", SLICE, names="Whole")


@pytest.mark.usefixtures("whole")
def test_a_third_partys_package_writes_its_own_onnx():
    parts = model_of("whole.v1"), recipe("whole.v1").model
    report = export_verified_onnx(*parts, quantize="int8-tables", vocabulary_digest="")[1]
    assert max(each.max_error for each in report.runtimes) < 1e-5


@pytest.mark.usefixtures("third_party")
@pytest.mark.parametrize("name", ["narrow.v1", "sums.v1"])
def test_a_third_partys_embedding_is_scripted(name):
    assert export_torchscript(model_of(name))[1].max_error < 1e-5


@pytest.mark.usefixtures("third_party")
@pytest.mark.parametrize(
    ("name", "vectors"), [("narrow.v1", "words.txt"), ("sums.v1", "pieces.txt")]
)
def test_a_recipe_fills_a_table_of_its_own_width(name, vectors, tmp_path):
    data = tiny_recipe.write_data(tmp_path / "data")
    wanted = recipe(
        name, vectors=vectors, epochs=1, vector_learning_rate=0, embedding={"options": {"width": 3}}
    )
    datasets = load_datasets(wanted, data)
    lines = (data / vectors).read_text(encoding="utf-8").splitlines()
    first = np.array([line.split()[1:4] for line in lines], np.float32)
    own = 1 if name == "narrow.v1" else 0  # the unknown word
    np.testing.assert_array_equal(datasets.table[own : own + len(first)], first)
    trained = run_seed(wanted, datasets, 1, tmp_path).model.embedding
    np.testing.assert_array_equal(trained.table.detach(), datasets.table)
    assert trained.linear.in_features == 3


@pytest.mark.usefixtures("third_party")
@pytest.mark.parametrize("wrong", [{"entries": 31}, {"size": 7}])
def test_an_embedding_must_be_as_it_was_asked_for(wrong):
    wanted = recipe("wrong.v1", embedding={"options": {"wrong": wrong}})
    with pytest.raises(PluginError, match=r"'wrong\.v1' must have .*'entries': 30, 'size': 6"):
        build_model(wanted.model, entries=30)


@pytest.mark.usefixtures("third_party")
def test_what_does_not_go_together_is_refused(tmp_path):
    data = tiny_recipe.write_data(tmp_path / "data")
    wide = recipe("narrow.v1", vectors="words.txt", embedding={"options": {"width": 5}})
    with pytest.raises(ConfigError, match=r"narrow\.v1 of size 6 .* 5 columns, .*\.txt has 4; "):
        load_datasets(wide, data)
    options = {"options": {"widht": 5}}
    for said, name, settings in (
        (r"sums\.v1 .*'wordpieces', found 'words'$", "sums.v1", {"kind": "words"}),
        (r"'narrow\.v1': widht: .*known options: width", "narrow.v1", {"embedding": options}),
        (r"'narrow\.v1' does not .* dropout = 0\.1", "narrow.v1", {"embedding": {"dropout": 0.1}}),
    ):
        with pytest.raises(ConfigError, match=said):
            build_model(recipe(name, **settings).model, entries=3)
