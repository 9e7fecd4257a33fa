"""CoNLL-U, against the library conllu and lines written by hand."""

from pathlib import Path
from tempfile import TemporaryDirectory

import conllu
import numpy as np
import pytest
from data.reading import check_malformed, dependency_trees
from hypothesis import given
from hypothesis import strategies as st

from thinstack.core import Tree
from thinstack.data.trees.conllu import read_conllu, read_labelled_conllu, to_conllu, write_conllu
from thinstack.errors import DataError, TreeError

DEEP = 20_000

# Anything but what ends a column or a line: spaces of every kind, other line separators of Unicode,
# "#", "_".
TEXTS = st.text(
    st.characters(exclude_characters="\t\r\n", exclude_categories=["Cs"]), min_size=1, max_size=3
)
PLAIN = st.text("aé#_-.=1", min_size=1, max_size=3)


LABELS = st.none() | TEXTS.filter(lambda text: text != "_")


def rows(*words):
    """A sentence of words given as `id form head deprel`."""
    lines = ("{}\t{}\t_\t_\t_\t_\t{}\t{}\t_\t_\n".format(*word.split(" ")) for word in words)
    return "".join(lines) + "\n"


def read(text, **settings):
    with TemporaryDirectory() as folder:
        path = Path(folder, "trees.conllu")
        path.write_bytes(text.encode())
        return read_conllu(path, **settings)


@given(st.lists(dependency_trees(TEXTS, LABELS), min_size=4, max_size=4))
def test_trees_come_back_as_written(trees):
    with TemporaryDirectory() as folder:
        write_conllu(trees, Path(folder, "trees.conllu"))
        assert read_conllu(Path(folder, "trees.conllu")) == trees


@given(dependency_trees(PLAIN, st.none() | PLAIN.filter(lambda text: text != "_")))
def test_the_library_reads_what_is_written(tree):
    (sentence,) = conllu.parse(to_conllu(tree))
    assert [token["id"] for token in sentence] == list(range(1, len(tree) + 1))
    assert [token["form"] for token in sentence] == list(tree.words)
    assert [token["head"] - 1 for token in sentence] == tree.parents.tolist()
    assert [token["deprel"] for token in sentence] == [label or "_" for label in tree.labels]
    assert {token[name] for token in sentence for name in ("lemma", "upos")} == {"_"}
    others = {token[name] for token in sentence for name in ("xpos", "feats", "deps", "misc")}
    assert others == {None}


def test_multiword_tokens_empty_nodes_and_comments_are_left_out():
    text = (
        "\ufeff\n# newdoc\n# text = vámonos al mar\n1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\r\n"
        "1\tvamos\tir\tVERB\tV\tMood=Imp|Number=Plur\t0\troot\t0:root\t_\n2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_\n"
        "# within\n3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_\n3\ta\ta\tADP\t_\t_\t5\tcase\t_\t_\n"
        "4\tel\tel\tDET\t_\t_\t5\tdet\t_\tGloss=a  b\n"
        "5\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\t_\n5.1\tellos\t_\t_\t_\t_\t_\t_\t1:x\t_\n"
        "5.2\t_\t_\t_\t_\t_\t_\t_\t1:x\t_\n \n\n"
        "0.1\tnada\t_\t_\t_\t_\t_\t_\t2:x\t_\n1\t#\t_\t_\t_\t_\t0\t_\t_\t_\n\n# the end\n"
    )
    words = ["vamos", "nos", "a", "el", "mar"]
    first = Tree.from_parents([-1, 0, 4, 4, 0], words, ["root", "obj", "case", "det", "obl"])
    assert read(text) == [first, Tree.from_parents([-1], ["#"])]
    assert read(text + GOOD.rstrip()) == [*read(text), *read(GOOD)]


