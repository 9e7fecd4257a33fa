"""What a terminal shows of a text: its answer and the phrases that say most, or one line."""

from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from thinstack.integrations.show.outline import UNCERTAIN
from thinstack.integrations.show.pen import TEXT_STYLES, Pen, note
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
        if lines := [_phrase(pen, result, each) for each in result.highlights(most)]:
            yield from (Text(), *lines)
        if self.more:
            yield note(f"{len(result.sentences)} sentences: {self.more}")


def _phrase(pen: Pen, result: Result, phrase: Phrase) -> Text:
    label = result.view.labels.index(phrase.label or "")
    line = pen.sign(label)
    text = pen.elide(pen.fit(phrase.text), max(pen.width - line.cell_len, 1))
    return line.append(text, pen.style(label, TEXT_STYLES))


def brief(pen: Pen, result: Result, *, cut: bool) -> Text:
    """A text as one line: label, polarity and text. Those of one model stand below each other.
    `cut`: whether the line is cut to the width of the pen."""
    names = [*pen.names, UNCERTAIN, NO_WORDS]
    label = result.label or (UNCERTAIN if result.sentences else NO_WORDS)
    place = pen.names[result.view.labels.index(label)] if result.label else label
    line = Text(no_wrap=True, overflow="ignore")
    style = pen.style(result.view.labels.index(label), TEXT_STYLES) if result.label else "dim"
    line.append(place + " " * (max(map(cell_len, names)) - cell_len(place)), style)
    if result.view.polarity is not None:
        line.append("       " if result.polarity is None else f"  {result.polarity:+.2f}")
    text = pen.fit(result.text)
    return line.append("  ").append(pen.elide(text, pen.width - line.cell_len) if cut else text)
