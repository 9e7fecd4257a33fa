"""The last parts of the page: what could not be read, and how to read the page."""

from collections.abc import Iterator

from thinstack.integrations.report.entries import REASONS
from thinstack.integrations.report.report import Report
from thinstack.integrations.report.words import heading, safe


def unread(report: Report) -> Iterator[str]:
    """What could not be read, by kind."""
    yield heading(2, "What could not be read", "unread")
    if not report.unread:
        yield "<p>Every row could be read.</p>\n"
        return
    yield "<table>\n<caption>Rows that are not counted, or not by their group or date.</caption>\n"
    yield '<thead><tr><th scope="col" class="number">Rows</th><th scope="col">Why</th>'
    yield '<th scope="col">The first of them</th></tr></thead>\n<tbody>\n'
    for kind, rows, examples in report.unread:
        first = [f"{safe(place)}{f': {safe(why)}' if why else ''}" for place, why in examples]
        yield f'<tr><td class="number">{rows:,}</td><th scope="row">{REASONS[kind]}</th>'
        yield f'<td class="small">{"<br>".join(first)}</td></tr>\n'
    yield "</tbody>\n</table>\n"


def method(report: Report) -> Iterator[str]:
    """How to read the page."""
    yield heading(2, "How to read this page", "method")
    yield '<ul class="method">\n'
    yield from (f"<li>{line}</li>\n" for line in _lines(report))
    yield "</ul>\n"


def _lines(report: Report) -> Iterator[str]:
    if report.about:
        yield "The aspects are those that were asked for."
    else:
        rare = f"{report.rare:,} more terms have fewer." if report.rare else "There are no others."
        least = f"{report.min_mentions:,} text{'s' * (report.min_mentions != 1)} or more"
        yield f"The aspects are the terms that the model found in {least}. {rare}"
    yield from _always()
    if report.of_mentions:
        yield (
            "The texts were scored before, term by term: a whole text is of the side of most of "
            "its mentions, and neutral without any."
        )
    if report.by is not None:
        yield (
            "Differences: the z test of two shares; of more than two groups, each is compared with "
            "the others together. With so many tests some would differ by chance: p is adjusted "
            "(Benjamini and Hochberg 1995), so that 5% of the differences listed are chance at "
            "most, on average. That a share differs does not say why."
        )
    if report.missed:
        yield (
            f"There were so many terms that rare ones were forgotten on the way: a count may be up "
            f"to {report.missed:,} too low."
        )


def _always() -> Iterator[str]:
    yield (
        "A model has read the texts, and it errs. It shows what many texts say, and is no judge of "
        "a single one: read the quotes too."
    )
    yield (
        "A text that speaks of an aspect several times counts once, for the side of most mentions. "
        "It is neutral if there are as many of both."
    )
    yield (
        "In brackets: the interval that holds the true share with 95% confidence (Wilson 1927) if "
        "the texts are a fair sample. What the model gets wrong is not in it."
    )
    yield "Polarity goes from −1, all negative, to 1, all positive."
    yield (
        "Typically said: the phrases that decide for a side, in two texts or more. A phrase inside "
        "another is counted with it."
    )
    yield (
        "Quotes are drawn by lot, first among clear sentences of 5 to 30 words, and are shared out "
        "as the sides are. The coloured phrase decides; the aspect is underlined."
    )
