"""The benchmarks run, each on a few invented trees or texts."""

import importlib
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from thinstack.evaluate.suite import Case

FOLDER = Path(__file__).parents[1] / "benchmarks"
TREES = [
    "(3 (2 A) (4 (4 wonderful) (2 film)))",
    "(1 (2 The) (1 (2 plot) (1 (1 (1 never) (2 comes)) (3 alive))))",
    "(1 Dull)",
    "(3 (3 (2 It) (3 works)) (2 .))",
]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """SST, vectors and pairs of SICK, of a few trees."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("sst", "vectors"):
        (folder / name).mkdir()
    for name in ("train", "dev"):
        (folder / f"sst/{name}.txt").write_text("\n".join(20 * TREES) + "\n", encoding="utf-8")
    draw = np.random.default_rng(0)
    for name, size in (("glove.6B.50d.union", 50), ("glove.840B.300d.sick+top256", 300)):
        vectors = draw.normal(scale=0.3, size=(5, size))
        words = ["the", "good", "bad", "dog", "runs"]
        np.savez(folder / f"vectors/{name}.npz", words=words, vectors=vectors)
    write_pairs(folder / "sick/train", 40)
    write_pairs(folder / "sick/dev", 2)
    return folder


def write_pairs(folder, pairs):
    folder.mkdir(parents=True)
    sides = {"toks": ("the dog runs", "bad dog runs"), "parents": ("2 3 0",) * 2}
    sides |= {"rels": ("det nsubj root",) * 2, "cparents": ("4 4 5 5 0",) * 2}
    for name, (first, second) in sides.items():
        (folder / f"a.{name}").write_text(f"{first}\n" * pairs, encoding="utf-8")
        (folder / f"b.{name}").write_text(f"{first}\n{second}\n" * (pairs // 2), encoding="utf-8")
    (folder / "id.txt").write_text("".join(f"{number}\n" for number in range(pairs)))
    (folder / "sim.txt").write_text("1\n4.5\n" * (pairs // 2), encoding="utf-8")


def run(script, *options):
    command = list(map(str, [sys.executable, FOLDER / script, *options]))
    paths = os.pathsep.join(sys.path)
    environment = os.environ | {"PYTHONPATH": paths, "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.fixture
def imported(monkeypatch):
    """Imports modules of benchmarks."""
    for name in ("transformers", "tokenizers", "spacy", "sklearn"):
        pytest.importorskip(name)
    monkeypatch.syspath_prepend(FOLDER)
    return lambda *names: [importlib.import_module(name) for name in names]


def test_gpu(data, tmp_path):
    """All rows, on the CPU, which differs from itself by nothing."""
    page = tmp_path / "gpu.md"
    small = ["--device", "cpu", "--small", "--rounds", 1, "--json", "--markdown", page]
    done = run("gpu.py", "--data", data, *small)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["title"].startswith("not a GPU, but the CPU, small; torch ")
    exact = [row for row in found["rows"] if row["target"] == 1e-4]
    assert len(exact) == 4
    assert {row["figure"] for row in exact} == {0}
    assert {row["met"] for row in found["rows"]} == {None}
    assert len(page.read_text(encoding="utf-8").splitlines()) == 4 + len(found["rows"])


def test_learning(data, tmp_path):
    out = tmp_path / "table.md"
    only = ("rvnn.v1 on SST nodes", "dt_rnn.v1, dependency trees on SICK relatedness")
    options = ["--trees", 40, "--seconds", 0.5, "--jobs", 2, "--out", out]
    options += [word for name in only for word in ("--only", name)]
    done = run("learning.py", "--data", data, *options)  # how far it gets depends on the machine
    page = out.read_text(encoding="utf-8")
    assert (done.returncode == 0) == ("2 of 2 learn" in page), done.stderr
    assert all(name.split(" on ")[0] in page for name in only)
    done = run("learning.py", "--data", data, "--trees", 40, "--seconds", 0, "--only", only[0])
    assert (done.returncode, "0 of 1 learn" in done.stdout) == (1, True)


def test_batches_of_spinn(data, tmp_path):
    options = ["--batch", 1, "--batch", 4, "--rounds", 1, "--json", "--plot", tmp_path / "a.svg"]
    done = run("spinn_batches.py", "--data", data, *options)
    assert done.returncode == 0, done.stderr
    speeds = json.loads(done.stdout)["sentences_per_s"]["cpu"]
    assert len(speeds) == 5
    assert all(line.keys() == {"1", "4"} and min(line.values()) > 0 for line in speeds.values())
    plot = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert all(f">{name}<" in plot for name in speeds)


def test_beside(imported, monkeypatch):
    beside, sets, rivals, page = imported("beside", "beside_sets", "beside_rivals", "beside_page")
    monkeypatch.setattr(page, "version", lambda name: f"of {name}")
    values = np.array([-3, 0.5, 9, 1, 2])
    opinions = rivals.Opinions(values, np.sign(values) * (abs(values) > 1))
    rival = rivals.Rival("one", "a number", "above 1", lambda texts: opinions)
    texts = sets.Texts("film", [*"abcde"], np.array([-2.0, -1.0, 0.0, 1.0, 1.0]))
    found = beside.figures(rival, texts)
    expected = {"own": 50, "undecided": 50, "sign": 75, "cut": 100}
    assert {name: found[name] for name in expected} == expected
    shown = page.page_of(
        [texts], {"one": {"film": found | {"seconds": 2.0}}}, {"one": ("a number", "above 1")}
    )
    assert "2 positive and 2 negative texts" in shown


def test_suites(imported):
    suites, page, rivals = imported("suites", "suites_page", "beside_rivals")
    cases = [
        Case("a", "open", "names", "positive", "MFT", "-", "-", "one"),
        Case("b", "open", "names", "positive", "INV", "a", "-", "two"),
        Case("c", "open", "facts", "neutral", "MFT", "-", "-", "three"),
    ]
    values = np.array([0.5, 0.1, -0.25])
    opinions = rivals.Opinions(values, np.sign(values) * (abs(values) > 0.3))
    measure = suites.of_rival(rivals.Rival("", "", "", lambda texts: opinions))
    shown = page.page_of({"versions": {}, "models": {"A": {"mine": measure(cases).figures}}})
    assert "\n| `mine` | 3 sentences | 100.0 |\n" in shown


def test_the_page_of_suites_is_what_its_figures_print(imported):
    (page,) = imported("suites_page")
    results = FOLDER.parent / "results"
    report = json.loads((results / "suites.json").read_text(encoding="utf-8"))
    assert (results / "suites.md").read_text(encoding="utf-8") == page.page_of(report)


def test_how_fast(imported):
    (module,) = imported("how_fast")
    framed = "┏━━━┳━━━┓\n┃ a ┃ b ┃\n┡━━━╇━━━┩\n│ 1 │   │\n└───┴───┘\nend"
    assert module.without_frames(framed) == "  a   b\n─────────\n  1\nend"
    commands = [command for _, command in module.benchmarks("old")]
    assert all((FOLDER / script).is_file() for script, *_ in commands)
    ((_, *words),) = [command for command in commands if "--lexicons" in command]
    models = [value for name, value in pairwise(words) if name == "--model"]
    for path in (model.split("=")[1] for model in models):
        assert path == "sentiment" or (FOLDER.parents[1] / path / "manifest.json").is_file()
