"""Head children of English phrases."""

import pytest

from thinstack.data.trees.head_rules import english_head

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
