"""Bracket strings: what is refused, and where."""

import numpy as np
import pytest
from core.random_trees import ANY, brackets_of, labels_of, nodes_of
from hypothesis import given

from thinstack.core import Tree
from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.errors import TreeError

EMPTY = "expected a word or children before ')'"
OPEN = "unbalanced brackets: {} '(' without a ')', the last at {}"


def parse(text, **options):
    tree = from_brackets(text, **options)
    return tree.parents.tolist(), list(tree.tokens), list(tree.labels)


def write(parents, tokens, labels, **options):
    tree = Tree(parents=np.array(parents), tokens=tuple(tokens), labels=tuple(labels))
    return to_brackets(tree, **options)


@given(ANY)
def test_parse_and_write_are_inverses(tree):
    nodes = nodes_of(tree)
    parents, tokens, labels = parse(brackets_of(tree))
    assert parents == [node.parent for node in nodes]
    assert tokens == [node.word for node in nodes]
    assert labels == labels_of(tree)
    assert write(parents, tokens, labels) == brackets_of(tree)


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
    assert write(*read) == "( (S (N a)))"
    assert write([2, 2, -1], ["a", "b", None], ["A", "B", None]) == "( (A a) (B b))"


def test_brackets_without_labels():
    read = parse("( ( The cat ) ( sat . ) )", labelled=False)
    words = ["The", "cat", None, "sat", ".", None, None]
    assert read == ([2, 2, 6, 5, 5, 6, -1], words, [None] * 7)
    assert parse("((The\ncat)( sat\t.))\r\n", labelled=False) == read
    assert write(*read, labelled=False) == "( ( The cat ) ( sat . ) )"


def test_a_word_is_a_tree_without_labels_and_a_bracket_around_it_another():
    assert parse(" Yes\n", labelled=False) == ([-1], ["Yes"], [None])
    assert parse("( Yes )", labelled=False) == ([1, -1], ["Yes", None], [None, None])
    assert write([-1], ["Yes"], ["A"], labelled=False) == "Yes"
    assert write([1, -1], ["Yes", None], ["A", "B"], labelled=False) == "( Yes )"


@pytest.mark.parametrize(
    ("labelled", "text", "place", "message"),
    [
        (True, "", "7:1", "expected a bracketed tree, found nothing"),
        (True, "word", "7:1", "expected '(', found 'word'"),
        (True, "  )", "7:3", "expected '(', found ')'"),
        *((True, text, f"7:{text.index(')', 1) + 1}", EMPTY) for text in ("()", "(3)")),
        (True, "(3 (2 a) ())", "7:11", EMPTY),
        (True, "(3 (2 a)", "7:9", OPEN.format(1, "7:1")),
        (True, "(3 a))", "7:6", "expected one tree, found ')' after its end"),
        (True, "(3 a) (3 b)", "7:7", "expected one tree, found '(' after its end"),
        (True, "(3 a b)", "7:6", "expected ')' after the word 'a', found the word 'b'"),
        (True, "(3 a (2 b))", "7:6", "expected ')' after the word 'a', found '('"),
        (True, "((2 a) b)", "7:8", "expected '(' or ')', found the word 'b'"),
        (True, "(3\n (2\n  x", "9:4", OPEN.format(2, "8:2")),
        (False, ")", "7:1", "expected '(', found ')'"),
        (False, "( a )\n ( )", "8:2", "expected one tree, found '(' after its end"),
        (False, "( a\n ( ) )", "8:4", EMPTY),
        (False, "( a\n ( b\xa0", "8:6", OPEN.format(2, "8:2")),
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
        write([2, 2, -1], tokens, labels, labelled=labelled)


def test_traces_are_left_out_with_what_holds_nothing_else():
    traced = "(S (NP-1 Mary) (VP (V tried) (S (NP (-NONE- *-1)) (VP (TO to)"
    traced += " (VP (V eat) (NP (-NONE- *T*)))))))"
    plain = "(S (NP-1 Mary) (VP (V tried) (S (VP (TO to) (VP (V eat))))))"
    assert to_brackets(from_brackets(traced)) == plain
    for text in ("(S (NP (-NONE- *)))", "(-NONE- *)"):
        with pytest.raises(TreeError, match="traces"):
            from_brackets(text)
