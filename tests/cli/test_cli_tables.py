"""Tables that are links, have no header, or another separator, and what to add for them."""

from pathlib import Path

import pytest
import tiny_texts

from thinstack.data.files.paths import in_resolved_folder
from thinstack.integrations.corpora.inputs import open_corpus
from thinstack.training.examples.inputs import Inputs
from thinstack.training.recipe import Recipe
from thinstack.training.text_recipe import TableOptions, table_task

UP = "text,label\nThe film is good.,up\nThe film is bad.,down\n"
DOWN = "text,label\nThe film is good.,down\nThe film is bad.,up\n"


def data_and_task(path, **options):
    inputs = Inputs(in_resolved_folder(path).parent)
    return table_task(path, TableOptions(**options), inputs)


def linked(folder, right, other):
    """Links to a file with the content `right`, each of a kind; beside that file lies, under the
    name of each link, one with the content `other`."""
    (folder / "archive").mkdir()
    (folder / "blobs").mkdir()
    target, blob = folder / "archive" / "2024.csv", folder / "blobs" / "3f2ac9"
    target.write_text(right)
    blob.write_text(right)
    links = [folder / f"{name}.csv" for name in ("absolute", "relative", "twice", "blob")]
    links[0].symlink_to(target)
    links[1].symlink_to("archive/2024.csv")
    links[2].symlink_to("relative.csv")
    links[3].symlink_to(blob)
    for link in links:
        (folder / "archive" / link.name).write_text(other)
        (folder / "blobs" / link.name).write_text(other)
    return links


@pytest.mark.parametrize("through", ["real", "folder"])
def test_a_linked_table_is_the_file_that_was_named(tmp_path, monkeypatch, through):
    real = tmp_path / "real"
    real.mkdir()
    links = linked(real, UP, DOWN)
    (tmp_path / "folder").symlink_to(real)
    monkeypatch.chdir(tmp_path / through)
    for link in links:
        named = Path(link.name)
        data, task = data_and_task(named, dev=named)
        assert (data.train, data.dev) == (link.name, link.name)
        rows = [row.values["label"] for row in task.rows(real / data.train)]
        assert rows == ["up", "down"]
        texts = [row.text for row in open_corpus(named).rows()]
        assert texts == ["The film is good.", "The film is bad."]
    for dev, kept in (("folder/relative.csv", "relative.csv"), ("far/d.csv", "far/d.csv")):
        data, _ = data_and_task(Path("absolute.csv"), dev=tmp_path / dev)
        assert data.dev == (kept if kept == "relative.csv" else str(tmp_path / kept))


def test_links_that_lead_nowhere_say_where(cli, tmp_path):
    link = tmp_path / "texts.csv"
    link.symlink_to("gone.csv")
    for arguments in (
        ("train", link, "--out", tmp_path / "out"),
        ("evaluate", "sentiment", link),
        ("predict", "--input", link, "--out", tmp_path / "out"),
        ("predict", "--input", tmp_path, "--out", tmp_path.parent / "out"),
    ):
        cli(*arguments).check_refused("texts.csv", "link to gone.csv")


@pytest.fixture(scope="module")
def unheaded(tmp_path_factory):
    """A table of tabs without a header, in a file whose name says nothing, and a bundle."""
    folder = tmp_path_factory.mktemp("tables")
    rows = tiny_texts.table(folder / "t.csv", 40).read_text().splitlines()[1:]
    text = "".join("\t".join(row.rsplit(",", 1)) + "\n" for row in rows)
    (folder / "reviews.txt").write_text(text)
    tiny_texts.start(folder / "start", labels=("down", "up"))
    return folder / "reviews.txt"


def test_no_header_from_training_to_scores(cli, unheaded):
    folder, named = unheaded.parent, ("--text", 1, "--label", 2)
    out = folder / "out"
    start = ("train", unheaded, "--out", out, "--init", folder / "start")
    cli(*start).check_refused(f"{unheaded}: ", "--no-header")
    answer = cli(*start, "--no-header", *named)
    assert (answer.code, answer.err) == (0, "")
    task = Recipe.read(out / "recipe.toml").task
    assert (task.separator, task.header) == (None, False)
    again = cli("train", out / "recipe.toml", "--data", folder, "--out", folder / "again")
    assert again.code == 0
    model = out / "model-best"
    figures = cli("evaluate", model, unheaded, "--no-header", *named, "--json").json
    assert figures["texts"] == 40
    scored = folder / "scored"
    answer = cli(
        "predict", "-m", model, "--input", unheaded, "--no-header", "--text", 1, "--out", scored
    )
    assert (answer.code, answer.err.split(";")[0]) == (0, "40 rows")
