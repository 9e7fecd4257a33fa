"""Vectors of phrases, sentences and texts, against numpy, and models that give vectors alone."""

import json
import pickle

import numpy as np
import pytest
from vector_models import SIZE, vectors_by_hand, write_vector_bundle

import thinstack
from thinstack.core.transitions import balanced
from thinstack.errors import InputError
from thinstack.runtime.result import Result
from thinstack.runtime.scored import Scored

TEXT = "Good film. The plot but the film."
HALF = 1e-3
"""What a vector in half precision may be off."""


def by_hand(sentence):
    return vectors_by_hand(sentence.words, sentence.transitions)


def text_by_hand(result):
    mean = sum(len(one.words) * by_hand(one)[-1] for one in result.sentences)
    return mean / np.linalg.norm(mean)


def test_every_phrase_and_sentence_has_the_vector_of_its_node(vectors):
    result = vectors(TEXT)
    assert [len(sentence.words) for sentence in result.sentences] == [3, 6]
    for sentence in result.sentences:
        expected = by_hand(sentence)
        assert sentence.transitions.tolist() == balanced(len(sentence.words)).tolist()
        for phrase, vector in zip(sentence.phrases, expected, strict=True):
            assert phrase.vector.dtype == np.float32
            assert np.linalg.norm(phrase.vector) == pytest.approx(1, abs=1e-6)
            np.testing.assert_allclose(phrase.vector, vector, atol=HALF)
        np.testing.assert_array_equal(sentence.vector, sentence.phrases[-1].vector)


def test_a_text_has_the_mean_of_its_sentences_weighted_by_words(vectors):
    result = vectors(TEXT)
    assert result.vector.dtype == np.float32
    assert np.linalg.norm(result.vector) == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(result.vector, text_by_hand(result), atol=HALF)
    one = vectors("Awful film.")
    np.testing.assert_array_equal(one.vector, one.sentences[0].vector)
    assert vectors(" ").vector is None


def test_a_text_that_is_a_tree_over_its_sentences_has_the_vector_of_its_root(vectors):
    result = vectors(TEXT)
    rows = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 3, 4]], np.float16)
    scores = np.full((3, 3), 1 / 3, np.float32)
    joint = Scored(balanced(2), scores, vectors=rows)
    text = Result(TEXT, result.sentences, result.view, share_known=0.25, joint=joint)
    np.testing.assert_allclose([*text.vector, text.known], [0, 0, 0.6, 0.8, 0.25], atol=1e-6)


def test_encode_has_a_row_per_text(vectors):
    texts = [TEXT, "awful", "The good film."]
    rows = vectors.encode(texts)
    assert rows.dtype == np.float32
    assert rows.flags.c_contiguous
    np.testing.assert_allclose(rows, [text_by_hand(vectors(text)) for text in texts], atol=HALF)
    np.testing.assert_allclose(vectors.encode(iter(texts)), rows, atol=HALF)
    assert vectors.encode("awful").shape == (SIZE,)
    np.testing.assert_allclose(vectors.encode("awful"), rows[1], atol=HALF)
    assert vectors.encode([]).shape == (0, SIZE)
    assert vectors.encode([], sign=True).shape == (0, SIZE + 1)


def test_the_column_of_polarity_adds_to_the_cosine(vectors):
    texts = ["good film", "awful plot", "good"]
    rows, plain = vectors.encode(texts, sign=True), vectors.encode(texts)
    polarity = np.array([vectors(text).polarity for text in texts])
    assert {*np.sign(polarity)} == {-1, 1}
    signs = np.sign(polarity) * np.sqrt(np.abs(polarity))
    np.testing.assert_array_equal(rows[:, :-1], plain)
    expected = plain @ plain.T + 0.3 * signs[:, None] * signs
    np.testing.assert_allclose(rows @ rows.T, expected, atol=1e-6)
    assert vectors.encode(texts[0], sign=True).shape == (SIZE + 1,)


def test_a_text_that_cannot_be_encoded(vectors):
    with pytest.raises(InputError, match=r"^text 2: expected words, found ' '"):
        vectors.encode(iter(["good", "film", " ", "plot"]))
    with pytest.raises(InputError, match=r"^text 1: expected a text, found None"):
        vectors.encode(["good", None])
    errors = {}
    rows = vectors.encode(["good", "", None, "film"], on_error=errors.__setitem__, sign=True)
    assert {place: str(error)[:16] for place, error in errors.items()} == {
        1: "text 1: expected",
        2: "text 2: expected",
    }
    assert np.isnan(rows).all(axis=1).tolist() == [False, True, True, False]
    np.testing.assert_allclose(rows[3, :-1], vectors.encode("film"), atol=HALF)


def test_similarity_is_the_cosine(vectors):
    one, two = ["good film", "awful"], ["the plot", "awful film", "good"]
    expected = vectors.encode(one) @ vectors.encode(two).T
    np.testing.assert_allclose(vectors.similarity(one, two), expected, atol=1e-6)
    number = vectors.similarity(one[0], two[1])
    assert type(number) is float
    assert number == pytest.approx(expected[0, 1], abs=1e-6)
    np.testing.assert_allclose(vectors.similarity(one[0], two), expected[0], atol=1e-6)
    np.testing.assert_allclose(vectors.similarity(one, two[0]), expected[:, 0], atol=1e-6)


