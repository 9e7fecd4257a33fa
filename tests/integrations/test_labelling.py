"""Labelling a table on the page of `thinstack serve`: what is doubtful, and what is saved."""

import csv
import re
from functools import partial

import pytest
import tiny_texts

from thinstack.data.tables.table import Table
from thinstack.errors import DataError, InputError
from thinstack.integrations.serving.labelling import Labelling

TEXTS = ("Dreadful.", "A wonderful, wonderful film.", 'It is so-so,\nand "fine".', "Not bad.")
LABELS = ("bad", "good", "", "good")


@pytest.fixture
def table(tmp_path):
    """A table that repeats a text, and has one without words."""
    rows = [*zip(TEXTS, LABELS, strict=True), ("DREADFUL.", "good"), ("\u200b", "bad")]
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
        assert row["label"] == LABELS[TEXTS.index(one.text)]
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
