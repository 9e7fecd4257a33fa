"""Rows in memory are learnt from as a table's are."""

import csv

import pytest
import tiny_texts

import thinstack
from thinstack.bundle import open_bundle
from thinstack.errors import DataError


def test_rows_are_any_mappings(tmp_path):
    start = tiny_texts.start(tmp_path / "start")
    with tiny_texts.table(tmp_path / "t.csv", 12).open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    rows = [{"review": row["text"], "up": row["label"] == "up"} for row in table]
    out = tmp_path / "out"
    parts = {"dev": rows[:6], "add": iter([{"review": rows[0]["review"].upper(), "up": "odd"}])}
    settings = {"text": "review", "label": "up", "init": str(start)}
    predictor = thinstack.train_texts(iter(rows), out=out, **settings, **parts)
    labels = open_bundle(out / "model-best").config.labels
    assert labels == predictor.labels == ("false", "odd", "true")
    with pytest.raises(DataError, match=r"rows:1: .*|column 'text'"):
        thinstack.train_texts(rows, label="up", out=tmp_path / "other")
