"""Draws what sentences and texts have in common in a terminal: a headline, signs, and the bars of
the classes."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
from rich.cells import cell_len
from rich.console import ConsoleOptions
from rich.text import Text

from thinstack.integrations.show.outline import SIGNS, UNCERTAIN, elide, visible
from thinstack.runtime.views import View

MAX_CLASSES: Final = 10
"""The most classes that are drawn of a sentence. If there are more, these are the most probable."""

# Orange and blue: told apart by colour-blind readers, legible on black and on white.
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
        self.tones = None if view.scale is None else view.scale.tones
        widest = max(self.width // 3, 4)
        self.names = [self.elide(self.fit(label), widest) for label in view.labels]
        self.signs = [SIGNS[tone] for tone in self.tones] if self.tones else self.names
        self.sign_width = max(map(cell_len, self.signs))

    def fit(self, text: str) -> str:
        """`text` with nothing in it that acts on the terminal or that its encoding lacks."""
        return visible(text).encode(self.encoding, "backslashreplace").decode(self.encoding)

    def style(self, label: int, styles: tuple[str, ...]) -> str:
        """The style of a class, by its tone."""
        return styles[self.tones[label]] if self.tones else ""

    def sign(self, label: int, *, certain: bool = True) -> Text:
        """The sign of a class, or its name if classes are not a scale."""
        name = self.signs[label] if certain else "?"
        pad = " " * (self.sign_width - cell_len(name))
        cell = f" {pad}{name} " if self.tones else f" {name}{pad} "
        return Text.assemble(
            " ",
            (cell, self.style(label, _SIGN_STYLES) if certain else "dim"),
            " ",
            no_wrap=True,
            overflow="crop",
        )

    def headline(
        self, label: str | None, best: int, polarity: float | None, text: str, *, lines: int
    ) -> Text:
        """The label and polarity, and a text in at most so many lines. `best`: the most probable
        class."""
        style = "" if label is None else self.style(best, TEXT_STYLES)
        place = "" if polarity is None else f" {polarity:+.2f}"
        start = Text.assemble((self.fit(label or UNCERTAIN), f"bold {style}"), place, ": ")
        room = lines * self.width - (start.cell_len if lines == 1 else 0)
        return start.append(self.elide(self.fit(text), max(room, 1)), "bold")

    def classes(self, scores: Sequence[float], most: int = MAX_CLASSES) -> list[Text]:
        """A line for each class with its probability, for `most` classes at most."""
        hidden = len(scores) - most
        order = np.argsort(-np.asarray(scores), kind="stable").tolist()
        shown = range(len(scores)) if hidden <= 0 else order[:most]
        name_width = max(cell_len(self.names[i]) for i in shown)
        lines = [self._bar(i, scores[i], name_width, best=i == order[0]) for i in shown]
        if hidden > 0:
            lines.append(note(f"  and {hidden} classes less probable"))
        return lines

    def _bar(self, label: int, score: float, name_width: int, *, best: bool) -> Text:
        name = self.names[label] + " " * (name_width - cell_len(self.names[label]))
        line = self.sign(label) if self.tones else Text("  ", no_wrap=True, overflow="crop")
        line.append(f"{name} {score:>4.0%}", "bold" if best else "")
        room = min(self.width - line.cell_len - 2, 40)
        if room >= 8:
            blocks = ("#" if self.ascii else "━") * round(score * room)
            line.append(f"  {blocks}", self.style(label, TEXT_STYLES) or "dim")
        return line


def note(text: str) -> Text:
    """A line that says what is not drawn; it is cut where it does not fit."""
    return Text(text, style="dim", no_wrap=True, overflow="crop")
