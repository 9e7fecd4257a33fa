"""The code of the README runs; its figures and those of docs/models.md are in `lab/results/`."""

import re
import shlex
from collections import Counter

import pytest
from pages import ROOT, blocks, execute, read, run

import thinstack
from thinstack.bundle.opening import BUNDLED
from thinstack.evaluate.suite import halves, read_suite

README = read("README.md")
PICTURE = ROOT / "docs" / "assets" / "tree.svg"
SPEED = read("lab/results/speed.md")


def test_the_drawing_is_what_the_command_prints(cli):
    drawn = blocks("README.md", "")[0].splitlines()
    program, *command = shlex.split(drawn[0].removeprefix("$ "))
    shown = cli(*command).out.splitlines()
    places = [shown.index(line) for line in drawn[1:] if line not in ("", "   [...]")]
    assert program == "thinstack"
    assert places == sorted(places)
    assert len(places) > 7


def test_the_picture_is_what_the_command_draws(cli, tmp_path):
    _, *command = shlex.split(blocks("README.md", "")[0].splitlines()[0].removeprefix("$ "))
    assert cli(*command, "--svg", tmp_path / "tree.svg").code == 0
    drawn, shown = (path.read_text(encoding="utf-8") for path in (tmp_path / "tree.svg", PICTURE))
    titles = re.compile("<title>.*?</title>", re.DOTALL)  # where rounding may turn a percentage
    assert titles.sub("", drawn) == titles.sub("", shown)
    assert f"](docs/assets/{PICTURE.name})" in README


def cells(path, first):
    """The first table whose head row starts so: its rows by their first cell."""
    text = read(path)
    text = text[text.index(f"\n| {first}") + 1 :]
    lines = re.match(r"(^\|.*\n)+", text, re.MULTILINE)[0].splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {head: rest for head, *rest in rows[2:]}


NAMES = {  # how our pages begin the row of a model; its names in beside.md and in speed.md
    "`sentiment`": ("`sentiment`", "sentiment, 64 a call"),
    "`sentiment-context`": ("`sentiment-context`", "sentiment-context, 64 a call"),
    "MiniLM": ("MiniLM, fine-tuned, no tree", "all-minilm-l6-v2, 8 bits, sorted"),
    "VADER": ("VADER", "VADER"),
    "TextBlob": ("TextBlob", "TextBlob"),
    "majority baseline": ("majority baseline", ""),
}
OPEN = "`sentiment-open`"  # only in docs/models.md


def named(rows):
    """The rows of a page by the starts in `NAMES`, and that of `OPEN`."""
    starts = *NAMES, OPEN
    return {start: row for head, row in rows.items() for start in starts if head.startswith(start)}


def speed(name):
    """Sentences a second, of one thread."""
    return re.search(rf"^ *{name} +([\d,]+)", SPEED, re.MULTILINE)[1]


@pytest.mark.parametrize(("page", "first"), [("README.md", "| film"), ("docs/models.md", "| film")])
def test_accuracies_are_those_of_the_results(page, first):
    shown = named(cells(page, first))
    results = cells("lab/results/beside.md", "model | film")
    names = {start: name for start, (name, _) in NAMES.items()}
    names |= {OPEN: OPEN} if page == "docs/models.md" else {}
    assert {start: row[:4] for start, row in shown.items()} == {
        start: results[name][:4] for start, name in names.items()
    }


def test_speeds_are_those_of_the_results():
    speeds = {start: speed(name) for start, (_, name) in NAMES.items() if name}
    shown = named(cells("README.md", "| film"))
    assert {start: shown[start][4] for start in speeds} == speeds
    batches = named(cells("docs/models.md", "| 64 texts"))
    assert {start: row[0] for start, row in batches.items()} == speeds
    single = "sentiment, 1 a call", "sentiment-context, 1 a call"
    assert [row[1] for row in batches.values() if row[1]] == [speed(name) for name in single]


@pytest.mark.parametrize(
    ("page", "source", "pattern"),
    [
        ("docs/contextual.md", "speed.md", r"scores ([\d,]+) sentences/s"),
        ("docs/corpora.md", "measurements.md", r"scores ([\d,]+) Parquet .*? scores ([\d,]+);"),
        ("docs/service.md", "measurements.md", r"received (200 to \d+) .*? of ([\d to]+) ms"),
        ("docs/spacy.md", "speed.md", r"scores ([\d,]+)\s+sentences per second"),
        ("docs/spacy.md", "measurements.md", r"are ([\d.]+) times .*? \(([\d.]+) times as fast\)"),
        ("docs/training.md", "gpu.md", r"takes (\d+) seconds"),
    ],
)
def test_a_speed_on_a_page_is_in_its_source(page, source, pattern):
    text = " ".join(read(page).split())
    results = read(f"lab/results/{source}")
    figures = re.search(pattern, text).groups()
    assert all(re.search(rf"(?<![\d.]){figure}\b", results) for figure in figures)


