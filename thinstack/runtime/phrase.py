"""`Phrase`, a node of the tree of a sentence with its label and scores; and whether it is readable
alone."""

from collections.abc import Collection
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import SHIFT
from thinstack.data.words.ptb import plain
from thinstack.runtime.scored import stored, unit
from thinstack.text.english import rules

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.result import Judgement

_WIDEST: Final = 60
"""Maximum characters of a text in a `repr`."""

NEUTRAL: Final = 0
"""The sign of a neutral node."""


class Nodes:
    """The scored nodes of a prediction as columns, each computed on first access."""

    def __init__(self, sentence: "Prediction"):
        self.sentence = sentence

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """The words [start, end) of each node."""
        if len(self.sentence.node_scores) == 1:
            return [(0, len(self.sentence.words))]
        spans, starts, words = list[tuple[int, int]](), list[int](), 0
        for step in self.sentence.transitions.tolist():  # faster than numpy
            if step == SHIFT:
                starts.append(words)
                words += 1
            else:
                starts.pop()
            spans.append((starts[-1], words))
        return spans

    @cached_property
    def parents(self) -> list[int]:
        """The parent of each node; -1 for the root."""
        parents = [-1] * len(self.spans)
        for node, (start, end) in enumerate(self.spans[1:], 1):
            if end - start > 1:
                right = self.spans[node - 1]
                parents[node - 1] = parents[node - 2 * (right[1] - right[0])] = node
        return parents

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """The characters [start, end) of each node in the whole text."""
        words = (self.sentence.offsets + self.sentence.start).tolist()
        return [(words[start][0], words[end - 1][1]) for start, end in self.spans]

    @cached_property
    def labels(self) -> list[str | None]:
        """The label of each node; None if its top probability is below `abstain`."""
        names, sentence = self.sentence.labels, self.sentence
        best = zip(sentence.label_ids.tolist(), sentence.certain.tolist(), strict=True)
        return [names[label] if certain else None for label, certain in best]

    @cached_property
    def polarity(self) -> list[float | None]:
        """The polarity of each node; None if the classes are not a sentiment scale."""
        view, scores = self.sentence.view, self.sentence.node_scores
        if view.polarity is None:
            return [None] * len(scores)
        return [*view.mean_places(scores).tolist()]

    @cached_property
    def sides(self) -> list[int]:
        """The polarity sign of each node by its best class: -1, 1 or NEUTRAL. It ignores `abstain`,
        because "not" negates a phrase even if the model is unsure of it. Without a sentiment scale,
        the class number, from 1."""
        places = self.sentence.view.polarity
        best: list[int] = self.sentence.label_ids.tolist()
        if places is None:
            return [label + 1 for label in best]
        return [(places[label] > 0) - (places[label] < 0) for label in best]

    def sibling(self, node: int) -> int:
        """Return the sibling of a node other than the root."""
        left, right = self.children(self.parents[node]) or (node, node)
        return left if node == right else right

    def children(self, node: int) -> tuple[int, int] | None:
        """Return the two children of a node; None for a leaf."""
        start, end = self.spans[node - 1]
        if not node or self.parents[node - 1] != node:
            return None
        return node - 2 * (end - start), node - 1

    @cached_property
    def spelt(self) -> list[str]:
        """The words (L,) in lower case, without treebank escapes."""
        return [plain(word).lower() for word in self.sentence.words]

    @cached_property
    def is_word(self) -> list[bool]:
        """Whether each token (L,) is a word, not punctuation."""
        return [
            word.isalnum() or any(one.isalnum() or not one.isascii() for one in word)
            for word in self.spelt
        ]

    @cached_property
    def is_content(self) -> list[bool]:
        """Whether each token (L,) is a content word, not a function word."""
        return self._words_except(rules().function_words)

    @cached_property
    def _edges(self) -> tuple[list[bool], list[bool], list[bool]]:
        """Whether a phrase may begin and end with each token (L,), and whether each boundary (L+1,)
        is inside a typed word, as before `n't`. `and` may not end a phrase."""
        pairs, dangling = self.sentence.offsets.tolist(), rules().dangling
        touches = [end >= start for (_, end), (start, _) in pairwise(pairs)]
        both = zip(touches, pairwise(self.is_word), strict=True)
        inside = [False, *(touch and all(pair) for touch, pair in both), False]
        return self._words_except(dangling["first"]), self._words_except(dangling["last"]), inside

    def _words_except(self, excepted: Collection[str]) -> list[bool]:
        pairs = zip(self.is_word, self.spelt, strict=True)
        return [is_word and word not in excepted for is_word, word in pairs]

    def reads_alone(self, start: int, end: int) -> bool:
        """Return whether the words [start, end) are readable alone."""
        first, last, inside = self._edges
        return first[start] and last[end - 1] and not (inside[start] or inside[end])


class NodeView:
    """A view of a node of a prediction's tree; it copies nothing."""

    __slots__ = ("_nodes", "node")

    def __init__(self, nodes: Nodes, node: int):
        self._nodes, self.node = nodes, node

    @property
    def sentence(self) -> "Prediction":
        """The sentence that contains it."""
        return self._nodes.sentence

    @property
    def label(self) -> str | None:
        """The most probable class, or None if it is less probable than `abstain`."""
        return self._nodes.labels[self.node]

    @property
    def scores(self) -> dict[str, float]:
        """The probability of each class, {label: probability}."""
        row = self.sentence.node_scores[self.node].tolist()
        return dict(zip(self.sentence.labels, row, strict=True))

    @property
    def polarity(self) -> float | None:
        """The polarity, from -1 (negative) to 1 (positive), as in `Prediction.polarity`."""
        return self._nodes.polarity[self.node]

    @property
    def start(self) -> int:
        """The start character in the whole text."""
        return self._nodes.places[self.node][0]

    @property
    def end(self) -> int:
        """The end character in the whole text, exclusive."""
        return self._nodes.places[self.node][1]

    @property
    def text(self) -> str:
        """The text as it was typed."""
        shift = self.sentence.start
        return self.sentence.text[self.start - shift : self.end - shift]

    @property
    def _key(self) -> object:
        """The identity of the view within its sentence."""
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

    A view of the prediction. Two phrases are equal if they are the same node of the same
    prediction.

    Attributes:
        node: the number of the node in the tree, in transition order.
    """

    __slots__ = ()

    @property
    def vector(self) -> NDArray[np.float32]:
        """The vector (D,), of unit norm. Raises InputError for a model without vectors."""
        return unit(stored(self.sentence.vectors)[self.node])

    @property
    def parent(self) -> "Phrase | None":
        """The phrase that directly contains it; None for the whole sentence."""
        parent = self._nodes.parents[self.node]
        return None if parent < 0 else Phrase(self._nodes, parent)

    @property
    def children(self) -> tuple["Phrase", ...]:
        """The left and right child phrases; empty for a word."""
        pair = self._nodes.children(self.node)
        return () if pair is None else tuple(Phrase(self._nodes, node) for node in pair)


def shown(judged: "Judgement | NodeView") -> str:
    """Format the label, polarity and text for a `repr`."""
    polarity, text = "" if judged.polarity is None else f" {judged.polarity:+.2f}", judged.text
    text = text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."
    return f"<{type(judged).__name__} {judged.label}{polarity}: {text!r}>"


def opinion(judged: "Judgement | NodeView") -> dict[str, Any]:
    """Return the label, polarity and scores as data for JSON."""
    polarity, scores = judged.polarity, judged.scores
    return {
        "label": judged.label,
        "polarity": None if polarity is None else round(polarity, 6),
        "scores": {label: round(score, 6) for label, score in scores.items()},
    }
