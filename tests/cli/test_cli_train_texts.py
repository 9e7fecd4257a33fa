"""`thinstack train TABLE`: bad tables end in one message, good ones in predictions."""

import csv
import json
import re
import shutil

import pytest
import tiny_texts

import thinstack
from thinstack.bundle.weights import load_model
from thinstack.errors import InputError

pytestmark = pytest.mark.usefixtures("short_samples")


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("content", "options", "problem"),
    [
        ("text,label\nA.,x\nB.,x\n", (), "two classes or more, found only the class 'x'"),
        ("review,label\nA.,x\n", (), "column 'text', found 'review', 'label'"),
        ("text,label\nA.,x\nB.,\n", (), "t.csv:3: "),
        ("text,label\nA.,x\nB.,y\n", ("--labels", "x,z"), "t.csv:3: expected one of .*x, z"),
        ("text,label\nA.,x\nB.,y\n", ("--init", "nosuch"), "unknown .*'nosuch'"),
        ("text,label\nA.,x\nB.,y\n", (), "two different texts of some class.*swapped"),
        ("text,label\nA.,x\nB.,y\n", ("--task", "spans"), "column 'start'"),
        ("text,label\nA.,x\nB.,<NA>\n", (), "t.csv:3: .*'<NA>'.*--skip-bad.*--labels"),
        ("text,label\nA.,2\nB.,2.0\n", (), "the same number"),
        ("text,label\nA.,b\nB.,a\nC.,c\n", ("--scale",), "--scale: .*a, b, c.*--labels"),
        ("text,label\nA.,x\nB.,y\n", ("--scale",), "--scale: expected three classes"),
        ("text,start,end,label\nA.,0,1,x\nB.,0,1,y\n", (), "'start' and 'end'.*--task texts"),
        ("text_a,text_b,label\nA.,B.,x\nB.,C.,y\n", ("--scale",), "--scale: .*pairs"),
        ("", (), "t.csv: "),
    ],
)
def test_a_table_that_cannot_be_learnt_from_is_refused(cli, tmp_path, content, options, problem):
    (tmp_path / "t.csv").write_bytes(content.encode("latin-1"))
    answer = cli("train", tmp_path / "t.csv", "--out", tmp_path / "out", *options)
    answer._replace(out="").check_refused()
    assert re.search(problem, answer.err)
    assert not (tmp_path / "out" / "model-best").exists()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    tiny_texts.table(folder / "texts.csv", 40)
    tiny_texts.start(folder / "start")
    return folder


def test_from_a_table_to_predictions(cli, folder):
    table, out = folder / "texts.csv", folder / "out"
    with table.open("a", encoding="utf-8") as file:
        file.write("bad row\n")
    options = ("--init", folder / "start", "--skip-bad", "--seed", 3)
    answer = cli("train", table, "--out", out, *options)
    assert (answer.code, answer.err) == (0, "")
    assert "unusable rows: 1 " in answer.out
    assert "texts.csv:42: " in (out / "skipped.txt").read_text()
    results = json.loads((out / "results.json").read_text())
    assert list(results["seeds"]) == ["3"]
    assert results["rival"]["TF-IDF of words and characters, logistic regression"]["texts"] == 4
    found = cli("evaluate", out / "model-best", folder / "good.csv", "--json")
    assert found.code == 2
    rows = rows_of(table)[:-1]
    tiny_texts.write_rows(folder / "good.csv", [row.values() for row in rows])
    figures = cli("evaluate", out / "model-best", folder / "good.csv", "--json").json
    assert figures["texts"] == 40
    assert figures["accuracy"] > 80
    again = cli("train", table, "--out", out, *options)
    assert "epoch 1" not in again.out
    recipe = cli("train", out / "recipe.toml", "--data", folder, "--out", folder / "by-recipe")
    assert recipe.code == 0
    models = (load_model(each / "model-best") for each in (out, folder / "by-recipe"))
    first, second = (model.head.linear.weight for model in models)
    assert first.equal(second)


def test_corrections_replace_rows_and_leave_those_that_are_set_aside(cli, folder, tmp_path):
    table, add = tmp_path / "t.csv", tmp_path / "add.csv"
    words = {"good": "the film is good", "bad": "the plot is bad"}
    rows = [(f"{text} {'who ' * n}.", label) for n in range(12) for label, text in words.items()]
    tiny_texts.write_rows(table, rows)
    fresh = [("It is fine.", "bad"), ("It is fine.", "good")]  # the last one counts
    tiny_texts.write_rows(add, [*((text.upper(), "so-so") for text, _ in rows), *fresh])
    options = ("--init", folder / "start", "--epochs", 1, "--labels", "bad,so-so,good")
    added = cli("train", table, *options, "--out", tmp_path / "added", "--add", add).out
    assert "add.csv: 25 texts, of which 24 replace rows (2 for development)" in added
    assert "bad 0 + 0, so-so 22 + 2, good 1 + 0" in added
    tiny_texts.write_rows(add, fresh)
    changed = cli("train", table, *options, "--out", tmp_path / "added", "--add", add)
    assert (changed.code, "before add.csv changed" in changed.err) == (2, True)


