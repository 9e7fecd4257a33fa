"""Figures of README.md and docs/: those of `lab/results/` or of the bundles that ship, rounded."""

import json
import re
from statistics import median, stdev

from pages import ROOT
from test_figures import rows, same

BUNDLES = {
    "sentiment": "thinstack/bundle/bundled/sentiment",
    "sentiment-context": "models/thinstack-sentiment-context/thinstack_sentiment_context/model",
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


def metrics(name):
    return json.loads(read(f"{BUNDLES[name]}/manifest.json"))["metrics"]


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
