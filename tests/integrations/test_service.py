"""`POST /predict` of `thinstack serve`: its answers, and the document that describes them. Its page
labels a table: what is doubtful, and what is saved."""

import csv
import re
from functools import partial

import pyarrow
import pytest
import tiny_texts

import thinstack
from thinstack.data.tables.table import Table
from thinstack.errors import DataError, InputError
from thinstack.integrations.serving.labelling import Labelling

TEXT = "The 😀 acting is superb. The plot never comes alive."
LONG = "good " * 405


def test_a_text_is_answered_as_by_the_library(server, ask):
    expected = server.predictor(TEXT).to_dict()
    assert ask("POST", "/predict", {"text": TEXT, "phrases": True}) == (200, expected)
    status, brief = ask("POST", "/predict", {"text": TEXT})
    assert (status, brief["label"]) == (200, expected["label"])
    assert brief["polarity"] == expected["polarity"]
    assert [*brief["sentences"][1]] == ["text", "start", "label", "polarity", "scores"]
    assert TEXT[brief["sentences"][1]["start"] :] == brief["sentences"][1]["text"]


def test_several_texts_are_answered_in_order(server, ask):
    texts = ["A good film.", "", "So dull."]
    status, answer = ask("POST", "/predict", {"texts": texts})
    assert status == 200
    expected = [each.label for each in server.predictor(texts)]
    assert [each["label"] for each in answer["results"]] == expected
    assert answer["results"][1]["sentences"] == []
    assert ask("POST", "/predict", {"texts": []}) == (200, {"results": []})


def test_what_is_said_of_terms_is_answered(server, ask):
    terms, texts = ["plot", "cast|acting"], [TEXT, "A good film."]
    status, answer = ask("POST", "/predict", {"texts": texts, "about": terms})
    said = [[one.to_dict() for one in server.predictor(text).about(*terms)] for text in texts]
    assert (status, [one["about"] for one in answer["results"]]) == (200, said)
    assert [one["asked"] for one in said[0]] == ["cast|acting", "plot"]
    status, drawn = ask("POST", "/drawing", {"text": TEXT, "about": terms})
    assert [one["text"] for one in drawn["aspects"]] == ["acting", "plot"]
    assert drawn["aspects"][0]["because"] == said[0][0]["because"]["text"]
    labels = [server.predictor.labels[one["label"]] for one in drawn["aspects"]]
    assert labels == [one["label"] for one in said[0]]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"texts": ["a", 3]}, "'texts': ['a', 3]"),
        ({"text": "a", "texts": []}, "text, texts"),
        ({"text": "a", "phrases": 1}, "'phrases': 1"),
        ({"text": "a", "nodes": True}, "nodes"),
        ({"text": "a", "about": "b"}, "'about': 'b'"),
        ({"text": "a", "about": ["b", 3]}, "'about': ['b', 3]"),
        ({"text": "a", "about": ["--"]}, "--"),
        ({"texts": "a"}, "'texts': 'a'"),
        ({}, "the keys"),
        *((body, "no JSON") for body in (b"[" * 100_000, b"{", b"\xff", b"9" * 5000)),
        *((body, "as JSON") for body in ([], {"text": 3}, b'{"text": NaN}')),
        (b'{"texts": ["a", "b \\ud800"]}', "text 1"),
        (b'{"text": "a \\ud800"}', "Unicode"),
    ],
)
def test_a_wrong_request_is_named(ask, body, named):
    status, answer = ask("POST", "/predict", body)
    assert (status, [*answer]) == (400, ["error"])
    assert named in answer["error"]


@pytest.mark.parametrize(
    ("method", "path", "expected", "named"),
    [
        ("GET", "/predict", 405, "a POST"),
        ("PUT", "/predict", 501, "PUT"),
        ("POST", "/nothing", 404, "/predict"),
        ("GET", "/nothing", 404, "is at /"),
    ],
)
def test_other_requests_are_errors_in_json(ask, method, path, expected, named):
    status, answer = ask(method, path, {"text": "a"})
    assert (status, [*answer], named in answer["error"]) == (expected, ["error"], True)


