"""Terminal drawings of sentences and texts, and of confusion matrices."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from thinstack.integrations.show.marks import SIGNS, UNCERTAIN, Row, elide, outline, phrase, visible
from thinstack.runtime.aspects import Aspect
from thinstack.runtime.phrase import Nodes, Phrase
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.result import Result
from thinstack.runtime.views import View
from thinstack.runtime.why import Contribution, reason, turning

MAX_CLASSES: Final = 10
"""Maximum number of classes drawn per sentence, the most probable ones."""

# Orange and blue: distinct for color-blind readers, legible on black and on white.
TEXT_STYLES: Final = ("bold color(166)", "color(166)", "", "color(32)", "bold color(32)")
_STRONG = ("bold reverse color(166)", "bold reverse color(32)")
_SIGN_STYLES = (_STRONG[0], "color(166)", "dim", "color(32)", _STRONG[1])


class Pen:
    """Draws the classes of a view for one width and encoding."""

    def __init__(self, view: View, options: ConsoleOptions):
        view.need_labels("a drawing")
        self.width, self.encoding = options.max_width, options.encoding
        self.ascii = options.ascii_only or options.legacy_windows
        self.elide = partial(elide, dots=" ... " if self.ascii else " … ")
        tones = () if view.scale is None else view.scale.tones
        widest = max(self.width // 3, 4)
        self.names = {label: self.elide(self.fit(label), widest) for label in view.labels}
        self._tones = dict(zip(view.labels, tones, strict=False))
        self._signs = {label: SIGNS[tone] for label, tone in self._tones.items()} or self.names
        self.sign_width = max(map(cell_len, self._signs.values()))

    def fit(self, text: str) -> str:
        """Escape control characters, and characters that the terminal's encoding lacks."""
        return visible(text).encode(self.encoding, "backslashreplace").decode(self.encoding)

    def style(self, label: str | None, styles: tuple[str, ...]) -> str:
        """Return the style of a class, by its tone."""
        return styles[self._tones[label]] if label in self._tones else ""

    def sign(self, label: str | None) -> Text:
        """Return the sign of a class, its name if classes are not a scale, or "?" without label."""
        name = "?" if label is None else self._signs[label]
        pad = " " * (self.sign_width - cell_len(name))
        cell = f" {pad}{name} " if self._tones else f" {name}{pad} "
        style = "dim" if label is None else self.style(label, _SIGN_STYLES)
        return Text.assemble(" ", (cell, style), " ", no_wrap=True, overflow="crop")

    def headline(self, label: str | None, polarity: float | None, text: str, *, lines: int) -> Text:
        """Draw the label and polarity, and a text in at most `lines` lines."""
        style = self.style(label, TEXT_STYLES)
        place = "" if polarity is None else f" {polarity:+.2f}"
        start = Text.assemble((self.fit(label or UNCERTAIN), f"bold {style}"), place, ": ")
        room = lines * self.width - (start.cell_len if lines == 1 else 0)
        return start.append(self.elide(self.fit(text), max(room, 1)), "bold")

    def classes(self, scores: Mapping[str, float], most: int = MAX_CLASSES) -> list[Text]:
        """Draw one line per class with its probability, for at most `most` classes."""
        hidden = len(scores) - most
        order = sorted(scores, key=scores.__getitem__, reverse=True)
        shown = [*scores] if hidden <= 0 else order[:most]
        name_width = max(cell_len(self.names[label]) for label in shown)
        lines = [self._bar(name, scores[name], name_width, best=name == order[0]) for name in shown]
        if hidden > 0:
            lines.append(note(f"  and {hidden} less probable classes"))
        return lines

    def _bar(self, label: str, score: float, name_width: int, *, best: bool) -> Text:
        name = self.names[label] + " " * (name_width - cell_len(self.names[label]))
        line = self.sign(label) if self._tones else Text("  ", no_wrap=True, overflow="crop")
        line.append(f"{name} {score:>4.0%}", "bold" if best else "")
        room = min(self.width - line.cell_len - 2, 40)
        if room >= 8:
            blocks = ("#" if self.ascii else "━") * round(score * room)
            line.append(f"  {blocks}", self.style(label, TEXT_STYLES) or "dim")
        return line


