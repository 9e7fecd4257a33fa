"""Binarising constituency trees, checked against nested lists taken apart by hand."""

import re

import pytest
from core.random_trees import ANY, labels_of, nodes_of, tree_of
from hypothesis import given
from hypothesis import strategies as st

from thinstack.core import Tree
from thinstack.data.trees.binarize import binarize, english_head, from_binary, to_binary
from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.errors import TreeError


def phrases(tree):
    """(start, end, label) of all nodes."""
    nodes = zip(tree.spans.tolist(), tree.labels, strict=True)
    return {(start, end, label) for (start, end), label in nodes}


@given(ANY)
def test_every_phrase_of_any_tree_is_there_with_its_label(nested):
    nodes = zip(nodes_of(nested), labels_of(nested), strict=True)
    topmost = {(node.start, node.end): label for node, label in nodes}  # parents come last
    tree = binarize(tree_of(nested))
    assert tree.words == tree_of(nested).words
    assert len(tree.transitions) == 2 * len(tree.words) - 1
    assert {(a, b): label for a, b, label in phrases(tree) if label is not None} == topmost


def test_leaves_are_replaced_split_and_left_out():
    tree = from_brackets("(S (NP (D the) (N cannot) (X _)) (Y (Z _)) (VP (V go)))")
    new = binarize(tree, [["The"], ["can", "not"], [], [], ["go", "on", "now"]])
    assert new.words == ("The", "can", "not", "go", "on", "now")
    assert phrases(new) == {
        *((i, i + 1, None) for i in range(1, 6)),
        *{(0, 1, "D"), (1, 3, "N"), (0, 3, "NP"), (4, 6, None), (3, 6, "VP"), (0, 6, "S")},
    }


def test_trees_of_any_depth_are_binarised():
    deep = 30_000
    tree = from_brackets("(S (A a) " * deep + "(B b)" + ")" * deep)
    assert binarize(tree) == tree
    assert binarize(from_brackets("(S " * deep + "(B b)" + ")" * deep)).words == ("b",)


FOUR = from_brackets("(S (A a) (B b) (C c) (D d))")
DEPENDENCY = Tree.from_parents([-1, 0], ["barks", "dog"])
CONVERSIONS = (binarize, to_binary, from_binary)


def headed(head):
    """Binarisation from a child of that number."""
    return lambda tree: to_binary(tree, branching="head", heads=lambda label, below: head)


def test_a_chain_is_one_node_with_all_its_labels():
    tree = from_brackets("( (S (NP (N dogs)) (VP (V bark) (R at) (N cats))))")
    binary = to_binary(tree)
    assert to_brackets(binary) == "(+S (NP+N dogs) (VP (V bark) (@VP (R at) (N cats))))"
    assert from_binary(binary) == tree


def test_trees_without_labels_are_made_binary_too():
    tree = from_brackets("( ( ( a ) ) b c )", labelled=False)
    binary = to_binary(tree)
    assert binary.labels == ("++", None, None, "@", None)
    assert from_binary(binary) == tree


def oracle(part, labels, head_of):
    """Brackets of the binary tree of a nested list, from the definition."""
    if isinstance(part, str):
        return f"({next(labels)} {part})"
    below = [oracle(child, labels, head_of) for child in part]
    label, head = next(labels), head_of(len(below))
    if len(below) == 1:
        return f"({label}+{below[0][1:]}"
    order = [(side, True) for side in below[head + 1 :]]
    order += [(side, False) for side in reversed(below[:head])]
    whole = below[head]
    for rank, (side, right) in enumerate(order, start=1):
        inside = f"{whole} {side}" if right else f"{side} {whole}"
        whole = f"({label if rank == len(order) else f'@{label}'} {inside})"
    return whole


@given(ANY, st.integers(0, 3))
def test_binary_trees_are_what_the_definition_says(nested, number):
    tree, seen = tree_of(nested), []
    labels = labels_of(nested)

    def heads(label, below):
        seen.append((label, below))
        return min(number, len(below) - 1)

    head_ofs = {"right": lambda count: count - 1, "left": lambda count: 0}
    head_ofs["head"] = lambda count: min(number, count - 1)
    for branching, head_of in head_ofs.items():
        found = to_brackets(to_binary(tree, branching=branching, heads=heads))
        assert found == oracle(nested, iter(labels), head_of)
    below = [[labels[child] for child in children] for children in tree.children]
    pairs = zip(labels, below, strict=True)
    assert seen == [(label, children) for label, children in pairs if len(children) > 1]


