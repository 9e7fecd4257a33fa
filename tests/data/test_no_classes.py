"""Marks of missing values, names that mean the same, and rows that are no rows."""

import math
from decimal import Decimal

import pytest

from thinstack.data.tables.alike import alike, difference, unknown_label
from thinstack.data.tables.cell_text import Classes, cell_text, is_missing, is_no_class
from thinstack.data.tables.table import Table, read_mappings
from thinstack.errors import DataError
from thinstack.integrations.corpora.inputs import Columns, open_corpus

MARKS = ["NA", "N/A", "n/a", "<NA>", "#N/A", "NULL", "null", "None", "NaN", "nan", r"\N", "NaT"]
MARKS += ["#REF!", "-1.#IND", "undefined", " NA ", "(null)"]
SIGNS = ["-", "?", "--", ".", "na"]
WORDS = ["none", "NONE", "Nan is my aunt.", "not available", "0", "neutral", "unknown", "-1", "N"]


@pytest.mark.parametrize("mark", MARKS)
def test_marks_of_programs_are_no_text_and_no_class(mark):
    assert is_missing(mark)
    for classes in (None, Classes("label")):
        with pytest.raises(DataError, match="means a missing value"):
            cell_text(mark, classes)
    assert cell_text(mark, Classes("label", names=(mark,))) == mark


@pytest.mark.parametrize("text", SIGNS + WORDS)
def test_signs_and_words_are_texts_and_words_alone_are_classes(text):
    assert cell_text(text) == text
    assert is_no_class(text) == (text in SIGNS)
    if text in WORDS:
        assert cell_text(text, Classes("label")) == text
        return
    with pytest.raises(DataError, match="means a missing value"):
        cell_text(text, Classes("label"))


@pytest.mark.parametrize(
    "names",
    [
        *[("1", "1.0"), ("1", "01"), ("0", "-0.0"), ("１", "1")],
        *[("pos", "pos\u200b"), ("ｐｏｓ", "pos"), ("\U0001f44d", "\U0001f44d\ufe0f")],
        *[("fâché", "fa\u0302che\u0301"), ("posi\u00adtive", "positive"), ("STRASSE", "straße")],
        *[("off\u2010topic", "off-topic"), ("can\u2019t say", "can't say")],
    ],
)
def test_names_that_a_person_takes_for_one_are_alike_and_shown_apart(names):
    assert alike([*names, "other"]) == [[*names], ["other"]]
    written, how = difference(names)
    assert len({*written}) == 2
    assert all(name.isascii() or how.startswith("differ") for name in written)
    assert written[1] in unknown_label(names[0], ["x", names[1]])


@pytest.mark.parametrize(
    "names", [("1", "10"), ("a", "á"), ("1.0.0", "1.0"), ("+", "-"), ("2", "²²")]
)
def test_other_names_are_not(names):
    assert len(alike(names)) == 2
    assert unknown_label(names[0], [names[1]]) == f"found {names[0]!r}"


HEADER_AGAIN = "id,text,label\n1,Fine.,x\nid,text,label\n2,Bad.,y\n"


def test_a_header_in_the_middle_is_no_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(HEADER_AGAIN, encoding="utf-8")
    with pytest.raises(DataError, match=r"t\.csv:3: "):
        list(Table(path).rows(["text", "label"]))
    skipped = []
    kept = [row.line for row in Table(path).rows(["text", "label"], skipped=skipped)]
    assert (kept, len(skipped)) == ([2, 4], 1)
    pairs = [("Fine.", "x"), ("text", "\ufefflabel "), ("text", "x")]
    rows = [{"text": text, "label": label} for text, label in pairs]
    skipped.clear()
    assert [row.line for row in read_mappings(rows, ["text"], skipped=skipped)] == [1, 3]


@pytest.mark.parametrize("columns", [Columns("text"), Columns("text", "id")])
def test_a_header_in_a_corpus_is_a_bad_row(tmp_path, columns):
    (tmp_path / "t.csv").write_text(HEADER_AGAIN, "utf-8")
    found = list(open_corpus(tmp_path / "t.csv", columns).rows())
    assert [row.problem and row.problem.kind for row in found] == [None, "row", None]
    assert found[1].id == (None if columns.id else "3")


def test_a_corpus_of_one_column_may_hold_its_name(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"text": "a"}\n{"text": "text"}\n', "utf-8")
    assert [row.text for row in open_corpus(tmp_path / "t.jsonl").rows()] == ["a", "text"]


def test_numbers_that_are_missing_stay_missing_where_marks_are_meant():
    for value in (None, math.nan, Decimal("nan"), " "):
        with pytest.raises(DataError):
            cell_text(value, Classes("label", names=("nan", "None", " ")))


@pytest.mark.parametrize("text", ["text,label\nA,NA\nB,?\n", 'text,label\n"a \\"b\\"",1\n'])
def test_a_table_of_bad_rows_only_says_what_is_wrong_with_them(tmp_path, text):
    (tmp_path / "t.csv").write_text(text, "utf-8")
    skipped = []
    table = Table(tmp_path / "t.csv")
    rows = table.rows(["text", "label"], skipped=skipped, classes=Classes("label"))
    with pytest.raises(DataError, match=r": .*t\.csv:2: "):
        list(rows)
    assert len(skipped) == text.count("\n") - 1


def test_a_list_of_one_label_is_that_label():
    pairs = [("a", ["good"]), ("b", ["x", "y"]), (["c"], "x"), ("d", []), ("e", [3.0])]
    rows, skipped = [{"text": text, "label": label} for text, label in pairs], []
    found = read_mappings(rows, ["text", "label"], classes=Classes("label"), skipped=skipped)
    assert [row.values["label"] for row in found] == ["good", "3"]
    assert [str(error).split(": ")[0] for error in skipped] == ["rows:2", "rows:3", "rows:4"]
