"""`Prediction`: the scores of a sentence and of every phrase in its tree, as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.transitions import spans_of
from thinstack.data.trees.brackets import to_brackets
from thinstack.errors import InputError

if TYPE_CHECKING:
    from thinstack.runtime.predictor import Predictor
    from thinstack.runtime.why import Contribution


Spans = tuple[tuple[int, int], ...]
"""Words [start, end) of each part of a sentence, in order."""

# A tokeniser may give words that brackets cannot hold.
_BRACKET_SAFE = str.maketrans({"(": "-LRB-", ")": "-RRB-", **dict.fromkeys(" \t\r\n\f\v", "_")})


class Scored(NamedTuple):
    """The tree of a sentence and the scores of its nodes.

    The tree is transitions (2n-1,) int8, or empty if the model reads plain sentences. Scores are
    (2n-1, C), or (1, C) if the model scores only whole sentences. `weight` is described at
    `Prediction`. Only a sentence that was cut has parts.
    """

    transitions: NDArray[np.int8]
    scores: NDArray[np.float32]
    weight: float = 1.0
    parts: Spans = ()


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """The scores that a model gives to a sentence of L words and to its N = 2L - 1 phrases.

    If the model has not learnt to score phrases, only the sentence has scores, and N = 1.

    Attributes:
        text: the sentence.
        words: the L words as the model read them (treebank conventions).
        offsets: (L, 2) int64, the characters [start, end) of each word in `text`.
        transitions: (2L - 1,) int8, the tree. Phrase i is node i, and the last node is the
            sentence. Empty if the model reads plain sentences.
        scores: (N, C) float32, the probability of each class for each phrase, the sentence last.
        labels: the C class names.
        abstain: a phrase has no label if its best class is less probable than this.
        weight: the weight of each word in the mean of a text. It is 1, unless the view leaves a
            class out. Then it is the share of the probability that the other classes have.
        parts: words [start, end) of each part, if the sentence was too long and was read in parts,
            joined by a balanced tree. A sentence that was not cut is one part.
        predictor: the predictor that made this, for `why`. None in a pickle or a copy.
    """

    text: str
    words: tuple[str, ...]
    offsets: NDArray[np.int64]
    transitions: NDArray[np.int8]
    scores: NDArray[np.float32]
    labels: tuple[str, ...]
    abstain: float = 0.0
    weight: float = 1.0
    parts: Spans = ()
    predictor: "Predictor | None" = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.parts:
            object.__setattr__(self, "parts", ((0, len(self.words)),))

    def __reduce__(self) -> tuple[object, ...]:
        names = [each.name for each in fields(self) if each.name != "predictor"]  # the last field
        return type(self), tuple(getattr(self, name) for name in names)

    @classmethod
    def of_words(
        cls,
        words: Sequence[str],
        transitions: NDArray[np.int8],
        scores: NDArray[np.float32],
        labels: tuple[str, ...],
        abstain: float = 0.0,
        weight: float = 1.0,
        parts: Spans = (),
        predictor: "Predictor | None" = None,
    ) -> Self:
        """A prediction over words. Its text is the words with spaces between them."""
        sizes = np.array([len(word) for word in words])
        ends = np.cumsum(sizes + 1) - 1
        offsets = np.stack([ends - sizes, ends], axis=1)
        read, scored = (" ".join(words), tuple(words), offsets), (transitions, scores, labels)
        return cls(*read, *scored, abstain, weight, parts, predictor)

    @property
    def phrases(self) -> bool:
        """Whether every node of the tree has scores; otherwise only the sentence has."""
        return len(self.scores) == len(self.transitions)

    @property
    def spans(self) -> NDArray[np.int64]:
        """Words [start, end) of each phrase that has scores, (N, 2)."""
        return scored_spans(self.transitions, self.scores, len(self.words))

    @property
    def label_ids(self) -> NDArray[np.int64]:
        """The most probable class of each phrase, (N,)."""
        best: NDArray[np.int64] = self.scores.argmax(axis=1)
        return best

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Whether each phrase has a label, (N,): its class is as probable as `abstain`."""
        if not self.abstain:
            return np.ones(len(self.scores), np.bool_)
        certain: NDArray[np.bool_] = self.scores.max(axis=1) >= self.abstain
        return certain

    @property
    def label(self) -> str | None:
        """The most probable class of the sentence, or None if it is less probable than
        `abstain`."""
        row = self.scores[-1]
        best = int(row.argmax())
        return None if self.abstain and row[best] < self.abstain else self.labels[best]

    @property
    def tree(self) -> Tree | None:
        """The tree, or None if the model reads plain sentences.

        A node with scores is labelled with the number of its most probable class, or with `-` if it
        is uncertain. Brackets inside a word become `-LRB-` and `-RRB-`; white space becomes `_`.
        """
        if not self.transitions.size:
            return None
        words = [word.translate(_BRACKET_SAFE) or "_" for word in self.words]
        best = zip(self.label_ids.tolist(), self.certain.tolist(), strict=True)
        labels = [str(label) if certain else "-" for label, certain in best]
        bare = [None] * (len(self.transitions) - len(labels))
        return Tree.from_transitions(self.transitions, words, [*bare, *labels])

    @property
    def brackets(self) -> str | None:
        """The tree in brackets, with labels if every node has one; None if there is no tree."""
        tree = self.tree
        return None if tree is None else to_brackets(tree, labelled=self.phrases)

    def text_of(self, start: int, end: int) -> str:
        """The text of the words [start, end)."""
        return self.text[int(self.offsets[start, 0]) : int(self.offsets[end - 1, 1])]

    def why(self) -> "list[Contribution]":
        """How much each phrase contributes to the label (`thinstack.runtime.why.contributions`).
        Raises InputError as that function does, and if `predictor` is None."""
        if self.predictor is None:
            raise InputError(
                "this prediction has lost its predictor, because it comes from a Doc, a pickle or "
                "a copy: call predictor.why(prediction)"
            )
        return self.predictor.why(self)

    def to_nested(self) -> dict[str, Any]:
        """The tree as nested data ready for JSON, as D3's hierarchies take it.

        Each phrase has `text`, `start` and `end` (characters of the sentence), `label` and
        `scores`. All but words have `children`, a list of phrases. If phrases have no scores, there
        is only the sentence.
        """
        stack: list[dict[str, Any]] = []
        nodes = self.to_dict()["nodes"]
        steps = self.transitions.tolist() if self.phrases else [0] * len(nodes)
        for step, node in zip(steps, nodes, strict=True):
            data = {name: node[name] for name in ("text", "start", "end", "label", "scores")}
            if step:
                data["children"] = stack[-2:]
                del stack[-2:]
            stack.append(data)
        return stack[0]

    def _repr_html_(self) -> str:
        """The tree, in a notebook."""
        from thinstack.integrations.show.svg import svg

        return svg([self])

    def to_dict(self) -> dict[str, Any]:
        """The prediction as data ready for JSON.

        It has `text`, `label`, `scores`, the tree as `tree` (brackets) and `transitions`, and
        `nodes`: the phrases with scores, in transition order. Each node has `start` and `end`
        (characters of `text`), `text`, `label` (None if it is uncertain) and `scores`. A sentence
        that was cut also has `parts`, words [start, end).
        """
        spans = self.spans
        starts = self.offsets[spans[:, 0], 0].tolist()
        ends = self.offsets[spans[:, 1] - 1, 1].tolist()
        best = zip(self.label_ids.tolist(), self.certain.tolist(), strict=True)
        names = [self.labels[label] if certain else None for label, certain in best]
        rows = self.scores.astype(float).round(6).tolist()
        nodes = [
            {
                "start": start,
                "end": end,
                "text": self.text[start:end],
                "label": name,
                "scores": dict(zip(self.labels, row, strict=True)),
            }
            for start, end, name, row in zip(starts, ends, names, rows, strict=True)
        ]
        cut = {"parts": [list(part) for part in self.parts]} if len(self.parts) > 1 else {}
        data = {
            "text": self.text,
            "label": self.label,
            "scores": nodes[-1]["scores"],
            "tree": self.brackets,
            "transitions": self.transitions.tolist(),
            "nodes": nodes,
        }
        return data | cut


def scored_spans(
    transitions: NDArray[np.int8], scores: NDArray[np.float32], words: int
) -> NDArray[np.int64]:
    """Words [start, end) of each row of `scores` (N, C): of every node of the tree, or only of the
    sentence, which has this many words."""
    if len(scores) == len(transitions):
        return spans_of(transitions)
    return np.array([[0, words]])
