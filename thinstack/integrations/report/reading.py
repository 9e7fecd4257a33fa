"""Scores the texts of a table, with a reason for each text that is not counted."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from thinstack.bundle.opening import installed_name
from thinstack.errors import InputError, ThinstackError, shown
from thinstack.integrations.report.rows import REASONS, Fault, Mention, Quote, Span, TextRow, Unread
from thinstack.runtime.aspects import Asked, Aspect
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result
from thinstack.runtime.views import View
from thinstack.text.language import is_word


def scored_rows(
    model: Predictor, rows: Iterator[TextRow], *, whole: bool = True
) -> Iterator[tuple[TextRow, Result]]:
    """Yield each row with the side and polarity of its text, and its result, in order. A row that
    does not count gets a fault instead. Memory stays bounded. `whole`: whether to set the side and
    polarity on the rows; otherwise the rows stay unchanged."""
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
    """Map labels to -1, 0 or 1; empty if the labels are not a sentiment scale."""
    places = zip(view.labels, view.polarity or (), strict=False)
    return {label: (place > 0) - (place < 0) for label, place in places}


def _fault(model: Predictor, result: Result, error: ThinstackError | None) -> Fault | None:
    if error is not None:
        return Fault("failed", str(error).partition(": ")[2] or str(error))
    words = [word for sentence in result.sentences for word in sentence.words]
    if not any(map(is_word, words)):
        return Fault("empty", f"no words: {shown(result.text, 40)}")
    doubt = model.language.doubt(words)
    return Fault("language", f"{doubt}: {shown(result.text, 60)}") if doubt else None


class NothingReadError(InputError):
    """No text of a table counts."""


def nothing_read(unread: Sequence[Unread], rows: int) -> NothingReadError:
    """Create the error for a table whose rows are all unread."""
    kinds = ", ".join(f"{part.rows:,} {REASONS[part.kind]}" for part in unread)
    first = next((reason for part in unread for _, reason in part.examples), "")
    first = f"; the first: {first}" if first else ""
    return NothingReadError(
        f"expected texts in English, found none in {rows:,} rows ({kinds}){first}. Set the "
        "text column with --text (in Python text=)"
    )


def model_name(model: Predictor) -> str:
    """Return the name of an installed model, otherwise that of its recipe or of its folder."""
    bundle = model.bundle
    recipe = bundle.manifest.metrics.get("recipe")
    return str(installed_name(bundle.path) or recipe or bundle.path.name)


class Reader:
    """Scores texts with a model. `about`: the terms and categories of a user; if empty, those that
    the model detects, if it can; None for no terms. `whole`: whether to set the side of whole texts
    and mark those that do not count.

    Raises InputError for a model whose labels are not a sentiment scale, for invalid terms, and for
    named terms with a model that does not score phrases.

    Attributes:
        name: the name of the model.
        terms: whether it scores terms.
        suite: the accuracy on sentences of ten domains (the suite `domains`), in percent, and the
            number of sentences; None if the bundle does not report it.
    """

    def __init__(self, model: Predictor, about: Asked | None = (), *, whole: bool = True):
        model = model.without_abstain()  # otherwise texts without a label would count as neutral
        self._model, self._about, self._whole, view = model, about or (), whole, model.view
        view.need_labels("report")
        problem = ""
        if view.polarity is None:
            expected = "expected a sentiment model with the classes negative and positive"
            problem = f"{expected}, found the classes {', '.join(view.labels):.80}"
        elif self._about and not model.phrases:
            problem = "expected a model that scores phrases, found one that scores only sentences"
        if problem:
            advice = "choose another with --model (in Python model=), such as sentiment"
            raise InputError(f"{problem}: {advice}")
        self._sides = sides_of(view)
        self.name = model_name(model)
        self.terms = about is not None and (bool(about) or view.no_term is not None)
        self._aspects(Result("", (), view))
        suites: Any = model.bundle.manifest.metrics.get("suites")
        self.suite: tuple[float, int] | None = None
        with suppress(KeyError, TypeError, ValueError):
            self.suite = float(suites["domains"]["accuracy"]), int(suites["domains"]["total"])

    def __call__(self, rows: Iterator[TextRow]) -> Iterator[TextRow]:
        """Yield each row with its opinions, or with the fault for which it is not counted."""
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
