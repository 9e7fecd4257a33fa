"""Convert constituency trees to binary trees and back; and find the head child of an English
phrase."""

import re
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from thinstack.core.transitions import REDUCE, SHIFT
from thinstack.core.tree import Tree
from thinstack.data.trees.phrases import check_constituency
from thinstack.errors import TreeError

Branching = Literal["right", "left", "head"]

Heads = Callable[[str | None, Sequence[str | None]], int]
"""A function of a phrase's label and the labels of its children, at least two. Returns the index of
the head child, from 0."""

ADDED, CHAIN = "@", "+"


def binarize(tree: Tree, leaves: Sequence[Sequence[str]] | None = None) -> Tree:
    """Binarize a constituency tree: `(A b c d)` becomes `(A b (c d))`.

    A unary chain becomes its topmost node. New nodes have the label None. This cannot be undone,
    unlike `to_binary`.

    `leaves`: for each leaf, in order, the words that replace it. Several words become a
    right-branching phrase. A leaf without words is removed, as is every phrase that is then empty.

    Raises TreeError for a tree with words at inner nodes, for a wrong number of `leaves`, and if no
    word remains.
    """
    check_constituency(tree)
    groups = [(word,) for word in tree.words] if leaves is None else leaves
    if len(groups) != len(tree.words):
        expected = f"expected a group of words for each of the {len(tree.words)} leaves"
        mend = "use an empty group to remove a leaf"
        raise TreeError(f"{expected}, found {len(groups)}; {mend}")
    rest = iter(groups)
    parts = [0] * len(tree)  # number of words, or non-empty children, of each node
    steps: list[int] = []
    labels: list[str | None] = []
    nodes = zip(tree.parents.tolist(), tree.tokens, tree.labels, strict=True)
    for node, (parent, word, label) in enumerate(nodes):
        if word is not None:
            parts[node] = len(next(rest))
            steps += [SHIFT] * parts[node]
            labels += [None] * parts[node]
        if not parts[node]:
            continue
        # The parts are on top of the stack: reducing the top two repeatedly branches to the right.
        steps += [REDUCE] * (parts[node] - 1)
        labels += [None] * (parts[node] - 1)
        labels[-1] = label
        if parent >= 0:
            parts[parent] += 1
    if not steps:
        raise TreeError(
            "expected at least one word, found only empty groups; skip this tree instead"
        )
    words = [word for group in groups for word in group]
    return Tree.from_transitions(np.array(steps, np.int8), words, labels)


def to_binary(tree: Tree, *, branching: Branching = "right", heads: Heads | None = None) -> Tree:
    """Binarize a constituency tree so that `from_binary` can restore it.

    The label of an added node is `@` and the label of its phrase. A unary chain becomes one node,
    its labels joined by `+` from the top (None as ""). `branching`:

    - "right": right-branching (right-factored, in NLTK's terms): `(A b c d)` becomes `(A b (@A c
      d))`.
    - "left": left-branching (left-factored): `(A (@A b c) d)`.
    - "head": head-outward (Collins 1999). The head child takes the siblings on its right one by
      one, then the siblings on its left: with the head c, `(A b (@A c d))`. `heads` says which
      child is the head; `english_head` knows the Penn Treebank's phrases.

    Raises TreeError for a tree with words at inner nodes, for a label that is empty, contains `+`
    or starts with `@`, and if `heads` returns an invalid index. Raises ValueError for another
    `branching`, and for "head" without `heads`.
    """
    check_constituency(tree)
    _check_labels(tree)
    head = _head_children(tree, branching, heads)
    arities, parents = tree.arities.tolist(), tree.parents.tolist()
    taken = [0] * len(tree)  # number of children of each node so far
    steps: list[int] = []
    chains: list[list[str | None]] = []  # labels of each new node, bottom up
    for node, label in enumerate(tree.labels):
        above = parents[node]
        if arities[node] == 0:
            steps.append(SHIFT)
            chains.append([label])
        elif arities[node] == 1:
            chains[-1].append(label)
        else:
            chains[-1] = [label]  # the last REDUCE over its children creates the phrase itself
        if above >= 0 and arities[above] > 1:
            # After the last child, the head with everything to its right is on top of everything to
            # its left.
            last = taken[above] == arities[above] - 1
            count = (taken[above] > head[above]) + (head[above] if last else 0)
            taken[above] += 1
            steps += [REDUCE] * count
            chains += [[ADDED + (tree.labels[above] or "")] for _ in range(count)]
    joined = (
        chain[0] if len(chain) == 1 else CHAIN.join(label or "" for label in reversed(chain))
        for chain in chains
    )
    return Tree.from_transitions(np.array(steps, np.int8), tree.words, joined)


