"""`Phrase`: one node of the tree of a sentence, with its label and scores; and where phrases may
begin and end, if they are to be read without the rest."""

from collections.abc import Collection
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import SHIFT
from thinstack.data.words.ptb import plain
from thinstack.runtime.vectors import stored, unit
from thinstack.text.english import rules

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.result import Judgement

_WIDEST: Final = 60
"""Characters of a text that are printed."""

NEUTRAL: Final = 0
"""The side of a node that is neutral."""


class Nodes:
    """The nodes of a prediction that have scores, as columns, each of which is made when it is
    first asked for."""

    def __init__(self, sentence: "Prediction"):
        self.sentence = sentence

    @cached_property
    def _tree(self) -> tuple[list[tuple[int, int]], list[int]]:
        """The words [start, end) of each node, and the node around it; -1 if there is none."""
        if len(self.sentence.node_scores) == 1:
            return [(0, len(self.sentence.words))], [-1]
        spans, stack, words = list[tuple[int, int]](), list[int](), 0
        parents = [-1] * len(self.sentence.transitions)
        for node, step in enumerate(self.sentence.transitions.tolist()):  # sooner than numpy does
            if step == SHIFT:
                spans.append((words, words + 1))
                words += 1
            else:
                right, left = stack.pop(), stack.pop()
                parents[left] = parents[right] = node
                spans.append((spans[left][0], spans[right][1]))
            stack.append(node)
        return spans, parents

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The words [start, end) of each node."""
        return self._tree[0]

    @property
    def parents(self) -> list[int]:
        """The node around each node, -1 for the sentence."""
        return self._tree[1]

    @cached_property
    def starts(self) -> list[int]:
        """The first character of each node in the whole text."""
        firsts = (self.sentence.offsets[:, 0] + self.sentence.start).tolist()
        return [firsts[start] for start, _ in self.spans]

    @cached_property
    def ends(self) -> list[int]:
        """The character of the whole text behind each node."""
        lasts = (self.sentence.offsets[:, 1] + self.sentence.start).tolist()
        return [lasts[end - 1] for _, end in self.spans]

    @cached_property
    def labels(self) -> list[str | None]:
        """The label of each node, None if no class is as probable as `abstain`."""
        names, sentence = self.sentence.labels, self.sentence
        best = zip(sentence.label_ids.tolist(), sentence.certain.tolist(), strict=True)
        return [names[label] if certain else None for label, certain in best]

    @cached_property
    def polarity(self) -> list[float | None]:
        """The polarity of each node, None if the classes are not a scale of sentiment."""
        view, scores = self.sentence.view, self.sentence.node_scores
        if view.polarity is None:
            return [None] * len(scores)
        return [*view.mean_places(scores).tolist()]

    @cached_property
    def sides(self) -> list[int]:
        """Of each node, -1 or 1 if its best class is negative or positive, or else NEUTRAL, also
        where `abstain` leaves it without a label: "not" turns round what it stands before however
        sure that is. Where classes are not a scale, it is the number of the class, from 1."""
        places = self.sentence.view.polarity
        best: list[int] = self.sentence.label_ids.tolist()
        if places is None:
            return [label + 1 for label in best]
        return [(places[label] > 0) - (places[label] < 0) for label in best]

    def sibling(self, node: int) -> int:
        """The node beside one that is not the sentence."""
        left, right = self.children(self.parents[node]) or (node, node)
        return left if node == right else right

    def children(self, node: int) -> tuple[int, int] | None:
        """The two nodes that a node is made of; None for a word."""
        start, end = self.spans[node - 1]
        if not node or self.parents[node - 1] != node:
            return None
        return node - 2 * (end - start), node - 1

    @cached_property
    def edges(self) -> "WordEdges":
        """Where phrases of the sentence may begin and end."""
        spelt = [plain(word).lower() for word in self.sentence.words]
        words = [
            word.isalnum() or any(one.isalnum() or not one.isascii() for one in word)
            for word in spelt
        ]
        english = rules()

        def but(excepted: Collection[str]) -> list[bool]:
            return [one and word not in excepted for one, word in zip(words, spelt, strict=True)]

        pairs = self.sentence.offsets.tolist()
        touches = [end >= start for (_, end), (start, _) in pairwise(pairs)]
        both = zip(touches, pairwise(words), strict=True)
        inside = [False, *(touch and all(pair) for touch, pair in both), False]
        first, last = but(english.dangling["first"]), but(english.dangling["last"])
        return WordEdges(spelt, words, but(english.function_words), first, last, inside)


class WordEdges(NamedTuple):
    """Where phrases of L words may begin and end.

    Attributes:
        spelt: (L,) the words as running text has them, in lower case.
        words: (L,) whether a word is one, and no mark of punctuation.
        content: (L,) whether it carries content: it is no function word.
        first, last: (L,) whether a phrase may begin and end with it. A mark of punctuation may be
            neither, and `and` is no end.
        inside: (L + 1,) whether the place before it is inside of what was typed as one word, as
            before `n't`.
    """

    spelt: list[str]
    words: list[bool]
    content: list[bool]
    first: list[bool]
    last: list[bool]
    inside: list[bool]

    def reads_alone(self, start: int, end: int) -> bool:
        """Whether the words [start, end) can be read without the rest."""
        whole = not (self.inside[start] or self.inside[end])
        return whole and self.first[start] and self.last[end - 1]


class NodeView:
    """What a node of a tree says. It is a view of the prediction, and copies nothing."""

    __slots__ = ("_nodes", "node")

    def __init__(self, nodes: Nodes, node: int):
        self._nodes, self.node = nodes, node

    @property
    def sentence(self) -> "Prediction":
        """The sentence that it stands in."""
        return self._nodes.sentence

    @property
    def label(self) -> str | None:
        """Its most probable class, or None if that is less probable than `abstain`."""
        return self._nodes.labels[self.node]

    @property
    def scores(self) -> dict[str, float]:
        """The probability of each class, {label: probability}."""
        row = self.sentence.node_scores[self.node].tolist()
        return dict(zip(self.sentence.labels, row, strict=True))

    @property
    def polarity(self) -> float | None:
        """From -1 (negative) to 1 (positive), as `Prediction.polarity`."""
        return self._nodes.polarity[self.node]

    @property
    def start(self) -> int:
        """Its first character in the whole text."""
        return self._nodes.starts[self.node]

    @property
    def end(self) -> int:
        """The character of the whole text behind it."""
        return self._nodes.ends[self.node]

    @property
    def text(self) -> str:
        """Its text as it was typed."""
        shift = self.sentence.start
        return self.sentence.text[self.start - shift : self.end - shift]

    @property
    def _key(self) -> object:
        """What tells it from others of its sentence."""
        return self.node

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._key == other._key and self.sentence is other.sentence

    def __hash__(self) -> int:
        return hash((id(self.sentence), self._key))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return shown(self)


class Phrase(NodeView):
    """A phrase of a sentence: a node of its tree.

    It is a view of the prediction. Phrases are equal if they are the same node of the same
    prediction.

    Attributes:
        node: the number of the node in the tree, in transition order.
    """

    __slots__ = ()

    @property
    def vector(self) -> NDArray[np.float32]:
        """Its vector (D,), of length 1. Raises InputError if the model gives no vectors."""
        return unit(stored(self.sentence.vectors)[self.node])

    @property
    def parent(self) -> "Phrase | None":
        """The phrase around it; None for the whole sentence."""
        parent = self._nodes.parents[self.node]
        return None if parent < 0 else Phrase(self._nodes, parent)

    @property
    def children(self) -> tuple["Phrase", ...]:
        """The two phrases that it consists of, left and right; empty for a word."""
        pair = self._nodes.children(self.node)
        return () if pair is None else tuple(Phrase(self._nodes, node) for node in pair)


def shown(judged: "Judgement | NodeView") -> str:
    """What is printed of each of these: its label, polarity and text."""
    polarity, text = "" if judged.polarity is None else f" {judged.polarity:+.2f}", judged.text
    text = text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."
    return f"<{type(judged).__name__} {judged.label}{polarity}: {text!r}>"
