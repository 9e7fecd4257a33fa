"""Drawing the curves of a table as SVG files, by matplotlib."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reproduce.curves import Point
from reproduce.shown import Curve
from reproduce.table import Table
from thinstack.data.files.writing import write_atomically
from thinstack.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Of Okabe and Ito, which the colour-blind can tell apart, without their yellow, faint on white."""
STYLES: Final = ("-", "--", "-.", ":")
INCHES: Final = (7.0, 4.4)


def draw(
    table: Table, stem: str, curves: Mapping[str, Mapping[str, Sequence[Point]]], folder: Path
) -> list[Path]:
    """Draw each curve of the table for which a row has points, into `folder`/STEM-CURVE.svg.

    `curves`: by the names of the curve and of the row. A line is the mean over seeds, the band
    around it the standard deviation. The same points give the same bytes. Returns the files. Raises
    MissingExtraError without matplotlib.
    """
    try:
        import matplotlib
    except ImportError:
        raise MissingExtraError("matplotlib", "reproduce") from None
    settings: dict[Any, Any] = {
        "svg.hashsalt": "thinstack",  # with no date, the same points give the same bytes
        "svg.fonttype": "none",
        "text.parse_math": False,  # a "$" in a title is a "$"
    }
    titles = {row.name: row.title for row in table.rows}
    paths = []
    for curve in table.curves:
        lines = {titles[row]: found for row, found in curves.get(curve.name, {}).items() if found}
        if lines:
            path = folder / f"{stem}-{curve.name}.svg"
            with matplotlib.rc_context(settings):
                write_atomically(path, _svg(curve, lines, _groups(table, curve)))
            paths.append(path)
    return paths


def _groups(table: Table, curve: Curve) -> Sequence[str]:
    """What stands at 1, 2, ... on the x axis of groups; nothing on another."""
    if curve.x == "class":
        return [str(label) for label in table.recipe["model"]["labels"]]
    return ("without a negation", "with one") if curve.x == "negation" else ()


def _svg(curve: Curve, lines: Mapping[str, Sequence[Point]], groups: Sequence[str]) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=INCHES, layout="constrained")
    axes = figure.add_subplot()
    marks = curve.x not in ("words", "depth")  # epochs and groups are few
    drawn = [_line(axes, number, found, marks) for number, found in enumerate(lines.values())]
    axes.set_title(curve.title)
    axes.set_xlabel(_x_label(curve))
    if groups:
        axes.set_xticks(range(1, len(groups) + 1), groups)
    axes.set_ylabel("accuracy (%)" if curve.figure == "accuracy" else "Pearson r")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    # Handles and names: a name of its own is taken for none where it starts with "_".
    axes.legend(drawn, list(lines), frameon=False, fontsize="small", handlelength=3)
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def _line(axes: "Axes", number: int, found: Sequence[Point], marks: bool) -> Any:
    """Draw the line and the band of one row, with its points if `marks`; returns the line."""
    x = [point.x for point in found]
    colour, style = COLOURS[number % len(COLOURS)], STYLES[number % len(STYLES)]
    mean = [point.mean for point in found]
    low, high = ([point.mean + way * point.std for point in found] for way in (-1, 1))
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    marker = "o" if marks or len(found) == 1 else ""  # a line of one point cannot be seen
    line = axes.plot(x, mean, color=colour, linestyle=style, linewidth=1.6, marker=marker)[0]
    line.set_markersize(4 if marks else 6)
    return line


def _x_label(curve: Curve) -> str:
    if curve.x == "seconds":
        return "seconds of training, at the end of each epoch"
    if curve.x == "class":
        return "right class"
    if curve.x == "negation":
        return "sentences"
    unit = "length (words" if curve.x == "words" else "depth (edges to the deepest leaf"
    window = f"each ± {curve.window}, " if curve.window else ""
    return f"{unit}; {window}the last with all beyond)"
