"""Head children of English phrases."""

import pytest

from thinstack.data.binarize import from_binary, to_binary
from thinstack.data.brackets import from_brackets, to_brackets
from thinstack.data.head_rules import english_head


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        # The search goes by label first, then from its end.
        ("S", "NP VP .", "VP"),
        ("S", "NP ADJP NP", "ADJP"),
        ("VP", "MD VP", "MD"),
        ("VP", "TO VP", "TO"),
        ("VP", "VB NP VBD", "VBD"),
        ("SBAR", "IN S", "IN"),
        ("SBAR", "WHNP S", "WHNP"),
        ("PP", "IN NP", "IN"),
        ("PP", "VBG IN NP", "IN"),
        ("ADJP", "RB JJ", "JJ"),
        ("ADVP", "RB RBR", "RB"),
        ("QP", "JJR IN CD", "IN"),
        ("WHNP", "WP$ NN", "WP$"),
        ("RRC", "ADVP PP", "ADVP"),
        # Noun phrases: steps of their own.
        ("NP", "DT JJ NN NN", 3),
        ("NP", "NNP NNP CD", 1),
        ("NP", "NP PP", "NP"),
        ("NP", "NP NP", 0),
        ("NP", "DT ADJP CD", "ADJP"),
        ("NP", "CD JJ", "CD"),
        ("NP", "DT JJ RB", "RB"),
        ("NP", "DT", "DT"),
        ("NP", "DT VBG", "VBG"),
        ("NP", "NNP POS", "POS"),
        ("NP", "POS NN DT", "NN"),
        # The rightmost or leftmost child where nothing is found.
        ("FRAG", "NP PP", "PP"),
        ("UCP", "ADJP CC NP", "ADJP"),
        ("PRN", "NP PP", "NP"),
        ("NX", "JJ NN", "JJ"),
        ("TOP", "NP VP", "NP"),
        # Coordination: the conjunct before the conjunction.
        ("NP", "NN CC NN", 0),
        ("NP", "NN , NN CC NN", 2),
        ("NP", "NN , CC NN", 0),
        ("NP", "CC NN PP", 1),
        ("VP", "VB NP CC", 0),
        ("VP", "VBD CC VBD", 0),
        ("PP", "IN CC IN NP", 0),
        # Punctuation is the head only by itself.
        ("FRAG", "NP .", "NP"),
        ("INTJ", "`` UH ''", "UH"),
        ("PRN", "-LRB- NP -RRB-", "NP"),
        ("LST", "LS :", "LS"),
        ("LST", ":", ":"),
        ("NP", ", .", "."),
        # Function tags and indices.
        ("NP-SBJ-1", "DT NN-XY", 1),
        ("S=2", "NP-SBJ VP|x", "VP|x"),
        ("NP", "-NONE- NN", "NN"),
    ],
)
def test_heads_of_the_table(label: str, children: str, head: str | int) -> None:
    below = children.split()
    assert english_head(label, below) == (head if isinstance(head, int) else below.index(head))


def test_phrases_and_children_without_labels() -> None:
    assert english_head(None, [None, None]) == 0
    assert english_head("S", [None, "VP"]) == 1
    with pytest.raises(ValueError, match="without children has no head"):
        english_head("S", [])


def test_head_outward_binarisation_of_a_sentence() -> None:
    tree = from_brackets(
        "( (S (NP-SBJ (DT The) (JJ old) (NN man)) (VP (VBD sat) (PP (IN in) (NP (NN rain)))) (. "
        ".)))"
    )
    binary = to_binary(tree, branching="head", heads=english_head)
    assert to_brackets(binary) == (
        "(+S (NP-SBJ (DT The) (@NP-SBJ (JJ old) (NN man))) (@S (VP (VBD sat) (PP (IN in) (NP+NN "
        "rain))) (. .)))"
    )
    assert from_binary(binary) == tree
