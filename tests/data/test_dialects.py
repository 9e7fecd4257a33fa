"""Tables as other people write them: separators, headers, spaces, names and kinds."""

import json

import pytest

from thinstack.data.tables.dialects import holds_table
from thinstack.data.tables.table import Table
from thinstack.errors import ConfigError, DataError, InputError
from thinstack.integrations.corpora.inputs import Columns, open_corpus
from thinstack.training.tasks.texts import Texts

ROWS = [["Good, they say.", "1"], ["Bad.", "0"], ["Fine, fine.", "1"]]


def write(path, text):
    path.write_text(text, encoding="utf-8", newline="")
    return path


def read(path, columns=("text", "label"), skipped=None, **written):
    rows = Table(path, **written).rows(columns, skipped=skipped)
    return [list(row.values.values()) for row in rows]


def table(separator, header="text,label"):
    return "\n".join(separator.join(row) for row in [header.split(","), *ROWS]) + "\n"


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.data", "t", "t.tab"])
@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_the_separator_is_found_and_may_be_named(tmp_path, name, separator):
    path = write(tmp_path / name, table(separator))
    assert holds_table(path)
    assert read(path) == ROWS
    assert read(path, separator=separator) == ROWS
    assert read(write(path, table("^")), separator="^") == ROWS
    with pytest.raises(DataError, match=r"expected one character, .* found '--'"):
        read(path, separator="--")


def test_a_header_may_have_another_separator_too(tmp_path):
    path = write(tmp_path / "t.csv", "text;label, or class\nGood;1\nBad;0\n")
    assert Table(path).columns == ["text", "label, or class"]
    path = write(tmp_path / "t.csv", "text,a;b\n1;2;3,x\n4,y\n")
    assert Table(path).columns == ["text", "a;b"]
    assert Table(write(tmp_path / "t.csv", "one;column\na\nb\nc\n")).columns == ["one;column"]


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;\r"])
def test_the_line_that_excel_writes(tmp_path, line):
    path = write(tmp_path / "t.csv", f"\ufeff{line}\n\ntext;label\na,b;x\nc;y\n")
    rows = [(row.line, row.values["text"]) for row in Table(path).rows(["text"])]
    assert rows == [(4, "a,b"), (5, "c")]
    assert [row.text for row in open_corpus(path).rows()] == ["a,b", "c"]


@pytest.mark.parametrize(
    "text",
    [
        'id, text, label\n0, "Good, they say.", 1\n1, Bad., "0"\n2,  "Fine, fine.", 1\n',
        '"id"; "text"; "label"\n0; "Good, they say."; 1\n1; Bad.; 0\n2; Fine, fine.; 1\n',
    ],
)
def test_spaces_behind_separators_belong_to_no_cell(tmp_path, text):
    path = write(tmp_path / "t.csv", text)
    assert Table(path).columns == ["id", "text", "label"]
    assert read(path) == ROWS


def test_several_columns_without_names_are_numbered(tmp_path):
    path = write(tmp_path / "t.csv", "text,,label,\na,b,c,d\n")
    assert read(path, ("Unnamed: 1", "Unnamed: 3")) == [["b", "d"]]
    assert Table(write(path, "text,,label\na,b,c\n")).columns == ["text", "", "label"]


def test_spaces_of_cells_stay(tmp_path):
    path = write(tmp_path / "t.csv", 'text,label\n a,x\n"say ""so"", ""or"" not", y\n')
    assert read(path) == [[" a", "x"], ['say "so", "or" not', " y"]]
    assert read(write(path, 'text,label\n a,x\n"b, ",y\n')) == [[" a", "x"], ["b, ", "y"]]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t"])
def test_a_table_without_a_header(tmp_path, name):
    path = write(tmp_path / name, table(";" if name == "t.csv" else "\t").partition("\n")[2])
    with pytest.raises(DataError, match=r": expected the column 'text'.* add --no-header"):
        read(path)
    assert Table(path, header=False).columns == ["1", "2"]
    assert read(path, ("1", "2"), header=False) == ROWS
    assert read(path, ("Good, they say.", "1")) == ROWS[1:]
    with pytest.raises(DataError, match="expected the column 'text'"):
        read(path, header=True)
    rows = open_corpus(path, Columns("1"), header=False).rows()
    expected = [(str(line), text) for line, (text, _) in enumerate(ROWS, start=1)]
    assert [(row.id, row.text) for row in rows] == expected


def test_without_a_header_the_first_row_may_be_bad(tmp_path):
    path, skipped = write(tmp_path / "t.tsv", "only one\na\tx\nb\ty\n"), []
    assert read(path, ("1", "2"), header=False, skipped=skipped) == [["a", "x"], ["b", "y"]]
    assert str(skipped[0]).startswith(f"{path}:1: expected 2 cells, as in other rows, found 1")


@pytest.mark.parametrize(
    ("columns", "near"),
    [("Text,label", "Text"), ("id, te xt ,label", " te xt "), ("tweet_text,texts", "texts")],
)
def test_a_column_of_a_like_name_is_suggested(tmp_path, columns, near):
    path = write(tmp_path / "t.csv", f"{columns}\n{'x,' * columns.count(',')}x\n")
    with pytest.raises(DataError, match=f"did you mean '{near}'"):
        read(path, ("text",))


RECORDS = [{"text": text, "label": int(label)} for text, label in ROWS]


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.ndjson", "t.txt", "t"])
@pytest.mark.parametrize("indent", [None, 2])
def test_json_as_one_array(tmp_path, name, indent):
    path = write(tmp_path / name, "\n" + json.dumps(RECORDS, indent=indent) + "\n\n")
    assert read(path) == ROWS
    assert read(write(path, "".join(f"{json.dumps(row)}\n" for row in RECORDS))) == ROWS


