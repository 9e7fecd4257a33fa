"""Which class of a model each label of a table means."""

from types import SimpleNamespace

import pytest
from aspect_models import write_aspect_bundle
from tiny_texts import write_table

import thinstack
from thinstack.data.tables.table import Table
from thinstack.data.tables.table_rows import TableRow
from thinstack.errors import DataError, InputError
from thinstack.evaluate.suite import halves, read_suite
from thinstack.evaluate.text_evaluation import evaluate_table, gold_labels


@pytest.fixture(scope="module")
def models():
    return {
        classes: thinstack.load("sentiment", threads=1, classes=classes) for classes in (2, 3, 5)
    }


def meaning_of(predictor, labels, **relabel):
    names = enumerate(labels.split(","), start=2)
    rows = [TableRow(line, {"label": name}) for line, name in names]
    return gold_labels(rows, "label", predictor, relabel, "t.csv")


def test_labels_are_read_for_a_model_of_aspects_too(tmp_path):
    folder = write_aspect_bundle(tmp_path / "aspects").path
    three, two = (thinstack.load(folder, threads=1, classes=classes) for classes in (None, 2))
    assert [*meaning_of(three, "pos,neg,neu")[0].values()] == [2, 0, 1]
    assert [*meaning_of(three, "positive,no term")[0].values()] == [2, -1]
    assert [*meaning_of(two, "pos,neg,neu")[0].values()] == [1, 0, -1]


@pytest.mark.parametrize(
    ("classes", "labels", "expected"),
    [
        (5, "very negative,neutral,positive", [0, 2, 3]),
        (5, "Very  Negative,NEUTRAL", [0, 2]),
        (5, "0,4,2", [0, 4, 2]),
        (5, "1,4,2", None),  # stars?
        (5, "0,1,2", None),  # of three classes?
        (2, "0,4", [0, 1]),
        (5, "0.0,3.0,04", [0, 3, 4]),
        (5, "pos,neg,neu", [3, 1, 2]),
        (5, "negative,somewhat negative,neutral,somewhat positive,positive", [0, 1, 2, 3, 4]),
        (3, "0,1,2,3,4", [0, 0, 1, 2, 2]),
        (3, "0,1,2", [0, 1, 2]),
        (2, "very positive,neutral,negative", [1, -1, 0]),
        (2, "0,1,2,3,4", [0, 0, -1, 1, 1]),
        (5, "0,1", None),
        (3, "-1,0,1", None),
        (5, "5 stars,1 star", None),
    ],
)
def test_labels_are_read_as_a_person_means_them(models, classes, labels, expected):
    if expected is None:
        with pytest.raises(DataError) as raised:
            meaning_of(models[classes], labels)
        problem = raised.value.args[0]
        assert ", ".join(models[classes].labels) in problem
        assert all(repr(name) in problem for name in labels.split(","))
        assert "--relabel" in problem
        return
    places, _ = meaning_of(models[classes], labels)
    assert [places[name] for name in labels.split(",")] == expected


def test_a_label_that_is_shown_is_not_another_class_of_that_name(models):
    shown = "negative", "slightly negative", "slightly positive", "positive"
    config = SimpleNamespace(labels=models[5].config.labels)
    own = SimpleNamespace(labels=shown, config=config, view=models[5].view)
    assert [*meaning_of(own, ",".join(shown))[0].values()] == [0, 1, 2, 3]


def test_the_label_that_is_measured_is_the_one_that_is_predicted(models, tmp_path):
    cases = [case.text for case in halves(read_suite("polarity"), "open")]
    results = list(models[5].stream(cases))
    odd = [one for one in results if one.label != max(one.scores, key=one.scores.get)]
    assert odd
    write_table(tmp_path / "t.csv", [{"text": one.text, "label": one.label} for one in odd])
    figures, _ = evaluate_table(models[5], Table(tmp_path / "t.csv"), wrong=(wrong := []))
    assert (figures["accuracy"], wrong) == (100.0, [])


def test_a_text_without_words_is_a_row_that_cannot_be_used(models, tmp_path):
    rows = [{"text": text, "label": "positive"} for text in ("Lovely.", "\u200b", "Superb.")]
    table = Table(write_table(tmp_path / "t.csv", rows))
    with pytest.raises(DataError, match=r"t\.csv:3: expected a text with words"):
        evaluate_table(models[5], table)
    figures, _ = evaluate_table(models[5], table, skipped=(skipped := []))
    assert (figures["texts"], len(skipped)) == (2, 1)


def test_what_was_not_taken_as_it_stands_is_said(models):
    assert meaning_of(models[5], "negative,very positive,neutral")[1] == []
    _, (read,) = meaning_of(models[5], "0,4")
    assert "0 as very negative, 4 as very positive" in read
    assert "--classes 2" in meaning_of(models[5], "negative,positive")[1][0]


def test_labels_get_other_names(models):
    names = {"5": "very positive", "4.0": "Positive", "1": "negative", "NA": ""}
    assert meaning_of(models[2], "5,4,1,NA", **names)[0] == {"5": 1, "4": 1, "1": 0, "NA": -1}
    written = {"1": "positive", "1.0": "negative"}
    assert [*meaning_of(models[2], "1,1.0,01", **written)[0].values()][:2] == [1, 0]
    for relabel in ({"3": "positive"}, {"5": "good"}):
        with pytest.raises(InputError, match=next(iter(relabel)) if "3" in relabel else "good"):
            meaning_of(models[2], "5,1", **relabel)


