"""Treebank files, and the bracket strings that they consist of."""

import re

import numpy as np
import pytest
from core.random_trees import ANY, brackets_of, labels_of, nodes_of
from data.reading import check_malformed
from hypothesis import given

from thinstack.core import Tree
from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.data.trees.treebank import label_ids, read_labelled, read_trees
from thinstack.errors import DataError, TreeError

NAMES = ("very negative", "negative", "neutral", "positive", "very positive")


@pytest.fixture
def write(tmp_path):
    def write_bytes(data):
        path = tmp_path / "trees.txt"
        path.write_bytes(data)
        return path

    return write_bytes


def test_trees_are_read_past_blank_lines_mark_and_line_ends(write):
    text = "\ufeff(3 (2 The) (4 acting))\r\n\r\n  \n(1 (2 2\u00a01\\/2) (0 n\u2028o))"
    first, second = read_trees(write(text.encode()))
    assert first.words == ("The", "acting")
    assert first.labels == ("2", "4", "3")
    assert second.words == ("2\u00a01\\/2", "n\u2028o")


@pytest.mark.parametrize("data", [b"", b"\n \n", "\ufeff".encode()])
def test_a_file_without_trees_is_refused(write, data):
    with pytest.raises(DataError, match="found no tree"):
        read_trees(write(data))


PENN = """
( (S
    (NP-SBJ (DT The)
      (NN man))
    (VP (VBD sat))
    (. .)))

( (S (NP (PRP It))
     (VP (VBD rained)
 )
))
( (FRAG (UH Yes)) )
"""
SAT = from_brackets("( (S (NP-SBJ (DT The) (NN man)) (VP (VBD sat)) (. .)))")
RAINED = from_brackets("( (S (NP (PRP It)) (VP (VBD rained))))")
YES = from_brackets("( (FRAG (UH Yes)))")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_trees_may_go_on_over_lines(write, end):
    assert read_trees(write(PENN.replace("\n", end).encode())) == [SAT, RAINED, YES]


def test_trees_without_labels(write):
    path = write(b"( ( The cat ) ( sat . ) )\nYes\n\n( ( No\n   , ) no )\n  ( a b )\n")
    first, second, third, fourth = read_trees(path, labelled=False)
    assert first == Tree.from_transitions([0, 0, 1, 0, 0, 1, 1], ["The", "cat", "sat", "."])
    assert second == Tree.left(["Yes"])
    assert third == Tree.left(["No", ",", "no"])
    assert fourth == Tree.left(["a", "b"])
    with pytest.raises(DataError, match=r"\( The acting \)"):
        read_trees(write(b"\n"), labelled=False)


def test_a_word_of_unusual_white_space_is_a_tree(write):
    assert read_trees(write("\u00a0\n \n\x1f".encode()), labelled=False) == [
        Tree.left(["\u00a0"]),
        Tree.left(["\x1f"]),
    ]


def test_trees_on_lines_that_are_all_indented(write):
    skipped = []
    path = write(b"  (2 a)\n  (2 (1 b) (1 c)\n (2 d)\n (2 e))\n (2 f)\n")
    assert [tree.words[0] for tree in read_trees(path, skipped=skipped)] == ["a", "d", "f"]
    assert [(error.line, error.column) for error in skipped] == [(2, 17), (4, 7)]


ONE, OTHERS = "expected one tree, found", [RAINED, YES]
MALFORMED = {
    "a bracket that is not closed": ("sat))", "sat)", OTHERS, "6:12", "unbalanced"),
    "a bracket too many inside": ("man))", "man))))", OTHERS, "6:10", f"{ONE} ')'"),
    "the last bracket missing": (" )\n))", " )\n)", [SAT, YES], "11:2", "unbalanced"),
    "the end of the file missing": ("Yes)) )\n", "Yes", [SAT, RAINED], "12:16", "unbalanced"),
    "another tree on the line": ("(. .)))", "(. .))) (A a)", OTHERS, "6:13", f"{ONE} '('"),
}


@pytest.mark.parametrize(
    ("old", "new", "good", "place", "message"), MALFORMED.values(), ids=MALFORMED
)
def test_a_malformed_tree_is_skipped_alone(write, old, new, good, place, message):
    path = write(PENN.replace(old, new).encode())
    line, column = map(int, place.split(":"))
    error = check_malformed(read_trees, path, re.escape(message), line, good=good)
    assert error.column == column


