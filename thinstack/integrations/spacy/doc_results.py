"""Reads the results of `tree_sentiment` from a spaCy Doc. docs/spacy.md lists the attributes.

All of them come from the `Result` that the component stored
(`thinstack.integrations.spacy.stored`). A span has the results of the smallest phrase around it. A
span that overlaps several sentences is not inside a phrase: it has the mean of these sentences, the
phrases and parts of all, and no tree. If a Doc was read as one tree, all its sentences have the
results of that tree. Whitespace at the ends of a span is ignored; a span of whitespace only has no
results. For a model without phrases, only the sentences are phrases, and their trees have no
labels. A model of plain sentences produces no tree.

Results are stored by the characters of the Doc, so they stay valid when tokens are merged or split
after the component has run. spaCy does not update Spans that were created before, so using such a
span raises InputError.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from thinstack.errors import ConfigError
from thinstack.integrations.spacy.splitter import span_around, tokens_at, words_within
from thinstack.integrations.spacy.stored import as_plain, put_plain, stored_of
from thinstack.runtime.phrase import Nodes, Phrase
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.result import Result


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one component for a Doc or a span: those of one phrase, or of several
    sentences.

    Attributes:
        doc: the Doc.
        result: the scores of at least one sentence or phrase, by the characters of the Doc.
        exact: whether the results are for exactly the words that you requested.
    """

    doc: Doc
    result: Result
    exact: bool

    @property
    def span(self) -> Span:
        """The tokens that the results refer to. If tokens were merged since, the results may refer
        to a part of the first and of the last one."""
        sentences = self.result.sentences
        return span_around(self.doc, sentences[0].start, _end(sentences[-1]))

    @property
    def label(self) -> str | None:
        """The most probable class. None if it is less probable than the component's `abstain`."""
        return self.result.label

    @property
    def scores(self) -> dict[str, float]:
        """The probability of each class, {label: probability}."""
        return self.result.scores

    @property
    def polarity(self) -> float | None:
        """From -1 (negative) to 1 (positive). None if the classes are not a sentiment scale."""
        return self.result.polarity

    @property
    def tree(self) -> str | None:
        """The tree in brackets. None for several sentences, and for a model that reads plain
        sentences."""
        sentences = self.result.sentences
        return sentences[0].brackets if len(sentences) == 1 else None

    @property
    def phrases(self) -> list[dict[str, Any]]:
        """The phrases of its trees, as `Doc._.sentiment_phrases` lists them."""
        phrases = [
            Phrase(nodes, node)
            for nodes in map(Nodes, self.result.sentences)
            for node in range(len(nodes.sentence.node_scores))
        ]
        tokens = tokens_at(self.doc, [(phrase.start, phrase.end) for phrase in phrases]).tolist()
        return [
            {
                "start": start,
                "end": end,
                "start_char": phrase.start,
                "end_char": phrase.end,
                "text": phrase.text,
                "label": phrase.label,
                "scores": phrase.scores,
            }
            for phrase, (start, end) in zip(phrases, tokens, strict=True)
        ]

    @property
    def parts(self) -> list[tuple[int, int]]:
        """The tokens (start, end) of each part of a split sentence."""
        sentences = self.result.sentences
        places = [word_places(sentence, np.array(sentence.parts)) for sentence in sentences]
        return [(start, end) for start, end in tokens_at(self.doc, np.concatenate(places)).tolist()]


