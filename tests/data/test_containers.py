"""What does not iterate over texts is refused, and the message has the code that gives them."""

import io
from collections import OrderedDict, namedtuple
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from thinstack import from_brackets
from thinstack.data.tables.containers import check_container, check_rows
from thinstack.errors import InputError

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
nltk = pytest.importorskip("nltk")

FRAME = pd.DataFrame({"id": [1, 2], "text": ["so good", "awful"]})
Pair = namedtuple("Pair", "first second")


class Lazy:
    """A table whose columns are known, as those of polars, Spark and dask are."""

    columns = ("text", "label")


class Rows:
    """A data set that iterates over rows, as `datasets.Dataset` does."""

    column_names = ("label", "sentence")

    def __iter__(self):
        return iter([{"label": "a", "sentence": "b"}])


WRONG = [
    ("so good", "'so good'.*list"),
    (b"so good", "b'so good'"),
    (Path("texts.txt"), "texts.txt"),
    (io.BytesIO(b"so good\n"), "a BytesIO.* text mode"),
    (FRAME, r"a DataFrame.*\['text'\].*score_frame"),
    (FRAME.groupby("id"), "DataFrameGroupBy"),
    (Lazy(), "a Lazy.*score_frame"),
    (Rows(), "a Rows.*score_frame"),
    (pa.Table.from_pandas(FRAME), "score_frame"),
    (pa.array(["so good"]), "a StringArray"),
    (np.array([["so good", "awful"]]), "ndarray.* column"),
    (np.array("so good"), "ndarray"),
    (OrderedDict(text=["so good"]), r"OrderedDict.*\['text'\]"),
    (MappingProxyType({"train": FRAME}), "mappingproxy"),
    (nltk.Tree("S", ["so", "good"]), "from_nltk"),
    (from_brackets("(so good)"), "in a list"),
    (Pair("so good", ["so", "good"]), "a Pair"),
    (None, "None: pass a list"),
]
RIGHT = [
    [],
    ["so good"],
    ("so good",),
    {"so good"},
    {"so good": 1}.keys(),
    (text for text in ["so good"]),
    FRAME["text"],
    np.array(["so good"]),
    io.StringIO("so good\nawful\n"),
]


@pytest.mark.parametrize(("value", "advice"), WRONG, ids=lambda x: type(x).__name__)
def test_what_is_not_iterated_by_texts_is_refused(value, advice):
    with pytest.raises(InputError, match=f"^expected texts, found .*{advice}"):
        check_container(value, "texts")


def test_what_iterates_over_texts_or_rows_is_taken():
    for value in RIGHT:
        check_container(value, "texts")
    for value in ([], [{"text": "so good"}], Rows(), iter([])):
        check_rows(value)


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (FRAME, r"to_dict\('records'\)"),
        (pa.Table.from_pandas(FRAME), r"to_pylist\(\)"),
        (Lazy(), r"to_dicts\(\)"),
        ({"text": ["so good"], "label": ["a"]}, "a dict"),
        ("texts.csv", "'texts.csv'.*DictReader"),
        (io.BytesIO(b""), "a BytesIO"),
        (None, "None"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_is_not_iterated_by_rows_is_refused(value, advice):
    with pytest.raises(InputError, match=f"^expected rows.*found .*{advice}"):
        check_rows(value)
