"""Figures of README.md and docs/: those of `lab/results/` or of the bundles that ship, rounded."""

import json
import re
from collections import Counter
from statistics import median, stdev

import pytest
from pages import ROOT
from test_figures import rows, same

from thinstack.evaluate.suite import halves, read_suite

BUNDLES = {
    "sentiment": "thinstack/bundle/bundled/sentiment",
    **{
        f"{name}": f"models/thinstack-{name}/thinstack_{name.replace('-', '_')}/model"
        for name in ("sentiment-context", "vectors", "aspects", "aspects-small")
    },
}
NAMES = {  # in the results, by how a row on a page begins
    "`sentiment`": "`sentiment`",
    "`sentiment-context`": "`sentiment-context`",
    "MiniLM": "MiniLM, fine-tuned, no tree",
    "VADER": "VADER",
    "TextBlob": "TextBlob",
    "majority baseline": "majority baseline",
}
SPEEDS = {  # the line of speed.md
    "`sentiment`": "sentiment, {} a call",
    "`sentiment-context`": "sentiment-context, {} a call",
    "MiniLM": "all-minilm-l6-v2, 8 bits, sorted",
    "VADER": "VADER",
    "TextBlob": "TextBlob",
}


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def quoted(path, pattern):
    """The groups of a pattern in a page; a space matches any white space."""
    return re.search(pattern.replace(" ", r"\s+"), read(path), re.DOTALL).groups()


def table(path, heading):
    """The rows of the first table behind a row of column names."""
    text = read(path)
    return rows(text[text.index(heading) :])


def row(cells, start):
    return next(rest for first, rest in cells.items() if first.startswith(start))


def named(cells):
    """The rows of a page, by the names of the results."""
    return {name: row(cells, start) for start, name in NAMES.items()}


def metrics(name):
    return json.loads(read(f"{BUNDLES[name]}/manifest.json"))["metrics"]


def speed(start, texts):
    line = rf"^  {SPEEDS[start].format(texts)} +([\d,]+) "
    (figure,) = re.findall(line, read("lab/results/speed.md"), re.MULTILINE)
    return figure


@pytest.mark.parametrize(
    ("page", "heading"),
    [
        ("README.md", "| | film | product reviews |"),
        ("docs/models.md", "| | film | product reviews |"),
    ],
)
def test_accuracy_beside_rivals(page, heading):
    beside = table("lab/results/beside.md", "| model | film |")
    for name, cells in named(table(page, heading)).items():
        assert cells[:4] == beside[name][:4], name


def test_accuracy_on_suites():
    suites = table("lab/results/suites.md", "| suite | of |")
    shown = named(table("docs/models.md", "| | `polarity` |"))
    columns = ("`sentiment`", "`sentiment-context`", "VADER", "TextBlob", NAMES["MiniLM"])
    for place, suite in enumerate(["polarity", "composition", "domains", "fairness", "robustness"]):
        expected = dict(zip(columns, suites[f"`{suite}`"][1:], strict=True))
        cases = halves(read_suite(suite), "reported")
        sides = Counter(one.polarity for one in cases if one.polarity and one.kind != "irony")
        expected["majority baseline"] = f"{100 * max(sides.values()) / sides.total():.1f}"
        assert {name: cells[place] for name, cells in shown.items()} == expected, suite


def test_speeds():
    shown = table("docs/models.md", "| | 64 texts per call |")
    first = table("README.md", "| | film |")
    for start in SPEEDS:
        cells = row(shown, start)
        assert cells[0] == row(first, start)[4] == speed(start, 64)
        assert start[0] != "`" or cells[1] == speed(start, 1)
    assert f"scores {speed('`sentiment-context`', 64)} sentences/s" in read("docs/contextual.md")


def test_sizes():
    sizes = {}
    for name, folder in BUNDLES.items():
        files = (file for file in (ROOT / folder).rglob("*") if file.is_file())
        sizes[name] = str(sum(file.stat().st_size for file in files) / 1e6)
        _, size = quoted("docs/models.md", rf"`{name}`[^|]*\|([^|]*\|)*? ([\d.]+) MB \|")
        assert same(size, sizes[name]), name
    for name in ("sentiment", "sentiment-context"):
        assert same(*quoted("README.md", rf"\| `{name}`[^|]*\(([\d.]+) MB\)"), sizes[name])


