"""Small SVG pictures of figures. They have names for those who do not see them."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate, groupby
from typing import Final

from thinstack.integrations.report.figures import NAMES, Figures, Side
from thinstack.integrations.report.statistics import Interval

WIDTH: Final = 1000
"""Units that a picture of periods is wide; it is drawn as wide as there is room."""

_SHORT: Final[dict[Side, str]] = {"negative": "n", "neutral": "o", "positive": "p"}


def percent(share: float) -> str:
    """A share in whole percents; a half is rounded up."""
    return f"{int(100 * share + 0.5)}%"


def bar(figures: Figures) -> str:
    """The shares of the sides, side by side: negative, neutral, positive."""
    counts = [(side, figures.count(side)) for side in NAMES.values()]
    starts = accumulate((count for _, count in counts), initial=0)
    unit = 100 / max(figures.texts, 1)
    drawn = "".join(
        f'<rect class="{_SHORT[side]}" x="{unit * start:.2f}%" width="{unit * count:.2f}%" '
        'height="100%"/>'
        for (side, count), start in zip(counts, starts, strict=False)
        if count
    )
    name = ", ".join(f"{percent(count * unit / 100)} {side}" for side, count in counts)
    return f'<svg class="bar" role="img"><title>{name}</title>{drawn}</svg>'


def course(periods: Sequence[Figures | None], name: str) -> str:
    """The share of positive texts of each period, from 0 at the bottom to 1 at the top: points with
    a line, and their intervals as a band. A period without texts is a gap."""
    step = WIDTH / max(len(periods), 1)
    shares = [found.share("positive") if found else None for found in periods]
    places = [((place + 0.5) * step, share) for place, share in enumerate(shares)]
    drawn = list[str]()
    for _, part in groupby(places, key=lambda each: each[1] is None):
        drawn += _line([(x, share) for x, share in part if share is not None], step)
    return (
        f'<svg class="course" role="img" viewBox="0 0 {WIDTH} 100" preserveAspectRatio="none">'
        f'<title>{escape(name)}</title><path class="grid" d="M0 50H{WIDTH}"/>{"".join(drawn)}</svg>'
    )


def _line(points: Sequence[tuple[float, Interval]], step: float) -> Iterator[str]:
    """The band, the line and the points of periods that follow each other."""
    if not points:
        return
    wide = points
    if len(points) == 1:  # a band has a width
        (x, share), side = points[0], step / 4
        wide = [(x - side, share), (x + side, share)]
    top = [f"{x:.1f} {100 - 100 * (share.high or 0.0):.1f}" for x, share in wide]
    foot = [f"{x:.1f} {100 - 100 * (share.low or 0.0):.1f}" for x, share in reversed(wide)]
    yield f'<path class="band" d="M{"L".join(top + foot)}Z"/>'
    middle = [f"{x:.1f} {100 - 100 * share.value:.1f}" for x, share in points]
    yield f'<path class="line" d="M{"L".join(middle)}"/>'
    yield f'<path class="points" d="{"".join(f"M{point}h0" for point in middle)}"/>'


def columns(counts: Sequence[int], name: str) -> str:
    """Counts as columns."""
    step, most = WIDTH / max(len(counts), 1), max(counts, default=0) or 1
    drawn = "".join(
        f'<rect x="{(place + 0.15) * step:.1f}" y="{100 - 100 * count / most:.1f}" '
        f'width="{0.7 * step:.1f}" height="{100 * count / most:.1f}"/>'
        for place, count in enumerate(counts)
        if count
    )
    return (
        f'<svg class="columns" role="img" viewBox="0 0 {WIDTH} 100" preserveAspectRatio="none">'
        f"<title>{escape(name)}</title>{drawn}</svg>"
    )