def test_a_table_is_measured_by_what_its_labels_mean(models, tmp_path):
    (tmp_path / "t.csv").write_text("text,label\nWonderful.,1\nAwful.,0\nWell.,NA\n", "utf-8")
    for relabel, problem in (({}, "'NA'.*--relabel"), ({"NA": "", "2": "x"}, "no label '2'")):
        with pytest.raises((DataError, InputError), match=problem):
            evaluate_table(models[2], Table(tmp_path / "t.csv"), relabel=relabel)
    notes = []
    figures, counts = evaluate_table(
        models[2], Table(tmp_path / "t.csv"), relabel={"NA": ""}, notes=notes
    )
    assert (figures["accuracy"], counts.tolist()) == (100, [[1, 0], [0, 1]])
    assert "NA not at all" in notes[0]


def test_wrong_texts_are_listed_and_bad_rows_skipped_on_request(models, cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("body,label\nWonderful.,1\n,0\nAwful.,1\nAwful.,0\nBad.,NA\n", "utf-8")
    columns, skipped, wrong = {"text": "body", "relabel": {"NA": ""}}, [], []
    evaluate_table(models[2], Table(path), skipped=skipped, wrong=wrong, **columns)
    (awful,) = wrong
    assert awful[:4] == (4, "Awful.", "positive", "negative")
    assert awful.probability == pytest.approx(models[2]("Awful.").scores["negative"], abs=1e-5)
    assert [str(error).split(": ")[0] for error in skipped] == [f"{path}:3"]
    options = ("--text", "body", "--classes", 2, "--relabel", "NA=")
    stopped = cli("evaluate", path, *options)
    assert (stopped.code, "--skip-bad" in stopped.err) == (2, True)
    out = tmp_path / "wrong.csv"
    answer = cli("evaluate", path, *options, "--skip-bad", "--list-wrong", out)
    assert f"{path}:3" in answer.err
    assert out.read_text("utf-8").splitlines()[1].startswith("4,Awful.,positive,negative,0.")
    assert cli("evaluate", path, *options, "--skip-bad", "--list-wrong", path).code == 2


def test_what_decides_about_a_wrong_text_is_named(models, tmp_path):
    """The surest comes first; of several sentences those of the label count."""
    path, wrong = tmp_path / "t.csv", []
    texts = ["The film is good, but it is far too long and a dreadful bore.", "Dreadful. A tree."]
    lines = "".join(f'"{text}",positive\n' for text in (*texts, "A tree is a dreadful plant."))
    path.write_text(f"text,label\n{lines}", "utf-8")
    evaluate_table(models[2], Table(path), wrong=wrong)
    assert [one.probability for one in wrong] == sorted(one.probability for one in wrong)[::-1]
    because = {one.text: one.because for one in wrong}
    turned = [part.text for part in models[2](texts[0]).why() if part.turning]
    assert because[texts[0]] == turned[0]
    assert "dreadful" in turned[0]
    assert because[texts[1]] == "Dreadful.", "the other sentence has the other label"


def test_spans_are_not_measured_in_silence(models, tmp_path):
    path, notes = tmp_path / "t.csv", list[str]()
    path.write_text("text,start,end,label\nWonderful film.,0,9,positive\n", "utf-8")
    evaluate_table(models[3], Table(path), notes=notes)
    assert any("start and end" in note for note in notes)


def test_the_command_says_how_labels_were_read(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label\nWonderful.,yes\nAwful.,no\n", "utf-8")
    command = ("evaluate", path, "--classes", 2)
    refused = cli(*command)
    assert (refused.code, "'yes', 'no'" in refused.err) == (2, True)
    answer = cli(*command, "--relabel", "yes=positive,no=negative", "--json")
    assert answer.json["accuracy"] == 100
    assert "yes as positive, no as negative" in answer.err
    for odd in ("yes", "=positive", "yes=positive,yes=negative"):
        wrong = cli(*command, "--relabel", odd)
        assert (wrong.code, "--relabel" in wrong.err) == (2, True)


def test_the_advice_can_be_typed(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label\nWonderful.,2\nAwful.,1\n", "utf-8")
    assert "--classes 2" in cli("evaluate", path).err
    advice = cli("evaluate", path, "--classes", 2).err.split("--relabel '")[1].split("'")[0]
    assert advice == "1=negative,2=positive"
    assert cli("evaluate", path, "--classes", 2, "--relabel", advice, "--json").json["texts"] == 2
    path.write_text("text,label\nWonderful.,P\nAwful.,Q\nOr not.,R\n", "utf-8")
    assert "'P=CLASS,Q=CLASS,R=CLASS'" in cli("evaluate", path).err


def test_labels_that_all_count_for_nothing_are_an_error(models, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label\nWonderful.,P\nAwful.,Q\n", "utf-8")
    with pytest.raises(DataError, match="found none"):
        evaluate_table(models[2], Table(path), relabel={"P": "", "Q": ""})
    path.write_text("text,label\nWell.,neutral\n", "utf-8")
    with pytest.raises(DataError, match="found none"):
        evaluate_table(models[2], Table(path))