@pytest.mark.parametrize(
    "parents", [np.arange(DEEP) - 1, np.append(np.arange(1, DEEP), -1)], ids=["down", "up"]
)
def test_a_tree_of_any_depth(tmp_path, parents):
    """Every word below the one before it, or the one behind it."""
    tree = Tree.from_parents(parents, [str(number) for number in range(DEEP)], ["x"] * DEEP)
    write_conllu([tree], tmp_path / "deep.conllu")
    assert read_conllu(tmp_path / "deep.conllu") == [tree]


GOOD = rows("1 the 2 det", "2 dog 0 root")

BAD = [
    (rows("1 a x root"), 1, 13, "from 1 to 1, .* 'x'"),
    (rows("1 a 0 root", "2 bcd 3 x"), 2, 15, "from 1 to 2, .* '3'"),
    *((rows(f"1 a {h} root"), 1, 13, f"found '{h}'") for h in ("-1", "00", "1.0", "²", "")),
    (rows(f"1 a {'9' * 5000} root"), 1, 13, "found '9999"),
    (rows("1 a 2 x", "2 b 1 y"), 1, 13, "one root .* found 0"),
    (rows("1 a 0 x", "2 b 3 y", "3 c 2 z"), 2, 13, "node 2 to lead"),
    (rows("1 a 0 x", "3 b 1 y"), 2, 1, r"word 2 \(2-n .* 1.n .*'3'"),
    *((rows(f"{n} a 0 x"), 1, 1, f"word 1 .* found '{n}'") for n in ("0", "x", "_", "", "01")),
    (rows(f"{'9' * 5000} a 0 x"), 1, 1, "expected word 1 .* found '9999"),
    (rows("1 a 0 x", "1-2 ab _ _", "2 b 1 y"), 2, 1, "expected word 2 .* found '1-2'"),
    (rows("1 a 0 x", "0.1 a _ _"), 2, 1, "expected word 2 .* found '0.1'"),
    (rows("1-3 abc _ _", "1 a 0 x", "2-3 b _ _", "2 b 1 y"), 1, 1, "words up to 2, .*'1-3'"),
    (rows("0.1 a _ _"), 1, 1, "at least one word, found none"),
    (rows("1  0 x"), 1, 3, "expected a word, found an empty column"),
    (rows("1 a 0 "), 1, 15, "expected a relation, .* found an empty column"),
    ("1\ta\t_\t_\t_\t_\t0\troot\t_\n\n", 1, 21, "10 columns .* found 9"),
    ("text\n\n", 1, 5, "10 columns .* found 1"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), BAD)
