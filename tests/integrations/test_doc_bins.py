"""Texts and labels of Docs, as rows of a table."""

import zlib

import pytest
import spacy
import srsly
from spacy.tokens import DocBin

from thinstack.data.tables.table_rows import TableRow
from thinstack.errors import DataError
from thinstack.integrations.spacy.doc_bins import read_doc_bin

TEXTS = ["A fine  film.", "Café \n closed", "good", "So-so"]
CATS = [
    {"good": 1.0, "bad": 0.0},
    {"good": 0.2, "bad": 0.8},
    {"good": 0.5, "bad": 0.0},
    {"good": 1.0, "bad": True},
]


@pytest.fixture
def path(tmp_path):
    """Two good Docs and two without one category; the first three have phrases."""
    nlp = spacy.blank("de")
    docs = [nlp(text) for text in TEXTS]
    for doc, cats in zip(docs, CATS, strict=True):
        doc.cats = cats
    docs[0].spans["phrases"] = [docs[0].char_span(2, 12, "good"), docs[0].char_span(0, 1, "none")]
    docs[1].spans["phrases"] = [docs[1].char_span(7, 13, "bad")]
    docs[2].spans["phrases"] = [docs[2][:]]  # without a label
    docs[3].spans["others"] = []
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "docs.spacy")
    return tmp_path / "docs.spacy"


def test_keys_and_values_of_another_type_make_a_bad_row(tmp_path):
    nlp, found = spacy.blank("en"), list[DataError]()
    docs = list(nlp.pipe(["one", "two", "three"]))
    for doc, cats in zip(docs, ({0: 1.0}, {"good": 1.0}, {"good": "yes"}), strict=True):
        doc.cats = cats
    DocBin(docs=docs).to_disk(tmp_path / "docs.spacy")
    (row,) = read_doc_bin(tmp_path / "docs.spacy", ["text", "label"], skipped=found)
    assert row.line == 2
    assert [str(error).partition("docs.spacy:")[2][:3] for error in found] == ["1: ", "3: "]
    assert "strings as keys of doc.cats, found 0" in str(found[0])
    assert "numbers in doc.cats, found 'yes'" in str(found[1])


def test_the_one_category_of_a_doc_is_its_label(path):
    skipped = []
    assert list(read_doc_bin(str(path), ["text", "label"], skipped=skipped)) == [
        TableRow(1, {"text": TEXTS[0], "label": "good"}),
        TableRow(2, {"text": TEXTS[1], "label": "bad"}),
    ]
    expected = "expected one category of doc.cats above 0.5, found"
    assert [str(error) for error in skipped] == [
        f"{path}:3: {expected} {{'good': 0.5, 'bad': 0}}",
        f"{path}:4: {expected} {{'good': 1, 'bad': 1}}",
    ]
    with pytest.raises(DataError, match=r"docs\.spacy:3: "):
        list(read_doc_bin(path, ["text", "label"]))


def test_each_span_of_a_group_is_a_row(path):
    columns = ["text", "start", "end", "label"]
    skipped = []
    rows = list(read_doc_bin(path, columns, span_group="phrases", skipped=skipped))
    assert [(row.line, *row.values.values()) for row in rows] == [
        (1, TEXTS[0], "2", "12", "good"),
        (1, TEXTS[0], "0", "1", "none"),
        (2, TEXTS[1], "7", "13", "bad"),
    ]
    assert f"{path}:3: " in str(skipped[0])
    assert "column 'label', found an empty cell" in str(skipped[0])
    assert len(skipped) == 1


def packed(**changes):
    return zlib.compress(srsly.msgpack_dumps(changes))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "cannot be read: No such file"),
        (b"text,label\n", "expected spaCy's DocBin"),
        (packed(attrs=[], strings=[]), "expected spaCy's DocBin"),
        (DocBin().to_bytes(), "expected a table with rows, found only the columns 'text', 'label'"),
    ],
)
def test_files_that_hold_no_docs_are_refused(tmp_path, data, message):
    if data is not None:
        (tmp_path / "docs.spacy").write_bytes(data)
    with pytest.raises(DataError, match=rf"docs\.spacy: {message}"):
        list(read_doc_bin(tmp_path / "docs.spacy", ["text", "label"], skipped=[]))


def test_other_columns_and_groups_are_refused(path):
    with pytest.raises(DataError, match="'body', found 'text', 'label'"):
        list(read_doc_bin(path, ["body"]))
    with pytest.raises(DataError, match=r"'sc' .*'others', 'phrases'"):
        list(read_doc_bin(path, ["text"], span_group="sc"))
