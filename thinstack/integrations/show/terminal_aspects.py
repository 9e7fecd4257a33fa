"""What a terminal shows of what a text says of what: a line for each aspect."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from thinstack.integrations.show.outline import UNCERTAIN
from thinstack.integrations.show.pen import TEXT_STYLES, Pen, note
from thinstack.runtime.aspects import Aspect
from thinstack.runtime.result import Result


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
            yield _line(pen, aspect, term + " " * (width - cell_len(term)))
        if not terms:
            yield note("no aspects")


def _line(pen: Pen, aspect: Aspect, term: str) -> Text:
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


def brief_aspect(pen: Pen, aspect: Aspect, start: str = "", *, cut: bool) -> Text:
    """An aspect as one line: `start`, label, polarity, term, and what decides. Those of one model
    stand below each other. `cut`: whether the line is cut to the width of the pen."""
    labels = [*aspect.sentence.labels]
    place, style = UNCERTAIN, "dim"
    if aspect.label is not None:
        number = labels.index(aspect.label)
        place, style = pen.names[number], pen.style(number, TEXT_STYLES)
    line = Text(start, no_wrap=True, overflow="ignore")
    widest = max(map(cell_len, [*pen.names, UNCERTAIN]))
    line.append(place + " " * (widest - cell_len(place)), style)
    line.append("" if aspect.polarity is None else f"  {aspect.polarity:+.2f}")
    because = "" if aspect.because is None else f": {aspect.because}"
    text = pen.fit(f"{aspect}{because}")
    return line.append("  ").append(pen.elide(text, pen.width - line.cell_len) if cut else text)
