"""The pages of docs/: their Python runs, their commands exist, and what they show is true."""

import random
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
import spacy
import typer
from pages import ROOT, blocks, command_lines, execute, read, run
from pair_models import write_pair_bundle
from pyarrow import parquet
from spacy.training import Example
from vector_models import write_vector_bundle

import thinstack
from thinstack.bundle import opening
from thinstack.cli import app
from thinstack.core import config
from thinstack.core.config import Strict
from thinstack.core.config.base import descriptions
from thinstack.integrations.corpora import score_batches
from thinstack.integrations.corpora.inputs import LONGEST_TEXT, Problem
from thinstack.integrations.corpora.run_manifest import SHARD_ROWS
from thinstack.training import recipe
from thinstack.training.recipe import Recipe

ELSEWHERE = {  # pages whose Python another test or job runs
    "corpora.md": ".ci/jobs/guides",  # except Ray Data and Dask
    "publishing-a-model.md": ".ci/jobs/guides",
    "service.md": ".ci/jobs/guides",
    "devices.md": "tests/examples/test_runtimes_guide.py",
    "runtimes.md": "tests/examples/test_runtimes_guide.py",
    "training.md": ".ci/jobs/guides",
    "writing-a-cell.md": ".ci/jobs/guides",
    "writing-a-task.md": ".ci/jobs/guides",
}
PAGES = sorted(path.name for path in (ROOT / "docs").glob("*.md"))
HERE = [page for page in PAGES if blocks(f"docs/{page}", "python") and page not in ELSEWHERE]


def names_of_scores() -> dict[str, Any]:
    return {"thinstack": thinstack, "nlp": spacy.blank("en")}


def names_of_spacy() -> dict[str, Any]:
    nlp, texts = spacy.blank("en"), {"A good lamp.": 1.0, "It is bad.": 0.0}
    cats = {text: {"good": share, "bad": 1 - share} for text, share in texts.items()}
    examples = [Example.from_dict(nlp.make_doc(text), {"cats": cats[text]}) for text in texts]
    return {"spacy": spacy, "random": random, "examples": examples, "losses": {}}


def names_of_vectors() -> dict[str, Any]:
    texts = ["Good film. The plot but the film.", "an awful plot"]
    Path("reviews.csv").write_text("\n".join(["review", *texts]), encoding="utf-8")
    batch = pa.record_batch({"id": ["1", "2"], "text": texts})
    rows = score_batches([batch], "vectors", output="phrases", vectors=True)
    parquet.write_table(pa.Table.from_batches(rows), "said.parquet")
    return {}


def names_of_themes() -> dict[str, Any]:
    rows = [f"awful plot,{town},2026-03-0{n}" for town in ("Hull", "Bath") for n in range(1, 9)]
    for name in ("reviews.csv", "next_month.csv"):
        Path(name).write_text("\n".join(["review,store,date", *rows]), encoding="utf-8")
    return {}


NAMES: dict[str, Callable[[], dict[str, Any]]] = {  # what a page's fragments take for granted
    "scores.md": names_of_scores,
    "spacy.md": names_of_spacy,
    "themes.md": names_of_themes,
    "vectors.md": names_of_vectors,
}


def test_what_is_run_elsewhere_is_there():
    assert {"start.md", "trees.md", "predictions.md"} <= set(HERE)
    for page, place in ELSEWHERE.items():
        assert blocks(f"docs/{page}", "python")
        assert page in read(place)


@pytest.fixture(scope="module")
def small_vectors(tmp_path_factory):
    """A small model, in place of the model `vectors`."""
    return write_vector_bundle(tmp_path_factory.mktemp("vectors") / "model").path


def is_run(block):
    """Whether a block runs here: DuckDB may not be installed."""
    return "import duckdb" not in block or find_spec("duckdb")


@pytest.mark.parametrize("page", HERE)
def test_python_runs(page, tmp_path, monkeypatch, small_vectors):
    monkeypatch.chdir(tmp_path)
    named = opening._named
    monkeypatch.setattr(
        opening, "_named", lambda name: small_vectors if name == "vectors" else named(name)
    )
    if page == "vectors.md":
        write_pair_bundle(tmp_path / "runs/pairs/model-best")
    names = {"__name__": "page", **NAMES.get(page, dict)()}
    for number, block in enumerate(blocks(f"docs/{page}", "python")):
        if is_run(block):
            execute(block, f"<{page}, {number}>", names)
    if page == "vectors.md" and "best" in names:
        assert 0 < len(names["best"]) <= 10
        assert all(" " in text for text, _, _ in names["best"])


def test_start():
    result = run("docs/start.md", "result = model(")["result"]
    assert [sentence.text for sentence in result.sentences] == [
        "The acting is strong, but the plot never comes alive.",
        "Still, I liked it.",
    ]
    assert [sentence.label for sentence in result.sentences] == ["negative", "positive"]


def test_the_thin_stack(capsys):
    """The trace is the paper's Table 1 (Bowman et al. 2016)."""
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks("lab/thin-stack.md", "python"):
        execute(block, "<thin-stack.md>", names)
    trace = capsys.readouterr().out
    assert [trace] == blocks("lab/thin-stack.md", "text")
    assert [" ".join(line.split()) for line in trace.splitlines()] == [
        "0 SHIFT",
        "1 Spot 1 SHIFT",
        "2 sat 1 2 SHIFT",
        "3 down 1 2 3 REDUCE",
        "4 (sat down) 1 4 REDUCE",
        "5 (Spot (sat down)) 5",
    ]
    underlined = [[0, 0], [0, 1], [1, 2], [2, 3], [1, 4]]
    assert names["plan"].pairs.tolist() == underlined
    assert f"  # {underlined}\n" in blocks("lab/thin-stack.md", "python")[1]


