"""What a terminal shows of a text: its answer with the phrases that say most, or its aspects; or
one line for each."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from thinstack.integrations.show.outline import UNCERTAIN
from thinstack.integrations.show.pen import TEXT_STYLES, Pen, note
from thinstack.runtime.aspects import Aspect
from thinstack.runtime.phrase import Phrase
from thinstack.runtime.result import Result

MOST_LINES: Final = 12
"""Lines of a text at most."""

NO_WORDS: Final = "no words"
"""In place of a label."""

_CLASSES: Final = 5
_HIGHLIGHTS: Final = 3


class TextAnswer(NamedTuple):
    """Draws a text with words: its label and polarity, the probabilities of its classes, and its
    highlights, in at most MOST_LINES lines. It fits the width and the encoding of its console.
    `more`: what shows the rest, or nothing."""

    result: Result
    more: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        result = self.result
        pen, scores = Pen(result.view, options), [*result.scores.values()]
        names = result.label, scores.index(max(scores)), result.polarity, result.text
        yield from (pen.headline(*names, lines=1), Text(), *pen.classes(scores, _CLASSES))
        most = _HIGHLIGHTS - (len(scores) > _CLASSES)  # which adds a line for the other classes
        if lines := [_phrase(pen, result, phrase) for phrase in result.highlights(most)]:
            yield from (Text(), *lines)
        if self.more:
            yield note(f"{len(result.sentences)} sentences: {self.more}")


def _phrase(pen: Pen, result: Result, phrase: Phrase) -> Text:
    label = result.view.labels.index(phrase.label or "")
    line = pen.sign(label)
    text = pen.elide(pen.fit(phrase.text), max(pen.width - line.cell_len, 1))
    return line.append(text, pen.style(label, TEXT_STYLES))


class AspectsAnswer(NamedTuple):
    """Draws a text with words: its label and polarity, and its aspects, each with what decides. It
    fits the width and the encoding of its console."""

    result: Result
    aspects: Sequence[Aspect]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        result = self.result
        pen, scores = Pen(result.view, options), [*result.scores.values()]
        names = result.label, scores.index(max(scores)), result.polarity, result.text
        yield from (pen.headline(*names, lines=1), Text())
        widest = max(pen.width // 3, 4)
        terms = [pen.elide(pen.fit(aspect.text), widest) for aspect in self.aspects]
        width = max(map(cell_len, terms), default=0)
        for term, aspect in zip(terms, self.aspects, strict=True):
            yield _aspect(pen, aspect, term + " " * (width - cell_len(term)))
        if not terms:
            yield note("no aspects")


def _aspect(pen: Pen, aspect: Aspect, term: str) -> Text:
    certain, scores = aspect.label is not None, [*aspect.scores.values()]
    label = scores.index(max(scores))
    line = pen.sign(label, certain=certain).append(
        term, pen.style(label, TEXT_STYLES) if certain else ""
    )
    line.append("" if aspect.polarity is None else f"  {aspect.polarity:+.2f}")
    if aspect.because is not None:
        why = pen.elide(pen.fit(f"{aspect.because}"), max(pen.width - line.cell_len - 2, 1))
        line.append(f"  {why}")
    return line


def brief(pen: Pen, result: Result, *, cut: bool) -> Text:
    """A text as one line: label, polarity and text. Those of one model stand below each other.
    `cut`: whether the line is cut to the width of the pen."""
    others = [UNCERTAIN, NO_WORDS] if result.sentences else [NO_WORDS, UNCERTAIN]
    label = None if result.label is None else result.view.labels.index(result.label)
    polarity = ""
    if result.view.polarity is not None:
        polarity = "       " if result.polarity is None else f"  {result.polarity:+.2f}"
    return _one_line(pen, "", label, others, polarity, result.text, cut=cut)


def brief_aspect(pen: Pen, aspect: Aspect, start: str = "", end: str = "", *, cut: bool) -> Text:
    """An aspect as one line: `start`, label, polarity, term, what decides, and `end`. Those of one
    model stand below each other. `cut`: whether the line is cut to the width of the pen."""
    labels = [*aspect.sentence.labels]
    label = None if aspect.label is None else labels.index(aspect.label)
    polarity = "" if aspect.polarity is None else f"  {aspect.polarity:+.2f}"
    because = "" if aspect.because is None else f": {aspect.because}"
    return _one_line(pen, start, label, [UNCERTAIN], polarity, f"{aspect}{because}{end}", cut=cut)


def _one_line(
    pen: Pen,
    start: str,
    label: int | None,
    others: Sequence[str],
    polarity: str,
    text: str,
    *,
    cut: bool,
) -> Text:
    """`start`, a label, its polarity and a text. `others`: what may stand in place of a label, the
    first of them if there is none here."""
    name = others[0] if label is None else pen.names[label]
    width = max(map(cell_len, [*pen.names, *others]))
    line = Text(start, no_wrap=True, overflow="ignore")
    style = "dim" if label is None else pen.style(label, TEXT_STYLES)
    line.append(name + " " * (width - cell_len(name)), style).append(f"{polarity}  ")
    text = pen.fit(text)
    return line.append(pen.elide(text, pen.width - line.cell_len) if cut else text)
