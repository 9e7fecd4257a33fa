"""Encoders that cannot be taken, and the forms in which transformers saves them."""

import shutil

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tiny_encoder import INSIDE, MPNET, PIECES, WIDTH, contextual_recipe, write_encoder

from thinstack.data.files import pretrained_models
from thinstack.errors import ConfigError, DataError
from thinstack.plugins.embeddings.transformer.pretrained import encoder_weights
from thinstack.training.loop.initial import first_leaves


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "encoder"
    write_encoder(folder)
    return folder


@pytest.fixture
def encoder(saved, tmp_path):
    """A copy, to be changed."""
    return shutil.copytree(saved, tmp_path / "encoder")


def read(folder, recipe=None):
    return first_leaves(recipe or contextual_recipe(), folder.parent, [], WIDTH)


def same(found, expected):
    assert found.weights.keys() == expected.weights.keys()
    pairs = [(value, expected.weights[name]) for name, value in found.weights.items()]
    return (found.table == expected.table).all() and all(torch.equal(*pair) for pair in pairs)


def half_name(folder):
    (folder / "model.safetensors").rename(folder / "model.fp16.safetensors")


def pickled(folder):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def sharded(folder):
    model = transformers.AutoModel.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    model.save_pretrained(folder, max_shard_size="20KB")
    assert len(list(folder.glob("model-*.safetensors"))) > 1


def of_a_task(folder):
    """Under the prefix of a model with a task head."""
    state = load_file(folder / "model.safetensors")
    named = {f"bert.{name}": value for name, value in state.items() if "pooler" not in name}
    save_file(named, folder / "model.safetensors", {"format": "pt"})


def words_alone(folder):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()


@pytest.mark.parametrize("change", [half_name, pickled, sharded, of_a_task, words_alone])
def test_other_forms_of_the_same_encoder(saved, encoder, change):
    change(encoder)
    assert same(read(encoder), read(saved))


def without(*names):
    return lambda folder: [(folder / name).unlink() for name in names] and None


def written(name, text):
    return lambda folder: (folder / name).write_text(text, encoding="utf-8")


def broken_pickle(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def of_one_layer(folder):
    state = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in state.items() if "layer.1." not in name}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (shutil.rmtree, r"or the encoder encoder on the hub; OSError"),
        (without("config.json"), "ValueError: .*model_type"),
        (written("config.json", "{"), "OSError: .*not a valid JSON"),
        (without("model.safetensors"), "OSError: .*no file named .*model.safetensors"),
        (written("model.safetensors", "no weights" * 9), "SafetensorError"),
        (broken_pickle, "UnpicklingError|OSError: Unable to load weights"),
        (of_one_layer, "OSError: 16 weights are missing, such as encoder.layer.1"),
        (without("tokenizer.json", "vocab.txt"), "neither tokenizer.json nor vocab.txt"),
    ],
)
def test_what_is_not_there_or_cannot_be_read(encoder, change, said):
    change(encoder)
    with pytest.raises(DataError, match=f"^data.encoder: .*{encoder}.*({said})"):
        read(encoder)


MPNET_KIND = {"kind": "MPNet"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "DistilBert"}, "expected BERT or MPNet with GELU; .* a distilbert"),
        ({"kind": "Roberta"}, "expected BERT or MPNet with GELU; .* a roberta with gelu"),
        ({"hidden_act": "relu"}, "expected BERT or MPNet with GELU; .* a bert with relu"),
        ({"is_decoder": True}, "expected BERT or MPNet with GELU; .* a bert decoder with gelu"),
        ({"layer_norm_eps": 1e-5}, "expected layer_norm_eps = 1e-12 in .*, found 1e-05"),
        (MPNET_KIND | {"layer_norm_eps": 1e-12}, "layer_norm_eps = 1e-05 in .*, found 1e-12"),
        (MPNET_KIND | {"relative_attention_num_buckets": 40}, "buckets = 32 in .*, found 40"),
        ({"position_embedding_type": "relative_key"}, "= absolute in .*, found relative_key"),
        ({"cased": True}, "expected an uncased WordPiece .* splits 'Good' into .*uncased encoder"),
        ({"vocab_size": len(PIECES) + 3}, "vectors for 58 pieces, but its tokenizer has 55"),
    ],
)
def test_encoders_of_another_kind(tmp_path, changes, said):
    write_encoder(tmp_path / "encoder", **changes)
    with pytest.raises(ConfigError, match=f"^data.encoder: .*{said}"):
        read(tmp_path / "encoder")


