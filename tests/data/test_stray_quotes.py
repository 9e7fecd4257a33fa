"""Quote marks in tables: of cells they go, of texts they stay, and none takes rows along."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinstack.data.files.paths import FileContent
from thinstack.data.tables import separated
from thinstack.data.tables.table import Table
from thinstack.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore:.*quotation mark:UserWarning")


def read(path, columns):
    skipped = []
    rows = Table(path).rows(columns, skipped=skipped)
    return [tuple(row.values.values()) for row in rows], skipped


def plain(path, columns, rows, separator="\t"):
    """A table that quotes nothing."""
    lines = [separator.join(cells) for cells in (tuple(columns), *rows)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["t.tsv", "t.csv"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
@pytest.mark.parametrize("columns", ["text label", "id text label", "label text", "id text"])
def test_what_a_writer_quotes_comes_back(tmp_path, name, quoting, columns):
    some = ["a tab\there", "two\nlines", 'he said "no"', '"All of it."', "a\tb\tc\nd", '"']
    some += ["Great, lovely\nBut it, too\nend.", "one\r\n\r\ntwo"]
    some += [f"plain {number}" for number in range(8)]
    cells = [
        {"id": f"r{number}", "text": text, "label": ("pos", "neg")[number % 2]}
        for number, text in enumerate(some)
    ]
    rows = [tuple(row[name] for name in columns.split()) for row in cells]
    path = tmp_path / name
    with path.open("w", encoding="utf-8", newline="") as file:
        separator = "\t" if name == "t.tsv" else ","
        writer = csv.writer(file, delimiter=separator, quoting=quoting)
        writer.writerows([columns.split(), *rows])
    assert read(path, columns.split()) == (rows, [])


def test_one_column_of_texts_of_several_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('text\nplain\n"a\nb\nc"\n"say ""no"""\n', encoding="utf-8")
    assert read(path, ["text"]) == ([("plain",), ("a\nb\nc",), ('say "no"',)], [])


def test_lines_of_talk_in_one_column_between_tabs_stay_apart(tmp_path):
    rows = [('"Hello," he said.',), ('"Come in.',), ('Sit down."',), ("No.",)]
    assert read(plain(tmp_path / "t.tsv", ["text"], rows), ["text"]) == (rows, [])


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("close", ["It broke.", 'It broke."'])
def test_a_quote_in_csv_that_takes_rows_along_costs_its_own_row(tmp_path, separator, close):
    rows = [(f"r{number}", f"text {number}", "01"[number % 2]) for number in range(30)]
    rows[6] = ("r6", '"It was', "1")
    rows[20] = ("r20", close, "0")
    columns = ("id", "text", "label")
    path = plain(tmp_path / "t.csv", columns, rows, separator)
    found, skipped = read(path, columns)
    assert found == rows[:6] + rows[7:]
    assert [str(error).split(": ")[0] for error in skipped] == [f"{path}:8"]


def test_a_broken_row_of_several_lines_is_one_error(tmp_path):
    path = tmp_path / "t.csv"
    good = "".join(f"{number},good,b\n" for number in range(9))
    path.write_text(f'id,text,label\n{good}9,"two\nlines",b,c\n{good}', encoding="utf-8")
    found, skipped = read(path, ["text", "label"])
    assert found == [("good", "b")] * 18
    assert [str(error).split("; ")[0] for error in skipped] == [
        f"{path}:11: expected 3 cells, as in other rows, found 4"
    ]


@pytest.mark.parametrize("line", ['a""",x,"open', '"open,x,y', 'x,""",a'])
def test_quotes_that_stay_open_cost_time_in_proportion(tmp_path, monkeypatch, line):
    taken = 0
    take = separated._Rows._take

    def counted(self):
        nonlocal taken
        taken += 1
        return take(self)

    monkeypatch.setattr(separated._Rows, "_take", counted)
    monkeypatch.setattr(separated, "LONGEST_CELL", 1 << 12)
    path = tmp_path / "t.csv"
    count = 3000
    path.write_text("id,text,label\n" + f"{line}\n" * count, encoding="utf-8")
    skipped = []
    with pytest.raises(DataError, match="only bad ones"):
        list(Table(path).rows(["text"], skipped=skipped))
    assert 0 < len(skipped) <= count
    assert taken < 8 * count


EXCEL = [("1", "Good, really."), ("2", 'They said ""great"", it broke.'), ("3", "Two,\nlines.")]


@pytest.mark.parametrize("stray", ['5" wide', '"open', 'closed"', '"so" so', '"', '""x', 'x"""'])
@pytest.mark.parametrize("first", [True, False])
def test_a_stray_quote_leaves_the_other_cells_quoted(tmp_path, stray, first):
    quoted = [(f'"{key}"', f'"{text}"') for key, text in EXCEL]
    rows = [("0", stray), *quoted] if first else [*quoted, ("0", stray)]
    found, skipped = read(plain(tmp_path / "t.tsv", ("id", "text"), rows), ("id", "text"))
    expected = [(key, text.replace('""', '"')) for key, text in EXCEL]
    assert found == ([("0", stray), *expected] if first else [*expected, ("0", stray)])
    assert not skipped


def test_of_a_quote_that_stays_open_one_is_warned_once(tmp_path):
    cells = [
        '"Fun. ""Alexa, play jazz"" works."',
        '"Cut off, and never',
        '"No, and\nno."',
        '"9"" wide"',
    ]
    path = plain(tmp_path / "t.tsv", ["stars", "text"], [("5", cell) for cell in cells])
    with pytest.warns(UserWarning, match=r"t\.tsv:3: .*quotation mark") as caught:
        found, _ = read(path, ["text"])
    assert len(caught) == 1
    texts = ['Fun. "Alexa, play jazz" works.', cells[1], "No, and\nno.", '9" wide']
    assert found == [(text,) for text in texts]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t"])
def test_one_column_needs_no_separator(tmp_path, name):
    rows = ["Lovely.", "Cheap, but it works.", '"Quoted, so."', "Awful, slow.", '"So", he, said']
    path = plain(tmp_path / name, ["comment"], [(row,) for row in rows])
    expected = [("Quoted, so.",) if row == rows[2] else (row,) for row in rows]
    assert read(path, ["comment"]) == (expected, [])


CELLS = ["good", '"', '""', '"""', '"open', 'close"', 'a "b" c', '"a"b', '5" x', "a\"'"]


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
@pytest.mark.parametrize("columns", [("id", "text", "label"), ("text", "label"), ("label", "text")])
@given(st.lists(st.tuples(st.sampled_from(CELLS), st.sampled_from(["pos", "neg"])), min_size=1))
def test_every_line_that_is_a_row_is_a_row_or_an_error(separator, columns, cells):
    lines = [separator.join(columns)]
    for number, (text, label) in enumerate(cells):
        row = {"id": f"r{number}", "text": text, "label": label}
        lines.append(separator.join(row[name] for name in columns))
    skipped = []
    name = "t.tsv" if separator == "\t" else "t.csv"
    content = "\n".join(lines).encode()
    rows = []
    try:
        found = Table(FileContent(name, lambda: content), separator=separator)
        rows.extend(found.rows(columns, skipped=skipped, optional=["text"]))
    except DataError:
        assert not rows
    assert len(rows) + len(skipped) == len(cells)
    if separator == "\t":
        expected = ["" if text == '""' else text for text, _ in cells]
        assert not rows or [row.values["text"] for row in rows] == expected