def test_every_malformed_line_of_a_file_is_reported(write):
    path, skipped = write(b"(2 a)\n(2 b\n(2 c))\n(2 d)\nword\n\n(2)\n)\n(2 e)"), []
    assert [tree.words for tree in read_trees(path, skipped=skipped)] == [("a",), ("d",), ("e",)]
    assert [(error.line, error.column) for error in skipped] == [(2, 5), (3, 6), (5, 1), (7, 3)]
    assert read_trees(write(b"(2 a\n(2 b"), skipped=skipped) == []
    assert len(skipped) == 6


def test_trees_with_unknown_labels_are_skipped_too(write):
    path, skipped = write(b"(2 a)\n(9 b)\n(2 c\n(3 d)"), []
    assert [ids.tolist() for _, ids in read_labelled(path, NAMES, skipped=skipped)] == [[2], [3]]
    assert [str(error).split(": ")[0] for error in skipped] == [f"{path}:2", f"{path}:3:5"]


def test_labels_are_numbers_names_or_missing():
    tree = from_brackets("(3 (positive a) (0 b))")
    assert label_ids(tree, NAMES).tolist() == [3, 0, 3]
    assert label_ids(tree.with_labels([None, "4", None]), NAMES).tolist() == [-1, 4, -1]
    # A name wins over a number.
    assert label_ids(tree.with_labels(["0", "1", "1"]), ("1", "0")).tolist() == [1, 0, 0]


def test_labels_of_other_names_and_sentences_without_a_class(write):
    path = write(b"(2 (x a) (0 b))\n(x (0 a) (2 b))\n(4 (x a) (x b))\n(8 c)")
    relabel, skipped = {"0": "negative", "2": "4", "x": ""}, []
    found = read_labelled(path, NAMES, relabel=relabel, skipped=skipped)
    assert [ids.tolist() for _, ids in found] == [[-1, 1, 4], [-1, -1, 4]]
    assert [error.line for error in skipped] == [4]
    bare = Tree.left(["a", "b"]).with_labels([None, "0", "2"])
    (found,) = read_labelled(path, NAMES, relabel={"": "0"}, read=lambda path: [bare])
    assert found[1].tolist() == [-1, 0, 2]


@pytest.mark.parametrize("label", ["5", "-1", "03", "Positive"])
def test_an_unknown_label_is_placed(write, label):
    path = write(f"(2 a)\n(3 (2 so) ({label} good))".encode())
    with pytest.raises(TreeError, match=f"node 1 .'good'. .* '{label}'; .* 0 to 4") as caught:
        read_labelled(path, NAMES)
    assert (caught.value.source, caught.value.line) == (str(path), 2)


def test_the_sentiment_treebank_has_its_published_size(data_dir):
    dev = read_labelled(data_dir / "sst" / "dev.txt", NAMES)
    assert len(dev) == 1101
    assert sum(len(ids) for _, ids in dev) == 41_447
    assert {int(label) for _, ids in dev for label in set(ids.tolist())} == {0, 1, 2, 3, 4}


# -- bracket strings: what is refused, and where


EMPTY = "expected a word or children before ')'"
UNBALANCED = "unbalanced brackets: {} '(' without a ')', the last at {}"


def parse(text, **options):
    tree = from_brackets(text, **options)
    return tree.parents.tolist(), list(tree.tokens), list(tree.labels)


def written(parents, tokens, labels, **options):
    tree = Tree(parents=np.array(parents), tokens=tuple(tokens), labels=tuple(labels))
    return to_brackets(tree, **options)


@given(ANY)
def test_parse_and_write_are_inverses(tree):
    nodes = nodes_of(tree)
    parents, tokens, labels = parse(brackets_of(tree))
    assert parents == [node.parent for node in nodes]
    assert tokens == [node.word for node in nodes]
    assert labels == labels_of(tree)
    assert written(parents, tokens, labels) == brackets_of(tree)


def test_white_space_between_pieces_does_not_matter():
    found = parse("\t( 3(2  The\n)\r\n(4 acting) ) \f")
    assert found == ([2, 2, -1], ["The", "acting", None], ["2", "4", "3"])


@pytest.mark.parametrize("space", ["\u00a0", "\u2028", "\u3000", "\x1f", "\x85"])
def test_other_white_space_belongs_to_the_word(space):
    assert parse(f"(3 (2 8{space}1/2) (2 {space}))")[1] == [f"8{space}1/2", space, None]


@pytest.mark.parametrize("text", ["( (S (N a)))", "(( S(N a)))", "(\n( S ( N\ta)))"])
def test_a_bracket_without_a_label(text):
    read = parse(text)
    assert read == ([1, 2, -1], ["a", None, None], ["N", "S", None])
    assert written(*read) == "( (S (N a)))"
    assert written([2, 2, -1], ["a", "b", None], ["A", "B", None]) == "( (A a) (B b))"


