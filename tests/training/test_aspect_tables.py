"""Rows of terms: the sentences of their texts, and rows that cannot be used."""

import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from thinstack.errors import DataError
from thinstack.training.tasks.aspects import Aspects
from thinstack.training.tasks.aspects.sentences import read_sentences

LABELS = ("negative", "neutral", "positive")
TEXT = "  A dull film. Its plot's ending is fine!"


def row(phrase, label="positive", text=TEXT, **more):
    start = text.index(phrase)
    return {"text": text, "start": start, "end": start + len(phrase), "label": label} | more


NONE = {"text": TEXT, "start": None, "end": None, "label": None}


def read(folder, *rows, name="t.jsonl", skipped=None):
    path = folder / name
    if name.endswith(".parquet"):
        parquet.write_table(pa.Table.from_pylist(rows), path)
    elif name.endswith(".csv"):
        cells = [[row.get(key) for key in NONE] for row in rows]
        lines = [",".join("" if cell is None else str(cell) for cell in each) for each in cells]
        path.write_text("\n".join([",".join(NONE), *lines]), "utf-8")
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    found = read_sentences(path, Aspects(), LABELS, skipped)
    for each in found:
        places = each.offsets.tolist()
        typed = [each.text[start:end] for start, end in places]
        assert [word.replace("``", '"') for word in each.words] == typed
    return [([each.term(*term[:2])[1:-1] for term in each.terms], each) for each in found]


@pytest.mark.parametrize("name", ["t.jsonl", "t.csv", "t.parquet"])
def test_a_text_is_its_sentences_with_the_terms_of_all_its_rows(tmp_path, name):
    plain = "We left. It was late."
    rows = [
        {"text": plain, "start": None, "end": None, "label": None},
        row("plot's ending", "neutral"),
        row("plot", "neutral", text="The plot thickens."),
        row("film", "negative"),
        row("film", "negative"),
        row("plot"),
        NONE,
    ]
    found = read(tmp_path, *rows, name=name)
    assert [terms for terms, _ in found] == [[], [], ["film"], ["plot's ending", "plot"], ["plot"]]
    sentences = [each for _, each in found]
    assert [each.words[-1] for each in sentences] == [".", ".", ".", "!", "."]
    assert sentences[3].terms == [(1, 4, "neutral"), (1, 2, "positive")]
    assert sentences[3].characters(1, 4) == (19, 32)


def test_sentences_of_texts_that_are_alike_stay_together(tmp_path):
    found = read(tmp_path, row("film"), row("FILM", text=TEXT.upper()), NONE | {"text": "We left."})
    groups = [Aspects().group_of(each) for _, each in found]
    assert len(groups) == 5
    assert [groups.count(each) for each in groups] == [4, 4, 4, 4, 1]


def test_a_row_without_a_term_needs_no_other_columns_where_rows_name_them(tmp_path):
    found = read(tmp_path, {"text": "We left."}, row("film"))
    assert [terms for terms, _ in found] == [[], ["film"], []]
    with pytest.raises(DataError, match=r"column 'label', found 'text', 'start', 'end'; .*--label"):
        read(tmp_path, {"text": "We left.", "start": 0, "end": 2})


@pytest.mark.parametrize("ends", [(9.0, 13.0), ("9.0", "13."), (" 9", "13 ")])
def test_places_as_programs_write_them(tmp_path, ends):
    (found, _), _ = read(tmp_path, row("film", start=ends[0], end=ends[1]))
    assert found == ["film"]


BAD = [
    (row("film", "good"), "negative, neutral, positive.*'good'"),
    (row("film", "Positive"), "found 'Positive' instead of 'positive'"),
    (row("film", None), "start, end and label for a term, or none of them, found nothing in label"),
    (row("film", start=None), "found nothing in start$"),
    (NONE | {"label": "neutral"}, "found nothing in start and end$"),
    (row("lm"), "of whole words in one sentence, found 11 to 13: 'lm'"),
    (row("ending", end=20), "whole words in one sentence, found 26 to 20: ''"),
    (row("film", end=9), "found 9 to 9: ''"),
    (row("film. Its"), "of whole words in one sentence, found 9 to 18: 'film. Its'"),
    (row("film", start=-5), "found -5 to 13"),
    (row("film", end=999), "found 9 to 999"),
    (row(" film"), "found 8 to 13: ' film'"),
    (row("film", start="\xb2", end="1e9"), "character offsets in start and end, found '\xb2'"),
    (row("film", start=9.5), "found '9.5' and '13'"),
    (row("film", end="9" * 99), "character offsets .* and '9+$"),
    (row("film", end=[13]), "column 'end', found a list"),
    (row("dull", "negative"), "one label per term, found positive and negative for 'dull'"),
    (row("A dull"), "do not cross, found 'A dull' and 'dull film'; leave one row out"),
    (row("film."), "do not cross, found 'film.' and 'dull film'"),
    (NONE | {"text": "<br>"}, "a text with words in text, found '<br>'"),
]


@pytest.mark.parametrize(("bad", "problem"), BAD)
def test_a_row_that_cannot_be_used_is_named_or_left_out_with_its_text(tmp_path, bad, problem):
    other = row("plot", text="The plot thickens.")
    rows = (other, row("dull"), row("dull film"), bad)
    with pytest.raises(DataError, match=f"t.jsonl:4: .*{problem}"):
        read(tmp_path, *rows)
    skipped = []
    found = read(tmp_path, *rows, skipped=skipped)
    with pytest.raises(DataError, match=f"t.jsonl:4: .*{problem}"):
        raise skipped[0]
    kept = bad["end"] == [13] or bad["text"] != TEXT
    assert [terms for terms, _ in found] == [
        ["plot"],
        *([["dull", "dull film"], []] if kept else []),
    ]
    assert len(skipped) == 1
