"""The npm package gives the trees, scores and drawings of Python."""

import numpy as np
import pytest
from bundle_folders import GOLDEN
from js.package import JS, SST, asked, loaded, needs_package, utf16, with_metadata
from js.texts import hostile, own, treebank, typed
from predictions import sentences_of
from sentence_models import PLAIN, write_sentence_bundle

import thinstack
from thinstack.bundle import open_bundle, write_bundle
from thinstack.bundle.manifest import ONNX_FILE, VOCABULARY_FILE
from thinstack.core.config import ModelConfig
from thinstack.core.scale import FIVE

MODELS = JS.parent / "models"
CONTEXT = MODELS / "thinstack-sentiment-context" / "thinstack_sentiment_context" / "model"

pytestmark = needs_package


def assert_same(found, expected, tolerance=1e-6):
    assert found["words"] == list(expected.words)
    assert found["transitions"] == expected.transitions.tolist()
    np.testing.assert_allclose(found["scores"], expected.node_scores, rtol=0, atol=tolerance)
    assert found["parts"] == [list(part) for part in expected.parts]
    assert found["polarity"] == pytest.approx(expected.polarity, abs=2 * tolerance)
    assert found["weight"] == pytest.approx(expected.weight, abs=tolerance)
    # Of two classes as probable as can be, rounding chooses.
    second, best = np.sort(expected.node_scores, axis=1)[:, -2:].T
    clear = min((best - second).min(), np.abs(best - expected.abstain).min())
    if clear > 2 * tolerance:
        assert found["label"] == expected.label
        assert found["brackets"] == expected.brackets


def compare(bundle, texts, options=None, *, entry="node"):
    """Python's and the package's answers on texts, in one call each. In WebAssembly, the last digit
    of a state may round it to another whole number for a product in 8 bits."""
    tolerance = 1e-3 if entry == "web" else 1e-6
    options = options or {}
    model = loaded(bundle, options)
    found = asked("predict", bundle=str(bundle), texts=texts, options=options, entry=entry)
    for text, expected in zip(found, model(texts), strict=True):
        for sentence, own_sentence in zip(text["sentences"], expected.sentences, strict=True):
            assert_same(sentence, own_sentence, tolerance)
        assert text["scores"] == pytest.approx(expected.scores, abs=tolerance)
        assert text["polarity"] == pytest.approx(expected.polarity, abs=2 * tolerance)
        assert text["known"] == expected.known
        order = sorted(expected.scores.values())
        if not order or order[-1] - order[-2] > 3 * tolerance:
            assert text["label"] == expected.label
        if entry == "node":  # the scores are the same to the last bit, so no choice is otherwise
            assert_same_highlights(text["highlights"], expected)


def assert_same_highlights(found, result):
    places = utf16(result.text)
    phrases = result.highlights(5)
    expected = [(each.text, places[each.start], places[each.end], each.label) for each in phrases]
    names = ("text", "start", "end", "label")
    assert [tuple(each[name] for name in names) for each in found] == expected
    polarity = [each.polarity for each in phrases]
    assert [each["polarity"] for each in found] == pytest.approx(polarity, abs=1e-6)


def some(count):
    """Sentences of the suite, and random texts."""
    return [*own()[:count], *hostile(count, seed=3), *typed(count, seed=7), "", " \n"]


def test_development_sentences():
    texts = treebank("dev.txt")
    if not texts:
        pytest.skip("needs the Stanford Sentiment Treebank: THINSTACK_DATA")
    compare(SST, texts)


def test_texts():
    compare(SST, [*own()[:600], *hostile(400, seed=4)])


def test_texts_as_people_type_them():
    compare(SST, typed(10_000, seed=6))


def test_in_webassembly():
    compare(SST, some(150), entry="web")


def test_words_in_context():
    compare(CONTEXT, [*(treebank("dev.txt") or own())[:150], *hostile(30, seed=5)])


@pytest.mark.parametrize("options", [{}, {"aggregation": "mean"}, {"maxWords": 3}], ids=str)
def test_texts_as_trees(options):
    """The last ones are longer than one tree, and so is a sentence of two of them."""
    lines = ["The film is good.", "Odd caf\u00e9s, the films and the rest!", "Good"]
    texts = [
        " ".join((lines * 9)[start : start + count]) for start, count in [(0, 2), (1, 7), (2, 25)]
    ]
    texts += [*some(60), "The film. " * 900, f"Good. {'film , ' * 1100}. Good."]
    compare(GOLDEN / "texts", texts, options)


def test_words_whose_trees_are_given_to_a_model_of_texts():
    words = [["the", "film", "is", "good"], ["film"]]
    expected = thinstack.load(GOLDEN / "texts", threads=1).predict(words, source="right")
    found = asked("predict", bundle=str(GOLDEN / "texts"), words=words, how={"source": "right"})
    for sentence, own_sentence in zip(found, expected, strict=True):
        assert_same(sentence, own_sentence)


@pytest.mark.parametrize("name", ["words", "wordpiece-parser"])
def test_golden_bundles(name):
    texts = ["the film is not as good as the book", *some(150), "the the the the the"]
    compare(GOLDEN / name, texts)