COMMANDS = [
    (page, line)
    for page in ["README.md", *(f"docs/{name}" for name in PAGES)]
    for line in command_lines(page)
]


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_commands_and_their_options_exist(page, line):
    words = shlex.split(line.split(" || ")[0], comments=True)
    params = typer.main.get_command(app).commands[words[1]].params
    options = {name for param in params for name in (*param.opts, *param.secondary_opts)}
    options.add("--help")
    used = {word.split("=")[0] for word in words[2:] if re.match("--?[a-z]", word)}
    assert used <= options, page


def test_recipes_on_pages_are_whole():
    for page in ("contextual.md", "recipes.md", "teaching.md"):
        recipe = tomllib.loads(blocks(f"docs/{page}", "toml")[0])
        assert Recipe.parse(recipe, source=page).name == recipe["name"]


def test_every_extra_has_a_row():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    rows = re.findall(r"^\| (`.*?) \|", read("docs/start.md"), re.MULTILINE)
    named = {extra for row in rows for extra in re.findall(r"`(\w+)`", row)}
    assert named == project["optional-dependencies"].keys() - {"dev", "docs"}


@pytest.mark.parametrize(
    ("page", "example"),
    [("writing-a-cell.md", "thinstack-mgu"), ("writing-a-task.md", "thinstack-topics")],
)
def test_the_files_are_those_of_the_example(page, example):
    named = dict(
        re.findall(r"^```\w+ (\S+)\n(.*?)^```$", read(f"docs/{page}"), re.MULTILINE | re.DOTALL)
    )
    files = (ROOT / "examples" / example).iterdir()
    there = {path.name: path.read_text("utf-8") for path in files if path.is_file()}
    del there["README.md"]
    own = {"README.md", "run_anywhere.py"} - there.keys()
    assert {name: text for name, text in named.items() if name not in own} == there


def test_what_the_guide_to_corpora_lists_is_what_there_is():
    guide = read("docs/corpora.md")
    kinds = re.findall(r'^    - "(\w+)"', str(Problem.__doc__), re.MULTILINE)
    assert re.findall(r"^\| `(\w+)` \|", guide.split("| `kind` |")[1], re.MULTILINE) == kinds
    assert f"{SHARD_ROWS:,} input rows" in guide
    assert f"more than {LONGEST_TEXT:,} characters" in guide


def test_the_container_has_the_steps_that_the_guide_runs():
    text = read("docs/service.md")
    (container,) = re.findall(r"^```dockerfile Dockerfile\n(.*?)^```$", text, re.M | re.S)
    installed, *_ = re.findall(r"^pip install --find-links wheels (.*)$", text, re.M)
    assert f"--find-links /wheels {installed}\n" in container
    (started,) = re.findall(r"^gunicorn (.*) --bind", text, re.M)
    assert started.split() == re.findall(r'"([^"]+)"', container.split('"gunicorn"')[1])[:-2]
    assert len(container.splitlines()) <= 12


def test_following_a_guide(tmp_path):
    guide = tmp_path / "guide.md"
    blocks = ("sh\ntest ! -e a.txt", "text a.txt\none", "sh\ncat a.txt", "python\nshown")
    blocks += ("text a.txt\ntwo", "sh\ncat a.txt\nfalse\necho never")
    guide.write_text("text\n".join(f"```{block}\n```\n" for block in blocks))
    command = [sys.executable, ROOT / ".ci" / "follow", guide, tmp_path / "folder"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("one\ntwo\n", 1)


HOST = "https://example.org/thinstack"


@pytest.fixture(scope="module")
def hook():
    return run_path(str(ROOT / "lab" / "scripts" / "site_pages.py"))


@pytest.mark.parametrize("target", ["gone.md", "../lab/recipes/gone.toml", "../../elsewhere"])
def test_a_link_to_nothing_is_refused(hook, target):
    with pytest.raises(FileNotFoundError, match=f"docs/trees.md: .* {target}, "):
        hook["link_of"](target, "trees.md", HOST)


def links_of(folder, hook):
    read = hook["place_in_site"]
    return [
        (match[3], read(path.relative_to(ROOT).as_posix()))
        for path in folder.rglob("*.md")
        for part in hook["FENCED"].split(path.read_text(encoding="utf-8"))[::2]
        for match in hook["LINK"].finditer(part)
        if match[3]
    ]


def test_every_link_of_every_page_leads_somewhere(hook):
    links = [*links_of(ROOT / "docs", hook), *links_of(ROOT / "lab" / "results", hook)]
    assert len(links) > 100
    for target, place in links:
        hook["link_of"](target, place, HOST)


def test_every_link_of_the_readme_leads_somewhere(hook):
    text = read("README.md")
    targets = [match[3].split("#")[0] for match in hook["LINK"].finditer(text) if match[3]]
    assert len(targets) > 15
    for target in targets:
        assert (ROOT / target).is_file(), target


def test_every_field_of_recipes_has_a_description_and_a_row(hook):
    page = SimpleNamespace(file=SimpleNamespace(src_uri="recipes.md"))
    settings = SimpleNamespace(extra={"repository": HOST})
    text = hook["on_page_markdown"]("# Recipes\n", page=page, config=settings, files=None)
    names = [*vars(config).values(), *vars(recipe).values()]
    models = [kind for kind in names if isinstance(kind, type) and issubclass(kind, Strict)]
    assert Recipe in models
    for model in models:
        for name, field in model.model_fields.items():
            if not field.exclude:
                assert name in descriptions(model), f"{model.__name__}.{name} has no description"
                assert f"\n| `{field.alias or name}` |" in text
