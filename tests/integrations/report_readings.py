"""Readings of texts that are made up, and reports of them."""

import random
from datetime import date, timedelta

from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.entries import Columns, Entry
from thinstack.integrations.report.periods import Calendar
from thinstack.integrations.report.plan import Plan
from thinstack.integrations.report.readings import Mention, Reading
from thinstack.integrations.report.summary import Asked, report_of
from thinstack.integrations.report.tally import Span

SIDES = {-1: "negative", 0: "neutral", 1: "positive"}
FIRST = date(2023, 1, 10)


def mention(term, side, said="very good", *, named=False, before="We had the"):
    """A mention in a sentence of its own, "We had the battery, very good of it, as they say."."""
    sentence = f"{before} {term}, {said} of it, as they say."
    start = len(before) + 1
    behind = start + len(term)
    because = Span(behind + 2, behind + 2 + len(said)) if side else None
    place = Span(start, behind)
    why = said if side else None
    return Mention(term, named, side, 0.75 * side, sentence, place, because, why)


def readings(count, seed=0, terms=("battery", "Batteries", "staff", "price", "rare")):
    """Entries and readings: `price` is worse in "North", and `rare` is hardly there."""
    rng = random.Random(seed)
    found = []
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
        text = rng.choice([-1, 0, 1])
        entry = Entry(f"line {number + 2}", "x", group, day)
        found.append((entry, Reading(text, 0.5 * text, mentions)))
    return found


def plan(count, groups=("North", "South", "East"), unit="month"):
    return Plan(count, groups, 0, Calendar(unit, FIRST, FIRST + timedelta(days=399)))


def collected(pairs, about=(), **known):
    collector = Collector(plan(len(pairs), **known), about)
    for entry, reading in pairs:
        collector.add(entry, reading)
    return collector


def report(pairs, about=(), min_mentions=5, **known):
    asked = Asked("texts.csv", "aspects", Columns("text", "store", "day"), about, min_mentions)
    return report_of(asked, plan(len(pairs), **known), collected(pairs, about, **known))
