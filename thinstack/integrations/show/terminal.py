"""What a terminal shows of sentences, and which classes were taken for which."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from thinstack.integrations.show.outline import UNCERTAIN, Row, outline, parts_note, phrase, visible
from thinstack.integrations.show.pen import TEXT_STYLES, Pen
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.why import Contribution, reason, turning

MAX_PHRASES = 127
"""The most phrases that are drawn of one tree: all of a sentence of up to 64 words."""

WIDEST: Final = 12
"""The largest number of classes whose matrix fits a terminal."""


def draw(prediction: Prediction, why: Sequence[Contribution] = ()) -> RenderableType:
    """What a terminal shows of one sentence: its label, the probability of each class and, if
    phrases have scores, the tree.

    A line of the tree holds the sign of a phrase, or its label as in `svg`, and its text. The
    drawing has the top of the tree, up to MAX_PHRASES phrases and as deep as guides in half the
    width can go. A phrase with `(+n)` has n more inside. It fits the width and the encoding of its
    console. If the prediction abstains, the label is `uncertain` and the sign `?`. `why`: what the
    phrases contribute. The phrase that turns the sentence is named and marked.
    """
    return _Drawing(prediction, turning(why))


def matrix(counts: NDArray[np.int64], labels: Sequence[str]) -> Table:
    """A table of `counts` (C, C): how many texts of each class (rows) were taken for each class
    (columns). `labels` names the C classes."""
    table = Table(title="texts of each class (rows), taken for", title_justify="left")
    table.add_column("")
    for label in labels:
        table.add_column(Text(visible(label)), justify="right")
    for row, label in enumerate(labels):
        cells = (f"{count:,}" if count else "." for count in counts[row].tolist())
        table.add_row(Text(visible(label)), *cells)
    return table


@dataclass(frozen=True, slots=True)
class _Drawing:
    prediction: Prediction
    turning: Contribution | None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        prediction, pen = self.prediction, _TreePen(self.prediction, options, self.turning)
        scores = prediction.node_scores[-1].tolist()
        names = prediction.label, pen.labels[-1], prediction.polarity, prediction.text
        yield from (pen.headline(*names, lines=5), *pen.notes(), Text(), *pen.classes(scores))
        if prediction.phrases:
            yield from (Text(), *pen.tree())


class _TreePen(Pen):
    """Draws one prediction."""

    def __init__(
        self, prediction: Prediction, options: ConsoleOptions, turning: Contribution | None
    ):
        super().__init__(prediction.view, options)
        self.turning, self.prediction = turning, prediction
        self.labels, self.spans = prediction.label_ids.tolist(), prediction.spans.tolist()
        self.certain = prediction.certain.tolist()

    def notes(self) -> list[Text]:
        lines = []
        if self.turning:
            because = f"{reason(self.prediction, self.turning)}: "
            room = self.width - len(because)
            text = self.elide(self.fit(self.turning.text), room)
            lines.append(Text.assemble(because, (text, "bold"), no_wrap=True, overflow="crop"))
        if note := parts_note(self.prediction):
            lines.append(Text(note, style="dim"))
        return lines

    def tree(self) -> list[Text]:
        deepest = max((self.width // 2 - self.sign_width - 4) // 2, 1)
        rows = outline(self.prediction, depth=deepest, phrases=MAX_PHRASES)
        lines = []
        above: list[bool] = []  # of each level above: was its phrase the last of its pair?
        for row in rows:
            del above[row.depth :]
            lines.append(self.line(row, above))
            above.append(row.last)
        if hidden := sum(row.hidden for row in rows):
            number = f"{hidden:,} of {len(self.labels):,}"
            note = f"(+n): n more phrases inside, not drawn ({number}); --json lists all."
            lines += [Text(), Text(note, style="dim")]
        if not all(self.certain):
            note = f"?: {UNCERTAIN}, no class reaches {self.prediction.abstain:.0%}."
            lines += [Text(), Text(note, style="dim")]
        return lines

    def line(self, row: Row, above: list[bool]) -> Text:
        pipe, tee, corner = ("| ", "|-", "`-") if self.ascii else ("│ ", "├╴", "└╴")
        label = self.labels[row.node]
        certain = self.certain[row.node]
        line = self.sign(label, certain=certain)
        if row.depth:
            guides = "".join("  " if last else pipe for last in above[1:])
            line.append(guides + (corner if row.last else tee), "dim")
        more = f" (+{row.hidden:,})" if row.hidden else ""
        if self.turning and row.node == self.turning.node:
            more += " <-" if self.ascii else " ◄"
        room = self.width - line.cell_len - len(more)
        start, end = self.spans[row.node]
        text = self.fit(phrase(self.prediction, start, end, room, self.elide))
        text = self.elide(text, room)
        style = self.style(label, TEXT_STYLES) if certain else ""
        line.append(text, style).append(more, "dim")
        return line
