"""Readers of tree files as plugins: built-in ones, wrong ones, and a third party's put to use."""

from pathlib import Path

import pytest
from last_word_model import write_last_word_bundle
from training import tiny_recipe

from thinstack.core import Tree
from thinstack.data.trees.brackets import from_brackets
from thinstack.errors import DataError, PluginError, TreeError
from thinstack.plugins import Reader
from thinstack.plugins.manager import PluginManager, builtin_modules
from thinstack.training.examples.datasets import load_datasets

ROOT = Path(__file__).parents[2]

GOOD = {
    "brackets.v1": ("(3 (2 The) (4 acting))\n", from_brackets("(3 (2 The) (4 acting))")),
    "plain_brackets.v1": ("( The acting )\n", Tree.left(["The", "acting"])),
    "conllu.v1": (
        "1\tThe\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tacting\t_\t_\t_\t_\t0\troot\t_\t_\n\n",
        Tree.from_parents([1, -1], ["The", "acting"], ["det", "root"]),
    ),
    "labelled_conllu.v1": (
        "# label = a b\n1\tA\t_\t_\t_\t_\t2\t_\t_\tX=Y|Label=c\n2\tb\t_\t_\t_\t_\t0\t_\t_\t_\n\n",
        Tree.from_parents([1, -1], ["A", "b"], ["c", "a b"]),
    ),
}
BAD = {
    "brackets.v1": "(3 (2 The)\n",
    "plain_brackets.v1": "( The\n",
    "conllu.v1": "1\tThe\n\n",
    "labelled_conllu.v1": "# label =\n1\tThe\t_\t_\t_\t_\t0\tdet\t_\t_\n\n",
}

# Bracketed trees in square brackets, a line each.
SQUARE = """
from thinstack import from_brackets
from thinstack.plugins import Reader, hookimpl

def read(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.replace("[", "(").replace("]", ")") for line in file]
    return [from_brackets(line, source=str(path)) for line in lines]

class Square(Reader):
    name = "square.v1"
    summary = "square brackets"
    read = staticmethod(read)

@hookimpl
def thinstack_readers():
    return [Square]
"""


@pytest.fixture
def builtin():
    return PluginManager(builtins=builtin_modules("reader"), entry_points=(), blocked=())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trees.txt"


def reading(read):
    return type("Fake", (Reader,), {"name": "fake.v1", "read": staticmethod(read)})


@pytest.mark.parametrize("name", GOOD)
def test_a_builtin_reads_its_format_and_skips_what_is_malformed(builtin, path, name):
    reader, (text, tree) = builtin.find("reader", name).plugin, GOOD[name]
    path.write_text(text + BAD[name] + text, encoding="utf-8")
    with pytest.raises(TreeError) as caught:
        reader.trees(path)
    skipped = []
    assert reader.trees(str(path), skipped=skipped) == [tree, tree]
    assert [str(error) for error in skipped] == [str(caught.value)]
    assert (caught.value.source, caught.value.line) == (str(path), text.count("\n") + 1)
    path.write_text(text, encoding="utf-8")
    assert reader.trees(path) == [tree]
    with pytest.raises(DataError, match=r"none\.txt: cannot be read"):
        reader.trees(path.with_name("none.txt"))


def test_the_builtin_readers_are_those_tested_here(builtin):
    assert {(record.name, record.kind, record.status) for record in builtin.records()} == {
        (name, "reader", "ok") for name in GOOD
    }


def test_a_class_is_validated():
    with pytest.raises(PluginError, match=r"reader Fake must define .* `read`"):
        type("Fake", (Reader,), {"name": "fake.v1"})


def test_a_function_without_skipped_reads_but_cannot_skip(path):
    reader = reading(lambda path: (Tree.left([part]) for part in (path.name, "b")))
    assert reader.trees(path) == [Tree.left(["trees.txt"]), Tree.left(["b"])]
    with pytest.raises(PluginError, match=r"'fake\.v1' cannot skip .* add `skipped`"):
        reader.trees(path, skipped=[])


def read_badly(path):
    yield Tree.left(["a"])
    raise KeyError("column 7")


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (read_badly, r"failed on .*trees\.txt: KeyError: 'column 7'"),
        (lambda path: path.read_text(), r"failed on .*trees\.txt: FileNotFoundError: "),
        (lambda path: None, r"failed on .*trees\.txt: TypeError: 'NoneType'"),
        (lambda path: ["(2 a)"], r"must return a list of thinstack\.Tree; .* '\(2 a\)'"),
    ],
)
def test_what_goes_wrong_in_a_reader_is_an_error_of_that_plugin(path, read, message):
    with pytest.raises(PluginError, match=rf"^reader 'fake\.v1' {message}"):
        reading(read).trees(path)


@pytest.fixture
def square(site):
    """The distribution of `square.v1` is installed."""
    site.install("square-brackets", "square_brackets", SQUARE)


def as_square(path):
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("(", "[").replace(")", "]"), encoding="utf-8")
    return path


# Plugins that are there for real may warn.
installed_too = pytest.mark.filterwarnings("ignore::thinstack.plugins.manager.PluginWarning")


@installed_too
@pytest.mark.usefixtures("square")
def test_evaluate_reads_a_third_partys_format(cli, path):
    bundle = write_last_word_bundle(path.with_name("model")).path
    trees = "(2 (1 film) (2 good))\n(0 (2 good) (1 (1 film) (0 awful)))\n"
    path.write_text(trees, encoding="utf-8")
    code, expected, _ = cli("evaluate", bundle, path, "--json")
    assert code == 0
    as_square(path)
    assert cli("evaluate", bundle, path, "--json", "--format", "square.v1") == (0, expected, "")
    assert cli("evaluate", bundle, path)[0] == 2
    path.write_text("[2 good]\n[7 film]\n", encoding="utf-8")
    code, _, error = cli("evaluate", bundle, path, "--format", "square.v1")
    assert code == 2
    assert error.startswith(f"error: {path}: tree 1: node 0 ('film') has the label '7'; ")


@installed_too
@pytest.mark.usefixtures("square")
def test_a_recipe_reads_a_third_partys_format(tmp_path):
    data = tiny_recipe.write_data(tmp_path / "data")
    expected = load_datasets(tiny_recipe.recipe(), data)
    for name in ("train.txt", "dev.txt"):
        as_square(data / name)
    found = load_datasets(tiny_recipe.recipe(data={"format": "square.v1"}), data)
    for one, other in zip(found.train + found.dev, expected.train + expected.dev, strict=True):
        assert one.gold.targets.tolist() == other.gold.targets.tolist()
