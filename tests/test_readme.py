"""The README is short, its code runs as it stands, and its figures are those of `lab/results/`."""

import re
import shlex

import pytest
from pages import ROOT, blocks, execute, run

import thinstack
from thinstack.core.model.model import Model
from thinstack.core.model.tree_encoder import Layer, TreeEncoder
from thinstack.export.torchscript import export_torchscript
from thinstack.plugins.embeddings.words import WordEmbedding
from thinstack.plugins.heads.node_classifier import NodeClassifier
from thinstack.plugins.specs import Spec

README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURE = ROOT / "docs" / "assets" / "tree.svg"
SPEED = (ROOT / "lab" / "results" / "speed.md").read_text(encoding="utf-8")
RIVALS = (ROOT / "lab" / "results" / "sentiment-rivals.md").read_text(encoding="utf-8")


def test_the_drawing_is_what_the_command_prints(cli):
    drawn = blocks("README.md", "")[0].splitlines()
    program, *command = shlex.split(drawn[0].removeprefix("$ "))
    shown = cli(*command).out.splitlines()
    places = [shown.index(line) for line in drawn[1:] if line not in ("", "   [...]")]
    assert program == "thinstack"
    assert places == sorted(places)
    assert len(places) > 12


def test_the_picture_is_what_the_command_draws(cli, tmp_path):
    _, *command = shlex.split(blocks("README.md", "")[0].splitlines()[0].removeprefix("$ "))
    assert cli(*command, "--svg", tmp_path / "tree.svg").code == 0
    drawn, shown = (path.read_text(encoding="utf-8") for path in (tmp_path / "tree.svg", PICTURE))
    titles = re.compile("<title>.*?</title>", re.DOTALL)  # where rounding may turn a percentage
    assert titles.sub("", drawn) == titles.sub("", shown)
    assert f"](docs/assets/{PICTURE.name})" in README


def test_its_figures_are_those_of_the_results():
    accuracy, speed = [
        [cell.strip() for cell in row.split("|")[2:-1]]
        for row in README.splitlines()
        if row.startswith(("| SST dev.txt", "| sentences a second"))
    ]
    rows = {}
    for line in RIVALS.splitlines():
        if line.startswith("|"):
            name, five, two = [cell.strip() for cell in line.split("|")[1:4]]
            rows[name] = f"{five} / {two}"
    (minilm,) = [figures for name, figures in rows.items() if name.startswith("all-minilm")]
    assert accuracy[:2] == [rows["sentiment"], rows["sentiment-context"]]
    assert accuracy[2].endswith(f": {minilm}")
    names = "sentiment, 64 a call", "sentiment-context, 64", "all-minilm-l6-v2, 8"
    *own, rival = (re.search(rf"│ {name} +│ ([\d,]+)", SPEED)[1] for name in names)
    assert speed[:2] == own
    assert speed[2].endswith(f", sorted by length: {rival}")


def test_the_ten_lines(capsys):
    pyarrow = pytest.importorskip("pyarrow")
    (block,) = [code for code in blocks("README.md", "python") if "score_frame" in code]
    names = {"texts": iter(["Good.", ""]), "reviews": pyarrow.table({"review": ["Good.", None]})}
    execute(block, "<README.md>", names)
    first, second, *_, last, empty = capsys.readouterr().out.splitlines()
    said = re.search(r"# (\w+ -?[\d.]+): from -1 to 1", block)[1].split()
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
    comment = re.search(r"# (.+) (very negative|negative) (.+)", block)
    battery, label, because = comment.groups()
    assert capsys.readouterr().out == f"{battery} {label} {because}\n"


def test_spacy(capsys):
    doc = run("README.md", "add_pipe")["doc"]
    assert sum(doc.cats.values()) == pytest.approx(1, abs=1e-5)
    assert doc[0:4]._.sentiment_label in ("positive", "very positive")
    assert "very negative" in capsys.readouterr().out


def test_the_plugin_builds_a_cell():
    spec = Spec("cell", run("docs/index.md", "class Mean")["Mean"])
    assert spec.name == "mean.v1"
    model = Model(
        embedding=WordEmbedding(entries=9, size=6),
        encoder=TreeEncoder([Layer(spec.create({}, input_size=6, hidden_size=4))]),
        head=NodeClassifier(hidden_size=4, classes=2),
    )
    export_torchscript(model.eval())  # and compared with the model
