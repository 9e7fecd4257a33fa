"""`Prediction`: the scores of a sentence and of every phrase in its tree."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.transitions import spans_of
from thinstack.data.trees.brackets import to_brackets
from thinstack.errors import InputError
from thinstack.runtime.phrase import Nodes, Phrase
from thinstack.runtime.result import Judgement
from thinstack.runtime.scored import Scored, Spans, stored, unit
from thinstack.runtime.vectors import LOST
from thinstack.runtime.views import View
from thinstack.text.sentences import Sentence

if TYPE_CHECKING:
    from thinstack.runtime.predictor import Predictor
    from thinstack.runtime.why import Contribution

# A tokenizer may return words with characters that brackets cannot contain.
_BRACKET_SAFE = str.maketrans({"(": "-LRB-", ")": "-RRB-", **dict.fromkeys(" \t\r\n\f\v", "_")})


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Prediction(Judgement):
    """The label and polarity of a sentence of L words, and of its N = 2L - 1 phrases.

    If the model does not score phrases, only the sentence has scores, and N = 1.

    Attributes:
        text: the sentence.
        words: the L words as the model read them (treebank conventions).
        offsets: (L, 2) int64, the characters [start, end) of each word in `text`.
        transitions: (2L - 1,) int8, the tree. Phrase i is node i, and the last node is the
            sentence. Empty if the model reads plain sentences.
        node_scores: (N, C) float32, the probability of each class for each phrase, the sentence
            last.
        view: the C classes of the view, and the threshold of a label.
        weight: the weight of each word in the mean of a text: 1, unless the view leaves a class
            out; then the total probability of the other classes.
        parts: words [start, end) of each part, if the sentence was too long and was read in parts,
            joined by a balanced tree. Other sentences are one part.
        start: the character of the whole text at which the sentence starts.
        terms: (N,) float32, the probability that each phrase is a term; None unless the model is an
            aspects model.
        vectors: (N, D) float16, the vector of each phrase, of unit norm up to rounding; None for a
            model without vectors. `vector` and `Phrase.vector` are float32 of unit norm.
        predictor: the predictor that made this, for `why` and `vector_of`; None in a pickle or a
            copy.
    """

    text: str
    words: tuple[str, ...]
    offsets: NDArray[np.int64]
    transitions: NDArray[np.int8]
    node_scores: NDArray[np.float32]
    view: View
    weight: float = 1.0
    parts: Spans = ()
    start: int = 0
    terms: NDArray[np.float32] | None = None
    vectors: NDArray[np.float16] | None = None
    predictor: "Predictor | None" = None

    def __post_init__(self) -> None:
        if not self.parts:
            object.__setattr__(self, "parts", ((0, len(self.words)),))

    def __reduce__(self) -> tuple[object, ...]:
        names = [part.name for part in fields(self) if part.name != "predictor"]  # the last field
        return type(self), tuple(getattr(self, name) for name in names)

    @classmethod
    def of_sentence(
        cls, sentence: Sentence, scored: Scored, view: View, predictor: "Predictor | None" = None
    ) -> Self:
        """Build a prediction for a sentence of a text."""
        text, words, offsets, start = sentence
        steps, scores, weight, parts, terms, vectors = scored
        read = (text, tuple(words), offsets)
        return cls(*read, steps, scores, view, weight, parts, start, terms, vectors, predictor)

    @classmethod
    def of_words(
        cls, words: Sequence[str], scored: Scored, view: View, predictor: "Predictor | None" = None
    ) -> Self:
        """Build a prediction for words. Its text is the words, separated by spaces."""
        sizes = np.array([len(word) for word in words])
        ends = np.cumsum(sizes + 1) - 1
        offsets = np.stack([ends - sizes, ends], axis=1)
        return cls.of_sentence(
            Sentence(" ".join(words), [*words], offsets), scored, view, predictor
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The C class names."""
        return self.view.labels

    @property
    def abstain(self) -> float:
        """The threshold: a phrase whose top probability is lower has no label."""
        return self.view.abstain

    @property
    def _read(self) -> "tuple[Prediction, ...]":
        return (self,)

    def _row(self) -> list[float]:
        row: list[float] = self.node_scores[-1].tolist()
        return row

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """The phrases of the tree in node order: words first, the sentence last. Empty if only the
        sentence has scores."""
        nodes = Nodes(self)
        count = len(self.node_scores) if self._scores_phrases else 0
        return tuple(Phrase(nodes, node) for node in range(count))

    @property
    def vector(self) -> NDArray[np.float32]:
        """The vector (D,) of the sentence, of unit norm. Raises InputError for a model without
        vectors."""
        return unit(stored(self.vectors)[-1])

    @property
    def spans(self) -> NDArray[np.int64]:
        """The words [start, end) of each scored phrase, (N, 2)."""
        if self._scores_phrases:
            return spans_of(self.transitions)
        return np.array([[0, len(self.words)]])

    @property
    def label_ids(self) -> NDArray[np.int64]:
        """The class of each phrase, (N,), as in `View.best`; -1 for a model without labels."""
        scores = self.node_scores
        return self.view.best(scores) if self.labels else np.full(len(scores), -1)

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Whether each phrase has a label, (N,): its top probability reaches `abstain`."""
        if not (self.abstain and self.labels):
            return np.full(len(self.node_scores), bool(self.labels))
        best = np.take_along_axis(self.node_scores, self.label_ids[:, None], axis=1)[:, 0]
        return np.asarray(best.astype(np.float64) >= self.abstain)

    @property
    def tree(self) -> Tree | None:
        """The tree, or None if the model reads plain sentences.

        A scored node is labelled with the number of its most probable class, or with `-` below
        `abstain`. Brackets inside a word become `-LRB-` and `-RRB-`; white space becomes `_`.
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
        """The tree in brackets, with labels if all nodes have one; None if there is no tree."""
        tree = self.tree
        labelled = self._scores_phrases and bool(self.labels)
        return None if tree is None else to_brackets(tree, labelled=labelled)

    def text_of(self, start: int, end: int) -> str:
        """Return the text of the words [start, end)."""
        return self.text[int(self.offsets[start, 0]) : int(self.offsets[end - 1, 1])]

    def why(self) -> "list[Contribution]":
        """Return the contribution of each phrase to the label
        (`thinstack.runtime.why.contributions`). Raises InputError as that function does, and if
        `predictor` is None."""
        if self.predictor is None:
            raise InputError(f"{LOST}why(prediction)")
        return self.predictor.why(self)

    def to_nested(self) -> dict[str, Any]:
        """Return the tree as nested data for JSON, in the format of D3's hierarchies.

        Each phrase has `text`, `start` and `end` (characters of the sentence), `label`, `polarity`
        and `scores`. All but words have `children`, a list of phrases. If phrases have no scores,
        there is only the sentence.
        """
        stack: list[dict[str, Any]] = []
        nodes: list[dict[str, Any]] = self.to_dict()["nodes"]
        steps = self.transitions.tolist() if self._scores_phrases else [0] * len(nodes)
        for step, node in zip(steps, nodes, strict=True):
            if step:
                node["children"] = stack[-2:]
                del stack[-2:]
            stack.append(node)
        return stack[0]

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction as data for JSON.

        It has `text`, its `start` in the whole text, `label`, `polarity`, `scores`, the tree as
        `tree` (brackets) and `transitions`, and `nodes`: the phrases with scores, in transition
        order. Each node has `start` and `end` (characters of this `text`), `text`, `label` (None if
        it is uncertain), `polarity` and `scores`. A sentence read in parts also has `parts`, words
        [start, end). Aspects models add `aspects`, each as from `Aspect.to_dict`, but with
        characters of this `text`.
        """
        nodes, labels = Nodes(self), self.labels
        rows = self.node_scores.astype(float).round(6).tolist()
        columns = (nodes.places, nodes.labels, nodes.polarity, rows)
        data = [
            {
                "start": start - self.start,
                "end": end - self.start,
                "text": self.text[start - self.start : end - self.start],
                "label": label,
                "polarity": None if place is None else round(place, 6),
                "scores": dict(zip(labels, row, strict=True)),
            }
            for (start, end), label, place, row in zip(*columns, strict=True)
        ]
        more = dict[str, Any]()
        if len(self.parts) > 1:
            more["parts"] = [list(part) for part in self.parts]
        if self.terms is not None:
            more["aspects"] = [aspect.to_dict(self.start) for aspect in self.aspects]
        return {
            "text": self.text,
            "start": self.start,
            "label": self.label,
            "polarity": data[-1]["polarity"],
            "scores": data[-1]["scores"],
            "tree": self.brackets,
            "transitions": self.transitions.tolist(),
            "nodes": data,
        } | more

    @property
    def _scores_phrases(self) -> bool:
        return len(self.node_scores) == len(self.transitions)