def test_the_treebank():
    sst = table("docs/models.md", "| | size | SST-2, dev |")
    calibration = quoted(
        "docs/scores.md", r"error is ([\d.]+) points for `sentiment` and ([\d.]+) for"
    )
    for place, name in enumerate(["sentiment", "sentiment-context"]):
        raw = metrics(name)["development"]["text"]
        assert same(sst[f"`{name}`"][1], str(raw["root_binary_accuracy"]))
        assert same(calibration[place], str(raw["root_calibration_error"]))
    (trees,) = quoted("docs/models.md", r"`sentiment` contain ([\d.]+)% of")
    assert same(trees, str(metrics("sentiment")["development"]["auto"]["span_f1"]))


def test_the_file_in_eight_bits():
    files, of = table("docs/export.md", "| `--quantize` |"), metrics("sentiment")
    whole = {key: figure["mean"] for key, figure in of["over_seeds"]["gold"].items()}
    keys = ("root_accuracy", "root_binary_accuracy", "phrase_accuracy")
    for start, figures in (("`none`", whole), ("`int8`,", of["development"]["gold"])):
        for shown, key in zip(row(files, start)[-1].split(" / "), keys, strict=True):
            assert same(shown, str(figures[key])), (start, key)


BEST = "vectors (2 further epochs, a new guide)"
VECTORS = {
    "the teacher, one": "teacher",
    "the teacher distilled": "model2vec",
    "no tree": "no tree (8 epochs of vectors-start, seed 1)",
    "a tree": "vectors-start (8 epochs, seed 1)",
    "**`vectors`**": BEST,
}


def test_vectors():
    page, results = "docs/vectors.md", json.loads(read("lab/results/vectors.json"))
    shown = table(page, "| | STS benchmark, dev |")
    for start, subject in VECTORS.items():
        keys = ("sts", "sick", "bird", "first", "among_ten")
        for cell, key in zip(row(shown, start), keys, strict=True):
            assert same(cell, str(results[subject][key])), (subject, key)
    seeds = results["vectors-start (8 epochs), by seed"].values()
    (most,) = quoted(page, r"the deviation is \[at most ([\d.]+)\]")
    assert same(most, str(max(stdev(one[key] for one in seeds) for key in keys)))
    signs = quoted(page, r"phrases, ([\d.]+)% have.*?\(teacher: ([\d.]+)%\).*?only ([\d.]+)% do")
    best, teacher = results[BEST], results["teacher"]
    expected = (best["other_plain"], teacher["other_plain"], best["other_signed"])
    assert all(map(same, signs, map(str, expected)))
    speeds = {name: median(figures) for name, figures in results["sentences a second"].items()}
    times = quoted(page, r"([\d.]+) times as fast as MiniLM encodes only.*?and (\d+) times")
    for cell, rival in zip(times, ("teacher, int8", "teacher, int8, every phrase"), strict=True):
        assert same(cell, str(speeds["vectors"] / speeds[rival]))
    (gold,) = quoted(page, r"compared with ([\d.]+)% for the `sentiment`")
    assert same(gold, str(metrics("sentiment")["development"]["gold"]["root_binary_accuracy"]))


def test_categories_and_themes():
    page, results = "docs/predictions.md", "lab/results/categories.md"
    figures = quoted(page, r"micro-F1 is only ([\d.]+) \(always predicting \*food\*: ([\d.]+);")
    for shown, start in zip(figures, ("by examples, one threshold", "always `food`"), strict=True):
        assert quoted(results, rf"\| {start}[^|]*\| ([\d.]+) \|") == (shown,)
    accepted = r"accepted (\d+) of (?:the )?(\d+).*?(\d+) of (?:the )?(\d+)"
    assert quoted("docs/themes.md", accepted) == quoted("lab/results/themes.md", accepted)
