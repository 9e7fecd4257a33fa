"""Models that other distributions bring along, made as docs/publishing-a-model.md says;
`.ci/jobs/guides` follows that guide with a real wheel."""

import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import asdict
from importlib import metadata
from pathlib import Path

import pytest
from last_word_model import LABELS, expected, write_last_word_bundle

import thinstack
from thinstack.bundle import open_bundle
from thinstack.errors import BundleError, PluginError
from thinstack.plugins.manager import PluginManager, PluginRecord, PluginWarning

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "publishing-a-model.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
FILES = {name: text for _, name, text in BLOCKS if name}
PROJECT = tomllib.loads(FILES["pyproject.toml"])["project"]
HOOK = FILES["thinstack_shop_mail/__init__.py"]
CARD = b"# shop-mail\n\nWhat messages\nare about.\n\nMore.\n"
OURS = ROOT / "models" / "thinstack-sentiment-context"


def install(site, distribution=PROJECT["name"], module="shop_mail"):
    """A distribution of the guide's hook."""
    about = {"version": PROJECT["version"], "licence": PROJECT["license"]}
    site.install(distribution, module, HOOK, entry="shop-mail", **about)


@pytest.fixture
def model(site):
    """The folder of a model that an installed distribution calls `shop-mail`."""
    install(site)
    more = {"README.md": CARD}
    return write_last_word_bundle(site.path / "model", more=more).path


def test_it_is_found_by_name_wherever_a_model_is_named(model, cli, tmp_path):
    assert thinstack.load("shop-mail").labels == LABELS
    assert open_bundle("shop-mail").path == model
    found = cli("predict", "awful film good", "--json", "--model", "shop-mail").json[0]
    assert found["scores"] == pytest.approx(expected("good", 3), abs=1e-5)
    trees, table = tmp_path / "trees.txt", tmp_path / "t.csv"
    trees.write_text("(2 (1 film) (2 good))\n")
    assert '"root_accuracy": 100.0' in cli("evaluate", "shop-mail", trees, "--json").out
    # It has no torch weights, which is where these two end once they have found it.
    table.write_text("text,label\nA.,x\nB.,x\nC.,y\nD.,y\n")
    begin = ("train", table, "--out", tmp_path / "out", "--init", "shop-mail")
    for command in (begin, ("export", "shop-mail", tmp_path / "m.onnx")):
        assert f"{model}: this bundle has no torch weights" in cli(*command).err


def test_it_is_listed_with_its_distribution_its_licence_and_its_size(model, cli):
    (model / "big").write_bytes(bytes(2_340_000))
    record, own = (record for record in cli("plugins", "--json").json if record["kind"] == "bundle")
    assert record | {"name": "sentiment", "kind": "bundle", "distribution": "thinstack"} == record
    summary = "2.3 MB: What messages are about."
    about = ("shop-mail", "bundle", "thinstack-shop-mail", "1.0.0", "ok", None, "MIT", summary)
    assert own == asdict(PluginRecord(*about))


def test_a_name_comes_before_a_folder_and_a_path_is_a_folder(model, tmp_path, monkeypatch):
    (there := tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(there)
    mine = write_last_word_bundle(there / "shop-mail").path
    assert open_bundle("shop-mail").path == model
    assert open_bundle("./shop-mail").path.resolve() == mine.resolve()
    assert open_bundle(Path("shop-mail")).path.resolve() == mine.resolve()
    mine.rename(there / "other")
    assert open_bundle("other").path == Path("other").absolute()


def test_a_folder_that_is_gone_or_no_bundle_is_told_with_its_distribution(model, site, cli):
    (model / "manifest.json").unlink()
    with pytest.raises(BundleError, match=f"{model}: not a bundle"):
        thinstack.load("shop-mail")
    shutil.rmtree(model)
    gone = rf"of thinstack-shop-mail 1.0.0 .*: {model}: no such folder; reinstall"
    with pytest.warns(PluginWarning, match=gone):
        plugins = site.manager()
    with pytest.raises(PluginError, match=gone):
        plugins.find("bundle", "shop-mail")
    ((status, summary),) = {(each.status, each.summary) for each in plugins.records()}
    assert (status, summary) == ("failed", "")


PROGRAM = """
import sys, thinstack
thinstack.load()
print("thinstack.plugins" in sys.modules)
thinstack.load("shop-mail")
print("of_a_class" in sys.modules, "torch" in sys.modules)
"""


def test_a_name_is_looked_up_without_torch_and_our_own_without_reading_entry_points(model, site):
    site.install("cells", "of_a_class", "import torch\nclass Cell: ...", names="Cell")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PYTHONPATH": f"{ROOT}:{site.path}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stderr, done.stdout.split()) == ("", ["False", "False", "False"])


@pytest.mark.skipif(not OURS.is_dir(), reason="models/ is in the repository, not in the sdist")
def test_our_own_distribution_names_its_folder(monkeypatch):
    project = tomllib.loads((OURS / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ((name, module),) = project["entry-points"]["thinstack"].items()
    monkeypatch.syspath_prepend(OURS)
    point = metadata.EntryPoint(name, module, "thinstack")
    plugins = PluginManager(builtins=(), entry_points=[point])
    folder = plugins.find("bundle", name).folder
    assert folder == OURS / module / "model"
    assert open_bundle(folder).manifest.metrics["recipe"] == name
