"""Find the head child of an English phrase, by the head table of Collins (1999, appendix A) for the
labels of the Penn Treebank."""

import re
from collections.abc import Sequence

# The end from which to search the children, and the labels to search for, in order.
_TABLE = {
    "ADJP": ("left", "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
    "ADVP": ("right", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
    "CONJP": ("right", "CC RB IN"),
    "FRAG": ("right", ""),
    "INTJ": ("left", ""),
    "LST": ("right", "LS :"),
    "NAC": ("left", "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "NP": ("right", ""),  # then the steps below
    "PP": ("right", "IN TO VBG VBN RP FW"),
    "PRN": ("left", ""),
    "PRT": ("right", "RP"),
    "QP": ("left", "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    "RRC": ("right", "VP NP ADVP ADJP PP"),
    "S": ("left", "TO IN VP S SBAR ADJP UCP NP"),
    "SBAR": ("left", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": ("left", "SQ S SINV SBARQ FRAG"),
    "SINV": ("left", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": ("left", "VBZ VBD VBP VB MD VP SQ"),
    "UCP": ("right", ""),
    "VP": ("left", "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
    "WHADJP": ("left", "CC WRB JJ ADJP"),
    "WHADVP": ("right", "CC WRB"),
    "WHNP": ("left", "WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": ("right", "IN TO FW"),
}

# The steps for noun phrases: from one end, the first child with any of the labels. Collins's
# preceding step, a last child POS, is contained in the first of them.
_NOUN_PHRASE = (
    ("right", "NN NNP NNPS NNS NX POS JJR"),
    ("left", "NP"),
    ("right", "$ ADJP PRN"),
    ("right", "CD"),
    ("right", "JJ JJS RB QP"),
)

_STEPS = {
    label: [(end, {name}) for name in wanted.split()] for label, (end, wanted) in _TABLE.items()
} | {"NP": [(end, set(wanted.split())) for end, wanted in _NOUN_PHRASE]}

_PUNCTUATION = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-"})
_FUNCTION = re.compile(r"(?<=.)[-=|].*", re.DOTALL)


def english_head(label: str | None, children: Sequence[str | None]) -> int:
    """Return the index of the head child, from 0. `label`: of the phrase. `children`: the labels of
    its children, at least one.

    Function tags and indices are ignored (`NP-SBJ-1` is an NP). The head of a coordination is the
    conjunct before the conjunction. If no label of the table matches, the head is the outermost
    child at the end where the search starts; for phrases that are not in the table, the leftmost
    (Bikel 2004). Collins removes punctuation from the trees first; here it is the head only of
    phrases that contain nothing else.

    Raises ValueError without children.
    """
    if not children:
        raise ValueError("a phrase without children has no head")
    plain = list(map(_plain, children))
    places = [place for place, child in enumerate(plain) if child not in _PUNCTUATION]
    places = places or list(range(len(plain)))
    below = [plain[place] for place in places]
    head = _head(_plain(label), below)
    if head >= 2 and below[head - 1] == "CC":
        head -= 2
    return places[head]


def _plain(label: str | None) -> str:
    """Remove the function tags of a label; `-LRB-` and `-NONE-` are unchanged."""
    return "" if label is None else label if label.startswith("-") else _FUNCTION.sub("", label)


def _head(label: str, children: list[str]) -> int:
    for end, wanted in _STEPS.get(label, ()):
        if places := [place for place, child in enumerate(children) if child in wanted]:
            return places[0 if end == "left" else -1]
    return 0 if _TABLE.get(label, ("left",))[0] == "left" else len(children) - 1