def test_similarity_takes_whatever_has_a_vector(vectors):
    result = vectors("The good film.")
    phrase, rows = result.phrases[1], vectors.encode(["awful", "plot"])
    words = vectors.encode([str(phrase), "The good film."])
    mixed = [phrase, result.sentences[0]]
    np.testing.assert_allclose(vectors.similarity(mixed, 2 * rows), words @ rows.T, atol=HALF)
    assert vectors.similarity(phrase, phrase) == pytest.approx(1, abs=1e-6)
    assert vectors.similarity(["good", rows[0]], "awful")[1] == pytest.approx(1, abs=1e-6)
    assert max(vectors.similarity(text, text) for text in ("awful", "The good film.")) <= 1


@pytest.mark.parametrize("other", ["", np.ones(SIZE + 1), np.ones((1, 1, SIZE)), 5, ["good", None]])
def test_what_has_no_vector_of_this_model_is_not_similar(vectors, other):
    with pytest.raises(InputError, match="expected"):
        vectors.similarity("good", other)
    with pytest.raises(InputError, match="expected texts with words"):
        vectors.similarity("good", vectors(""))


def test_vectors_of_another_model_are_not_compared(vectors, tmp_path):
    other = thinstack.load(write_vector_bundle(tmp_path / "other", labels=()).path)("good film")
    for value in (other, other.sentences[0], other.phrases[0], [other.phrases[0]]):
        with pytest.raises(InputError, match="expected a result of this model"):
            vectors.similarity("good", value)
    with pytest.raises(InputError, match="expected a result of this model"):
        vectors.span_vectors(other.sentences[0], [(0, 1)])


def test_without_its_vectors_a_model_says_which_has_them(last_word, vectors):
    scores = thinstack.load(last_word.path)
    result = scores("good film. awful film.")
    phrase, sentence = result.phrases[0], result.sentences[0]
    for ask in (
        lambda: phrase.vector,
        lambda: sentence.vector,
        lambda: result.vector,
        lambda: result.vector_of(0, 4),
        lambda: scores.encode("good"),
        lambda: scores.similarity("good", "film"),
    ):
        with pytest.raises(InputError, match=r'thinstack\.load\("vectors"\) \(pip install'):
            ask()
    assert scores.width == 0
    assert vectors.width == SIZE


INSTEAD = r'{}: this model gives vectors.*: use thinstack\.load\("sentiment"\)'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_vector_bundle(tmp_path_factory.mktemp("vectors") / "alone", labels=()).path


@pytest.fixture(scope="module")
def model(folder):
    return thinstack.load(folder)


def test_a_result_has_trees_and_phrases_without_labels(model):
    result = model(TEXT)
    for copy in (result, pickle.loads(pickle.dumps(result))):
        for said in (copy, *copy.sentences, *copy.phrases):
            assert (said.label, said.scores, said.polarity) == (None, {}, None)
            assert TEXT[said.start :].startswith(said.text)
            assert repr(said.text) in repr(said)
        assert [len(sentence.phrases) for sentence in copy.sentences] == [5, 11]
    first = result.sentences[0]
    assert first.brackets == "( ( Good film ) . )"
    assert first.label_ids.tolist() == [-1] * 5
    assert not first.certain.any()
    assert result._repr_html_() is None
    assert first._repr_html_() is None


def test_its_data_are_those_of_a_text_without_label(model):
    data = json.loads(model(TEXT).to_json())
    assert (data["label"], data["polarity"], data["scores"]) == (None, None, {})
    nodes = data["sentences"][0]["nodes"]
    assert [node["text"] for node in nodes] == ["Good", "film", "Good film", ".", "Good film."]
    assert all(node["label"] is None and node["scores"] == {} for node in nodes)
    nested = model(TEXT).sentences[0].to_nested()
    assert [child["text"] for child in nested["children"]] == ["Good film", "."]


@pytest.mark.parametrize(
    ("purpose", "ask"),
    [
        ("highlights", lambda result: result.highlights()),
        ("why", lambda result: result.why()),
        ("about", lambda result: result.about("film")),
        ("a picture", lambda result: result.svg()),
        ("a picture", lambda result: result.html()),
        ("a picture", lambda result: thinstack.render(result)),
        ("classes", lambda result: thinstack.load(bundle_of(result), classes=3)),
        ("abstain", lambda result: thinstack.load(bundle_of(result), abstain=0.5)),
    ],
)
def test_what_needs_labels_says_what_to_load(model, purpose, ask):
    with pytest.raises(InputError, match=INSTEAD.format(purpose)):
        ask(model(TEXT))


def bundle_of(result):
    return result.sentences[0].predictor.bundle.path


def test_the_command_line(folder, cli, tmp_path):
    answer = cli("predict", "--model", folder, "--json", TEXT)
    assert answer.code == 0
    assert json.loads(answer.out)[0]["sentences"][0]["label"] is None
    table, page = tmp_path / "texts.csv", tmp_path / "report.html"
    table.write_text("text,label\nGood film.,positive\n")
    for purpose, arguments in {
        "a drawing": ("predict", "--model", folder, TEXT),
        "--csv": ("predict", "--model", folder, "--csv", TEXT),
        "why": ("predict", "--model", folder, "--json", "--why", TEXT),
        "evaluate": ("evaluate", folder, table),
        "report": ("report", table, "--model", folder, "--about", "film", "--out", page),
        "serve": ("serve", folder, "--port", 0, "--no-open"),
    }.items():
        answer = cli(*arguments)
        assert answer.code == 2, purpose
        assert f"error: {purpose}: this model gives vectors" in answer.err
        assert "--model sentiment" in answer.err


def test_the_component_of_spacy(folder):
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    for name in ("tree_sentiment", "tree_aspects"):
        with pytest.raises(InputError, match=INSTEAD.format(name)):
            nlp.add_pipe(name, config={"model": str(folder)})
