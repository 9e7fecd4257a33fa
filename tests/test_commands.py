"""The command lines of the README and of docs/ run as they stand, on small invented files."""

import csv
import itertools
import json
import os
import re
import subprocess
import sys
import tomllib

import pytest
import spacy
from distributions import install, install_bundle
from pages import ROOT, blocks, command_lines, read
from spacy.tokens import Doc, DocBin
from test_pages import COMMANDS
from tiny_encoder import write_encoder
from training import tiny_recipe

from thinstack.bundle.opening import BUNDLED

SENTIMENT = BUNDLED / "sentiment"
OPTION = "names an option, and is no whole command"
SERVES = "runs until it is stopped: tests/integrations/test_server.py"
SIX_LAYERS = "trains six layers of BERT: tests/training/test_contextual_recipe.py trains two"
NOT_RUN = {  # why, by the line; in pages that `.ci/jobs/guides` follows, blocks are run there
    "thinstack serve                         "
    "# the bundled model, at http://127.0.0.1:8000/": SERVES,
    "thinstack serve runs/mine/model-best --port 8080 --no-open": SERVES,
    "thinstack serve vectors": SERVES,
    "thinstack train contextual.toml --data DATA --out runs/contextual": SIX_LAYERS,
    "thinstack finish training/model-best training/finished": "tests/integrations/test_finish.py",
    "thinstack evaluate --format square.v1": OPTION,
    "thinstack predict --input": OPTION,
    "thinstack predict --input reviews.csv --text review --output aspects --out all.csv": OPTION,
    "thinstack predict --json": OPTION,
}
FOLLOWED = re.findall(r"follow ([\w.\- ]+\.md)$", (ROOT / ".ci/jobs/guides").read_text(), re.M)
FOLLOWED = {f"docs/{page}" for pages in FOLLOWED for page in pages.split()}


def lines_of(page):
    """The lines of a page that are run here."""
    lines = [line for line in command_lines(page) if line not in NOT_RUN]
    if page in FOLLOWED:
        shown = "".join(blocks(page, "", "sh"))
        lines = [line for line in lines if line not in shown]
    return lines


LINES = {page: lines for page, _ in COMMANDS if (lines := lines_of(page))}
# What another page has too is run once.
LINES = {
    page: lines
    for page, lines in LINES.items()
    if not any(set(lines) < set(others) for others in LINES.values())
}
LONG = re.compile("thinstack (train|export)|--suite")
SLOW = [page for page, lines in LINES.items() if LONG.search(str(lines))]


def test_what_is_not_run_stands_on_a_page():
    assert NOT_RUN.keys() <= {line for _, line in COMMANDS}
    assert len(FOLLOWED) == 6


# -- what the lines read


REVIEWS = list(
    itertools.product(
        ("The battery", "The price", "This screen", "The staff"),
        (("is great", "good", 5), ("is awful", "bad", 1), ("is as expected", "fair", 3)),
        ("January", "February", "March"),
        ("Harbour", "Station"),
    )
)