def note(text: str) -> Text:
    """Draw a line that reports what is left out, truncated to fit."""
    return Text(text, style="dim", no_wrap=True, overflow="crop")


MAX_PHRASES = 127
"""Maximum number of phrases drawn per tree, enough for a sentence of 64 words."""

WIDEST: Final = 12
"""Maximum number of classes of a confusion matrix in a terminal."""

MOST_LINES: Final = 12
"""Maximum number of lines of a text."""

_NO_WORDS: Final = "no words"  # instead of a label
_CLASSES: Final = 5
_HIGHLIGHTS: Final = 3


def matrix(counts: NDArray[np.int64], labels: Sequence[str]) -> RenderableType:
    """Draw a confusion matrix: `counts` (C, C) of texts by class (rows) and predicted class
    (columns). `labels` names the C classes."""
    from rich.table import Table

    table = Table(title="texts by true class (rows) and predicted class", title_justify="left")
    table.add_column("")
    for label in labels:
        table.add_column(Text(visible(label)), justify="right")
    for row, label in enumerate(labels):
        cells = (f"{count:,}" if count else "." for count in counts[row].tolist())
        table.add_row(Text(visible(label)), *cells)
    return table


class Drawing(NamedTuple):
    """Draws one sentence: its label, the probability of each class and, if phrases have scores, the
    tree.

    A line of the tree contains the sign of a phrase, or its label as in `svg`, and its text. The
    drawing shows the top of the tree, up to MAX_PHRASES phrases, and as deep as guides in half the
    width allow. A phrase with `(+n)` contains n more. It fits the width and the encoding of its
    console. If the prediction abstains, the label is `uncertain` and the sign `?`. `why`: the
    contributions of the phrases. The phrase that turns the sentence is named and marked.
    """

    prediction: Prediction
    why: Sequence[Contribution] = ()

    @property
    def turning(self) -> Contribution | None:
        """The phrase that turns the sentence to its label."""
        return turning(self.why)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        one, pen = self.prediction, Pen(self.prediction.view, options)
        yield pen.headline(one.label, one.polarity, one.text, lines=5)
        yield from (*self._notes(pen), Text(), *pen.classes(one.scores))
        if one.phrases:
            yield from (Text(), *self._tree(pen))

    def _notes(self, pen: Pen) -> Iterator[Text]:
        if self.turning:
            because = f"{reason(self.prediction, self.turning)}: "
            text = pen.elide(pen.fit(self.turning.text), pen.width - len(because))
            yield Text.assemble(because, (text, "bold"), no_wrap=True, overflow="crop")
        words, parts = self.prediction.words, self.prediction.parts
        if len(parts) > 1:
            read = f"read in {len(parts):,} parts; a balanced tree joins them"
            yield Text(f"{len(words):,} words, {read}", style="dim")

    def _tree(self, pen: Pen) -> Iterator[Text]:
        nodes = Nodes(self.prediction)
        deepest = max((pen.width // 2 - pen.sign_width - 4) // 2, 1)
        rows = outline(self.prediction, depth=deepest, phrases=MAX_PHRASES)
        above: list[bool] = []  # for each level above: whether its phrase was the last of its pair
        for row in rows:
            del above[row.depth :]
            yield self._line(pen, row, above, nodes)
            above.append(row.last)
        if hidden := sum(row.hidden for row in rows):
            number = f"{hidden:,} of {len(nodes.labels):,}"
            left_out = f"(+n): n more phrases inside, not drawn ({number}); --json lists all."
            yield from (Text(), Text(left_out, style="dim"))
        if None in nodes.labels:
            unsure = f"?: {UNCERTAIN}, no class reaches {self.prediction.abstain:.0%}."
            yield from (Text(), Text(unsure, style="dim"))

    def _line(self, pen: Pen, row: Row, above: list[bool], nodes: Nodes) -> Text:
        label, (start, end) = nodes.labels[row.node], nodes.spans[row.node]
        pipe, tee, corner = ("| ", "|-", "`-") if pen.ascii else ("│ ", "├╴", "└╴")
        line = pen.sign(label)
        if row.depth:
            guides = "".join("  " if last else pipe for last in above[1:])
            line.append(guides + (corner if row.last else tee), "dim")
        more = f" (+{row.hidden:,})" if row.hidden else ""
        if self.turning and row.node == self.turning.node:
            more += " <-" if pen.ascii else " ◄"
        room = pen.width - line.cell_len - len(more)
        text = pen.elide(pen.fit(phrase(self.prediction, start, end, room, pen.elide)), room)
        return line.append(text, pen.style(label, TEXT_STYLES)).append(more, "dim")


class Answer(NamedTuple):
    """Draws a text with words: its label and polarity, the probabilities of its classes and its
    highlights, in at most MOST_LINES lines; or instead of these its `aspects` with the deciding
    phrases. It fits the width and the encoding of its console. `more`: a hint how to show the rest,
    or empty."""

    result: Result
    aspects: Sequence[Aspect] | None = None
    more: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        result, scores, pen = self.result, self.result.scores, Pen(self.result.view, options)
        yield from (pen.headline(result.label, result.polarity, result.text, lines=1), Text())
        if self.aspects is None:
            yield from pen.classes(scores, _CLASSES)
            most = _HIGHLIGHTS - (len(scores) > _CLASSES)  # minus the line for the other classes
            if lines := [_phrase(pen, phrase) for phrase in result.highlights(most)]:
                yield from (Text(), *lines)
        else:
            width = max((cell_len(_term(pen, aspect)) for aspect in self.aspects), default=0)
            lines = [_aspect(pen, aspect, width) for aspect in self.aspects]
            yield from lines or [note("no aspects")]
        if self.more:
            yield note(f"{len(result.sentences)} sentences: {self.more}")


def _phrase(pen: Pen, phrase: Phrase) -> Text:
    line = pen.sign(phrase.label)
    text = pen.elide(pen.fit(phrase.text), max(pen.width - line.cell_len, 1))
    return line.append(text, pen.style(phrase.label, TEXT_STYLES))


def _term(pen: Pen, aspect: Aspect) -> str:
    return pen.elide(pen.fit(aspect.text), max(pen.width // 3, 4))


def _aspect(pen: Pen, aspect: Aspect, width: int) -> Text:
    """Draw an aspect. `width`: the width of its term."""
    line, term = pen.sign(aspect.label), _term(pen, aspect)
    line.append(term + " " * (width - cell_len(term)), pen.style(aspect.label, TEXT_STYLES))
    line.append("" if aspect.polarity is None else f"  {aspect.polarity:+.2f}")
    if aspect.because is not None:
        why = pen.elide(pen.fit(f"{aspect.because}"), max(pen.width - line.cell_len - 2, 1))
        line.append(f"  {why}")
    return line


def brief(pen: Pen, said: Result | Aspect, start: str = "", end: str = "", *, cut: bool) -> Text:
    """Draw a text, or an aspect with its deciding phrase, on one line: `start`, label, polarity,
    text and `end`. Lines of the same model are aligned. `cut`: whether to truncate the line to the
    width of the pen."""
    if isinstance(said, Result):
        view, text = said.view, said.text
        others = [UNCERTAIN, _NO_WORDS] if said.sentences else [_NO_WORDS, UNCERTAIN]
    else:
        view, others = said.sentence.view, [UNCERTAIN]
        text = f"{said}{'' if said.because is None else f': {said.because}'}"
    label = said.label
    name = others[0] if label is None else pen.names[label]
    width = max(map(cell_len, [*pen.names.values(), *others]))
    line = Text(start, no_wrap=True, overflow="ignore")
    style = "dim" if label is None else pen.style(label, TEXT_STYLES)
    line.append(name + " " * (width - cell_len(name)), style)
    if view.polarity is not None:
        line.append("       " if said.polarity is None else f"  {said.polarity:+.2f}")
    line.append("  ")
    text = pen.fit(text + end)
    return line.append(pen.elide(text, pen.width - line.cell_len) if cut else text)