@pytest.mark.parametrize(
    "options",
    [{"classes": 3}, {"classes": 2, "abstain": 0.7}, {"classes": 5, "abstain": 0.6}],
    ids=str,
)
def test_views(options):
    compare(SST, some(60), options)


def test_long_sentences():
    texts = [". ".join(own()[start : start + 9]).replace(".", ",") for start in range(0, 90, 9)]
    compare(SST, texts, {"maxWords": 7})
    compare(SST, ["good " * 2001, "so , " * 700], {"classes": 2})
    compare(CONTEXT, ["well-made, " * 300])


def test_long_words():
    units = ["http://a.b/", "?", "好"]
    compare(SST, [f"{unit * 4000} is a good film" for unit in units])
    compare(SST, ["a_b-" * 900], {"maxWords": 500})
    words = [["a/" * 3000, "x"], ["/" * 500] * 40, ["good", "a/b-" * 1000]]
    expected = thinstack.load(SST, threads=1).predict(words)
    found = asked("predict", bundle=str(SST), words=words)
    for sentence, own_sentence in zip(found, expected, strict=True):
        assert_same(sentence, own_sentence)
    assert [len(each.parts) for each in expected] == [1, 2, 1]


@pytest.mark.parametrize("told", ["roots", "nodes"])
def test_sentences_alone(tmp_path, told):
    """The file says whether phrases have scores."""
    bundle = write_sentence_bundle(tmp_path / "roots").bundle
    if told == "nodes":
        bundle = with_metadata(bundle, tmp_path / "nodes", reads=told)
    assert thinstack.load(bundle.path).phrases == (told == "nodes")
    compare(bundle.path, ["good awful film .", "A film (good)", "good"])


def test_plain_sentences(tmp_path):
    texts = ["good awful film .", "A film (good)", "good"]
    compare(write_sentence_bundle(tmp_path / "plain", **PLAIN).bundle.path, texts, {"maxWords": 2})


@pytest.mark.parametrize("source", ["balanced", "left", "right", "self", "given"])
def test_sources_of_trees(source):
    words = [text.split() for text in own()[:20]] + [["good"], ["(", "a b", ""]]
    predictor = thinstack.load(SST, threads=1)
    given = [np.array([*[0] * len(each), *[1] * (len(each) - 1)]) for each in words]
    expected = predictor.predict(words, source=given if source == "given" else source)
    told = [each.tolist() for each in given] if source == "given" else source
    found = asked("predict", bundle=str(SST), words=words, how={"source": told})
    for sentence, own_sentence in zip(found, expected, strict=True):
        assert_same(sentence, own_sentence)


def test_the_json_form():
    text = "A good film. The second half (alas) is dull, though."
    expected = thinstack.load(SST, threads=1)(text).to_dict()
    assert_alike(asked("data", bundle=str(SST), text=text), expected)


def assert_alike(found, expected):
    """That data is the same, but for the last digit of numbers."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, list):
        for pair in zip(found, expected, strict=True):
            assert_alike(*pair)
    else:
        is_close = isinstance(expected, float)
        assert found == (pytest.approx(expected, abs=2.1e-6) if is_close else expected)


# -- drawings, byte for byte


def compare_drawn(bundle, texts, options=None):
    predictor = thinstack.load(bundle, threads=1, **(options or {}))
    found = asked("drawn", bundle=str(bundle), texts=texts, options=options or {})
    for (tree, text), sentences in zip(found, sentences_of(predictor, texts), strict=True):
        assert tree == thinstack.render(sentences)
        assert text == thinstack.render(sentences, "text")


@pytest.mark.parametrize("options", [{}, {"classes": 3, "abstain": 0.7}, {"classes": 2}], ids=str)
def test_drawings(options):
    long = ["good " * 100, "not " * 700, "a well-made, " * 600, "word" * 200]
    compare_drawn(SST, [*own()[:150], *hostile(300, seed=7), "", *long], options)


def test_drawings_of_other_classes_and_of_sentences_alone(tmp_path):
    texts = ["good awful film .", "A film (good)", "good. A film."]
    compare_drawn(GOLDEN / "words", [*texts, *hostile(30, seed=8)])
    roots = write_sentence_bundle(tmp_path / "roots").bundle.path
    compare_drawn(roots, [*texts, "good film " * 60])
    compare_drawn(write_sentence_bundle(tmp_path / "plain", **PLAIN).bundle.path, texts)


SIGNS = {"-1": FIVE[:2], "0": FIVE[2:3], "1": FIVE[3:]}
SIDES = {"bad": FIVE[:2], "good": FIVE[3:]}


@pytest.mark.parametrize("weights", [(), (0.5, 2.0, 1.25)])
@pytest.mark.parametrize("sets", [SIGNS, SIDES], ids=" ".join)
def test_labels_that_stand_for_sets_of_classes(tmp_path, sets, weights):
    base = open_bundle("sentiment")
    more = {"class_sets": sets, "class_weights": weights[: len(sets)]}
    config = ModelConfig.model_validate(base.config.model_dump() | more)
    files = {name: base.read(name) for name in (VOCABULARY_FILE, ONNX_FILE)}
    write_bundle(tmp_path / "own", files, config=config)
    compare(tmp_path / "own", some(100))
    compare_drawn(tmp_path / "own", some(50))
