"""Counts the texts of themes, in bounded memory beside a few bytes for each row."""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from zlib import crc32

import numpy as np

from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.plan import Plan
from thinstack.integrations.report.reading import nothing_read
from thinstack.integrations.report.rows import Mention, ReportOptions, Span, column_name
from thinstack.integrations.report.statistics import share_interval
from thinstack.integrations.report.tally import SIDES, Figures
from thinstack.integrations.themes.clauses import LEAST, TextNodes
from thinstack.integrations.themes.matching import Matcher
from thinstack.integrations.themes.options import ThemeOptions
from thinstack.integrations.themes.reading import ReadTexts
from thinstack.integrations.themes.row_matches import RowMatches
from thinstack.integrations.themes.themes import Part, SideFigures, Theme, Themes
from thinstack.integrations.themes.words import typical_words

_GENERAL: Final = 1  # a text has an opinion of a side without a topic
_TOPIC: Final = 2  # it has one with a topic
_CLEAR: Final = 0.5  # how much the polarity of a sentence counts in the choice of quotes


class ThemeCounter:
    """Counts the texts that have themes. `matcher`: the themes; `plan`: what is known of the
    table."""

    def __init__(self, matcher: Matcher, plan: Plan, options: ThemeOptions):
        self._matcher, self._plan, self._options = matcher, plan, options
        self._keys = [str(number) for number in range(len(matcher.names))]
        self._collector = Collector(plan, self._keys, options.quotes)
        self._matches = RowMatches.empty()
        self._opinions = {side: array("b") for side in options.sides}

    def add(self, texts: ReadTexts) -> None:
        """Count the texts of rows, which come in order."""
        mentions: list[list[Mention]] = [[] for _ in texts.rows]
        opinions = {side: np.zeros(len(texts.rows), np.int8) for side in self._opinions}
        if texts.nodes is not None:
            self._match(texts, texts.nodes, mentions)
            said, readable = texts.nodes.opinions, np.array(texts.readable)
            for side, column in opinions.items():
                some = said.sides == side
                kinds = np.where(said.clauses[some] < 0, _GENERAL, _TOPIC)
                np.maximum.at(column, readable[said.texts[some]], kinds.astype(np.int8))
        for side, column in opinions.items():
            self._opinions[side].frombytes(column.tobytes())
        for row, some_mentions in zip(texts.rows, mentions, strict=True):
            self._collector.add(row._replace(mentions=tuple(some_mentions)))
            self._matches.end_row(len(some_mentions))

    def _match(self, texts: ReadTexts, nodes: TextNodes, mentions: list[list[Mention]]) -> None:
        """Give the rows of texts their mentions of themes, the best first."""
        columns = [column.tolist() for column in self._matcher.match(nodes)]
        for text, theme, node, similarity in zip(*columns, strict=True):
            start, end = nodes.characters(node)
            sentence = nodes.sentences[nodes.sentence(node)]
            polarity = float(nodes.polarity[node])
            lot = crc32(sentence.text.encode(errors="replace"))
            side = self._matcher.sides[theme]
            clear = side * float(nodes.polarity[nodes.roots[node]])
            says = (polarity >= LEAST) - (polarity <= -LEAST)
            span = Span(start - sentence.start, end - sentence.start)
            mention = Mention(
                term=self._keys[theme],
                named=True,
                side=side or says,
                polarity=polarity,
                sentence=sentence.text,
                place=span,
                because=None,
                said=None,
                rank=(-round(1e6 * (similarity + _CLEAR * clear)), lot),
            )
            mentions[texts.readable[text]].append(mention)
            self._matches.add(theme, start, end, similarity)

    def themes(self, report: ReportOptions, products: Collection[str] = ()) -> Themes:
        """What was counted, which is used up. `report`: what the table is called, and its columns.
        `products`: words for what the texts are about. Raises InputError if no text counts."""
        collector, named = self._collector, self._options.names is not None
        figures = collector.all.figures
        if not figures.texts:
            raise nothing_read(collector.unread(), self._plan.rows)
        order = [*range(len(self._keys))] if named else self._largest()
        words = dict[int, tuple[str, ...]]()
        for side in (-1, 0, 1):
            some = [number for number in order if self._matcher.sides[number] == side]
            phrases = [collector.terms[self._keys[number]].names for number in some]
            words |= zip(some, typical_words(phrases, self._options.ignore), strict=True)
        calendar = self._plan.calendar
        self._matches.show(order, len(self._keys))
        return Themes(
            source=report.source,
            model=report.model,
            rows=self._plan.rows,
            counted=len(self._matches.ends),
            named=named,
            figures=figures,
            themes=tuple(self._theme(number, words[number]) for number in order),
            sides=tuple(self._sides([self._matcher.sides[number] for number in order])),
            by=None if report.by is None else column_name(report.by),
            over=None if report.over is None else column_name(report.over),
            unit=None if calendar is None else calendar.unit,
            unread=collector.unread(),
            products=tuple(sorted(products)),
            matches=self._matches,
        )

    def _largest(self) -> list[int]:
        """The themes of most texts, of each side by itself."""
        counts = [self._collector.terms[key].figures.texts for key in self._keys]
        order = sorted(range(len(counts)), key=lambda number: -counts[number])
        largest = list[int]()
        for side in self._options.sides:
            some = [one for one in order if self._matcher.sides[one] == side and counts[one]]
            largest += some[: self._options.most]
        return largest

    def _theme(self, number: int, words: tuple[str, ...]) -> Theme:
        everyone, calendar = self._collector.all, self._plan.calendar
        periods = calendar.periods() if calendar else []
        tally = self._collector.terms[self._keys[number]]
        side = self._matcher.sides[number]
        return Theme(
            title=self._matcher.names[number],
            side=SIDES[side] if side else None,
            words=words,
            figures=tally.figures,
            share=share_interval(tally.figures.texts, everyone.figures.texts),
            quotes=tuple(tally.figures.quotes(*SIDES)[: self._options.quotes]),
            groups=_parts(self._plan.groups, tally.groups, everyone.groups),
            periods=_parts(periods, tally.periods, everyone.periods),
            examples=tuple(self._matcher.examples[number]),
        )

    def _sides(self, side_of: Sequence[int]) -> Iterator[SideFigures]:
        """How many texts say something of each side, and of these how many have no theme that is
        shown. `side_of`: those of the themes."""
        of_all = self._collector.all.figures.texts
        rows, themes = self._matches.shown()
        sides = np.array(side_of, np.int64)[themes]
        for side, column in self._opinions.items():
            opinions, has_theme = np.array(column), np.zeros(len(column), np.bool_)
            has_theme[rows[sides == side]] = True
            says = (opinions > 0) | has_theme
            has_theme[rows[sides == 0]] = True
            counts = says, (opinions == _TOPIC) & ~has_theme, (opinions == _GENERAL) & ~has_theme
            share, other, general = (share_interval(int(one.sum()), of_all) for one in counts)
            yield SideFigures(SIDES[side], int(says.sum()), share, other, general)


def _parts(
    names: Iterable[Any], some: Mapping[Any, Figures], of: Mapping[Any, Figures]
) -> tuple[Part, ...]:
    """The texts of a theme in groups or periods, of those in which there are texts."""
    counts = [
        (name, some[name].texts if name in some else 0, of[name].texts)
        for name in names
        if name in of
    ]
    return tuple(Part(*part, share_interval(*part[1:])) for part in counts)
