"""Files of trees, which come back from where they are written."""

from functools import partial

from fuzz.changes import any_of, mutated_bytes, mutated_lines, mutated_text
from fuzz.target import Target, of_file

from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.data.trees.conllu import read_conllu, read_labelled_conllu, to_conllu, write_conllu
from thinstack.data.trees.treebank import read_labelled, read_trees
from thinstack.errors import TreeError

BRACKETS = (
    b"(3 (2 The) (4 acting))\n(1 (0 (2 not) (1 bad)) (2 .))\n",
    b"( (S (NP (DT The) (NN film))\n   (VP (VBZ is) (ADJP (JJ good))) (. .)) )\n",
    b"(2 (2 -LRB-) (3 (2 caf\xc3\xa9) (2 and\\/or)))\n\n(4 wow)\n",
)
ONE = (b"(1 (0 (2 not) (1 bad)) (2 .))", b"(S (NP (DT The)\n (NN film)) (VP (VBZ is)))\n")
UNLABELLED = (b"( ( The film ) ( is good ) )\n( x )\n", b"( a ( b c )\n  d )\n")
ROW = "{}\t{}\t_\t_\t_\t_\t{}\t{}\t_\t{}\n"
CONLLU = (
    "# sent_id = 1\n"
    + ROW.format(1, "good", 2, "amod", "_")
    + ROW.format(2, "film", 0, "root", "_")
    + "\n"
    + ROW.format("1-2", "du", "_", "_", "_")
    + ROW.format(1, "de", 3, "case", "SpaceAfter=No")
    + ROW.format(2, "le", 3, "_", "_")
    + ROW.format("2.1", "x", "_", "_", "_")
    + ROW.format(3, "chat", 0, "root", "_")
    + "\n"
).encode()
LABELLED = CONLLU.replace(b"# sent_id = 1", b"# label = pos").replace(b"SpaceAfter=No", b"Label=a")
STRUCTURE = ("(", ")", "()", "((", "))", "( (", ") )", "-LRB-", "(3", "(3 (2 a) (2 b))")


def brackets(content, folder, *, labelled):
    """One tree, there and back."""
    tree = from_brackets(content.decode(errors="replace"), labelled=labelled)
    try:
        text = to_brackets(tree, labelled=labelled)
    except TreeError:  # a word without a label, or a label that only the other form can hold
        return -1
    again = from_brackets(text, labelled=labelled)
    assert again == tree
    assert to_brackets(again, labelled=labelled) == text
    return min(len(tree), 9)


def trees_of(read, path):
    """The items of a file. With `skipped`, they are the same where none is bad."""
    skipped = []
    rest = read(path, skipped=skipped)
    try:
        found, told = read(path), []
    except TreeError as error:
        found, told = rest, [str(error)]
    assert found == rest
    assert told == [str(error) for error in skipped[:1]]
    return min(len(found), 9) - min(len(skipped), 9)


def conllu(path):
    """The sentences of a file, which come back from a written one."""
    found = trees_of(read_conllu, path)
    trees = []
    for tree in read_conllu(path, skipped=[]):
        try:
            to_conllu(tree)
        except TreeError:  # a word with "\r" in it
            continue
        trees.append(tree)
    if trees:
        write_conllu(trees, path)
        assert read_conllu(path) == trees
    return found


_TEXT = any_of(mutated_text(*STRUCTURE, separators=r"[()\s]"), mutated_bytes, mutated_lines)
_OF_COLUMNS = mutated_text(
    "_", "", "1-2", "1.1", "0", "# label = x", "Label=y", separators="[\t\n]"
)
_COLUMNS = any_of(_OF_COLUMNS, mutated_bytes, mutated_lines)
LABELS = ("0", "1", "2", "3", "4")


def with_classes(path):
    return len(read_labelled(path, LABELS, relabel={"2": ""}, skipped=[]))


_read, _bare, _labelled = (
    partial(trees_of, read)
    for read in (read_trees, partial(read_trees, labelled=False), read_labelled_conllu)
)


TARGETS = {
    "brackets": Target(lambda: ONE, _TEXT, partial(brackets, labelled=True), 1500),
    "brackets without labels": Target(
        lambda: UNLABELLED[1:], _TEXT, partial(brackets, labelled=False), 1500
    ),
    "treebank": of_file("trees.txt", _read, _TEXT, 1000, *BRACKETS),
    "treebank with classes": of_file("trees.txt", with_classes, _TEXT, 1000, *BRACKETS),
    "treebank without labels": of_file("trees.txt", _bare, _TEXT, 1000, *UNLABELLED),
    "conllu": of_file("a.conllu", conllu, _COLUMNS, 800, CONLLU),
    "conllu with classes": of_file("a.conllu", _labelled, _COLUMNS, 800, LABELLED),
}
