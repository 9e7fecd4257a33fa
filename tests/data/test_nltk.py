"""Trees of nltk, against nltk's own reading and writing of brackets."""

import pytest
from core.random_trees import brackets_of
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tree import ImmutableTree, ParentedTree
from nltk.tree import Tree as NltkTree

from thinstack.core import Tree
from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.data.trees.nltk import from_nltk, to_nltk
from thinstack.errors import TreeError

DEEP = 20_000

LABELS = st.sampled_from(["", "S", "NP", "-NONE-", "a b"])
WORDS = st.text(max_size=2)
NESTED = st.recursive(
    WORDS, lambda below: st.tuples(LABELS, st.lists(below, min_size=1, max_size=3)), max_leaves=6
)
"""A word, or a label and one to three of these."""


def nltk_of(part):
    return part if isinstance(part, str) else NltkTree(part[0], list(map(nltk_of, part[1])))


def unlabelled_words_as_strings(part, siblings):
    """With ("", ["a"]) beside others written as "a": a leaf without a label is one thing to us."""
    if isinstance(part, str):
        return part
    label, children = part
    if siblings and not label and len(children) == 1 and isinstance(children[0], str):
        return children[0]
    return label, [unlabelled_words_as_strings(child, len(children) > 1) for child in children]


@settings(max_examples=100)
@given(st.tuples(LABELS, st.lists(NESTED, min_size=1, max_size=3)))
def test_nltk_trees_come_back(nested):
    expected = nltk_of(unlabelled_words_as_strings(nested, False))
    assert to_nltk(from_nltk(nltk_of(nested))) == expected


@given(
    st.recursive(
        st.sampled_from("abc"), lambda below: st.lists(below, min_size=1, max_size=4), max_leaves=9
    )
)
def test_both_read_and_write_the_same_brackets(nested):
    text = brackets_of(nested)
    assert to_nltk(from_brackets(text)) == NltkTree.fromstring(text)
    assert to_brackets(from_nltk(NltkTree.fromstring(text))) == text
    assert to_nltk(from_brackets(text)).pformat(margin=10**6) == text


@pytest.mark.parametrize("kind", [ImmutableTree, ParentedTree])
def test_other_kinds_of_nltk_trees_are_read(kind):
    text = "(S (NP (D the) (N dog)) (V barks))"
    assert from_nltk(kind.fromstring(text)) == from_brackets(text)


def preorder(tree):
    """Labels with numbers of children, and words; nltk compares by recursion."""
    found, todo = [], [tree]
    while todo:
        part = todo.pop()
        found.append(part if isinstance(part, str) else (part.label(), len(part)))
        if not isinstance(part, str):
            todo += reversed(part)
    return found


@pytest.mark.parametrize("shape", ["chain", "left", "right"])
def test_trees_of_any_depth(shape):
    """Every phrase around the one before it: alone, before a leaf, or behind a word."""
    written = NltkTree("N", ["a"])
    for _ in range(DEEP):
        left = [written, NltkTree("N", ["b"])]
        below = {"chain": [written], "left": left, "right": ["b", written]}
        written = NltkTree("S", below[shape])
    tree = from_nltk(written)
    assert tree.words.count("b") == (0 if shape == "chain" else DEEP)
    assert len(tree) == len(tree.words) + DEEP
    assert preorder(to_nltk(tree)) == preorder(written)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("(S (NN dog))", "expected an nltk Tree, found str"),
        (Tree.left(["a"]), "expected an nltk Tree, found Tree <Tree of 1 nodes"),
        (NltkTree("S", []), "the node labeled 'S' has no children; expected a word or children"),
        (NltkTree("S", [("dog", "NN"), ("barks", "VB")]), r"words .* tuple \('dog'"),
        (NltkTree(3, ["a"]), "labels that are strings, found int 3"),
        (NltkTree("S", [["a"]]), r"words that are strings, found list \['a'\]"),
    ],
)
def test_what_cannot_be_read_is_refused(tree, message):
    with pytest.raises(TreeError, match=message):
        from_nltk(tree)


def test_what_nltk_trees_cannot_hold_is_refused():
    with pytest.raises(TreeError, match="node 1 "):
        to_nltk(Tree.from_parents([1, -1], ["a", "dog"]))
    with pytest.raises(TreeError, match=r"node 0 .* ''"):
        to_nltk(Tree.from_parents([-1], ["a"], [""]))
