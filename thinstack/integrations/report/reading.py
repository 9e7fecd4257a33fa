"""Reads the texts of a table by a model, each with the reason for which it does not count."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from thinstack.bundle.opening import installed_name
from thinstack.errors import InputError, ThinstackError, shown
from thinstack.integrations.report.quotes import Quote, Span
from thinstack.integrations.report.rows import REASONS, Fault, Mention, TextRow, Unread
from thinstack.runtime.aspects import Aspect
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result
from thinstack.runtime.term_columns import Asked
from thinstack.runtime.views import View
from thinstack.text.language import is_word


def scored_rows(
    model: Predictor, rows: Iterator[TextRow], *, whole: bool = True
) -> Iterator[tuple[TextRow, Result]]:
    """Each row with the side and polarity of its text, and what the model says of it, in order. A
    row whose text does not count has the fault for which it does not. Memory stays bounded.
    `whole`: whether the rows get these; else they stay as they are."""
    sides = sides_of(model.view)
    waiting, failed = deque[TextRow](), dict[int, ThinstackError]()

    def texts() -> Iterator[str]:
        for row in rows:
            waiting.append(row)
            yield "" if row.unreadable else row.text

    for number, result in enumerate(model.stream(texts(), on_error=failed.__setitem__)):
        row, error = waiting.popleft(), failed.pop(number, None)
        if whole and not row.unreadable:
            side, polarity = sides.get(result.label, 0), result.polarity or 0.0
            fault = _fault(model, result, error)
            row = row._replace(side=side, polarity=polarity, unreadable=fault)
        yield row, result


def sides_of(view: View) -> dict[str | None, int]:
    """-1, 0 or 1 by label; empty where the classes are no scale of sentiment."""
    places = zip(view.labels, view.polarity or (), strict=False)
    return {label: (place > 0) - (place < 0) for label, place in places}


def _fault(model: Predictor, result: Result, error: ThinstackError | None) -> Fault | None:
    """Why a text is not counted, or None if it is."""
    if error is not None:
        return Fault("failed", str(error).partition(": ")[2] or str(error))
    words = [word for sentence in result.sentences for word in sentence.words]
    if not any(map(is_word, words)):
        return Fault("empty", f"no words: {shown(result.text, 40)}")
    doubt = model.language.doubt(words)
    return Fault("language", f"{doubt}: {shown(result.text, 60)}") if doubt else None


class NothingReadError(InputError):
    """A table in which no text counts."""


def nothing_read(unread: Sequence[Unread], rows: int) -> NothingReadError:
    """The error of a table of which these rows are unread."""
    kinds = ", ".join(f"{part.rows:,} {REASONS[part.kind]}" for part in unread)
    first = next((reason for part in unread for _, reason in part.examples), "")
    first = f"; the first: {first}" if first else ""
    return NothingReadError(
        f"expected texts in English, found none in {rows:,} rows ({kinds}){first}. Name the "
        "text column with --text (in Python text=)"
    )


def model_name(model: Predictor) -> str:
    """The name of an installed model, or else that of its recipe, or else that of its folder."""
    bundle = model.bundle
    return str(
        installed_name(bundle.path) or bundle.manifest.metrics.get("recipe") or bundle.path.name
    )


class Reader:
    """Has a model read texts. `about`: the terms and categories of a user; if there are none, those
    that the model finds, if it does; None for no terms. `whole`: whether it says of which side
    whole texts are, and which do not count.

    Raises InputError for a model whose classes are no scale of sentiment, for terms that cannot be
    looked for, and for named terms with a model that scores no phrases.

    Attributes:
        name: the name of the model.
        terms: whether it reads terms.
        suite: how many sentences of ten fields (the suite `domains`) it has right, in percent, and
            of how many; None if its bundle does not tell.
    """

    def __init__(self, model: Predictor, about: Asked | None = (), *, whole: bool = True):
        self._model, self._about, self._whole, view = model, about or (), whole, model.view
        view.need_labels("report")
        if view.polarity is None:
            raise InputError(
                "expected a sentiment model, whose classes are negative and positive, "
                f"found the classes {', '.join(view.labels):.80}: choose another with --model "
                "(in Python model=), such as sentiment"
            )
        if self._about and not model.phrases:
            raise InputError(
                "expected a model that scores phrases, found one that scores only sentences: "
                "choose another with --model (in Python model=), such as sentiment"
            )
        self._sides = sides_of(view)
        self.name = model_name(model)
        self.terms = about is not None and (bool(about) or view.no_term is not None)
        self._aspects(Result("", (), view))
        suites: Any = model.bundle.manifest.metrics.get("suites")
        self.suite: tuple[float, int] | None = None
        with suppress(KeyError, TypeError, ValueError):
            self.suite = float(suites["domains"]["accuracy"]), int(suites["domains"]["total"])

    def __call__(self, rows: Iterator[TextRow]) -> Iterator[TextRow]:
        """Each row with what its text says, or with the fault for which it is not counted."""
        for row, result in scored_rows(self._model, rows, whole=self._whole):
            aspects = () if row.unreadable else self._aspects(result)
            yield row._replace(mentions=tuple(self._mention(one, row.place) for one in aspects))

    def _aspects(self, result: Result) -> Iterable[Aspect]:
        if self._about:
            return result.about(*self._about)
        return result.aspects if self.terms else ()

    def _mention(self, aspect: Aspect, place: str) -> Mention:
        sentence, because = aspect.sentence, aspect.because
        term, why = (
            None if one is None else Span(one.start, one.end).shifted(-sentence.start)
            for one in (aspect, because)
        )
        quote = Quote(sentence.text, term, why, self._sides.get(aspect.label, 0), place)
        written = aspect.text if aspect.asked is None else aspect.asked
        return Mention(written, aspect.polarity or 0.0, quote)
