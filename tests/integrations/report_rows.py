"""Rows of texts that are made up, and reports of them."""

import random
from datetime import date, timedelta

from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.dates import Calendar
from thinstack.integrations.report.plan import Plan
from thinstack.integrations.report.report import report_of
from thinstack.integrations.report.rows import Mention, Quote, ReportOptions, Span, TextRow

SIDES = {-1: "negative", 0: "neutral", 1: "positive"}
FIRST = date(2023, 1, 10)


def mention(term, side, said="very good", *, before="We had the", place="line 2"):
    """A mention in a sentence of its own, "We had the battery, very good of it, as they say."."""
    sentence = f"{before} {term}, {said} of it, as they say."
    start = len(before) + 1
    behind = start + len(term)
    because = Span(behind + 2, behind + 2 + len(said)) if side else None
    return Mention(term, 0.75 * side, Quote(sentence, Span(start, behind), because, side, place))


def row(*mentions, side=1, place="line 2", group=None, day=None):
    return TextRow(place, "x", group, day, side=side, polarity=0.5 * side, mentions=mentions)


def rows(count, seed=0, terms=("battery", "Batteries", "staff", "price", "rare")):
    """Rows of texts: `price` is worse in "North", and `rare` is hardly there."""
    rng = random.Random(seed)
    texts = []
    for number in range(count):
        group = rng.choice(["North", "South", "East", None])
        day = FIRST + timedelta(days=rng.randrange(400))
        mentions = []
        for _ in range(rng.randrange(4)):
            term = rng.choices(terms, [5, 2, 4, 4, 0.02][: len(terms)])[0]
            side = rng.choice([-1, 0, 1, 1])
            if term == "price" and group == "North":
                side = rng.choice([-1, -1, -1, 0])
            said = rng.choice(["so good", "good", "good value", "slow"])
            mentions.append(mention(term, side, said, before=f"On day {number} we had the"))
        side, place = rng.choice([-1, 0, 1]), f"line {number + 2}"
        texts.append(row(*mentions, side=side, place=place, group=group, day=day))
    return texts


def plan(count, groups=("North", "South", "East"), unit="month"):
    return Plan(count, groups, 0, Calendar(unit, FIRST, FIRST + timedelta(days=399)))


def collected(texts, about=(), **options):
    collector = Collector(plan(len(texts), **options), about)
    for text in texts:
        collector.add(text)
    return collector


def report(texts, about=(), min_mentions=5, **options):
    asked = ReportOptions("texts.csv", "aspects", "text", "store", "day", None, about)
    asked = asked._replace(min_mentions=min_mentions, finder="aspects")
    return report_of(asked, plan(len(texts), **options), collected(texts, about, **options))