def test_brackets_without_labels():
    read = parse("( ( The cat ) ( sat . ) )", labelled=False)
    words = ["The", "cat", None, "sat", ".", None, None]
    assert read == ([2, 2, 6, 5, 5, 6, -1], words, [None] * 7)
    assert parse("((The\ncat)( sat\t.))\r\n", labelled=False) == read
    assert written(*read, labelled=False) == "( ( The cat ) ( sat . ) )"


def test_a_word_is_a_tree_without_labels_and_a_bracket_around_it_another():
    assert parse(" Yes\n", labelled=False) == ([-1], ["Yes"], [None])
    assert parse("( Yes )", labelled=False) == ([1, -1], ["Yes", None], [None, None])
    assert written([-1], ["Yes"], ["A"], labelled=False) == "Yes"
    assert written([1, -1], ["Yes", None], ["A", "B"], labelled=False) == "( Yes )"


@pytest.mark.parametrize(
    ("labelled", "text", "place", "message"),
    [
        (True, "", "7:1", "expected a bracketed tree, found nothing"),
        (True, "word", "7:1", "expected '(', found 'word'"),
        (True, "  )", "7:3", "expected '(', found ')'"),
        *((True, text, f"7:{text.index(')', 1) + 1}", EMPTY) for text in ("()", "(3)")),
        (True, "(3 (2 a) ())", "7:11", EMPTY),
        (True, "(3 (2 a)", "7:9", UNBALANCED.format(1, "7:1")),
        (True, "(3 a))", "7:6", "expected one tree, found ')' after its end"),
        (True, "(3 a) (3 b)", "7:7", "expected one tree, found '(' after its end"),
        (True, "(3 a b)", "7:6", "expected ')' after the word 'a', found the word 'b'"),
        (True, "(3 a (2 b))", "7:6", "expected ')' after the word 'a', found '('"),
        (True, "((2 a) b)", "7:8", "expected '(' or ')', found the word 'b'"),
        (True, "(3\n (2\n  x", "9:4", UNBALANCED.format(2, "8:2")),
        (False, ")", "7:1", "expected '(', found ')'"),
        (False, "( a )\n ( )", "8:2", "expected one tree, found '(' after its end"),
        (False, "( a\n ( ) )", "8:4", EMPTY),
        (False, "( a\n ( b\xa0", "8:6", UNBALANCED.format(2, "8:2")),
    ],
)
def test_malformed_text_is_refused_where_it_is_wrong(labelled, text, place, message):
    with pytest.raises(TreeError) as caught:
        parse(text, labelled=labelled, source="dev.txt", line=7)
    assert str(caught.value) == f"dev.txt:{place}: {message}"
    assert caught.value.source == "dev.txt"
    assert f"{caught.value.line}:{caught.value.column}" == place


@pytest.mark.parametrize(
    ("labelled", "tokens", "labels", "message"),
    [
        (True, ["a", "b", "c"], ["2", "2", "3"], "node 2 has both a word and children"),
        (True, ["a", "b", None], ["2", None, "3"], "node 1 has no label"),
        (True, ["a", "b)", None], ["2", "2", "3"], "node 1 has the word 'b\\)'"),
        (False, ["a", "New York", None], ["a b"] * 3, "node 1 has the word 'New York'"),
        (True, ["", "b", None], ["2", "2", "3"], "node 0 has the word ''"),
        (True, ["a", "b", None], ["2", "2", "NP SBJ"], "node 2 has the label 'NP SBJ'"),
    ],
)
def test_what_brackets_cannot_hold_is_not_written(labelled, tokens, labels, message):
    with pytest.raises(TreeError, match=message):
        written([2, 2, -1], tokens, labels, labelled=labelled)


def test_traces_are_left_out_with_what_holds_nothing_else():
    traced = "(S (NP-1 Mary) (VP (V tried) (S (NP (-NONE- *-1)) (VP (TO to)"
    traced += " (VP (V eat) (NP (-NONE- *T*)))))))"
    plain = "(S (NP-1 Mary) (VP (V tried) (S (VP (TO to) (VP (V eat))))))"
    assert to_brackets(from_brackets(traced)) == plain
    for text in ("(S (NP (-NONE- *)))", "(-NONE- *)"):
        with pytest.raises(TreeError, match="traces"):
            from_brackets(text)
