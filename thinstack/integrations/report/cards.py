"""The part of the page with a card for each aspect: what is typically said, and quotes."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from thinstack.errors import escaped
from thinstack.integrations.report.compared import small_course
from thinstack.integrations.report.figures import NAMES, AspectFigures, Course, Side
from thinstack.integrations.report.pictures import bar
from thinstack.integrations.report.tally import Quote, Span
from thinstack.integrations.report.terms import MARKS, Said, normalised
from thinstack.integrations.report.words import heading, listed, named, of_side, safe, texts


def cards(aspects: Sequence[AspectFigures], over: Course | None) -> Iterator[str]:
    """The cards, in the order of the aspects."""
    yield heading(2, "Aspect by aspect", "each")
    yield '<div class="aspects">\n'
    for number, aspect in enumerate(aspects, 1):
        yield f'<article aria-labelledby="aspect-{number}">\n'
        yield heading(3, named(aspect), f"aspect-{number}")
        yield from _card(aspect, over)
        yield "</article>\n"
    yield "</div>\n"


def _card(aspect: AspectFigures, over: Course | None) -> Iterator[str]:
    figures = aspect.figures
    if not figures.texts:
        yield "<p>No text speaks of it.</p>\n"
        return
    sides = ", ".join(of_side(figures, side) for side in ("positive", "neutral", "negative"))
    yield f'<p class="small">{texts(figures.texts)}: {sides}{_names(aspect)}</p>\n{bar(figures)}\n'
    if aspect.positive or aspect.negative:
        yield "<h4>Typically said</h4>\n"
        yield from _said("positive", aspect.positive)
        yield from _said("negative", aspect.negative)
    if over is not None:
        yield from small_course(aspect, over)
    if aspect.quotes:
        yield "<h4>Quotes</h4>\n"
        yield from (f"{_quote(quote)}\n" for quote in aspect.quotes)


def _names(aspect: AspectFigures) -> str:
    """How else an aspect is written, if it is."""
    spellings = {*map(normalised, aspect.term.split("|"))}
    others = [safe(name) for name in aspect.names if name not in spellings]
    return f"; also written {listed(others)}" if others else ""


def _said(side: Side, phrases: Sequence[Said]) -> Iterator[str]:
    if phrases:
        yield f'<ul class="said {side}" aria-label="{side}">'
        for phrase, times in phrases:
            yield f"<li>{safe(phrase)} <small>× {times:,}</small></li>"
        yield "</ul>\n"


def _quote(quote: Quote) -> str:
    side = NAMES[quote.side]
    marks = [(quote.term, '<span class="term">', "</span>")]
    decides = _bare(quote.text, quote.because or quote.term)
    marks.append((decides, f'<mark class="{side}">', "</mark>"))
    return (
        f'<blockquote class="{side}"><p>{_marked(quote.text, marks)}</p>'
        f"<footer>{side}; {safe(quote.place)}</footer></blockquote>"
    )


def _bare(text: str, span: Span) -> Span:
    """Some characters of a text without marks and spaces at their ends."""
    part = text[slice(*span)]
    start = span.start + len(part) - len(part.lstrip(MARKS))
    return Span(start, start + len(part.strip(MARKS)))


def _marked(text: str, marks: Sequence[tuple[Span, str, str]]) -> str:
    """A text as markup, with tags around some of its characters. Where two such parts cross, the
    inner tags are closed and opened again."""
    places = sorted({0, len(text), *(place for span, *_ in marks for place in span)})
    drawn = ""
    for start, end in pairwise(places):
        around = [mark for mark in marks if mark[0].start <= start and end <= mark[0].end]
        part = escape(escaped(" ".join(text[start:end].split("\n"))))
        for _, opened, closed in around:
            part = f"{opened}{part}{closed}"
        drawn += part
    return drawn