def test_suites_are_those_of_the_results():
    shown = cells("docs/models.md", "| `polarity`")
    always = shown.pop("majority baseline")
    results = cells("lab/results/suites.md", "suite | of")
    suites = "polarity", "composition", "domains", "fairness", "robustness"
    order = "`sentiment`", "`sentiment-context`", OPEN, "VADER", "TextBlob", "MiniLM"
    assert named(shown) == {
        start: [results[f"`{suite}`"][column] for suite in suites]
        for column, start in enumerate(order, 1)
    }
    for suite, percent in zip(suites, always, strict=True):
        half = halves(read_suite(suite), "reported")
        counts = Counter(case.polarity for case in half if case.kind != "irony")
        assert f"{100 * max(counts.values()) / counts.total():.1f}" == percent


def test_terms_and_quoted_figures_are_those_of_the_results():
    shown = cells("docs/models.md", "| restaurants")
    fields = {"restaurants": (0, 1), "laptops": (2, 3)}
    for name, row in list(shown.items())[:-1]:
        for field, (polarity, terms) in fields.items():
            text = read("lab/results/aspects.md")
            lines = text[text.index(f"## {field}") :].splitlines()
            (line,) = [line for line in lines[:9] if line.startswith(f"| {name.split('`')[1]} |")]
            exact = [cell.strip(" -") for cell in line.split("|")[2:]]
            assert [row[polarity], row[terms]] == [exact[0], exact[3]]
    quoted = read("lab/results/quoted.md")
    for row in cells("docs/models.md", "| size | SST-2").values():
        for figure in re.findall(r"\d+\.\d", " ".join(row[1:])):
            assert figure in quoted or figure == "50.9"
    rivals = cells("lab/results/sentiment-rivals.md", "model; training data")
    for name in ("sentiment", "sentiment-context"):
        assert cells("docs/models.md", "| size | SST-2")[f"`{name}`"][1] == rivals[name][1]


def test_sizes_are_those_of_the_folders():
    """In MB: what a model occupies on disk."""
    folders = {"sentiment": BUNDLED / "sentiment"}
    folders |= {
        path.parents[1].name.removeprefix("thinstack-"): path
        for path in ROOT.glob("models/*/thinstack_*/model")
    }
    rows = cells("docs/models.md", "what you need").values()
    sizes = {re.search("`(.+?)`", row[0])[1]: row[1] for row in rows if row[1]}
    assert sizes.keys() == folders.keys()
    for name, folder in folders.items():
        stored = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
        assert sizes[name] == f"{stored:.{1 if stored < 9.5 else 0}f} MB"
    assert f"bundled ({sizes['sentiment']})" in README
    assert f"`sentiment-context` ({sizes['sentiment-context']})" in README


def test_a_phrase_and_its_neighbours(capsys):
    (block,) = [code for code in blocks("README.md", "python") if "PhraseIndex" in code]
    folder = str(ROOT / "models/thinstack-vectors/thinstack_vectors/model")
    block = block.replace('load("vectors")', f"load({folder!r}, isolated=False)")
    execute(block, "<README.md>", {"thinstack": thinstack})
    shown = re.search(r"# (.+)", block)[1].split(", ")
    for line, hit in zip(capsys.readouterr().out.splitlines(), shown, strict=True):
        *phrase, similarity, polarity = line.split()
        *expected, cosine, sign = hit.split()
        assert phrase == expected
        assert [float(similarity), float(polarity)] == pytest.approx(
            [float(cosine), float(sign)], abs=2e-3
        )


def test_the_ten_lines(capsys):
    pyarrow = pytest.importorskip("pyarrow")
    (block,) = [code for code in blocks("README.md", "python") if "score_frame" in code]
    names = {"texts": iter(["Good.", ""]), "reviews": pyarrow.table({"review": ["Good.", None]})}
    execute(block, "<README.md>", names)
    first, second, *_, last, empty = capsys.readouterr().out.splitlines()
    said = re.search(r"result.polarity\)  # (\w+ -?[\d.]+)\n", block)[1].split()
    label, polarity = first.split()
    assert [label, f"{float(polarity):.2f}"] == said
    assert all(
        text in second for text in re.findall('"([A-Z][^"]+)"', block.split("highlights")[1])
    )
    assert (float(last) > 0, empty) == (True, "None")
    assert {"review", "polarity", "most_positive"} <= {*names["frame"].column_names}


def test_what_is_said_of_the_battery(capsys):
    (block,) = [code for code in blocks("README.md", "python") if "about(" in code]
    execute(block, "<README.md>", {"model": thinstack.load()})
    comment = re.search(r"\)  # (battery: .+)\n", block)[1]
    assert capsys.readouterr().out == f"{comment}\n"


def test_spacy(capsys):
    doc = run("README.md", "add_pipe")["doc"]
    assert sum(doc.cats.values()) == pytest.approx(1, abs=1e-5)
    assert doc[0:4]._.sentiment_label in ("positive", "very positive")
    assert "very negative" in capsys.readouterr().out