@pytest.mark.parametrize("label", ["A+B", "+", "@S", "@", ""])
@pytest.mark.parametrize("node", [0, 1, 2])
def test_labels_that_binarisation_could_have_made_are_refused(label, node):
    tree = Tree.left(["a", "b"]).with_labels(label if i == node else "A" for i in range(3))
    with pytest.raises(TreeError, match=re.escape(f"node {node} has the label {label!r}")):
        to_binary(tree)


MARKED = {
    "(@S (A a) (B b))": "node 2 .* '@S'; expected '@' only at nodes inside",
    "(S (A a) (S+@B (B b) (C c)))": "node 3 .* 'S\\+@B'; expected '@' only at nodes inside",
}


@pytest.mark.parametrize(
    ("convert", "tree", "message"),
    [
        *((convert, DEPENDENCY, "node 0 has both a word") for convert in CONVERSIONS),
        (lambda tree: binarize(tree, [["a"]]), FOUR, "4 leaves, found 1;"),
        (lambda tree: binarize(tree, [[]] * 4), FOUR, "found only empty groups"),
        *((headed(head), FOUR, f"node 4: .*0 to 3, found {head};") for head in (-1, 4)),
        *((from_binary, from_brackets(text), message) for text, message in MARKED.items()),
    ],
)
def test_what_cannot_be_converted_is_refused(convert, tree, message):
    with pytest.raises(TreeError, match=message):
        convert(tree)


def test_another_branching_and_one_by_heads_without_heads_are_refused():
    with pytest.raises(ValueError, match="'head' needs heads"):
        to_binary(FOUR, branching="head")
    with pytest.raises(ValueError, match="'up'"):
        to_binary(FOUR, branching="up")


# -- head children of English phrases


# Phrases by their label, children by theirs, the head between asterisks.
HEADS = {
    # The search goes by label first, then from its end.
    "S": "NP *VP* .; NP *ADJP* NP",
    "VP": "*MD* VP; *TO* VP; VB NP *VBD*; *VB* NP CC; *VBD* CC VBD",
    "SBAR": "*IN* S; *WHNP* S",
    "PP": "*IN* NP; VBG *IN* NP; *IN* CC IN NP",
    "ADJP": "RB *JJ*",
    "ADVP": "*RB* RBR",
    "QP": "JJR *IN* CD",
    "WHNP": "*WP$* NN",
    "RRC": "*ADVP* PP",
    # Noun phrases have steps of their own. Of a coordination the conjunct before the conjunction is
    # the head, and punctuation is one only by itself.
    "NP": "DT JJ NN *NN*; NNP *NNP* CD; *NP* PP; *NP* NP; DT *ADJP* CD; *CD* JJ; DT JJ *RB*; *DT*; "
    "DT *VBG*; NNP *POS*; POS *NN* DT; *NN* CC NN; NN , *NN* CC NN; *NN* , CC NN; CC *NN* PP; "
    ", *.*; -NONE- *NN*",
    # The rightmost or leftmost child where nothing is found.
    "FRAG": "NP *PP*; *NP* .",
    "UCP": "*ADJP* CC NP",
    "PRN": "*NP* PP; -LRB- *NP* -RRB-",
    "NX": "*JJ* NN",
    "TOP": "*NP* VP",
    "INTJ": "`` *UH* ''",
    "LST": "*LS* :; *:*",
    # Function tags and indices.
    "NP-SBJ-1": "DT *NN-XY*",
    "S=2": "NP-SBJ *VP|x*",
}


@pytest.mark.parametrize(
    ("label", "children"),
    [(label, case) for label, cases in HEADS.items() for case in cases.split("; ")],
)
def test_heads_of_the_table(label, children):
    marked = children.split()
    below = [child.strip("*") for child in marked]
    (head,) = (place for place, child in enumerate(marked) if child.startswith("*"))
    assert english_head(label, below) == head


def test_phrases_and_children_without_labels():
    assert english_head(None, [None, None]) == 0
    assert english_head("S", [None, "VP"]) == 1
    with pytest.raises(ValueError, match="without children has no head"):
        english_head("S", [])