def test_what_is_wrong_in_json(tmp_path):
    path, skipped = write(tmp_path / "t.json", json.dumps([*RECORDS, 7, {"text": "a"}])), []
    assert read(path, skipped=skipped) == ROWS
    assert [str(error).split(" ")[0] for error in skipped] == [f"{path}:4:", f"{path}:5:"]
    with pytest.raises(DataError, match="expected one JSON array of objects: "):
        read(write(path, '[{"text": "a"},\n{"text":'))
    with pytest.raises(DataError, match=r":1: .*JSON object"):
        read(write(path, json.dumps(RECORDS[0], indent=1)))
    with pytest.raises(DataError, match="no separator"):
        read(path, header=False)


def test_a_parquet_file_without_an_ending(tmp_path):
    from pyarrow import Table, parquet

    parquet.write_table(Table.from_pylist(RECORDS), tmp_path / "3f2ac9")
    assert read(tmp_path / "3f2ac9") == ROWS


def test_files_that_are_no_tables(tmp_path):
    assert not holds_table(write(tmp_path / "trees.txt", "(3 (2 a)\t(2 b))\n"))
    assert not holds_table(write(tmp_path / "blank.txt", "\n"))
    assert not holds_table(tmp_path / "missing")
    assert not holds_table(write(tmp_path / "t.md", "text,label\n"))
    with pytest.raises(InputError, match="add --sep tab"):
        open_corpus(write(tmp_path / "t.txt", "text\tlabel\na\tb\n"), Columns("text"))
    assert [row.text for row in open_corpus(tmp_path / "t.txt", separator="tab").rows()] == ["a"]


@pytest.mark.parametrize(("told", "kept"), [("tab", "\t"), ("\\t", "\t"), (";", ";")])
def test_recipes_keep_the_separator(told, kept):
    assert Texts.parse({"separator": told}, source="r").separator == kept
    with pytest.raises(ConfigError, match=r"separator: .*expected one character"):
        Texts.parse({"separator": "ab"}, source="r")


@pytest.mark.parametrize("header", [None, True])
@pytest.mark.parametrize(
    "text",
    [
        "text\tlabel\n1\tGood\t1\n2\tBad, so\t0\n",
        '"text"\t"label"\n"7"\t"Good"\t"1"\n"3"\t"Bad, so"\t"0"\n',
        '"text" "label"\n"1" "Good" 1\n"2" "Bad, so" 0\n',
    ],
)
def test_r_numbers_rows_without_a_name_in_the_header(tmp_path, text, header):
    path = write(tmp_path / "t.txt", text)
    separator = next(one for one in "\t; " if one in text)
    assert Table(path, separator=separator).columns == ["", "text", "label"]
    assert read(path, separator=separator, header=header) == [["Good", "1"], ["Bad, so", "0"]]


@pytest.mark.parametrize(
    "text",
    [
        "text,label\nGood, so,1\nBad, so,0\n",  # commas that nobody quoted
        "text,label\n1,Good,1\n",
        'text,label\n1,"Good "so"",1\n2,Bad,0\nFine,1\n',
    ],
)
def test_other_cells_beyond_the_header_are_errors(tmp_path, text):
    path = write(tmp_path / "t.csv", text)
    assert Table(path).columns == ["text", "label"]
    with pytest.raises(DataError, match=r"t\.csv:2: "):
        read(path)


@pytest.mark.parametrize("separator", ["^", "~", "\x1f", "::"])
def test_one_column_that_holds_the_name_may_be_several(tmp_path, separator):
    path = write(tmp_path / "t.csv", table(separator))
    with pytest.raises(DataError, match=r"the column 'text'.* --sep"):
        read(path)
    with pytest.raises(DataError, match=r"the column 'text'.*set the columns") as caught:
        read(write(path, "context\ngood\n"))
    assert "--sep" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-be", "utf-32-be"])
@pytest.mark.parametrize("name", ["t.csv", "t.txt"])
def test_the_mark_of_utf_16_is_read(tmp_path, name, encoding):
    mark = "" if encoding in ("utf-16", "utf-32") else "\ufeff"
    text = mark + table("\t").replace("\n", "\r\n")
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    assert read(path) == ROWS
    (tmp_path / "lines.txt").write_bytes(text.encode(encoding))
    lines = [row.text for row in open_corpus(tmp_path / "lines.txt").rows()]
    assert lines == text.lstrip("\ufeff").splitlines()
    path.write_bytes(text.encode(encoding)[:-1])
    with pytest.raises(DataError, match=f"{name}.* utf-"):
        read(path)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_named(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes(table(";").encode(encoding))
    with pytest.raises(DataError, match=f"t.csv:1: .*--encoding {encoding}"):
        read(path)
    assert read(path, encoding=encoding) == ROWS


def test_a_column_may_be_inside_of_an_object(tmp_path):
    rows = [{"data": {"text": "a", "n": {"label": 1}}}, {"data": {"text": "b"}, "data.text": "c"}]
    path, skipped = write(tmp_path / "t.json", json.dumps([*rows, {"data": "d"}])), []
    assert read(path, ("data.text",), skipped=skipped) == [["a"], ["c"]]
    assert [str(error).split(": ")[0] for error in skipped] == [f"{path}:3"]
    assert read(path, ("data.text", "data.n.label"), skipped=[]) == [["a", "1"]]
    assert [row.text for row in open_corpus(path, Columns("data.text")).rows()][:2] == ["a", "c"]
    with pytest.raises(DataError, match=r"column 'data\.n\.odd', found 'data'") as caught:
        read(path, ("data.n.odd",))
    assert "--no-header" not in str(caught.value)
