"""Aspects: the terms of a text, named by the user or detected by the model, and the opinion about
each."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from thinstack.core.scale import NO_TERM
from thinstack.errors import InputError
from thinstack.runtime.categories import Category, nearest_phrase
from thinstack.runtime.clauses import ClauseNodes, Verdict
from thinstack.runtime.mentions import mentions_of, patterns_of
from thinstack.runtime.phrase import NEUTRAL, Nodes, NodeView, Phrase, opinion
from thinstack.runtime.vectors import need_vectors

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.predictor import Predictor
    from thinstack.runtime.views import View

LEAST: Final = 0.5
"""The lowest probability at which a node counts as a term."""

LOAD: Final = 'thinstack.load("aspects") (pip install ./models/thinstack-aspects in a clone)'
"""How to get a model that detects terms."""

Asked: TypeAlias = Sequence[str | Category]
"""The terms and categories that a user names."""


class Aspect(NodeView):
    """A term that a text mentions, and the opinion about it.

    A view of the prediction for its sentence. Two aspects are equal if they cover the same
    characters of the same prediction and were requested by the same term.

    Attributes:
        start, end: the characters [start, end) of the term in the whole text.
        node: the node of the sentence's tree that expresses the opinion, in transition order.
        asked: the term of `about`, as you wrote it, or the name of the category; None if the model
            detected the term.
        turned: whether label, scores and polarity are inverted with respect to the node, as after
            "except for" and "I wish".
        probability: the probability that this is a term; 1.0 if you named it; for a category, the
            similarity to the examples.
    """

    __slots__ = ("_because", "asked", "end", "probability", "start", "turned")
    start: int
    end: int

    def __init__(
        self,
        nodes: Nodes,
        verdict: Verdict,
        start: int,
        end: int,
        *,
        asked: str | None = None,
        probability: float = 1.0,
    ):
        super().__init__(nodes, verdict.node)
        self.turned, self._because = verdict.turned, verdict.because
        self.start, self.end, self.asked, self.probability = start, end, asked, probability

    @property
    def label(self) -> str | None:
        """The most probable class of the opinion, or None if it is less probable than `abstain`."""
        label = super().label
        if not (self.turned and label and (mirror := self.sentence.view.mirror)):
            return label
        return self.sentence.labels[mirror[self.sentence.labels.index(label)]]

    @property
    def scores(self) -> dict[str, float]:
        """The probability of each class, {label: probability}."""
        scores, mirror = super().scores, self.sentence.view.mirror
        if not (self.turned and mirror):
            return scores
        values = [*scores.values()]
        return dict(zip(scores, (values[place] for place in mirror), strict=True))

    @property
    def polarity(self) -> float | None:
        """The polarity, from -1 (negative) to 1 (positive), as in `Prediction.polarity`."""
        polarity = super().polarity
        return -polarity if self.turned and polarity is not None else polarity

    @property
    def because(self) -> Phrase | None:
        """The phrase that decides the opinion. None if the opinion is neutral or has no label, or
        if no readable phrase around the term agrees with it."""
        if self._because is None or self.label is None:
            return None
        return Phrase(self._nodes, self._because)

    def to_dict(self, shift: int = 0) -> dict[str, Any]:
        """Return the aspect as data for JSON: `text`, `start` and `end` (characters of the whole
        text, counted from the character `shift`), `label`, `polarity`, `scores` and `because`,
        which is None or has `text`, `start` and `end`. If you named the term, it also has
        `asked`."""

        def place(view: NodeView) -> dict[str, Any]:
            return {"text": view.text, "start": view.start - shift, "end": view.end - shift}

        because = self.because
        data = place(self) | opinion(self) | {"because": because and place(because)}
        return data if self.asked is None else data | {"asked": self.asked}

    @property
    def _key(self) -> tuple[int, int, str | None]:
        return self.start, self.end, self.asked


def aspects(sentences: Sequence["Prediction"], view: "View") -> tuple[Aspect, ...]:
    """Return the aspects that the model detects in the sentences, in text order. Raises InputError
    if the model does not detect terms."""
    if not _finds_terms(sentences, view):
        raise InputError(
            f"aspects: this model does not find terms (no class {NO_TERM!r}): use "
            f'{LOAD}, or pass the terms, as in about("battery")'
        )
    judged = list[Aspect]()
    for nodes in map(_TermNodes, sentences):
        for node in sorted(nodes.terms, key=nodes.places.__getitem__):
            verdict, probability = _verdict(nodes, node), nodes.terms[node]
            judged.append(Aspect(nodes, verdict, *nodes.places[node], probability=probability))
    return tuple(judged)


class _TermNodes(ClauseNodes):
    @cached_property
    def terms(self) -> dict[int, float]:
        """{node: probability} of the nodes that are terms, most probable first."""
        terms: list[float] = [] if self.sentence.terms is None else self.sentence.terms.tolist()
        if max(terms, default=0.0) < LEAST:
            return {}
        return {node: terms[node] for node in chosen_terms(self.spans, terms, self.is_word)}


def _finds_terms(sentences: Sequence["Prediction"], view: "View") -> bool:
    return view.no_term is not None or any(one.terms is not None for one in sentences)


def about(sentences: Sequence["Prediction"], view: "View", asked: Asked) -> list[Aspect]:
    """Return an aspect for each mention of the terms and categories that a user names, in text
    order. A sentence mentions a category at most once.

    An aspects model judges a mention by the term at that place: the mention itself, or the most
    probable term that overlaps it. With any other model, or without such a term, the clause around
    the mention decides. Raises InputError as `patterns_of` does, for classes that are not a
    sentiment scale, and for a model that scores only sentences.
    """
    patterns = patterns_of(one for one in asked if not isinstance(one, Category))
    categories = [one for one in asked if isinstance(one, Category)]
    view.need_labels("about")
    if not (view.polarity or _finds_terms(sentences, view)):
        raise _unusable(f"this one has the classes {', '.join(view.labels):.200}")
    judged = list[Aspect]()
    for sentence in sentences:
        mentions = [*mentions_of(patterns, sentence)]
        if (mentions or categories) and not sentence.phrases:
            raise _unusable("this one scores only sentences")
        nodes = _TermNodes(sentence)
        views = [_judged(nodes, *mention) for mention in mentions]
        views += [_implied(nodes, category) for category in categories]
        judged += sorted(filter(None, views), key=lambda aspect: (aspect.start, aspect.end))
    return judged


def about_place(sentence: "Prediction", start: int, end: int) -> Aspect | None:
    """Return the aspect at the characters [start, end) of the whole text, judged as in `about`. The
    sentence must have scored phrases. None if the characters contain no word of it."""
    first, behind = start - sentence.start, end - sentence.start
    text = sentence.text[max(first, 0) : max(behind, 0)]
    return _judged(_TermNodes(sentence), first, behind, text)


def _unusable(problem: str) -> InputError:
    models = f'thinstack.load("sentiment") or {LOAD}'
    return InputError(
        f"about: expected a sentiment model that scores phrases; {problem}: use {models}"
    )


def _judged(nodes: "_TermNodes", start: int, end: int, asked: str) -> Aspect | None:
    """Return the aspect for a mention of a term, the characters [start, end) of the sentence; None
    if they contain no word of it."""
    sentence = nodes.sentence
    first = int(np.searchsorted(sentence.offsets[:, 1], start, "right"))
    behind = int(np.searchsorted(sentence.offsets[:, 0], end, "left"))
    if first >= behind:
        return None
    term = _term_at(nodes, first, behind)
    verdict = nodes.verdict(first, behind) if term is None else _verdict(nodes, term)
    return Aspect(nodes, verdict, start + sentence.start, end + sentence.start, asked=asked)


def _implied(nodes: ClauseNodes, category: Category) -> Aspect | None:
    """Return the aspect for the phrase that expresses a category, judged by its clause."""
    nearest = nearest_phrase(nodes, category)
    if nearest is None:
        return None
    node, similarity = nearest
    verdict = nodes.verdict(*nodes.spans[node])
    if not verdict.turned and nodes.sides[node] == nodes.sides[verdict.node] != NEUTRAL:
        verdict = verdict._replace(because=node)  # the phrase itself expresses the opinion
    start, end = nodes.places[node]
    return Aspect(nodes, verdict, start, end, asked=category.name, probability=similarity)


def _verdict(nodes: ClauseNodes, term: int) -> Verdict:
    """Return the verdict of an aspects model about a detected term: that of its node."""
    because = nodes.because(*nodes.spans[term], nodes.sides[term], len(nodes.spans) - 1)
    return Verdict(term, turned=False, because=because)


def _term_at(nodes: "_TermNodes", first: int, behind: int) -> int | None:
    """Return the detected term at the words [first, behind): the node of exactly these words, or
    else the most probable term that overlaps them. The classes of any other node rate its text
    alone, so they are not used."""
    terms, node = nodes.sentence.terms, nodes.smallest(first, behind)
    if terms is None:
        return None
    if nodes.spans[node] == (first, behind) and terms[node] >= LEAST:
        return node
    spans = ((node, nodes.spans[node]) for node in nodes.terms)
    return next((node for node, (a, b) in spans if a < behind and first < b), None)


def chosen_terms(
    spans: Sequence[tuple[int, int]], terms: Sequence[float], words: Sequence[bool]
) -> list[int]:
    """Return the nodes of a tree that are terms, most probable first, without nested terms.

    `spans`: the words [start, end) of each node. `terms`: the probability that each node is a term.
    `words`: whether each word may begin or end a term; punctuation may not.
    """
    likely = [node for node, term in enumerate(terms) if term >= LEAST]
    free, chosen = [True] * len(words), list[int]()
    for node in sorted(likely, key=lambda node: -terms[node]):
        start, end = spans[node]
        if words[start] and words[end - 1] and all(free[start:end]):
            chosen.append(node)
            free[start:end] = [False] * (end - start)
    return chosen


def term_columns(about: Asked, model: "Predictor") -> list[str]:
    """Return the column names, two for each term or category. Raises InputError as `Result.about`
    does, for categories without vectors, and for duplicate names."""
    if any(isinstance(one, Category) for one in about):
        need_vectors(model, "categories")
    if about:
        model("").about(*about)
    first = [name_of(one).split("|")[0].strip() for one in about]
    if twice := [name for name in first if first.count(name) > 1]:
        raise InputError(
            f"about: two terms would share the column '{twice[0]}_polarity': drop one, "
            "or combine them as names of one term, such as 'price|cost'"
        )
    return [f"{name}_{what}" for name in first for what in ("polarity", "mentions")]


def name_of(asked: str | Category) -> str:
    """Return the name of a term or category, as in `Aspect.asked`."""
    return asked.name if isinstance(asked, Category) else asked


def term_cells(aspects: Iterable[Aspect], about: Asked) -> Iterator[float | int]:
    """Iterate over two cells per term or category: the mean polarity of its mentions (NaN without
    any), and their number."""
    polarities: dict[str, list[float]] = {name_of(one): [] for one in about}
    for aspect in aspects:
        place = math.nan if aspect.polarity is None else aspect.polarity
        polarities[aspect.asked or ""].append(place)
    for places in polarities.values():
        yield from (sum(places) / len(places) if places else math.nan, len(places))
