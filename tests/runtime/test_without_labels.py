"""A model that gives vectors alone: what a result is without labels, and what needs them."""

import json
import pickle

import pytest
from vector_models import write_vector_bundle

import thinstack
from thinstack.errors import InputError

TEXT = "Good film. The plot but the film."
INSTEAD = r'{}: this model gives vectors and no labels: .*thinstack\.load\("sentiment"\)'


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
        assert f"error: {purpose}: this model gives vectors and no labels" in answer.err
        assert "--model sentiment" in answer.err


def test_the_component_of_spacy(folder):
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    for name in ("tree_sentiment", "tree_aspects"):
        with pytest.raises(InputError, match=INSTEAD.format(name)):
            nlp.add_pipe(name, config={"model": str(folder)})
