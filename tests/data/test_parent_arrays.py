"""Reading files of parent arrays."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinstack.core import Tree
from thinstack.data.brackets import from_brackets
from thinstack.data.parent_arrays import (
    read_constituency_trees,
    read_dependency_trees,
    write_constituency_trees,
    write_dependency_trees,
)
from thinstack.errors import DataError, TreeError

# Anything but ASCII white space: no-break spaces, other line separators of Unicode, brackets.
WORDS = st.text(
    st.characters(exclude_characters=" \t\r\n\f\v", exclude_categories=["Cs"]),
    min_size=1,
    max_size=3,
)
NESTED = st.recursive(WORDS, lambda below: st.lists(below, min_size=2, max_size=2), max_leaves=9)


class Sentence:
    """Words with their heads (1-based, 0 for the root) and relations; any tree, crossing edges
    included."""

    def __init__(self, draw):
        self.words = draw(st.lists(WORDS, min_size=1, max_size=9))
        place = draw(st.permutations(range(1, len(self.words) + 1)))
        self.heads = [0] * len(place)
        for rank, word in enumerate(place[1:], start=1):
            self.heads[word - 1] = draw(st.sampled_from(place[:rank]))
        self.relations = [draw(WORDS) for _ in place]


def write(folder: Path, **lines: list) -> list[Path]:
    """One file a keyword, a byte order mark at its start; each line is a string or a list of
    entries."""
    paths = []
    for name, content in lines.items():
        texts = [line if isinstance(line, str) else " ".join(map(str, line)) for line in content]
        paths.append(folder / name)
        paths[-1].write_bytes("".join(f"{text}\n" for text in texts).encode("utf-8-sig"))
    return paths


def place_of(error: TreeError) -> tuple[str | None, int | None, int | None]:
    return error.source, error.line, error.column


@given(st.data())
def test_dependency_trees_come_back_as_written(data: st.DataObject) -> None:
    written = [Sentence(data.draw) for _ in range(data.draw(st.integers(1, 3)))]
    columns = {"toks": [s.words for s in written], "parents": [s.heads for s in written]}
    columns["rels"] = [s.relations for s in written]
    with TemporaryDirectory() as folder:
        toks, parents, rels = write(Path(folder), **columns)
        labelled = read_dependency_trees(toks, parents, rels)
        bare = read_dependency_trees(str(toks), str(parents))
    assert len(labelled) == len(bare) == len(written)
    for sentence, tree, other in zip(written, labelled, bare, strict=True):
        assert tree.parents.tolist() == [head - 1 for head in sentence.heads]
        assert list(tree.tokens) == sentence.words
        assert list(tree.labels) == sentence.relations
        assert other == tree.with_labels([None] * len(tree))


def leaves(part: str | list) -> list[str]:
    return [part] if isinstance(part, str) else leaves(part[0]) + leaves(part[1])


def parents_of(tree: str | list, numbers: list[int]) -> list[int]:
    """The line of a nested tree whose phrases have these numbers, as they are met from the root."""
    above, words, phrases = {}, iter(range(1, len(leaves(tree)) + 1)), iter(numbers)

    def visit(part: str | list, parent: int) -> None:
        number = next(words if isinstance(part, str) else phrases)
        above[number] = parent
        if not isinstance(part, str):
            for child in part:
                visit(child, number)

    visit(tree, 0)
    return [above[number] for number in sorted(above)]


def nested(tree: Tree, node: int) -> str | list:
    below = tree.children[node]
    return [nested(tree, child) for child in below] if below else tree.tokens[node]


@given(st.lists(NESTED, min_size=1, max_size=3), st.data())
def test_constituency_trees_come_back_as_written(written: list, data: st.DataObject) -> None:
    lines = []
    for tree in written:
        size = len(leaves(tree))
        lines.append(parents_of(tree, data.draw(st.permutations(range(size + 1, 2 * size)))))
    with TemporaryDirectory() as folder:
        files = write(Path(folder), toks=list(map(leaves, written)), cparents=lines)
        trees = read_constituency_trees(*files)
    assert [nested(tree, tree.root) for tree in trees] == written
    assert all(len(tree.transitions) == len(tree) and set(tree.labels) == {None} for tree in trees)


def test_line_ends_and_wide_spaces(tmp_path: Path) -> None:
    toks, parents = write(tmp_path, toks=[" no  go\t\r", "so\r"], parents=["2\t0 \r", "0"])
    parents.write_bytes(parents.read_bytes().removesuffix(b"\n"))
    assert read_dependency_trees(toks, parents) == [
        Tree.from_parents([1, -1], ["no", "go"]),
        Tree.from_parents([-1], ["so"]),
    ]


@pytest.mark.parametrize(
    ("heads", "column", "message"),
    [
        *(("2 0", 4, "found 2"), ("2 0 2 2", 7, "3 heads, .* found 4"), ("", 1, "found 0")),
        *(("2 0 x", 5, "1 to 3, .* 'x'"), ("2  0 4", 6, "'4'"), ("2 -1 2", 3, "'-1'")),
        ("2 0 2.0", 5, "found '2.0'"),
        (f"2 0 {'9' * 5000}", 5, "found '9999"),
        ("2 3 2", 1, r"one root \(0\), found 0"),
        ("0 1 0", 5, r"one root \(0\), found 2"),
        ("0 3 2", 3, "every node to lead to the root, found node 2 to lead to a cycle"),
        ("2 2 0", 1, "found node 1 to lead to a cycle"),
    ],
)
def test_heads_that_are_no_tree_are_placed(
    tmp_path: Path, heads: str, column: int | None, message: str
) -> None:
    toks, parents = write(tmp_path, toks=["a", "b c d"], parents=["0", heads])
    with pytest.raises(TreeError, match=message) as caught:
        read_dependency_trees(toks, parents)
    assert place_of(caught.value) == (str(parents), 2, column)


@pytest.mark.parametrize(
    ("cparents", "column", "message"),
    [
        ("4 4 5 5", 8, "5 parents, of 3 words and 2 phrases, found 4"),
        ("4 4 5 5 0 0", 11, "5 parents, .* found 6"),
        ("4 4 5 6 0", 7, "from 1 to 5, .* '6'"),
        ("4 4 5 0 0", 9, "expected exactly one root"),
        ("4 4 4 5 0", 7, "phrase 4: expected 2 children, found 3"),
        ("2 4 5 5 0", 3, "word 2: expected 0 children, found 1"),
        ("2 3 4 5 0", 3, "word 2: expected 0 children, found 1"),
        ("0 4 4 5 5", 3, "found node 2 to lead to a cycle"),
        ("4 5 4 5 0", 7, "phrase 4: .* side by side"),
    ],
)
def test_constituents_that_are_no_binary_tree_are_placed(
    tmp_path: Path, cparents: str, column: int | None, message: str
) -> None:
    toks, path = write(tmp_path, toks=["a", "b c d"], cparents=["0", cparents])
    with pytest.raises(TreeError, match=message) as caught:
        read_constituency_trees(toks, path)
    assert place_of(caught.value) == (str(path), 2, column)


def test_relations_and_words_that_are_missing_are_placed(tmp_path: Path) -> None:
    toks, parents, rels = write(tmp_path, toks=["b c"], parents=["2 0"], rels=["det"])
    with pytest.raises(TreeError, match=r"2 relations, .* found 1") as caught:
        read_dependency_trees(toks, parents, rels)
    assert place_of(caught.value) == (str(rels), 1, 4)
    (toks,) = write(tmp_path, toks=[" "])
    for read in (read_dependency_trees, read_constituency_trees):
        with pytest.raises(TreeError, match=r"toks:1:2: .* found none"):
            read(toks, parents)


@pytest.mark.parametrize("short", [0, 1, 2])
def test_files_of_different_lengths_are_refused(tmp_path: Path, short: int) -> None:
    contents = [["a"] * 2, ["0"] * 2, ["root"] * 2]
    del contents[short][1]
    paths = write(tmp_path, **dict(zip(("toks", "parents", "rels"), contents, strict=True)))
    wrong, expected, found = (paths[1], 1, 2) if short == 0 else (paths[short], 2, 1)
    for skipped in (None, []):
        with pytest.raises(DataError, match=f"^{wrong}: .*{expected} lines, .*toks .* {found}"):
            read_dependency_trees(*paths, skipped=skipped)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    return [folder / name for name in ("toks", "parents", "rels")]


def cleared(files: list[Path]) -> list[Path]:
    """The same paths without files: writing over an old file can wait for the disk."""
    for path in files:
        path.unlink(missing_ok=True)
    return files


@settings(max_examples=200)
@given(
    st.lists(st.tuples(WORDS, WORDS, st.integers(0, 5)), min_size=1, max_size=6),
    st.randoms(use_true_random=False),
)
def test_written_dependency_trees_are_read_again(
    files: list[Path], nodes: list[tuple[str, str, int]], random
) -> None:
    """Each word in a random order hangs below one before it."""
    words, relations, above = zip(*nodes, strict=True)
    order = random.sample(range(len(nodes)), len(nodes))
    heads = {node: order[above[rank] % rank] if rank else -1 for rank, node in enumerate(order)}
    trees = [
        Tree.from_parents([heads[node] for node in range(len(nodes))], words, relations),
        Tree.from_parents([-1], ["a"], ["b"]),
    ]
    write_dependency_trees(iter(trees), *cleared(files))
    assert read_dependency_trees(*files) == trees
    bare = [tree.with_labels([None] * len(tree)) for tree in trees]
    assert read_dependency_trees(*files[:2]) == bare


@settings(max_examples=200)
@given(st.lists(WORDS, min_size=1, max_size=7), st.lists(st.booleans(), max_size=12))
def test_written_constituency_trees_are_read_again(
    files: list[Path], words: list[str], reduce: list[bool]
) -> None:
    """Transitions by chance, as far as the stack and the words allow."""
    steps, stack, choices = [], 0, iter(reduce)
    while len(steps) < 2 * len(words) - 1:
        may_shift = steps.count(0) < len(words)
        steps.append(int(stack > 1 and (not may_shift or next(choices, True))))
        stack += 1 - 2 * steps[-1]
    trees = [Tree.from_transitions(steps, words), Tree.left(["a"])]
    write_constituency_trees(iter(trees), *cleared(files[:2]))
    assert read_constituency_trees(*files[:2]) == trees


def test_what_is_written(files: list[Path]) -> None:
    dependency = Tree.from_parents([1, -1, 1], ["no", "go", "."], ["det", "root", "punct"])
    write_dependency_trees([dependency, Tree.from_parents([-1], ["so"])], *files[:2])
    assert [path.read_text() for path in files[:2]] == ["no go .\nso\n", "2 0 2\n0\n"]
    write_dependency_trees([dependency], *files)
    assert files[2].read_text() == "det root punct\n"
    write_constituency_trees([Tree.left("abc"), Tree.right("abc"), Tree.left("a")], *files[:2])
    expected = ["a b c\na b c\na\n", "4 4 5 5 0\n5 4 4 5 0\n0\n"]
    assert [path.read_text() for path in files[:2]] == expected


@pytest.mark.parametrize(
    ("tokens", "labels", "place", "message"),
    [
        (["New York", "is"], ["a", "b"], 0, "the word 1 of the tree is 'New York'"),
        (["is", ""], ["a", "b"], 0, "the word 2 of the tree is ''"),
        (["is", None], ["a", "b"], 0, "the word 2 of the tree is None"),
        (["is", "it"], ["a", "b c"], 2, "the label 2 of the tree is 'b c'"),
        (["is", "it"], [None, "b"], 2, "the label 1 of the tree is None"),
    ],
)
def test_dependency_trees_that_files_cannot_hold_are_refused(
    tmp_path: Path, tokens: list, labels: list, place: int, message: str
) -> None:
    paths = [tmp_path / name for name in ("toks", "parents", "rels")]
    good = Tree.from_parents([1, -1], ["a", "b"], ["x", "y"])
    wrong = Tree(parents=good.parents, tokens=tuple(tokens), labels=tuple(labels))
    with pytest.raises(TreeError, match=message) as caught:
        write_dependency_trees([good, wrong], *paths)
    assert (caught.value.source, caught.value.line) == (str(paths[place]), 2)
    assert not any(path.exists() for path in paths)


def test_constituency_trees_that_files_cannot_hold_are_refused(tmp_path: Path) -> None:
    toks, cparents = tmp_path / "toks", tmp_path / "cparents"
    for tree, path, message in (
        (Tree.left(["a", "b c"]), toks, "the word 2 of the tree is 'b c'"),
        (from_brackets("(A (B b))"), cparents, "node 1 has 1 children"),
        (Tree.from_parents([1, -1, 1], list("abc")), cparents, "node 1 has both a word"),
    ):
        with pytest.raises(TreeError, match=message) as caught:
            write_constituency_trees([Tree.left("ab"), tree], toks, cparents)
        assert (caught.value.source, caught.value.line) == (str(path), 2)


def test_malformed_trees_are_skipped_and_reported(tmp_path: Path) -> None:
    columns = {"heads": ["0", "2 2", "0 1", ""], "rels": ["x", "x y", "x", ""]}
    toks, heads, rels = write(tmp_path, toks=["a", "b c", "d e", " "], **columns)
    skipped: list[TreeError] = []
    trees = read_dependency_trees(toks, heads, rels, skipped=skipped)
    assert trees == [Tree.from_parents([-1], ["a"], ["x"])]
    places = [str(error).split(": ")[0] for error in skipped]
    assert places == [f"{heads}:2:1", f"{rels}:3:2", f"{toks}:4:2"]
    toks, parents = write(tmp_path, toks=["a", "b c", "d e"], cparents=["0", "3 0", "3 3 0"])
    found = read_constituency_trees(toks, parents, skipped=skipped)
    assert found == [Tree.left(["a"]), Tree.left(["d", "e"])]
    assert list(map(place_of, skipped[3:])) == [(str(parents), 2, 4)]


@pytest.mark.parametrize("make", [Tree.left, Tree.right])
def test_deep_trees_are_written_and_read(files: list[Path], make) -> None:
    tree = make(["w"] * 20_000)
    write_constituency_trees([tree], *files[:2])
    assert read_constituency_trees(*files[:2]) == [tree]
    heads = range(-1, 19_999) if make == Tree.right else [*range(1, 20_000), -1]
    chain = Tree.from_parents(heads, ["w"] * 20_000)
    write_dependency_trees([chain], *files[:2])
    assert read_dependency_trees(*files[:2]) == [chain]
