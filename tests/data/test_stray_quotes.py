"""Quote marks in tables: of cells they go, of texts they stay, and none takes rows along."""

import csv
import random

import pytest

from thinstack.data.tables import separated
from thinstack.data.tables.table import Table
from thinstack.errors import DataError

WORDS = ("good", "bad", "film", "the,", "1,000", "it was.")


def read(path, columns):
    skipped = []
    return [
        tuple(row.values.values()) for row in Table(path).rows(columns, skipped=skipped)
    ], skipped


def plain(path, columns, rows, separator="\t"):
    """A table that quotes nothing."""
    lines = [separator.join(cells) for cells in (tuple(columns), *rows)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def texts(draw, count):
    for _ in range(count):
        text = " ".join(draw.choices(WORDS, k=draw.randint(1, 8)))
        chance = draw.random()
        yield f'"{text}' if chance < 0.1 else f'{text}"' if chance < 0.2 else text


@pytest.mark.parametrize("columns", ["id text label", "text label", "label text", "id text"])
@pytest.mark.parametrize("ordered", [False, True])
def test_between_tabs_no_row_goes_to_a_quote_mark(tmp_path, columns, ordered):
    draw, names = random.Random(7), columns.split()
    for count in (40, 3000):
        cells = [
            {"id": f"a-{number}", "text": text, "label": draw.choice(["pos", "neg"])}
            for number, text in enumerate(texts(draw, count))
        ]
        if ordered:
            cells.sort(key=lambda row: row["label"])
        rows = [tuple(row[name] for name in names) for row in cells]
        assert read(plain(tmp_path / "t.tsv", names, rows), names) == (rows, [])


def test_pairs_of_quote_marks_that_fit_take_no_rows_along(tmp_path):
    rows = [(f"{number}", f"text {number}", "ab"[number % 2]) for number in range(50)]
    rows[4] = ("4", '"Hm.', "a")
    rows[17] = ("17", 'No."', "b")
    columns = ("key", "body", "class")
    assert read(plain(tmp_path / "t.tsv", columns, rows), columns) == (rows, [])
    broken = plain(tmp_path / "u.tsv", columns, [*rows[:10], ("10", "no class"), *rows[11:]])
    found, skipped = read(broken, columns)
    assert found == [*rows[:10], *rows[11:]]
    assert [str(error).split(": ")[0] for error in skipped] == [f"{broken}:12"]


@pytest.mark.parametrize("name", ["t.tsv", "t.csv"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
@pytest.mark.parametrize("columns", ["text label", "id text label", "label text", "id text"])
def test_what_a_writer_quotes_comes_back(tmp_path, name, quoting, columns):
    some = ["a tab\there", "two\nlines", 'he said "no"', '"All of it."', "a\tb\nc", '"']
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
        f"{path}:11: expected 3 cells, as the header has, found 4"
    ]


@pytest.mark.parametrize("line", ['a""",x,"open', '"open,x,y', 'x,""",a'])
def test_quotes_that_stay_open_cost_time_in_proportion(tmp_path, monkeypatch, line):
    taken = 0
    take = separated._Lines.take

    def counted(self):
        nonlocal taken
        taken += 1
        return take(self)

    monkeypatch.setattr(separated._Lines, "take", counted)
    monkeypatch.setattr(separated, "LONGEST_CELL", 1 << 12)
    path = tmp_path / "t.csv"
    count = 3000
    path.write_text("id,text,label\n" + f"{line}\n" * count, encoding="utf-8")
    skipped = []
    with pytest.raises(DataError, match="bad ones only"):
        list(Table(path).rows(["text"], skipped=skipped))
    assert 0 < len(skipped) <= count
    assert taken < 8 * count
