"""Finds the labelled English phrases of a treebank that can be negated, and where."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from thinstack.core import Tree
from thinstack.data.trees.subtrees import subtree
from thinstack.data.trees.treebank import Labelled

__all__ = ["AUXILIARIES", "Negatable", "Place", "negatable"]

MOST_WORDS: Final = 5
"""The most words of a phrase that is negated."""

AUXILIARIES: Final = {
    "can": ("ca n't", "can not"),
    "will": ("wo n't", "will not", "will never"),
    "may": ("may not",),
    "might": ("might not",),
    "to": ("not to", "never to"),
    "'s": ("'s not", "'s never", "'s hardly"),
    "'re": ("'re not", "'re never"),
    **{
        word: (f"{word} n't", f"{word} not", f"{word} never", f"{word} hardly")
        for word in ("is", "was", "are", "were", "could", "would", "should", "does", "did", "do")
    },
    **{word: (f"not {word}",) for word in ("very", "so", "too", "quite", "really")},
}
"""The negations of a word before a phrase, in two words each."""

COPULAS: Final = frozenset({"is", "was", "are", "were", "'s", "'re", "be", "been", "seems"})
DEGREES: Final = frozenset({"very", "so", "too", "quite", "really", "pretty", "more", "most"})
MODALS: Final = frozenset(
    {"can", "could", "will", "would", "may", "might", "should", "must", "do", "does", "did"}
)
ARTICLES: Final = frozenset({"a", "an"})
NEGATIONS: Final = frozenset({"not", "n't", "no", "never", "nothing", "nor", "hardly", "without"})
NO_COMPLEMENTS: Final = frozenset(
    (
        *("the", "to", "that", "what", "how", "in", "of", "as", "at", "like", "for", "with"),
        *("from", "about", "on", "all", "one", "any", "more", "less", "most", "best", "better"),
        *("worst", "worse", "least", "well", "going", "only", "just", "his", "her", "its"),
        *("their", "our", "my", "your"),
    )
)
"""First words that may follow "is", but not in every sentence with another form of "be"."""
NO_VERBS: Final = NO_COMPLEMENTS | ARTICLES | {"be", "once", "also", "still", "ever", "even"}
_WORD: Final = re.compile(r"[a-z]+(-[a-z]+)*|'s")


class Place(NamedTuple):
    """A place where a phrase can be negated.

    Attributes:
        node: the node of a word of `AUXILIARIES` before the phrase, or the node of a noun phrase
            with its article.
        noun: whether it is a noun phrase.
    """

    node: int
    noun: bool


class Negatable(NamedTuple):
    """The phrases of a treebank that can be negated.

    Attributes:
        phrases: for each slot of `negation_templates`, the phrases with a class below the middle,
            and the phrases with a class above it.
        places: for each tree, the places where a phrase can be negated.
    """

    phrases: dict[str, tuple[list[Tree], list[Tree]]]
    places: list[list[Place]]


class _Pair(NamedTuple):
    """A word, or an auxiliary with its negation, and the phrase after it.

    `left` and `right` are their nodes. `alone` says that the word has no negation. `phrase` holds
    the words of the phrase in lower case.
    """

    left: int
    right: int
    word: str
    alone: bool
    phrase: tuple[str, ...]


def negatable(treebank: Sequence[Labelled], classes: int) -> Negatable:
    """The phrases of a treebank that can be negated, by their slots, and the places of its trees.

    The slots are complements `c`, adjectives `a`, verb phrases `v`, and noun phrases with their
    article `n` or without it `b`. The word before a phrase tells its slot: a complement follows
    "is", a verb phrase follows "can".

    A phrase is left out if it has the middle one of the `classes`, a negation, more than
    `MOST_WORDS` words, or anything but words. Raises TreeError for trees that are not binary.
    """
    pairs = [list(_pairs(tree)) for tree, _ in treebank]
    after = {pair.phrase[0] for found in pairs for pair in found if pair.word in MODALS}
    verbs = {word for word in after - NO_VERBS if not word.endswith("ly")}
    phrases: dict[str, tuple[list[Tree], list[Tree]]] = defaultdict(lambda: ([], []))
    places: list[list[Place]] = []
    for (tree, labels), found in zip(treebank, pairs, strict=True):
        places.append([])
        for pair in found:
            noun = pair.word in ARTICLES
            node = int(tree.parents[pair.right]) if noun else pair.right
            lean = 2 * int(labels[node]) - (classes - 1)
            slots = _slots(pair, verbs)
            if not slots or labels[node] < 0 or lean == 0:
                continue
            for slot in slots:
                part = node if slot == "n" else pair.right
                phrases[slot][lean > 0].append(subtree(tree, part))
            if noun or (pair.alone and pair.word in AUXILIARIES):
                places[-1].append(Place(node if noun else pair.left, noun))
    return Negatable(dict(phrases), places)


def _pairs(tree: Tree) -> Iterator[_Pair]:
    """Each word with the phrase after it whose kind the word may tell."""
    words, spans = tree.words, tree.spans.tolist()
    for below in tree.children:
        if len(below) != 2:
            continue
        (start, middle), (_, end) = spans[below[0]], spans[below[1]]
        alone, phrase = middle - start == 1, tuple(word.lower() for word in words[middle:end])
        auxiliary = alone or (middle - start == 2 and words[start + 1] in NEGATIONS)
        plain = all(_WORD.fullmatch(word) and word not in NEGATIONS for word in phrase)
        if auxiliary and plain and end - middle <= MOST_WORDS:
            yield _Pair(below[0], below[1], words[start], alone, phrase)


def _slots(pair: _Pair, verbs: set[str]) -> str:
    """The slots that the phrase of a pair fills, a letter each."""
    first, single = pair.phrase[0], len(pair.phrase) == 1
    if pair.word in ARTICLES:
        return "nb"
    if pair.word in MODALS or pair.word == "to":
        return "v" if first in verbs else ""
    complement = pair.word in COPULAS or (pair.word in DEGREES and single)
    if not complement or first in NO_COMPLEMENTS or first in ARTICLES:
        return ""
    return "ca" if single and not first.endswith("ly") else "c"