def test_sizes_of_another_encoder_are_told_as_they_are_to_be_written(saved):
    wrong = {"heads": 2, "feed_forward": 7, "positions": 9, "first": 0, "last": 1, "static": 5}
    with pytest.raises(ConfigError) as caught:
        read(saved, contextual_recipe(wrong, embedding={"size": 39}))
    write = f"set size = {WIDTH + 5}, heads = 4, feed_forward = 48, positions = 24, first = 2"
    assert str(caught.value).startswith(f"model.embedding: for encoder, {write}, last = 3 (size")
    assert "found size = 39, heads = 2" in str(caught.value)
    twice = contextual_recipe({"rows": True}, embedding={"size": WIDTH})
    with pytest.raises(ConfigError, match=f"set size = {2 * WIDTH} "):
        read(saved, twice)
    with pytest.raises(ConfigError, match=r"2 layers.* layers = 3"):
        read(saved, contextual_recipe({"layers": 3}))
    other = contextual_recipe(embedding={"name": "wordpieces.v1", "options": {}})
    with pytest.raises(ConfigError, match=r"wordpieces\.v1 does not take a pretrained .*'encoder'"):
        read(saved, other)


def test_a_narrowed_encoder_keeps_the_units_that_weigh_most(tmp_path):
    encoder, light = write_encoder(tmp_path / "encoder"), [0, 3, 40, 47]
    rows = [each for each in range(INSIDE) if each not in light]
    layer, fewer = encoder.encoder.layer[1], len(rows)
    with torch.no_grad():
        layer.output.dense.weight[:, light] *= 1e-3
    found = encoder_weights(encoder.state_dict(), "bert", 2, fewer)
    names = "wider.w", "wider.b", "narrower.w"
    into, bias, back = (found[f"embedding.encoder.layers.1.{name}"] for name in names)
    torch.testing.assert_close(into, layer.intermediate.dense.weight[rows].t())
    torch.testing.assert_close(bias, layer.intermediate.dense.bias[rows])
    torch.testing.assert_close(back, layer.output.dense.weight[:, rows].t())


def test_an_encoder_is_narrowed_only_if_the_recipe_says_so(saved):
    fewer = {"feed_forward": INSIDE - 4}
    weights = read(saved, contextual_recipe(fewer | {"narrowed": True})).weights
    assert weights["embedding.encoder.layers.0.narrower.w"].shape == (INSIDE - 4, WIDTH)
    for options in (fewer, {"feed_forward": INSIDE + 1, "narrowed": True}):
        with pytest.raises(ConfigError, match=f"set feed_forward = {INSIDE} "):
            read(saved, contextual_recipe(options))


def test_an_encoder_of_the_other_kind_is_told_as_it_is_to_be_written(saved, tmp_path):
    write_encoder(tmp_path / "encoder", kind="MPNet")
    for folder, recipe, write in (
        (tmp_path / "encoder", None, 'model_type = "mpnet", first = 0, last = 2'),
        (saved, contextual_recipe(MPNET), 'model_type = "bert", first = 2, last = 3'),
    ):
        with pytest.raises(ConfigError, match=f"set {write} .*found model_type"):
            read(folder, recipe)


def test_static_columns_are_vectors_of_the_same_pieces(encoder):
    sizes = {"embedding": {"size": WIDTH + 2}, "data": {"vectors": "pieces.txt"}}
    recipe = contextual_recipe({"static": 2}, **sizes)
    lines = [f"{piece} {number} {-number} {number % 3}" for number, piece in enumerate(PIECES)]
    file = encoder.parent / "pieces.txt"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    expected = [[number, -number] for number in range(len(PIECES))]
    assert read(encoder, recipe).weights["embedding.static"].tolist() == expected
    file.write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="pieces of encoder"):
        read(encoder, recipe)


def test_a_hub_that_does_not_answer_is_not_asked_twice(tmp_path, monkeypatch):
    asked = []

    def refused(url, timeout):
        asked.append(url)
        raise ConnectionRefusedError

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(pretrained_models, "urlopen", refused)
    with pytest.raises(DataError, match="no/such"):
        read(tmp_path / "no", contextual_recipe(data={"encoder": "no/such"}))
    assert len(asked) == 1
