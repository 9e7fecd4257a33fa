"""Bracket strings: what is refused, and where."""

import numpy as np
import pytest
from core.random_trees import ANY, brackets_of, labels_of, nodes_of
from hypothesis import given

from thinstack.core import Tree
from thinstack.data.brackets import from_brackets, to_brackets
from thinstack.errors import TreeError

EMPTY = "expected a word or children before ')'"


def parse(text: str, **options) -> tuple[list, list, list]:
    tree = from_brackets(text, **options)
    return tree.parents.tolist(), list(tree.tokens), list(tree.labels)


def write(parents: list, tokens: list, labels: list, **options) -> str:
    tree = Tree(parents=np.array(parents), tokens=tuple(tokens), labels=tuple(labels))
    return to_brackets(tree, **options)


@given(ANY)
def test_parse_and_write_are_inverses(tree) -> None:
    nodes = nodes_of(tree)
    parents, tokens, labels = parse(brackets_of(tree))
    assert parents == [node.parent for node in nodes]
    assert tokens == [node.word for node in nodes]
    assert labels == labels_of(tree)
    assert write(parents, tokens, labels) == brackets_of(tree)


def test_white_space_between_pieces_does_not_matter() -> None:
    found = parse("\t( 3(2  The\n)\r\n(4 acting) ) \f")
    assert found == ([2, 2, -1], ["The", "acting", None], ["2", "4", "3"])


@pytest.mark.parametrize("space", ["\u00a0", "\u2028", "\u3000", "\x1f", "\x85"])
def test_other_white_space_belongs_to_the_word(space: str) -> None:
    assert parse(f"(3 (2 8{space}1/2) (2 {space}))")[1] == [f"8{space}1/2", space, None]


@pytest.mark.parametrize("text", ["( (S (N a)))", "(( S(N a)))", "(\n( S ( N\ta)))"])
def test_a_bracket_without_a_label(text: str) -> None:
    read = parse(text)
    assert read == ([1, 2, -1], ["a", None, None], ["N", "S", None])
    assert write(*read) == "( (S (N a)))"
    assert write([2, 2, -1], ["a", "b", None], ["A", "B", None]) == "( (A a) (B b))"


def test_brackets_without_labels() -> None:
    read = parse("( ( The cat ) ( sat . ) )", labelled=False)
    words = ["The", "cat", None, "sat", ".", None, None]
    assert read == ([2, 2, 6, 5, 5, 6, -1], words, [None] * 7)
    assert parse("((The\ncat)( sat\t.))\r\n", labelled=False) == read
    assert write(*read, labelled=False) == "( ( The cat ) ( sat . ) )"


def test_a_word_is_a_tree_without_labels_and_a_bracket_around_it_another() -> None:
    assert parse(" Yes\n", labelled=False) == ([-1], ["Yes"], [None])
    assert parse("( Yes )", labelled=False) == ([1, -1], ["Yes", None], [None, None])
    assert write([-1], ["Yes"], ["A"], labelled=False) == "Yes"
    assert write([1, -1], ["Yes", None], ["A", "B"], labelled=False) == "( Yes )"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "1:1", "expected a bracketed tree, found nothing"),
        (")", "1:1", "expected '(', found ')'"),
        ("( a )\n ( )", "2:2", "expected one tree, found '(' after its end"),
        ("a\nb", "2:1", "expected one tree, found 'b' after its end"),
        ("( a\n ( ) )", "2:4", EMPTY),
        ("( a\n ( b ) ", "2:7", "unbalanced brackets: 1 '(' without a ')', the last at 1:1"),
        ("( a\n ( b\u00a0", "2:6", "unbalanced brackets: 2 '(' without a ')', the last at 2:2"),
        ("( a\n b ) )", "2:6", "expected one tree, found ')' after its end"),
    ],
)
def test_malformed_text_without_labels_is_refused_where_it_is_wrong(
    text: str, place: str, message: str
) -> None:
    with pytest.raises(TreeError) as caught:
        parse(text, labelled=False)
    assert str(caught.value) == f"{place}: {message}"


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "expected a bracketed tree, found nothing"),
        ("  \n ", 1, "expected a bracketed tree, found nothing"),
        ("word", 1, "expected '(', found 'word'"),
        ("  )", 3, "expected '(', found ')'"),
        *((text, text.index(")", 1) + 1, EMPTY) for text in ("()", "(3)")),
        ("(3 (2 a) ())", 11, EMPTY),
        ("(3 (2 a)", 9, "unbalanced brackets: 1 '(' without a ')', the last at 7:1"),
        ("(3 (2 (1 a) ", 12, "unbalanced brackets: 2 '(' without a ')', the last at 7:4"),
        ("(3 a))", 6, "expected one tree, found ')' after its end"),
        ("(3 a) (3 b)", 7, "expected one tree, found '(' after its end"),
        ("(3 a) b", 7, "expected one tree, found 'b' after its end"),
        ("(3 a b)", 6, "expected ')' after the word 'a', found the word 'b'"),
        ("(3 a (2 b))", 6, "expected ')' after the word 'a', found '('"),
        ("(3 (2 a) (b", 12, "unbalanced brackets: 2 '(' without a ')', the last at 7:10"),
        ("((2 a) b)", 8, "expected '(' or ')', found the word 'b'"),
        ("(3 (2 a) b)", 10, "expected '(' or ')', found the word 'b'"),
    ],
)
def test_malformed_text_is_refused_where_it_is_wrong(text: str, column: int, message: str) -> None:
    with pytest.raises(TreeError) as caught:
        parse(text, source="dev.txt", line=7)
    assert str(caught.value) == f"dev.txt:7:{column}: {message}"
    assert (caught.value.source, caught.value.line, caught.value.column) == ("dev.txt", 7, column)


@pytest.mark.parametrize(("line", "place"), [(None, "3:9"), (1, "3:9"), (10, "12:9")])
def test_lines_inside_the_text_are_counted(line: int | None, place: str) -> None:
    with pytest.raises(TreeError, match=f"^{place}: .* after the word 'a', found the word 'b'$"):
        parse("(3\n (2 x)\n   (2 a b))", line=line)


def test_an_open_bracket_of_an_earlier_line_is_named() -> None:
    with pytest.raises(TreeError, match=r"^3:5: .* 2 '\(' without a '\)', the last at 2:3$"):
        parse("(3\n  (2\n   x")


@pytest.mark.parametrize(
    ("tokens", "labels", "message"),
    [
        (["a", "b", "c"], ["2", "2", "3"], "node 2 has both a word and children"),
        (["a", "b", None], ["2", None, "3"], "node 1 has no label"),
        (["a", "b)", None], ["2", "2", "3"], "node 1 has the word 'b\\)'"),
        (["(", "b", None], ["2", "2", "3"], "node 0 has the word '\\('"),
        (["a", "New York", None], ["2", "2", "3"], "node 1 has the word 'New York'"),
        (["", "b", None], ["2", "2", "3"], "node 0 has the word ''"),
        (["a", "b", None], ["2", "2", "NP SBJ"], "node 2 has the label 'NP SBJ'"),
    ],
)
def test_what_brackets_cannot_hold_is_not_written(tokens: list, labels: list, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        write([2, 2, -1], tokens, labels)


def test_what_brackets_without_labels_cannot_hold_is_not_written() -> None:
    with pytest.raises(TreeError, match="node 1 has the word 'New York'"):
        write([2, 2, -1], ["a", "New York", None], ["not\ta label"] * 3, labelled=False)
    with pytest.raises(TreeError, match="node 0 has both a word and children"):
        write([-1, 0], ["a", "b"], [None] * 2, labelled=False)
