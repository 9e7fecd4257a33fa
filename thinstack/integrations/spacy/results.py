"""What can be read of a spaCy Doc that `tree_sentiment` has seen.

How results are stored, `thinstack.integrations.spacy.stored` says. All else is computed from that
when asked for. A span has the results of the smallest phrase around it, so of any span:

- `Span._.sentiment_label`: the most probable class, None where the component abstains.
- `Span._.sentiment_scores`: {label: probability}.
- `Span._.sentiment_exact`: whether these are of the span itself, and not of more words around it.
- `Span._.sentiment_span`: the Span that they are of.
- `Span._.sentiment_tree`: the tree over that in labelled brackets, labels being class numbers.
- `Span._.sentiment_phrases`: the phrases of that tree, as the Doc's.
- `Span._.sentiment_parts`: the tokens (start, end) of the parts of a sentence too long to be read
  as a whole; of any other phrase, its own alone.

White space at the ends of a span does not matter. One that is white space only, and any span of a
Doc without results, has None for all of them, and is not exact. Around a span that reaches over
several sentences there is no phrase: it has the mean of these sentences, whole ones, as `doc.cats`
has that of all; their phrases and parts in turn; and no tree. From a model without phrases the
sentences alone are phrases, and their trees have no labels; from one of plain sentences there is no
tree. Merge or split tokens before the component runs, not after.

- `Doc._.sentiment_label`: the most probable class of the Doc, None where the component abstains or
  there are no words.
- `Doc._.sentiment_scores`: {label: probability}, as `doc.cats`; None where there are no words.
- `Doc._.sentiment_phrases`: every phrase of every sentence in transition order, a list of dicts
  with `start`, `end` (tokens), `start_char`, `end_char`, `text`, `label` and `scores` {label:
  probability}; a phrase may be one word. Where the component abstains the label is None.
- `Doc._.tree_sentiment`: what all this is read from, as plain data.

The four of a Doc are fit for `doc.to_json(underscore=[...])`.

Where several components have left results, the attributes read those of the one that is called
`tree_sentiment`, or else of the last one. `results` and `predictions` take a name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from operator import mul
from types import NoneType
from typing import Any

from spacy.tokens import Doc, Span

from thinstack.errors import ConfigError
from thinstack.integrations.spacy.phrases import Phrase, phrases_around, sentences_in
from thinstack.integrations.spacy.stored import as_plain, put_plain, stored_of
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.predictor import Predictor

__all__ = ["Results", "contributions_of", "predictions", "register_extensions", "results"]


@dataclass(frozen=True, slots=True)
class Results:
    """What one component says of a Doc or a span: of one phrase, or of several sentences.

    Attributes:
        exact: whether it is of just the words that were asked about.
        found: the phrase, or the sentences in order; at least one.
    """

    exact: bool
    found: list[Phrase]

    @property
    def span(self) -> Span:
        """The tokens that it is of."""
        first, last = self.found[0], self.found[-1]
        return first.doc[first.token_parts[0][0] : last.token_parts[-1][1]]

    @property
    def label(self) -> str | None:
        """The most probable class; None where it is less probable than the component asks for."""
        row, stored = self._row(), self.found[0].stored
        top = max(row)
        label: str = stored["labels"][row.index(top)]
        return label if top >= stored.get("abstain", 0.0) else None

    @property
    def scores(self) -> dict[str, float]:
        """{label: probability}."""
        return dict(zip(self.found[0].stored["labels"], self._row(), strict=True))

    @property
    def tree(self) -> str | None:
        """The tree in brackets; None of several sentences, and from a model of plain sentences."""
        return self.found[0].prediction.brackets if len(self.found) == 1 else None

    @property
    def phrases(self) -> list[dict[str, Any]]:
        """The phrases of its trees, as `Doc._.sentiment_phrases` lists them."""
        return list(chain.from_iterable(phrase.listed for phrase in self.found))

    @property
    def parts(self) -> list[tuple[int, int]]:
        """The tokens (start, end) of what was read as a whole."""
        return list(chain.from_iterable(phrase.token_parts for phrase in self.found))

    def _row(self) -> tuple[float, ...]:
        if len(self.found) == 1:
            return self.found[0].row
        by_words = self.found[0].stored.get("aggregation", "words") == "words"
        weights = [one.weight * (len(one.record["words"]) if by_words else 1) for one in self.found]
        rows, total = [one.row for one in self.found], sum(weights)
        return tuple(sum(map(mul, weights, row)) / total for row in zip(*rows, strict=True))


def results(x: Doc | Span, name: str | None = None) -> Results | None:
    """What the component `name` says of a Doc or of any span of it.

    None where there are no words, or no component has seen the Doc. Without a name it is the
    component that the attributes read. Raises UnknownNameError for one that has left nothing on a
    Doc that others have seen.
    """
    stored = stored_of(x.doc, name)
    if stored is None:
        return None
    if isinstance(x, Doc):
        found, exact = sentences_in(x, stored), True
    else:
        found, exact = phrases_around(x, stored)
    return Results(exact, found) if found else None


def predictions(x: Doc | Span, name: str | None = None) -> list[Prediction]:
    """One `Prediction` for each sentence of a Doc that a `tree_sentiment` found words in; of a
    span, that of the smallest phrase around it, or of the sentences that it reaches over.

    `name` and errors: as of `results`. The Doc may come from a DocBin, in a process without the
    component; of one that no component has seen there are none. Raises ConfigError as
    `register_extensions` does.
    """
    register_extensions()
    known = results(x, name)
    return [phrase.prediction for phrase in known.found] if known else []


def contributions_of(doc: Doc, predictor: Predictor, name: str) -> list[list[dict[str, Any]]]:
    """What `TreeSentiment.why` gives, by the predictor of the component `name`, which scored the
    Doc."""
    known, found = results(doc, name), []
    for sentence in known.found if known else ():
        tokens, _, _ = sentence.arrays
        why = predictor.why(sentence.prediction)
        spans = [(int(tokens[each.span[0], 0]), int(tokens[each.span[1] - 1, 1])) for each in why]
        found.append(
            [
                {"start": start, "end": end, "text": each.text}
                | {"contribution": each.contribution, "turning": each.turning}
                for (start, end), each in zip(spans, why, strict=True)
            ]
        )
    return found


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


def register_extensions() -> None:
    """Make the attributes known to spaCy. Raises ConfigError where another has taken a name."""
    for kind, name, options in (
        (Doc, "tree_sentiment", {"getter": as_plain, "setter": put_plain}),
        (Doc, "sentiment_label", {"getter": _Getter("label")}),
        (Doc, "sentiment_scores", {"getter": _Getter("scores")}),
        (Doc, "sentiment_phrases", {"getter": _Getter("phrases", list)}),
        (Span, "sentiment_label", {"getter": _Getter("label")}),
        (Span, "sentiment_scores", {"getter": _Getter("scores")}),
        (Span, "sentiment_exact", {"getter": _Getter("exact", bool)}),
        (Span, "sentiment_span", {"getter": _Getter("span")}),
        (Span, "sentiment_tree", {"getter": _Getter("tree")}),
        (Span, "sentiment_phrases", {"getter": _Getter("phrases")}),
        (Span, "sentiment_parts", {"getter": _Getter("parts")}),
    ):
        if kind.has_extension(name):
            default, method, getter, setter = kind.get_extension(name)
            # Reading JSON or an older Doc without thinstack makes the first one a plain attribute.
            plain = name == "tree_sentiment" and (default, method, getter, setter) == (None,) * 4
            if not (plain or getattr(getter, "__module__", "").startswith("thinstack.")):
                taken = f"{kind.__name__}._.{name}, which something else has set already"
                remedy = f"remove it first: {kind.__name__}.remove_extension({name!r})"
                raise ConfigError(f"tree_sentiment needs the attribute {taken}; {remedy}")
        kind.set_extension(name, force=True, **options)
