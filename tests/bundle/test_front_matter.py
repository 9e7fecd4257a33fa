"""What other libraries read of a bundle: the front matter of its card, and `tokenizer.json`."""

import pytest
from bundle_folders import CONFIG
from huggingface_hub import ModelCard
from hypothesis import given
from hypothesis import strategies as st
from library_pieces import library_pieces
from tokenizers import Tokenizer

from thinstack.bundle import open_bundle
from thinstack.bundle.front_matter import front_matter
from thinstack.core.config import HeadConfig
from thinstack.data.words import ptb
from thinstack.data.words.letters import plain_letters
from thinstack.data.words.readings import reading
from thinstack.data.words.wordpiece import WordpieceVocabulary, tokenizer_json
from thinstack.plugins.specs import BundleSpec
from thinstack.training.recipe import CardConfig

SENTIMENT = CONFIG.model_copy(update={"labels": ("negative", "positive")})
SHIPPED = {
    "gold": {"root_accuracy": 51.5, "root_binary_accuracy": 88.876, "phrase_accuracy": None},
    "text": {"root_accuracy": 50.0, "span_f1": 12.0},
}
OVER_SEEDS = {"gold": {"pearson": {"mean": 0.86789, "std": 0.1}, "mse": {"mean": 1.5, "std": 0}}}


def read(config=CONFIG, **given):
    settings = {"shipped": {}, "over_seeds": {}} | given
    text = front_matter("films", config, reported="sst/dev.txt", **settings)
    assert text.startswith("---\n")
    assert text.endswith("\n---\n")
    return ModelCard(f"{text}\n# films\n").data


def figures(found):
    return [(one.metric_type, one.metric_name, one.metric_value) for one in found]


def test_figures_are_shares_of_what_they_were_measured_on():
    data = read(SENTIMENT, shipped=SHIPPED, over_seeds=OVER_SEEDS)
    assert (data.library_name, data.pipeline_tag) == ("thinstack", "text-classification")
    assert data.tags == ["thinstack", "onnx", "sentiment-analysis"]
    assert data.model_name == "films"
    assert figures(data.eval_results) == [
        ("accuracy", "accuracy, sentences, gold trees", 0.515),
        ("accuracy", "accuracy, sentences, binary, gold trees", 0.8888),
        ("accuracy", "accuracy, sentences, raw text", 0.5),
    ]
    places = {(one.dataset_name, one.dataset_type) for one in data.eval_results}
    assert places == {("sst/dev.txt", "sst/dev.txt")}


def test_models_of_vectors_are_named_so():
    head = HeadConfig(name="vector.v1")
    beside = read(SENTIMENT.model_copy(update={"vectors": head}))
    assert beside.pipeline_tag == "text-classification"
    assert beside.tags == ["thinstack", "onnx", "sentiment-analysis", "feature-extraction"]
    alone = read(CONFIG.model_copy(update={"labels": (), "head": head}))
    assert alone.pipeline_tag == "sentence-similarity"
    assert alone.tags == ["thinstack", "onnx", "feature-extraction"]


def test_of_other_classes_there_is_no_binary_figure():
    data = read(shipped=SHIPPED)
    assert data.tags == ["thinstack", "onnx"]
    assert [kind for _, kind, _ in figures(data.eval_results)] == [
        "accuracy, sentences, gold trees",
        "accuracy, sentences, raw text",
    ]


def test_what_is_not_measured_as_shipped_has_means_over_seeds():
    config = CONFIG.model_copy(update={"head": HeadConfig(name="similarity.v1")})
    data = read(config, over_seeds=OVER_SEEDS)
    assert data.pipeline_tag == "sentence-similarity"
    after = ", gold trees, mean over seeds before quantization"
    assert figures(data.eval_results) == [
        ("pearsonr", f"Pearson's r{after}", 0.8679),
        ("mse", f"mean squared error{after}", 1.5),
    ]


@pytest.mark.parametrize("odd", ["yes", "a: b", "é\u2028🙂\x85\x7f", '"\\n', "- x", "1.0", "#"])
def test_what_a_recipe_says_is_read_as_it_was_written(odd):
    card = CardConfig(
        language=("en", "no"), license=odd, base_model="a/b", dataset=odd, tags=(odd, "onnx")
    )
    data = read(shipped=SHIPPED, **card.model_dump())
    assert (data.language, data.license, data.base_model) == (["en", "no"], odd, "a/b")
    assert data.tags == ["thinstack", "onnx", odd]
    assert {(one.dataset_name, one.dataset_type) for one in data.eval_results} == {
        ("sst/dev.txt", odd)
    }


def test_a_list_of_models_shows_what_comes_behind_it(tmp_path):
    text = front_matter("films", SENTIMENT, SHIPPED, {}, reported="---")
    (tmp_path / "README.md").write_text(f"{text}\n# films\n\nWhat it\nis.\n\n---\n", "utf-8")
    assert BundleSpec("films", tmp_path).summary == "0.0 MB: What it is."
    (tmp_path / "README.md").write_text("# films\n\nWhat it\nis.\n\n---\nmore\n", "utf-8")
    assert BundleSpec("films", tmp_path).summary == "0.0 MB: What it is."


UNKNOWN = "[UNK]"


@pytest.fixture(scope="module")
def vocabulary():
    return open_bundle("sentiment").vocabulary()


@pytest.fixture(scope="module")
def tokenizer(vocabulary):
    tokenizer = Tokenizer.from_str(tokenizer_json(vocabulary).decode())
    assert tokenizer.get_vocab_size() == len(vocabulary)
    return tokenizer


# Characters whose class has been the same in all versions of Unicode that matter.
TEXT = st.text(
    alphabet="acdeghilnorstuwéİßΣς中日 '-.[UNK]#5\u0301\u00a0\u200b\ufffd«🙂бБ", max_size=40
)


@given(text=TEXT)
def test_a_word_has_the_same_pieces(vocabulary, tokenizer, text):
    plain = reading(plain_letters(ptb.plain(text)))
    entries = set(vocabulary.entries)
    unknown = vocabulary.entries.index(UNKNOWN)
    expected = library_pieces(tokenizer, entries, plain)
    assert vocabulary.pieces_of(text) == (expected or (unknown,))


def test_a_long_word_is_unknown_as_a_whole():
    pieces = WordpieceVocabulary(["[UNK]", "a", "##b", "##a"])
    tokenizer = Tokenizer.from_str(tokenizer_json(pieces).decode())
    for word, ids in (("ab" * 50, [1] + [2, 3] * 49 + [2]), ("ab" * 50 + "a", [0])):
        assert tokenizer.encode(word).ids == list(pieces.pieces_of(word)) == ids