def word_places(sentence: Prediction, spans: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the characters [start, end) of its words [start, end), (K, 2), in the Doc."""
    offsets = sentence.offsets
    ends = offsets[spans[:, 0], 0], offsets[spans[:, 1] - 1, 1]
    return np.stack(ends, axis=1) + sentence.start


def results(x: Doc | Span, name: str | None = None) -> Results | None:
    """Return the results of the component `name` for a Doc or any span of it. By default, this is
    the component that the attributes show.

    None if there are no words, or if no component has scored the Doc. Raises UnknownNameError if
    the Doc has only results of other components.
    """
    stored = stored_of(x.doc, name)
    if stored is None:
        return None
    sentences, exact = stored.result.sentences, True
    if isinstance(x, Span):
        sentences, (start, end) = sentences_around(x, sentences)
        if len(sentences) == 1:
            sentences = _phrase_around(sentences[0], start, end)
        exact = bool(sentences) and (sentences[0].start, _end(sentences[-1])) == (start, end)
    return Results(x.doc, stored.part(sentences), exact) if sentences else None


def predictions(x: Doc | Span, name: str | None = None) -> list[Prediction]:
    """Return one `Prediction` for each sentence of a Doc in which a `tree_sentiment` found words.
    For a span, these are the smallest phrase around it, or the sentences that it overlaps.

    `name` is as in `results`. The Doc may come from a DocBin, in a process without the component. A
    Doc that no component has scored has no predictions. Raises UnknownNameError as `results` does,
    and ConfigError as `register_extensions` does.
    """
    register_extensions()
    said = results(x, name)
    return list(said.result.sentences) if said else []


def sentences_around(
    span: Span, sentences: tuple[Prediction, ...]
) -> tuple[tuple[Prediction, ...], tuple[int, int]]:
    """Return the sentences of a Doc with words of a span, and the characters [start, end) of the
    span without whitespace; none for a whitespace span. Raises InputError as `words_within`."""
    place = words_within(span)
    if place is None:
        return (), (span.start_char, span.start_char)
    first, behind = bisect_right(sentences, place[0], key=_end), len(sentences)
    behind = bisect_left(sentences, place[1], first, behind, key=attrgetter("start"))
    return sentences[first:behind], place


def words_between(sentence: Prediction, start: int, end: int) -> tuple[int, int]:
    """Return the words [first, behind) of a sentence with characters in [start, end) of the Doc."""
    offsets = sentence.offsets
    first = int(offsets[:, 1].searchsorted(start - sentence.start, side="right"))
    return first, int(offsets[:, 0].searchsorted(end - sentence.start))


def _phrase_around(sentence: Prediction, start: int, end: int) -> tuple[Prediction, ...]:
    """Return the smallest phrase around these characters as a separate prediction; none without
    words."""
    first, behind = words_between(sentence, start, end)
    if first >= behind:
        return ()
    node = -1
    if behind - first < len(sentence.words):
        spans = sentence.spans
        # Nodes over the same words are nested, and the innermost comes first.
        node = int(((spans[:, 0] <= first) & (spans[:, 1] >= behind)).argmax())
        first, behind = spans[node].tolist()
    if behind - first == len(sentence.words):
        return (sentence,)
    nodes = slice(node + 2 - 2 * (behind - first), node + 1)  # contiguous, with the node last
    words, terms, vectors = slice(first, behind), sentence.terms, sentence.vectors
    start, end = sentence.offsets[first, 0].item(), sentence.offsets[behind - 1, 1].item()
    phrase = Prediction(
        text=sentence.text[start:end],
        words=sentence.words[words],
        offsets=sentence.offsets[words] - start,
        transitions=sentence.transitions[nodes],
        node_scores=sentence.node_scores[nodes],
        view=sentence.view,
        weight=sentence.weight,
        start=sentence.start + start,
        terms=None if terms is None else terms[nodes],
        vectors=None if vectors is None else vectors[nodes],
    )
    return (phrase,)


def _end(sentence: Prediction) -> int:
    return sentence.start + len(sentence.text)


@dataclass(frozen=True)
class _Getter:
    """A getter for a field of the results of a Doc or span, or `empty()` without results.

    It is a class instead of a closure, so that spaCy can pickle it for worker processes.
    """

    field: str
    empty: Callable[[], Any] = NoneType

    def __call__(self, x: Doc | Span) -> Any:
        said = results(x)
        return getattr(said, self.field) if said else self.empty()


_Attribute = tuple[type[Doc] | type[Span], str, dict[str, Any]]
"""The class it belongs to, its name, and the arguments for spaCy."""

_ATTRIBUTES: tuple[_Attribute, ...] = (
    (Doc, "tree_sentiment", {"getter": as_plain, "setter": put_plain}),
    (Doc, "sentiment_label", {"getter": _Getter("label")}),
    (Doc, "sentiment_scores", {"getter": _Getter("scores")}),
    (Doc, "polarity", {"getter": _Getter("polarity")}),
    (Doc, "sentiment_phrases", {"getter": _Getter("phrases", list)}),
    (Span, "sentiment_label", {"getter": _Getter("label")}),
    (Span, "sentiment_scores", {"getter": _Getter("scores")}),
    (Span, "polarity", {"getter": _Getter("polarity")}),
    (Span, "sentiment_exact", {"getter": _Getter("exact", bool)}),
    (Span, "sentiment_span", {"getter": _Getter("span")}),
    (Span, "sentiment_tree", {"getter": _Getter("tree")}),
    (Span, "sentiment_phrases", {"getter": _Getter("phrases")}),
    (Span, "sentiment_parts", {"getter": _Getter("parts")}),
)


def register_extensions() -> None:
    """Register the attributes with spaCy. Raises ConfigError if one of their names is taken."""
    register("tree_sentiment", _ATTRIBUTES)


def register(component: str, attributes: Iterable[_Attribute]) -> None:
    """Register the attributes of a component with spaCy. Raises ConfigError if one of their names
    is taken."""
    for kind, name, options in attributes:
        if kind.has_extension(name):
            default, method, getter, setter = kind.get_extension(name)
            # Reading JSON without thinstack makes the first one a plain attribute.
            plain = name == "tree_sentiment" and (default, method, getter, setter) == (None,) * 4
            if not (plain or getattr(getter, "__module__", "").startswith("thinstack.")):
                where = getattr(getter or method, "__module__", None) or "as a value"
                taken = f"{kind.__name__}._.{name}, which another package has already set ({where})"
                remedy = f"remove it first: {kind.__name__}.remove_extension({name!r})"
                raise ConfigError(f"{component} needs the attribute {taken}; {remedy}")
        kind.set_extension(name, force=True, **options)
