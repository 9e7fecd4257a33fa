"""Models whose phrases nobody trained: what they say of a sentence is all that is shown."""

import json

import numpy as np
import pytest
from last_word_model import pipeline
from predictions import prediction_of, sentences_of
from rich.console import Console
from sentence_models import PLAIN, write_sentence_bundle

from thinstack.core import Tree, transitions
from thinstack.data.trees.brackets import from_brackets
from thinstack.errors import InputError
from thinstack.evaluate.treebank_evaluation import evaluate_predictor
from thinstack.integrations.show.terminal import Drawing
from thinstack.integrations.spacy import predictions
from thinstack.runtime.predictor import Predictor

LABELS = ("negative", "neutral", "positive")
SENTENCES = [["good", "film", "."], ["awful"], ["film", "awful", "good", "."]]


@pytest.fixture(scope="module")
def roots(tmp_path_factory):
    return write_sentence_bundle(tmp_path_factory.mktemp("roots") / "model", labels=LABELS)


@pytest.fixture(scope="module")
def predictor(roots):
    return Predictor(roots.bundle, threads=1)


def test_the_scores_are_those_of_roots(roots, predictor):
    assert not predictor.phrases
    for shape, source in ((transitions.left, "auto"), (transitions.right, "right")):
        for words, found in zip(
            SENTENCES, predictor.predict(SENTENCES, source=source), strict=True
        ):
            steps = shape(len(words))
            assert found.transitions.tolist() == steps.tolist()
            np.testing.assert_allclose(found.node_scores, [roots.scores(words, steps)], atol=1e-5)


def shown(prediction):
    console = Console(width=80, record=True)
    console.print(Drawing(prediction))
    return console.export_text()


def test_only_the_sentence_is_listed_and_drawn(predictor):
    first, word, _ = predictor.predict(SENTENCES)
    data = json.loads(json.dumps(first.to_dict()))
    names = "text start label polarity scores tree transitions nodes"
    assert list(data) == names.split()
    assert (data["tree"], data["transitions"]) == ("( ( good film ) . )", [0, 0, 1, 0, 1])
    (node,) = data["nodes"]
    assert (node["start"], node["end"], node["text"]) == (0, 11, "good film .")
    assert (
        node["scores"]
        == data["scores"]
        == pytest.approx(dict(zip(LABELS, first.node_scores[0].tolist(), strict=True)), abs=1e-6)
    )
    assert first.tree.labels == (None, None, None, None, str(LABELS.index(first.label)))
    assert word.to_dict()["tree"] == f"({LABELS.index(word.label)} awful)"
    drawing = shown(first)
    assert first.label in drawing
    assert "good film ." in drawing
    assert drawing.count("film") == 1


def test_figures_are_of_sentences(roots, predictor):
    treebank = []
    for words in SENTENCES:
        best = int(roots.scores(words, transitions.left(len(words))).argmax())
        known = np.full(2 * len(words) - 1, -1)
        known[-1] = best if words != ["awful"] else (best + 1) % 3
        made = transitions.left(len(words))
        treebank.append((prediction_of(words, made, np.ones((1, 3)), LABELS).tree, known))
    for settings in ({}, {"source": "auto"}, {"source": "auto", "text": True}):
        figures = evaluate_predictor(predictor, treebank, **settings)
        assert (figures["roots"], figures["root_accuracy"]) == (3, pytest.approx(200 / 3))
        assert (figures["phrases"], figures["phrase_accuracy"]) == (0, None)
    assert evaluate_predictor(predictor, treebank, source="auto")["span_f1"] == 100
    assert evaluate_predictor(predictor, treebank, source="right")["span_f1"] < 100


def test_spacy_has_the_results_of_sentences_alone(roots, predictor):
    doc = pipeline(roots.bundle.path)("good film . awful")
    (first, second), (alone, _) = doc.sents, predictor.predict([SENTENCES[0], ["awful"]])
    assert [(item["start"], item["end"]) for item in doc._.sentiment_phrases] == [(0, 3), (3, 4)]
    scores = dict(zip(LABELS, alone.node_scores[0].tolist(), strict=True))
    assert first._.sentiment_scores == pytest.approx(scores, abs=1e-6)
    assert first._.sentiment_label == alone.label
    assert first._.sentiment_tree == "( ( good film ) . )"
    assert [item["text"] for item in first._.sentiment_phrases] == ["good film ."]
    assert second._.sentiment_label == predictor.predict([["awful"]])[0].label
    for inner in (doc[0:1], doc[0:2], doc[2:3]):
        assert (inner._.sentiment_span.text, inner._.sentiment_exact) == ("good film .", False)
        assert inner._.sentiment_label == alone.label
    assert next(found.to_dict()["tree"] for found in predictions(doc)) == "( ( good film ) . )"
    assert from_brackets(second._.sentiment_tree).words == ("awful",)


