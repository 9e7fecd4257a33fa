"""Terminal drawings shared by sentences and texts: headlines, signs, and bars of classes."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from rich.cells import cell_len
from rich.console import ConsoleOptions
from rich.text import Text

from thinstack.integrations.show.outline import SIGNS, UNCERTAIN, elide, visible
from thinstack.runtime.views import View

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
            lines.append(note(f"  and {hidden} classes less probable"))
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
