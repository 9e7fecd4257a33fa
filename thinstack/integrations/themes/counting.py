"""Counts the texts of themes in bounded memory, plus a few bytes per row."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.plan import Plan
from thinstack.integrations.report.reading import nothing_read
from thinstack.integrations.report.rows import Mention, Quote, ReportOptions, Span, column_name
from thinstack.integrations.report.tally import SIDES, Figures, Tally, share_interval
from thinstack.integrations.themes.clauses import LEAST, Ints, ReadTexts, TextNodes
from thinstack.integrations.themes.finding import free_title, title_of, typical_words
from thinstack.integrations.themes.matching import MATCH, Matcher, Matches, ThemeOptions
from thinstack.integrations.themes.themes import Part, SideFigures, Theme, Themes

Encode = Callable[[Sequence[str]], NDArray[np.floating]]

ABOUT: Final = 0.5
"""Minimum cosine of a quote that is about the title of its theme."""

_QUOTES: Final = 5  # quotes that are compared with the title
_GENERAL: Final = 1  # the text has an opinion of this side without a topic
_TOPIC: Final = 2  # the text has an opinion of this side with a topic
_CLEAR: Final = 0.5  # weight of a sentence's polarity in the choice of quotes


class ThemeCounter:
    """Counts the texts that have themes. `matcher`: the themes; `plan`: the plan of the table."""

    def __init__(self, matcher: Matcher, plan: Plan, options: ThemeOptions):
        self._matcher, self._plan, self._options, self._rows = matcher, plan, options, 0
        self._keys = [str(number) for number in range(len(matcher.sides))]
        self._collector = Collector(plan, self._keys, max(options.quotes, _QUOTES))
        self._matches, self._opinions = list[Matches](), list[NDArray[np.int8]]()

    def add(self, texts: ReadTexts) -> None:
        """Count the texts of rows, which arrive in order."""
        mentions: list[list[Mention]] = [[] for _ in texts.rows]
        opinions = np.zeros((len(self._options.sides), len(texts.rows)), np.int8)
        if texts.nodes is not None:
            self._match(texts, texts.nodes, mentions)
            said = texts.nodes.opinions
            for side, column in zip(self._options.sides, opinions, strict=True):
                some = said.sides == side
                kinds = np.where(said.clauses[some] < 0, _GENERAL, _TOPIC)
                np.maximum.at(column, said.texts[some], kinds.astype(np.int8))
        self._opinions.append(opinions)
        for row, some_mentions in zip(texts.rows, mentions, strict=True):
            self._collector.add(row._replace(mentions=tuple(some_mentions)))
        self._rows += len(texts.rows)

    def _match(self, texts: ReadTexts, nodes: TextNodes, mentions: list[list[Mention]]) -> None:
        """Add mentions of themes to the rows of texts, the best first."""
        matches = self._matcher.match(nodes)
        for row, theme, node, similarity, whole, start, end in matches.tolist():
            sentence = nodes.sentences[nodes.sentence[node]]
            polarity = float(nodes.polarity[node])
            side = self._matcher.sides[theme]
            clear = side * float(nodes.polarity[nodes.roots[node]])
            says = (polarity >= LEAST) - (polarity <= -LEAST)
            term, at = Span(start, end).shifted(-sentence.start), texts.rows[row].place
            quote = Quote(sentence.text, term, None, side or says, at)
            # A sentence about something else quotes badly, even if one phrase of it matches.
            rank = -round(1e6 * (similarity + whole + _CLEAR * clear)), quote.lot
            mentions[row].append(Mention(self._keys[theme], polarity, quote, rank))
        matches["row"] += self._rows
        self._matches.append(matches)

    def themes(
        self, report: ReportOptions, encode: Encode, products: Collection[str] = ()
    ) -> Themes:
        """Return the counts as themes; consumes them. `report`: the name and columns of the table.
        `encode` computes unit vectors of texts. `products`: product names. Raises InputError if no
        text counts."""
        collector, calendar, names = self._collector, self._plan.calendar, self._options.names
        figures, tallies, side_of = collector.all.figures, collector.tallies(), self._matcher.sides
        if not figures.texts:
            raise nothing_read(collector.unread(), self._plan.rows)
        words = self._words(tallies)
        shown = self._coherent(tallies, words, encode) if names is None else enumerate(names)
        titles = dict(shown)
        order = list(titles)
        places = np.full(len(tallies), -1)
        places[order] = np.arange(len(order))
        matches = np.concatenate([np.zeros(0, MATCH), *self._matches])
        sides = np.array(side_of, np.int64)[matches["theme"]]
        matches["theme"] = places[matches["theme"]]
        matches, sides = matches[matches["theme"] >= 0], sides[matches["theme"] >= 0]
        return Themes(
            source=report.source,
            model=report.model,
            rows=self._plan.rows,
            counted=self._rows,
            named=names is not None,
            figures=figures,
            themes=tuple(
                self._theme(number, title, words[number], tallies[number])
                for number, title in titles.items()
            ),
            sides=tuple(self._sides(matches["row"], sides)),
            by=column_name(report.by),
            over=column_name(report.over),
            unit=None if calendar is None else calendar.unit,
            unread=collector.unread(),
            products=tuple(sorted(products)),
            matches=matches,
        )

    def _words(self, tallies: Sequence[Tally]) -> dict[int, tuple[str, ...]]:
        """Return the typical words of themes, compared with others of the same side."""
        words = dict[int, tuple[str, ...]]()
        for side in (-1, 0, 1):
            some = [number for number, one in enumerate(self._matcher.sides) if one == side]
            phrases = [tallies[number].names for number in some]
            words |= zip(some, typical_words(phrases, self._options.ignore), strict=True)
        return words

    def _coherent(
        self, tallies: Sequence[Tally], words: Mapping[int, tuple[str, ...]], encode: Encode
    ) -> Iterator[tuple[int, str]]:
        """Yield the themes to show, with titles: on each side, those in the most texts whose quotes
        are about their title."""
        texts, titles = [tally.figures.texts for tally in tallies], list[str]()
        order = sorted(filter(texts.__getitem__, range(len(texts))), key=lambda one: -texts[one])
        for side in self._options.sides:
            left = self._options.most
            for number in (one for one in order if self._matcher.sides[one] == side):
                title = title_of(self._matcher.examples[number], words[number])
                quotes = [quote.text for quote in tallies[number].figures.quotes(*SIDES)]
                if is_about(encode([title, *quotes[:_QUOTES]])):
                    titles.append(free_title(title, titles))
                    left -= 1
                    yield number, titles[-1]
                if not left:
                    break

    def _theme(self, number: int, title: str, words: tuple[str, ...], tally: Tally) -> Theme:
        everyone, side = self._collector.all, self._matcher.sides[number]
        return Theme(
            title=title,
            side=SIDES[side] if side else None,
            words=words,
            figures=tally.figures,
            share=share_interval(tally.figures.texts, everyone.figures.texts),
            quotes=tuple(tally.figures.quotes(*SIDES)[: self._options.quotes]),
            groups=_parts(self._plan.groups, tally.groups, everyone.groups),
            periods=_parts(sorted(everyone.periods), tally.periods, everyone.periods),
            examples=tuple(self._matcher.examples[number]),
        )

    def _sides(self, rows: Ints, sides: Ints) -> Iterator[SideFigures]:
        """Yield the number of texts on each side, and of these without a theme that is shown.
        `rows`, `sides`: of all matches."""
        of_all = self._collector.all.figures.texts
        columns = np.concatenate(self._opinions, axis=1)
        for side, opinions in zip(self._options.sides, columns, strict=True):
            has_theme = np.zeros(self._rows, np.bool_)
            has_theme[rows[sides == side]] = True
            says = (opinions > 0) | has_theme
            has_theme[rows[sides == 0]] = True
            counts = says, (opinions == _TOPIC) & ~has_theme, (opinions == _GENERAL) & ~has_theme
            share, other, general = (share_interval(int(one.sum()), of_all) for one in counts)
            yield SideFigures(SIDES[side], int(says.sum()), share, other, general)


def is_about(vectors: NDArray[np.floating]) -> bool:
    """Whether quotes are about a title, except for at most one. `vectors`: (n, D), of unit norm, of
    the title and of the quotes."""
    cosines = np.sort(vectors[1:] @ vectors[0])
    return bool(cosines[min(1, len(cosines) - 1)] >= ABOUT)


def _parts(
    names: Iterable[Any], some: Mapping[Any, Figures], of: Mapping[Any, Figures]
) -> tuple[Part, ...]:
    counts = [
        (name, some.get(name, Figures()).texts, of[name].texts) for name in names if name in of
    ]
    return tuple(Part(*count, share_interval(*count[1:])) for count in counts)
