"""What can be read from a spaCy Doc that `tree_sentiment` has seen. docs/spacy.md lists the
attributes.

`thinstack.integrations.spacy.stored` says how results are stored. Everything else is computed from
that when it is asked for. A span has the results of the smallest phrase around it. There is no
phrase around a span that reaches over several sentences: it has the mean of these sentences, their
phrases and parts in turn, and no tree. All sentences of a Doc that was read as one tree have what
that says. White space at the ends of a span does not matter; a span of
white space only has None. From a model without phrases, only the sentences are phrases, and their
trees have no labels. A model of plain sentences gives no tree.

Results are kept by the characters of the Doc, so they stay right when tokens are merged or split
after the component has run. spaCy does not move a Span that was made before: to ask about such a
span is an InputError.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from operator import mul
from types import NoneType
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span

from thinstack.errors import ConfigError
from thinstack.integrations.spacy.phrases import Phrase, phrases_around, root_of, sentences_in
from thinstack.integrations.spacy.places import span_around, tokens_at
from thinstack.integrations.spacy.stored import as_plain, put_plain, stored_of, view_of
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.predictor import Predictor


@dataclass(frozen=True, slots=True)
class Results:
    """What one component says about a Doc or a span: the results of one phrase, or of several
    sentences.

    Attributes:
        exact: whether it is about just the words that were asked about.
        found: the phrase, or the sentences in order; at least one.
        root: the probabilities of all sentences of a Doc that was read as one tree.
    """

    exact: bool
    found: list[Phrase]
    root: tuple[float, ...] | None = None

    @property
    def span(self) -> Span:
        """The tokens that the results are about. If tokens were merged since, the results may be
        about a part of the first and of the last one."""
        start, end = self.found[0].characters[0], self.found[-1].characters[1]
        return span_around(self.found[0].doc, start, end)

    @property
    def label(self) -> str | None:
        """The most probable class. None if it is less probable than the component asks for."""
        row, stored = self._row(), self.found[0].stored
        top = max(row)
        label: str = stored["labels"][row.index(top)]
        return label if top >= stored.get("abstain", 0.0) else None

    @property
    def scores(self) -> dict[str, float]:
        """The probability of each class, {label: probability}."""
        return dict(zip(self.found[0].stored["labels"], self._row(), strict=True))

    @property
    def polarity(self) -> float | None:
        """From -1 (negative) to 1 (positive). None if the classes are not a scale of sentiment."""
        return view_of(self.found[0].stored).mean_place(self._row())

    @property
    def tree(self) -> str | None:
        """The tree in brackets. None for several sentences, and from a model of plain sentences."""
        return self.found[0].prediction.brackets if len(self.found) == 1 else None

    @property
    def phrases(self) -> list[dict[str, Any]]:
        """The phrases of its trees, as `Doc._.sentiment_phrases` lists them."""
        return list(chain.from_iterable(phrase.listed for phrase in self.found))

    @property
    def parts(self) -> list[tuple[int, int]]:
        """The tokens (start, end) of each stretch that was read as a whole."""
        return list(chain.from_iterable(phrase.token_parts for phrase in self.found))

    def _row(self) -> tuple[float, ...]:
        if self.root is not None:
            return self.root
        if len(self.found) == 1:
            return self.found[0].row
        by_words = self.found[0].stored.get("aggregation", "words") != "sentences"
        weights = [one.weight * (len(one.record["words"]) if by_words else 1) for one in self.found]
        rows, total = [one.row for one in self.found], sum(weights)
        return tuple(sum(map(mul, weights, row)) / total for row in zip(*rows, strict=True))


def results(x: Doc | Span, name: str | None = None) -> Results | None:
    """What the component `name` says about a Doc or any span of it. Without a name, it is the
    component that the attributes read.

    None if there are no words, or if no component has seen the Doc. Raises UnknownNameError if only
    other components have left results on the Doc.
    """
    stored = stored_of(x.doc, name)
    if stored is None:
        return None
    if isinstance(x, Doc):
        found, exact = sentences_in(x, stored), True
    else:
        found, exact = phrases_around(x, stored)
    return Results(exact, found, root_of(stored, len(found))) if found else None


def predictions(x: Doc | Span, name: str | None = None) -> list[Prediction]:
    """One `Prediction` for each sentence of a Doc in which a `tree_sentiment` found words. For a
    span it is the smallest phrase around it, or the sentences that it reaches over.

    `name` is as in `results`. The Doc may come from a DocBin, in a process without the component. A
    Doc that no component has seen has no predictions. Raises UnknownNameError as `results` does,
    and ConfigError as `register_extensions` does.
    """
    register_extensions()
    known = results(x, name)
    return [phrase.prediction for phrase in known.found] if known else []


def contributions_of(doc: Doc, predictor: Predictor, name: str) -> list[list[dict[str, Any]]]:
    """What `TreeSentiment.why` gives for a Doc, computed by the predictor of the component `name`,
    which scored the Doc."""
    known, records = results(doc, name), []
    for sentence in known.found if known else ():
        characters, _, _ = sentence.arrays
        why = predictor.why(sentence.prediction)
        asked = [(characters[each.span[0], 0], characters[each.span[1] - 1, 1]) for each in why]
        spans = tokens_at(doc, np.reshape(asked, (-1, 2))).tolist()
        records.append(
            [
                {"start": start, "end": end, "text": each.text}
                | {"contribution": each.contribution, "turning": each.turning}
                for (start, end), each in zip(spans, why, strict=True)
            ]
        )
    return records


@dataclass(frozen=True)
class _Getter:
    """A getter of a field of the results of a Doc or span, and of `empty()` where it has none.

    It is no function inside one, so spaCy can hand it to worker processes that are not forked.
    """

    field: str
    empty: Callable[[], Any] = NoneType

    def __call__(self, x: Doc | Span) -> Any:
        known = results(x)
        return getattr(known, self.field) if known else self.empty()


_Attribute = tuple[type[Doc] | type[Span], str, dict[str, Any]]
"""Whose it is, its name, and what spaCy is told of it."""

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
    """Make the attributes known to spaCy. Raises ConfigError if something else has taken one of
    their names."""
    register("tree_sentiment", _ATTRIBUTES)


def register(component: str, attributes: Iterable[_Attribute]) -> None:
    """Make the attributes that a component needs known to spaCy. Raises ConfigError if something
    else has taken one of their names."""
    for kind, name, options in attributes:
        if kind.has_extension(name):
            default, method, getter, setter = kind.get_extension(name)
            # Reading JSON or an older Doc without thinstack makes the first one a plain attribute.
            plain = name == "tree_sentiment" and (default, method, getter, setter) == (None,) * 4
            if not (plain or getattr(getter, "__module__", "").startswith("thinstack.")):
                where = getattr(getter or method, "__module__", None) or "as a value"
                taken = f"{kind.__name__}._.{name}, which something else has set already ({where})"
                remedy = f"remove it first: {kind.__name__}.remove_extension({name!r})"
                raise ConfigError(f"{component} needs the attribute {taken}; {remedy}")
        kind.set_extension(name, force=True, **options)