def test_a_term_needs_phrases(predictor):
    result = predictor("good film")
    with pytest.raises(InputError, match=r'about: .*scores only sentences: use .*"sentiment"'):
        result.about("film")
    assert result.about("menu") == []


# -- plain sentences


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Of a head that would score phrases, if there were any."""
    folder = tmp_path_factory.mktemp("plain") / "model"
    return write_sentence_bundle(folder, "node_classifier.v1", **PLAIN)


def test_plain_sentences_are_scored_and_have_no_tree(plain):
    predictor = Predictor(plain.bundle, threads=1)
    for found, words in zip(predictor.predict(SENTENCES), SENTENCES, strict=True):
        np.testing.assert_allclose(found.node_scores, [plain.scores(words)], atol=1e-5)
        data = json.loads(json.dumps(found.to_dict()))
        assert (found.tree, data["tree"], data["transitions"]) == (None, None, [])
        assert [node["text"] for node in data["nodes"]] == [" ".join(words)]
        assert shown(found).count(" ".join(words)) == 1
    assert predictor.tree_maker()(SENTENCES[0]).tolist() == []
    ((text,),) = sentences_of(predictor, ["good film."])
    np.testing.assert_allclose(text.node_scores, [plain.scores(SENTENCES[0])], atol=1e-5)


LONG = ["good", "film", ";", "awful", "film", ".", "good"]


@pytest.mark.parametrize("kind", ["roots", "plain"])
def test_a_long_sentence_has_the_mean_of_its_parts(kind, request):
    model = request.getfixturevalue(kind)
    found, short = Predictor(model.bundle, max_words=4).predict([LONG, ["film"]])
    halves = [(words, transitions.left(len(words))) for words in (LONG[:3], LONG[3:])]
    halves = halves if kind == "roots" else [(words,) for words, _ in halves]
    means = np.average([model.scores(*half) for half in halves], axis=0, weights=[3, 4])
    np.testing.assert_allclose(found.node_scores, [means], atol=1e-5)
    assert (found.parts, short.parts) == (((0, 3), (3, 7)), ((0, 1),))
    assert found.to_dict()["nodes"][0]["text"] == " ".join(LONG)
    if kind == "roots":
        assert found.transitions.tolist() == [*halves[0][1], *halves[1][1], 1]
    else:
        assert found.tree is None


def test_plain_sentences_take_no_trees(plain):
    predictor, words = Predictor(plain.bundle, threads=1), SENTENCES[:1]
    for trees in ("left", "self", [transitions.left(3)]):
        with pytest.raises(InputError, match="plain sentences"):
            predictor.trees_and_scores(words, trees)
    with pytest.raises(InputError, match="plain sentences"):
        predictor.predict(words)[0].why()
    with pytest.raises(InputError, match="found 'left'"):
        pipeline(plain.bundle.path, source="left")


def test_figures_of_plain_sentences_over_any_trees(plain):
    best = [int(plain.scores(words).argmax()) for words in SENTENCES]
    gold = Tree.from_parents([1, -1, 1], SENTENCES[0])  # its root is not the last node
    others = [Tree.left(words) for words in SENTENCES[1:]]
    known = [
        np.full(len(tree), (label + 1) % 3) for tree, label in zip(others, best[1:], strict=True)
    ]
    treebank = [(gold, np.array([-1, best[0], -1])), *zip(others, known, strict=True)]
    for settings in ({}, {"source": "auto"}, {"source": "auto", "text": True}):
        figures = evaluate_predictor(Predictor(plain.bundle, threads=1), treebank, **settings)
        assert (figures["roots"], figures["root_accuracy"]) == (3, pytest.approx(100 / 3))
        assert (figures["phrases"], "span_f1" in figures) == (0, False)