def test_what_became_right_and_wrong_is_said(cli, tmp_path):
    start, dev = tiny_texts.start(tmp_path / "start", runs=True), tmp_path / "dev.csv"
    draw = ((n, word) for n in range(9) for word in ("good", "bad", "dull"))
    rows = [(f"It is {word}{' .' * n}", "good" if word == "good" else "bad") for n, word in draw]
    tiny_texts.write_rows(dev, rows)
    command = ("train", dev, "--dev", dev, "--init", start, "--labels", "bad,so-so,good")
    said = cli(*command, "--epochs", 8, "--out", tmp_path / "out").out
    models = (start, tmp_path / "out" / "model-best")
    first, now = (cli("evaluate", model, dev, "--json").json["accuracy"] for model in models)
    assert now > first
    line = said.index(f"compared with {start}: accuracy {first:.2f} -> {now:.2f}; of 27 texts, ")
    right, wrong = map(int, re.findall(r"(\d+) became right and (\d+) wrong", said[line:])[0])
    assert right - wrong == round((now - first) * 27 / 100)
    assert len(re.findall("^  right: line", said, re.M)) == min(right, 3)
    others = cli(*command[:-2], "--epochs", 1, "--out", tmp_path / "others").out
    assert "compared with" not in others, "its classes are others"


@pytest.mark.parametrize("read", ["results.json", "skipped.txt", "model-best", "other", "recipe"])
def test_what_is_read_or_is_of_others_stays(cli, folder, tmp_path, read):
    """It is refused before anything is learnt."""
    out, options = tmp_path / "out", ("--init", folder / "start", "--epochs", 1)
    out.mkdir()
    if read in ("results.json", "skipped.txt"):
        table = out / read
        rows = [row for row in rows_of(folder / "texts.csv") if row["label"]]
        if read == "results.json":
            table.write_text(json.dumps(rows))
        else:
            tiny_texts.write_rows(table, [row.values() for row in rows])
            options += ("--sep", ",")
    else:
        table = shutil.copy(folder / "texts.csv", tmp_path / "t.csv")
        options += ("--skip-bad",)
    if read == "model-best":
        shutil.copytree(folder / "start", out / read)
        options = ("--init", out / read, *options[2:])
    elif read == "other":
        (out / "model-best").mkdir()
        (out / "model-best" / "mine.txt").write_text("mine")
    elif read == "recipe":
        (out / "recipe.toml").write_text("mine = 1")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    answer = cli("train", table, "--out", out, *options)
    assert (answer.code, "epoch" in answer.out) == (2, False)
    assert before.items() <= {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}.items()


def test_classes_and_rows_that_repeat_are_said(cli, folder, tmp_path):
    table, start = tmp_path / "t.csv", folder / "start"
    rows = [(f"It is {word} {n % 7}.", str(n % 3)) for n in range(21) for word in ("good", "bad")]
    rows += [("It is \u2764\u2764 \u2603.", "0"), ("it is \u2764\u2764 \u2603. ", "1"), ("x", "NA")]
    table.write_text("text,label\n" + "".join(f"{a},{b}\n" for a, b in rows), "utf-8")
    given = ("train", table, "--init", start, "--skip-bad", "--out")
    plain = cli(*given, tmp_path / "plain").out
    assert "unusable rows: 1 " in plain
    assert "classes (training + development): 0 " in plain
    assert "numbers, but not treated as a scale" in plain
    assert "texts that occur in several rows: 15, 15 of them with different classes" in plain
    assert "not their phrases" in plain
    assert "to watch" not in plain
    assert "\u00b1" not in plain
    assert "neighbours" not in (tmp_path / "plain" / "recipe.toml").read_text("utf-8")
    assert "held-out texts" not in plain
    asked = cli(*given, tmp_path / "asked", "--scale", "--test", table, "--dev", table).out
    card = (tmp_path / "asked" / "model-best" / "README.md").read_text("utf-8")
    assert "thinstack evaluate BUNDLE DATA/" not in card, "it needs the names of columns"
    assert "of the held-out texts are also in the training data" in asked
    assert "treated as a scale, 0 < 1 < 2" in asked
    assert "neighbours = 0.2" in (tmp_path / "asked" / "recipe.toml").read_text("utf-8")


def test_a_scale_of_names_can_be_switched_off_and_marks_can_be_classes(cli, folder, tmp_path):
    table, start = tmp_path / "t.csv", folder / "start"
    words = ("low", "NA", "high")
    rows = "".join(f"It is good {n}.,{words[n % 3]}\n" for n in range(18))
    table.write_text(f"text,label\n{rows}", "utf-8")
    given = ("train", table, "--init", start, "--labels", "low,NA,high", "--out", tmp_path / "a")
    answer = cli(*given, "--scale")
    assert (answer.code, "low < NA < high" in answer.out) == (0, True)
    table.write_text(f"text,label\n{rows.replace('NA', 'medium')}", "utf-8")
    given = ("train", table, "--init", start, "--out")
    assert "low < medium < high" in cli(*given, tmp_path / "b").out
    assert "treated as a scale" not in cli(*given, tmp_path / "c", "--no-scale").out


def test_spans_are_asked_about_in_python(tmp_path):
    rows = [{"text": "A film.", "start": 0, "end": 6, "label": n % 2} for n in range(4)]
    with pytest.raises(InputError, match=r"'start' and 'end'.*task="):
        thinstack.train_texts(rows, out=tmp_path / "a")


@pytest.mark.parametrize("name", ["file", "file/inside"])
def test_an_output_that_cannot_be_a_folder_is_refused_in_python_too(cli, tmp_path, name):
    (tmp_path / "file").write_text("here before", encoding="utf-8")
    (tmp_path / "t.csv").write_text("text,label\nA.,x\nB.,y\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"file.* cannot write to") as caught:
        thinstack.train_texts(rows_of(tmp_path / "t.csv"), out=tmp_path / name)
    answer = cli("train", tmp_path / "t.csv", "--out", tmp_path / name)
    assert (answer.code, str(caught.value) in answer.err) == (2, True)