def test_sentences_that_are_no_tree_are_placed(tmp_path, text, line, column, message):
    path = tmp_path / "trees.conllu"
    path.write_text(f"# one\n{GOOD}\n# two\n# text = a\n{text}{GOOD}", encoding="utf-8")
    error = check_malformed(read_conllu, path, message, line + 7, good=read(GOOD) * 2)
    assert error.column == column


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (Tree.from_parents([-1, 0], ["a", ""]), "node 1 has the word ''"),
        *((Tree.from_parents([-1], [word]), r"the word 'a\\") for word in ("a\tb", "a\n", "a\rb")),
        *((Tree.from_parents([-1], ["a"], [x]), f"the label '{x}'") for x in ("", "_")),
        (Tree.from_parents([-1], ["a"], ["x\ty"]), r"node 0 has the label 'x\\ty'"),
        (Tree.left(["a", "b"]), "node 2 has no word"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(tmp_path, tree, message):
    with pytest.raises(TreeError, match=message):
        to_conllu(tree)
    with pytest.raises(TreeError, match="tree 1: .*" + message):
        write_conllu([Tree.left(["a"]), tree], tmp_path / "trees.conllu")
    assert not (tmp_path / "trees.conllu").exists()


def test_files_without_sentences_are_refused(tmp_path):
    path = tmp_path / "trees.conllu"
    with pytest.raises(DataError, match="cannot be read"):
        read_conllu(path)
    path.write_text("# newdoc\n\n\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"trees.conllu: .* found none"):
        read_conllu(path, skipped=[])


def test_english_web_treebank(data_dir):
    folder = data_dir / "ud_ewt"
    if not folder.is_dir():
        pytest.skip("needs the English Web Treebank: ud_ewt in THINSTACK_DATA")
    trees = {split: read_conllu(folder / f"en_ewt-ud-{split}.conllu") for split in ("train", "dev")}
    assert {split: len(found) for split, found in trees.items()} == {"train": 12544, "dev": 2001}
    sentences = conllu.parse((folder / "en_ewt-ud-dev.conllu").read_text(encoding="utf-8"))
    for sentence, tree in zip(sentences, trees["dev"], strict=True):
        words = [token for token in sentence if isinstance(token["id"], int)]
        assert [(word["form"], word["head"] - 1, word["deprel"]) for word in words] == list(
            zip(tree.tokens, tree.parents.tolist(), tree.labels, strict=True)
        )


# -- with classes in comments and in MISC


def labelled_rows(*words):
    """A sentence of words given as `id form head misc`."""
    lines = ("{}\t{}\t_\t_\t_\t_\t{}\tdep\t_\t{}\n".format(*word.split(" ", 3)) for word in words)
    return "".join(lines) + "\n"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "trees.conllu"


FILM = labelled_rows("1 good 2 _", "2 film 0 _")


def test_labels_are_those_of_sentences_and_of_what_words_head(file):
    words = ("1 a 2 X=Label=no|Label=neg", "2 n 0 label = pos ", "2.1 o _ _")
    sentences = [
        "# sent_id = 1\n#Label=very  positive \n# text = x\n" + FILM,
        labelled_rows("1-2 an 0 SpaceAfter=No", *words),
        "# labels = x\n# label of = y\n" + FILM,
        "# label = a\n" + labelled_rows("1 good 0 Gloss=g|Label=a"),
        "# the end\n\n",
    ]
    file.write_text("\n".join(sentences), encoding="utf-8")
    labels = [tree.labels for tree in read_labelled_conllu(file)]
    assert labels == [(None, "very  positive"), ("neg", "pos"), (None, None), ("a",)]
    first = read_labelled_conllu(file)[0]
    assert first == Tree.from_parents([1, -1], ["good", "film"], [None, "very  positive"])


TWO = ("1 b 2 X=Y|Label=d|Label=e", "2 c 0 _"), ("1 b 2 _", "2 c 0 Label=d")
MALFORMED = [
    ("# label =  \n" + FILM, 1, 1, "a class name after"),
    (labelled_rows("1 good 2 Label=", "2 film 0 _"), 1, 24, "a class name after"),
    ("# label = a\n# text = b\n# label = c\n" + FILM, 3, 1, "per node, found 'c' and 'a'"),
    ("# label = a\n" + labelled_rows(*TWO[1]), 3, 21, "per node, found 'd' and 'a'"),
    (labelled_rows(*TWO[0]), 1, 21, "per node, found 'e' and 'd'"),
    (labelled_rows("1-2 bc 2 Label=d", "1 b 2 _", "2 c 0 _"), 1, 24, "at words, found one at 1-2"),
    (labelled_rows("1 b 0 _", "1.1 c _ Label=d"), 2, 23, "at words, found one at 1.1"),
    ("# label = a\n\n", 1, 1, "a sentence below its label"),
    ("# label = a\n1\tb\t_\n\n", 2, 6, "10 columns"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), MALFORMED)
def test_what_is_malformed_is_placed_and_can_be_skipped(file, text, line, column, message):
    good = "# label = fine\n" + FILM
    file.write_text(text + good, encoding="utf-8")
    fine = Tree.from_parents([1, -1], ["good", "film"], [None, "fine"])
    error = check_malformed(read_labelled_conllu, file, message, line, good=[fine])
    assert error.column == column


def test_a_file_without_labels_is_refused(file):
    file.write_text(FILM, encoding="utf-8")
    with pytest.raises(DataError, match=r"trees\.conllu: .*'# label = NAME'"):
        read_labelled_conllu(file)
    file.write_text("# label = a\n\n", encoding="utf-8")
    with pytest.raises(DataError, match="CoNLL-U"):
        read_labelled_conllu(file)