def from_binary(tree: Tree) -> Tree:
    """Undo `to_binary`: remove the added nodes, and restore the unary chains.

    Raises TreeError for a tree with words at inner nodes, and if `@` marks a leaf, the root or a
    part of a chain.
    """
    check_constituency(tree)
    parents: list[int] = []
    tokens: list[str | None] = []
    labels: list[str | None] = []
    orphans: list[int] = []  # nodes without a parent so far
    counts: list[int] = []  # number of orphans in each subtree on the stack
    nodes = zip(tree.arities.tolist(), tree.tokens, tree.labels, strict=True)
    for node, (arity, word, label) in enumerate(nodes):
        added = label is not None and label.startswith(ADDED)
        chain = [] if added else [part or None for part in reversed((label or "").split(CHAIN))]
        inside = arity and node < len(tree) - 1
        if any(part and part.startswith(ADDED) for part in chain) or (added and not inside):
            raise TreeError(
                f"node {node} has the label {label!r}; expected '@' only at nodes inside a "
                "phrase, as to_binary writes them; rename the label"
            )
        counts.append(sum(counts.pop() for _ in range(arity)))
        for part in chain:
            for _ in range(counts.pop()):
                parents[orphans.pop()] = len(parents)
            orphans.append(len(parents))
            counts.append(1)
            parents.append(-1)
            tokens.append(word)
            labels.append(part)
            word = None
    return Tree(parents=np.array(parents), tokens=tuple(tokens), labels=tuple(labels))


def _check_labels(tree: Tree) -> None:
    for node, label in enumerate(tree.labels):
        if label is not None and (not label or CHAIN in label or label.startswith(ADDED)):
            expected = "None, or a non-empty label without '+' that does not start with '@'"
            raise TreeError(
                f"node {node} has the label {label!r}; expected {expected}, because "
                "binarization uses such labels; rename it"
            )


def _head_children(tree: Tree, branching: Branching, heads: Heads | None) -> list[int]:
    """Return the child of each node where binarization starts; 0 with fewer than two children."""
    if branching not in ("right", "left", "head"):
        raise ValueError(f"branching must be 'right', 'left' or 'head'; found {branching!r}")
    if branching == "right":
        return [max(count - 1, 0) for count in tree.arities.tolist()]
    places = [0] * len(tree)
    if branching == "left":
        return places
    if heads is None:
        raise ValueError("branching 'head' needs heads, such as thinstack.english_head")
    for node, children in enumerate(tree.children):
        if len(children) > 1:
            place = heads(tree.labels[node], [tree.labels[child] for child in children])
            if not 0 <= place < len(children):
                expected = f"expected heads to return a child from 0 to {len(children) - 1}"
                raise TreeError(f"node {node}: {expected}, found {place}; fix heads")
            places[node] = place
    return places


# The head table of Collins (1999, appendix A) for the labels of the Penn Treebank: the end from
# which to search the children, and the labels to search for, in order.
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
    """Return the index of the head child, from 0, by the head table of Collins (1999, appendix A).
    `label`: of the phrase. `children`: the labels of its children, at least one.

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