@pytest.fixture
def described(ask):
    status, document = ask("GET", "/openapi.json")
    assert status == 200
    return document


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/predict", {"text": TEXT, "phrases": True}),
        ("POST", "/predict", {"text": LONG, "phrases": True}),
        ("POST", "/predict", {"texts": [TEXT, ""], "about": ["acting", "plot"]}),
        ("POST", "/predict", {"text": 3}),
        ("GET", "/model", b""),
    ],
)
def test_answers_are_as_described(ask, described, method, path, body):
    validator = pytest.importorskip("jsonschema").Draft202012Validator  # that of OpenAPI 3.1
    status, answer = ask(method, path, body)
    said = described["paths"][path][method.lower()]["responses"][str(status)]
    schema = said["content"]["application/json"]["schema"]
    schema = {"$ref": "#/s", "s": schema, "components": described["components"]}
    validator(schema).validate(answer)


def test_examples_are_requests_that_are_answered(ask, described):
    asked = described["paths"]["/predict"]["post"]["requestBody"]["content"]
    for example in asked["application/json"]["examples"].values():
        assert ask("POST", "/predict", example["value"])[0] == 200


def test_pasted_texts_have_phrases_that_are_near(server, ask, monkeypatch, vector_folder):
    assert ask("POST", "/near", {"text": "awful"}) == (200, []), "no text is there yet"
    assert ask("POST", "/texts", {"texts": ["A good film."]})[0] == 400, "no vectors"
    model = thinstack.load(vector_folder)
    texts = ["good film", "the awful plot", *["the plot is awful"] * 70]
    monkeypatch.setattr(server, "predictor", model)
    monkeypatch.setattr(server, "collection", None)
    index = thinstack.PhraseIndex(model)
    index.add(texts, range(1, len(texts) + 1))
    status, summary = ask("POST", "/texts", {"texts": texts})
    assert (status, summary["texts"], summary["phrases"]) == (200, 72, len(index))
    themes = thinstack.themes(pyarrow.table({"text": texts}), model=model, most=5, quotes=1)
    said = [(one["side"], one["name"], one["texts"]) for one in summary["themes"]]
    assert said == [(theme.side, theme.title, theme.figures.texts) for theme in themes] != []
    status, near = ask("POST", "/near", {"text": "awful"})
    hits = index.search("awful", 8)
    assert (status, near[0]["phrase"], near[0]["text"]) == (200, "awful", 2)
    said = [(one["phrase"], one["polarity"], one["count"]) for one in near]
    assert said == [(hit.phrase, hit.polarity, hit.count) for hit in hits]
    assert ask("POST", "/near", {"text": ""})[0] == 400
    for foreign in (["Это совсем не английский текст"] * 9, [""], ["!"], []):
        status, summary = ask("POST", "/texts", {"texts": foreign})
        assert (status, summary["themes"]) == (200, []), "no theme is no error"
    assert ask("POST", "/texts", {"texts": ["a"] * 20_001})[0] == 413


TEXTS = ("Dreadful.", "A wonderful, wonderful film.", 'It is so-so,\nand "fine".', "Not bad.")
GIVEN = ("bad", "good", "", "good")


@pytest.fixture
def table(tmp_path):
    """A table that repeats a text, and has one without words."""
    rows = [*zip(TEXTS, GIVEN, strict=True), ("DREADFUL.", "good"), ("\u200b", "bad")]
    return Table(tiny_texts.write_rows(tmp_path / "t.csv", rows))


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_the_least_certain_text_comes_first(sentiment, table, tmp_path):
    labelling = Labelling(table, sentiment, tmp_path / "c.csv")
    best = {text: max(sentiment(text).scores.values()) for text in TEXTS}
    assert [one.text for one in labelling.texts] == sorted(TEXTS, key=best.__getitem__)
    for place, one in enumerate(labelling.texts):
        assert one.probability == pytest.approx(best[one.text], abs=1e-5)
        row = labelling.row(place)
        assert (row["predicted"], row["chosen"]) == (sentiment(one.text).label, None)
        assert row["label"] == GIVEN[TEXTS.index(one.text)]
    assert labelling.labels == ("bad", "good")
    assert not (tmp_path / "c.csv").exists(), "nothing is written before there is a label"