def write_rows(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def write_tables(folder):
    """`reviews.csv`, `reviews.jsonl`, texts, `pairs.csv`, and a table of stars in DATA."""
    rows = []
    for about, (said, label, stars), month, store in REVIEWS:
        text = f"{about} {said}, and I came to the {store} in {month}."
        rows.append({"review": text, "text": text, "label": label, "stars": stars})
        rows[-1] |= {"date": f"5 {month} 2026", "store": store}
    for name in ("reviews", "labeled"):
        write_rows(folder / f"{name}.csv", rows)
    write_rows(folder / "DATA" / "reviews.csv", rows)
    write_rows(folder / "other.csv", rows)
    texts = [row["text"] for row in rows]
    for path in (folder / "texts.txt", folder / "DATA" / "reviews.txt"):
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    jsonl = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (folder / "texts.jsonl").write_text(jsonl, encoding="utf-8")
    write_pairs(folder, "score")


def write_pairs(folder, column):
    values = {"score": (4.5, 0.5), "label": ("same", "other")}[column]
    sides = list(itertools.product(("A man plays.", "A dog runs.", "No one sings."), repeat=2)) * 3
    rows = [
        {"text_a": a, "text_b": f"{b} {n}", column: values[a != b]}
        for n, (a, b) in enumerate(sides)
    ]
    write_rows(folder / "pairs.csv", rows)


def write_spans(path):
    nlp = spacy.blank("en")
    docs = DocBin()
    nouns = ("film", "plot", "lamp", "book", "song", "meal")
    for label, noun in itertools.product(("good", "bad"), nouns):
        doc = Doc(nlp.vocab, ["A", label, noun])
        doc.spans["sc"] = [spacy.tokens.Span(doc, 0, 3, label=label)]
        docs.add(doc)
    docs.to_disk(path)


def write_treebanks(folder):
    """DATA: trees of phrases (SST)."""
    data = folder / "DATA"
    tiny_recipe.write_data(data / "sst")
    for part in ("train", "dev"):
        lines = (data / "sst" / f"{part}.txt").read_text(encoding="utf-8").replace("(2 ", "(1 ")
        for path in (data / f"{part}.txt", data / "sst" / f"{part}.txt"):
            path.write_text(lines, encoding="utf-8")


def write_teacher(data):
    """DATA: a sentence encoder, and texts of which some are set aside."""
    write_encoder(data / "sentence-transformers" / "all-MiniLM-L6-v2", hidden_size=128)
    texts = itertools.product(("good", "bad", "fine"), ("film", "plot"), range(50))
    rows = [json.dumps({"text": f"The {word} {noun}, seen {n} times."}) for word, noun, n in texts]
    (data / "texts.jsonl").write_text("\n".join(rows), encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The models of `models/` and one `shop-mail`, as if they were installed."""
    path = tmp_path_factory.mktemp("site")
    for folder in (ROOT / "models").iterdir():
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for name, module in project["entry-points"]["thinstack"].items():
            install(path, name, module)
            (path / module).symlink_to(folder / module)
    install_bundle(path, "shop-mail", SENTIMENT)
    return path


def prepare(folder, page):
    """The files of a page, invented or as its blocks have them, and bundles that it has made."""
    folder.mkdir()
    (folder / "DATA").mkdir()
    if "DATA" in str(LINES[page]):
        write_treebanks(folder)
        if page in SLOW:
            write_teacher(folder / "DATA")
    write_tables(folder)
    write_spans(folder / "docs.spacy")
    for name in ("lab", "models"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "grammar").symlink_to(ROOT / "lab" / "recipes" / "grammar")
    for name, text in re.findall(r"^```\w+ (\S+)\n(.*?)^```$", read(page), re.M | re.S):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for block in blocks(page, "toml"):
        if name := re.search(r'^name = "([\w-]+)"$', block, re.M):
            (folder / f"{name[1]}.toml").write_text(block, encoding="utf-8")
    lines = LINES[page]
    for run in {run for line in lines for run in re.findall(r"(runs/\w+)/model-best", line)}:
        if f"--out {run}" not in str(lines):
            (folder / run).mkdir(parents=True)
            (folder / run / "model-best").symlink_to(SENTIMENT)
    teachers = folder / "runs" / "large"
    if not teachers.exists():
        teachers.mkdir(parents=True)
        (teachers / "model-best").symlink_to(SENTIMENT)


def call(line, folder, site):
    """Run a line as a shell does."""
    programs = "".join(
        f'{name}() {{ "{sys.executable}" {module} "$@"; }}\n'
        for name, module in (("thinstack", "-m thinstack"), ("python", ""))
    )
    done = subprocess.run(
        ["bash", "-c", programs + line],
        cwd=folder,
        env={k: v for k, v in os.environ.items() if k != "THINSTACK_DATA"}
        | {"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("page", LINES, ids=lambda page: f"job, {page}" if page in SLOW else page)
def test_lines_run(page, tmp_path, site):
    prepare(tmp_path / "work", page)
    for line in LINES[page]:
        call(line, tmp_path / "work", site)


@pytest.mark.parametrize("column", ["score", "label"])
def test_a_bundle_of_pairs_runs_as_the_page_says(column, tmp_path, site):
    write_pairs(tmp_path, column)
    (train,) = [line for line in LINES["docs/vectors.md"] if "train pairs.csv" in line]
    call(train, tmp_path, site)
    (code,) = [block for block in blocks("docs/vectors.md", "python") if "runs/pairs" in block]
    (tmp_path / "run.py").write_text(f"{code}print(len(results), result.label)\n", encoding="utf-8")
    label = {"score": "None", "label": "(same|other)"}[column]
    call(f"python run.py | grep -E '^2 {label}$'", tmp_path, site)
