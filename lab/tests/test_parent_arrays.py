"""Reading and writing files of parent arrays."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from core.random_trees import nodes_of, tree_of
from data.reading import dependency_trees
from hypothesis import given
from hypothesis import strategies as st

from thinstack.core import Tree
from thinstack.data.trees.brackets import from_brackets
from thinstack.errors import DataError, TreeError
from thinstack_lab.parent_arrays import (
    read_constituency_trees,
    read_dependency_trees,
    write_constituency_trees,
    write_dependency_trees,
)

# Anything but ASCII white space: no-break spaces, other line separators of Unicode, brackets.
WORDS = st.text(
    st.characters(exclude_characters=" \t\r\n\f\v", exclude_categories=["Cs"]),
    min_size=1,
    max_size=3,
)
NESTED = st.recursive(WORDS, lambda below: st.lists(below, min_size=2, max_size=2), max_leaves=9)


def write(folder, **lines):
    """One file a keyword, with a byte order mark; each line is a string or a list of entries."""
    paths = []
    for name, content in lines.items():
        texts = [line if isinstance(line, str) else " ".join(map(str, line)) for line in content]
        paths.append(folder / name)
        paths[-1].write_bytes("".join(f"{text}\n" for text in texts).encode("utf-8-sig"))
    return paths


def place_of(error):
    return error.source, error.line, error.column


@pytest.fixture
def files(tmp_path):
    return [tmp_path / name for name in ("toks", "parents", "rels")]


@given(st.lists(dependency_trees(WORDS, WORDS), min_size=1, max_size=3))
def test_dependency_trees_come_back_as_written(trees):
    heads = [[parent + 1 for parent in tree.parents.tolist()] for tree in trees]
    columns = {"toks": [tree.words for tree in trees], "parents": heads}
    columns["rels"] = [tree.labels for tree in trees]
    with TemporaryDirectory() as folder:
        ours = [Path(folder, name) for name in ("words", "heads", "names")]
        write_dependency_trees(iter(trees), *ours)
        for own, expected in zip(ours, write(Path(folder), **columns), strict=True):
            assert own.read_bytes() == expected.read_bytes().removeprefix(b"\xef\xbb\xbf")
        toks, parents, rels = (Path(folder, name) for name in columns)
        assert read_dependency_trees(toks, parents, rels) == trees
        bare = [tree.with_labels([None] * len(tree)) for tree in trees]
        assert read_dependency_trees(str(toks), str(parents)) == bare


@given(st.lists(NESTED, min_size=1, max_size=3), st.data())
def test_constituency_trees_come_back_as_written(written, data):
    """Whatever the numbers of the phrases; those of the words are their places."""
    trees = [tree_of(nested) for nested in written]
    trees = [tree.with_labels([None] * len(tree)) for tree in trees]
    lines = []
    for nested, tree in zip(written, trees, strict=True):
        count = len(tree.words)
        words = iter(range(1, count + 1))
        phrases = iter(data.draw(st.permutations(range(count + 1, 2 * count))))
        nodes = nodes_of(nested)
        numbers = [next(phrases if node.word is None else words) for node in nodes]
        above = [numbers[node.parent] if node.parent >= 0 else 0 for node in nodes]
        lines.append([parent for _, parent in sorted(zip(numbers, above, strict=True))])
    with TemporaryDirectory() as folder:
        files = write(Path(folder), toks=[tree.words for tree in trees], cparents=lines)
        assert read_constituency_trees(*files) == trees
        files = [Path(folder, name) for name in ("words", "parents")]
        write_constituency_trees(iter(trees), *files)
        assert read_constituency_trees(*files) == trees


def test_line_ends_and_wide_spaces(tmp_path):
    toks, parents = write(tmp_path, toks=[" no  go\t\r", "so\r"], parents=["2\t0 \r", "0"])
    parents.write_bytes(parents.read_bytes().removesuffix(b"\n"))
    trees = [Tree.from_parents([1, -1], ["no", "go"]), Tree.from_parents([-1], ["so"])]
    assert read_dependency_trees(toks, parents) == trees


HEADS = [
    *(("2 0", 4, "found 2"), ("2 0 2 2", 7, "3 heads, .* found 4"), ("", 1, "found 0")),
    *(("2 0 x", 5, "1 to 3, .* 'x'"), ("2  0 4", 6, "'4'"), ("2 -1 2", 3, "'-1'")),
    *(("2 0 2.0", 5, "'2.0'"), (f"2 0 {'9' * 5000}", 5, "'9999")),
    *(("2 3 2", 1, r"one root \(0\), found 0"), ("0 1 0", 5, r"one root \(0\), found 2")),
    *(("0 3 2", 3, "found node 2 to lead to a cycle"), ("2 2 0", 1, "node 1 to lead to a cycle")),
]
CPARENTS = [
    ("4 4 5 5", 8, "5 parents, of 3 words and 2 phrases, found 4"),
    *(("4 4 5 5 0 0", 11, "5 parents, .* found 6"), ("4 4 5 6 0", 7, "from 1 to 5, .* '6'")),
    *(("4 4 5 0 0", 9, "one root"), ("4 4 4 5 0", 7, "phrase 4: .* 2 children, found 3")),
    ("2 4 5 5 0", 3, "word 2: expected 0 children, found 1"),
    *(("0 4 4 5 5", 3, "node 2 to lead to a cycle"), ("4 5 4 5 0", 7, "phrase 4: .* adjacent")),
]


@pytest.mark.parametrize(
    ("read", "line", "column", "message"),
    [
        *((read_dependency_trees, *bad) for bad in HEADS),
        *((read_constituency_trees, *bad) for bad in CPARENTS),
    ],
)
def test_parents_that_are_no_tree_are_placed(tmp_path, read, line, column, message):
    toks, parents = write(tmp_path, toks=["a", "b c d"], parents=["0", line])
    with pytest.raises(TreeError, match=message) as caught:
        read(toks, parents)
    assert place_of(caught.value) == (str(parents), 2, column)


def test_sentences_without_words_are_refused(tmp_path):
    files = write(tmp_path, toks=[" "], parents=["2 0"])
    for read in (read_dependency_trees, read_constituency_trees):
        with pytest.raises(TreeError, match=r"toks:1:2: .* found none"):
            read(*files)


@pytest.mark.parametrize("short", [0, 1, 2])
def test_files_of_different_lengths_are_refused(tmp_path, short):
    contents = {"toks": ["a"] * 2, "parents": ["0"] * 2, "rels": ["root"] * 2}
    del list(contents.values())[short][1]
    paths = write(tmp_path, **contents)
    wrong, expected, found = (paths[1], 1, 2) if short == 0 else (paths[short], 2, 1)
    for skipped in (None, []):
        with pytest.raises(DataError, match=f"^{wrong}: .*{expected} .*toks .* {found}"):
            read_dependency_trees(*paths, skipped=skipped)


def test_malformed_trees_are_skipped_and_reported(tmp_path):
    columns = {"heads": ["0", "2 2", "0 1", ""], "rels": ["x", "x y", "x", ""]}
    toks, heads, rels = write(tmp_path, toks=["a", "b c", "d e", " "], **columns)
    skipped = []
    trees = read_dependency_trees(toks, heads, rels, skipped=skipped)
    assert trees == [Tree.from_parents([-1], ["a"], ["x"])]
    places = [(str(heads), 2, 1), (str(rels), 3, 2), (str(toks), 4, 2)]
    toks, parents = write(tmp_path, toks=["a", "b c", "d e"], cparents=["0", "3 0", "3 3 0"])
    found = read_constituency_trees(toks, parents, skipped=skipped)
    assert found == [Tree.left(["a"]), Tree.left(["d", "e"])]
    assert list(map(place_of, skipped)) == [*places, (str(parents), 2, 4)]


def test_constituency_trees_are_written_by_parents(files):
    write_constituency_trees([Tree.left("abc"), Tree.right("abc"), Tree.left("a")], *files[:2])
    expected = ["a b c\na b c\na\n", "4 4 5 5 0\n5 4 4 5 0\n0\n"]
    assert [path.read_text() for path in files[:2]] == expected


@pytest.mark.parametrize(
    ("tokens", "labels", "place", "message"),
    [
        (["New York", "is"], ["a", "b"], 0, "word 1 .* 'New York'"),
        (["is", None], ["a", "b"], 0, "word 2 .* None"),
        (["is", "it"], [None, "b"], 2, "label 1 .* None"),
    ],
)
def test_dependency_trees_that_files_cannot_hold_are_refused(files, tokens, labels, place, message):
    good = Tree.from_parents([1, -1], ["a", "b"], ["x", "y"])
    wrong = Tree(parents=good.parents, tokens=tuple(tokens), labels=tuple(labels))
    with pytest.raises(TreeError, match=message) as caught:
        write_dependency_trees([good, wrong], *files)
    assert place_of(caught.value) == (str(files[place]), 2, None)
    assert not any(path.exists() for path in files)


@pytest.mark.parametrize(
    ("tree", "place", "message"),
    [
        (Tree.left(["a", "b c"]), 0, "word 2 .* 'b c'"),
        (from_brackets("(A (B b))"), 1, "node 1 has 1 children"),
        (Tree.from_parents([1, -1, 1], list("abc")), 1, "node 1 has both a word"),
    ],
)
def test_constituency_trees_that_files_cannot_hold_are_refused(files, tree, place, message):
    with pytest.raises(TreeError, match=message) as caught:
        write_constituency_trees([Tree.left("ab"), tree], *files[:2])
    assert place_of(caught.value) == (str(files[place]), 2, None)


@pytest.mark.parametrize("make", [Tree.left, Tree.right])
def test_deep_trees_are_written_and_read(files, make):
    tree = make(["w"] * 20_000)
    write_constituency_trees([tree], *files[:2])
    assert read_constituency_trees(*files[:2]) == [tree]
    heads = range(-1, 19_999) if make == Tree.right else [*range(1, 20_000), -1]
    chain = Tree.from_parents(heads, ["w"] * 20_000)
    write_dependency_trees([chain], *files[:2])
    assert read_dependency_trees(*files[:2]) == [chain]