def test_a_label_is_in_the_file_at_once_and_is_not_asked_for_again(sentiment, table, tmp_path):
    out = tmp_path / "c.csv"
    labelling = Labelling(table, sentiment, out)
    (first, second), saved = labelling.texts[:2], [["text", "label"]]
    for place, label in ((0, "bad"), (1, "good"), (0, "good")):
        labelling.save(place, label)
        saved.append([labelling.texts[place].text, label])
        assert rows_of(out) == saved
    out.write_bytes(out.read_bytes().removesuffix(b"\n"))  # as some editors leave it
    again = Labelling(table, sentiment, out)
    assert len(again.saved) == 2
    assert {first.text, second.text}.isdisjoint(one.text for one in again.texts)
    again.save(0, "bad")
    assert [row.values["text"] for row in Table(out).rows(["text"])][-1] == again.texts[0].text
    again.save(1, "bad")
    out.rename(tmp_path / "kept.csv")
    out.mkdir()
    with pytest.raises(InputError, match="could not be saved"):
        again.save(0, "good")
    out.rmdir()
    (tmp_path / "kept.csv").rename(out)
    with pytest.raises(InputError, match=re.escape(str(out))):
        Labelling(table, sentiment, out)


@pytest.mark.parametrize(
    ("content", "options", "kind", "named"),
    [
        ("review,label\nA.,x\n", {}, DataError, "'text'.*did you|'text'.*--text"),
        ("text,stars\nA.,x\n", {"label": "star"}, DataError, "'star'.*--label"),
        ("text,label\nA.,x\nB.,x\n", {}, InputError, "found 1:.*--label"),
        ("text,label\n" + "".join(f"A{n}.,{n}\n" for n in range(36)), {}, InputError, "found 36"),
    ],
)
def test_a_table_that_cannot_be_labelled_is_refused(
    sentiment, tmp_path, content, options, kind, named
):
    (tmp_path / "t.csv").write_text(content, "utf-8")
    with pytest.raises(kind, match=named):
        Labelling(Table(tmp_path / "t.csv"), sentiment, tmp_path / "c.csv", **options)


def test_another_file_is_not_written_to(sentiment, table, tmp_path):
    out = tiny_texts.write_rows(tmp_path / "c.csv", [("A.", "x")])
    with pytest.raises(DataError, match=r"'body' and 'label', found 'text', 'label'.*--out"):
        Labelling(table, sentiment, out, text="body")
    out.write_text("text;label\nA.;x\n", "utf-8")  # as some spreadsheets save it
    with pytest.raises(DataError, match=r"found 'text;label'.*--out"):
        Labelling(table, sentiment, out)


@pytest.mark.parametrize("content", ["text\nA film.\n", "text,label\nA film.,positive\nFine.,\n"])
def test_without_other_labels_those_of_the_model_are_chosen_from(sentiment, tmp_path, content):
    (tmp_path / "t.csv").write_text(content, "utf-8")
    labelling = Labelling(Table(tmp_path / "t.csv"), sentiment, tmp_path / "c.csv")
    assert labelling.labels == sentiment.labels


def test_the_page_reads_and_saves_rows(server, ask, table, monkeypatch, tmp_path):
    labelling = Labelling(table, server.predictor, tmp_path / "c.csv")
    monkeypatch.setattr(server, "labelling", labelling)
    labelled = partial(ask, "POST", "/row")
    first = server.labelling.texts[0]
    status, row = labelled({"place": 0})
    assert (status, row) == (200, first._asdict() | {"chosen": None, "saved": 0})
    status, row = labelled({"place": 0, "label": "good"})
    assert (status, row["chosen"], row["saved"]) == (200, "good", 1)
    assert rows_of(tmp_path / "c.csv")[1:] == [[first.text, "good"]]
    before = (tmp_path / "c.csv").read_bytes()
    for wrong in ({"place": 9, "label": "good"}, {"place": 0, "label": "x"}, {"place": -1}, [], {}):
        status, answer = labelled(wrong)
        assert (status, [*answer]) == (400, ["error"])
    refused = labelled({"place": 0, "label": "bad"}, Origin="http://evil.example")
    assert (refused[0], (tmp_path / "c.csv").read_bytes()) == (403, before)
    server.labelling = None
    assert labelled({"place": 0})[0] == 404
