"""What changes over time and what differs between groups, in tables where it was planted."""

import json
import random
from dataclasses import replace
from datetime import date
from itertools import product

import numpy as np
import pytest
from integrations.report_rows import mention, row

from thinstack.integrations.report.collect import Collector
from thinstack.integrations.report.dates import Calendar
from thinstack.integrations.report.findings import change_of
from thinstack.integrations.report.plan import Plan
from thinstack.integrations.report.report import report_of
from thinstack.integrations.report.rows import ReportOptions
from thinstack.integrations.report.sentences import change_sentence
from thinstack.integrations.report.tally import Figures, share_interval
from thinstack.integrations.themes.matching import MATCH
from thinstack.integrations.themes.themes import Part, SideFigures, Theme, Themes

STORES = ("Leeds", "York", "Bath", "Hull")


def planted(negative, seed=0, count=1600, late=lambda store, month: 0.0, themes=None):
    """The report of a year: `negative` and `late` give the share of negative texts of a store in a
    month, and of those that speak of late parcels."""
    rng, calendar = random.Random(seed), Calendar("month", date(2025, 1, 1), date(2025, 12, 31))
    collector = Collector(plan := Plan(count, STORES, 0, calendar))
    for number in range(count):
        store, month = rng.choice(STORES), rng.randrange(1, 13)
        side = -1 if rng.random() < negative(store, month) else 1
        about = [mention("parcel", side)] * (rng.random() < late(store, month))
        day, place = date(2025, month, 1 + number % 28), f"line {number}"
        collector.add(row(*about, side=side, place=place, group=store, day=day))
    options = ReportOptions("x.csv", "sentiment", by="store", over="day", finder="aspects")
    themes = themes and themes(collector)
    return report_of(options, plan, collector, themes=themes)


def test_a_planted_fall_is_one_sentence_with_its_place_and_its_cause():
    def negative(store, month):
        return 0.5 if store == "Leeds" and month >= 7 else 0.1

    summary = planted(negative, late=lambda store, month: 0.4 * (negative(store, month) > 0.1))
    change = summary.change
    assert (change.side, change.first, change.lasts) == ("negative", date(2025, 7, 1), True)
    assert (change.group[0], change.alone, change.cause[0]) == ("Leeds", True, "“parcel”")
    sentence, *others = summary.in_short
    assert sentence.startswith("From Jul 2025 on, 10 points more are negative: ")
    assert "; only in Leeds (" in sentence
    assert sentence.endswith(" accounts for half of it.")
    assert not any("Leeds" in other for other in others), "one cause is one sentence"
    week = change_sentence(change._replace(last=change.first, lasts=False), "week")
    assert week.startswith("In the week of 1 Jul 2025, ")
    page = summary.html()
    assert sentence in page
    assert "A dashed line marks the start of the change." in page
    assert page.count('class="grid" d="M500.0 0V100"') == page.count('class="course'), "July"


@pytest.mark.parametrize("periods", [2, 3, 5])
def test_chance_alone_is_a_change_in_five_percent_of_tables_at_most(periods):
    rng, tables = np.random.default_rng(1), 4000
    starts = [date(2025, month, 1) for month in range(1, periods + 1)]
    counts = rng.multinomial(300, [0.3, 0.2, 0.5], size=(tables, periods)).tolist()
    courses = (dict(zip(starts, (Figures(*of) for of in one), strict=True)) for one in counts)
    courses = list(courses)
    changes = sum(change_of(course, {}, {}) is not None for course in courses)
    assert 0.02 < changes / tables < 0.058  # a standard error is 0.0035
    of_ten = sum(change_of(course, {}, {}, tries=10) is not None for course in courses)
    assert 0.001 < of_ten / tables < 0.007


def test_changes_of_groups_that_hide_each_other_have_no_cause():
    calendar = Calendar("month", date(2025, 1, 1), date(2025, 12, 31))
    collector = Collector(plan := Plan(480, ("Leeds", "York"), 0, calendar))
    for store, month, number in product(("Leeds", "York"), range(1, 13), range(20)):
        is_late = (month >= 7) == (store == "Leeds")
        side = -1 if number < (10 if is_late else 2) else 1
        about = [mention("parcel", side)] * (side < 0 and month >= 7)
        collector.add(row(*about, side=side, group=store, day=date(2025, month, 3)))
    options = ReportOptions("x.csv", "sentiment", by="store", over="day", finder="aspects")
    summary = report_of(options, plan, collector)
    assert (summary.change.gain, summary.change.cause) == (0, None)
    assert summary.in_short[0].startswith("From Jul 2025 on, in Leeds, 40 points more are negative")


@pytest.mark.parametrize(
    ("months", "when"),
    [((7,), "In Jul 2025, "), ((4, 5, 6), "From Apr 2025 to Jun 2025, "), ((12,), "From Dec 2025")],
)
def test_a_change_that_ends_is_told_with_its_end(months, when):
    summary = planted(lambda store, month: 0.45 if month in months else 0.1)
    assert summary.in_short[0].startswith(when)
    assert summary.change.group is None
    better = planted(lambda store, month: 0.1 if month in months else 0.45)
    assert " points fewer are negative: " in better.in_short[0]


def test_a_weak_change_lasts_though_a_stretch_of_it_differs_more():
    def negative(store, month):
        return 0.2 if month >= 7 else 0.1

    changes = [planted(negative, seed, 1200).change for seed in range(12)]
    assert sum(change is not None for change in changes) > 9
    assert all(change.lasts for change in changes if change)


def test_a_bad_shop_is_one_finding():
    summary = planted(lambda store, month: 0.3 if store == "Leeds" else 0.1, late=lambda *_: 0.5)
    (difference,) = summary.differences
    assert (difference.term, difference.group, difference.better) == (None, "Leeds", False)
    assert difference.also == ("parcel",)
    assert {*difference.others} == {"York", "Bath", "Hull"}
    assert summary.change is None
    assert [line for line in summary.in_short if "York" in line] == [summary.in_short[1]]


def test_two_shops_that_differ_are_two_findings():
    shares = {"Leeds": 0.5, "York": 0.02}
    summary = planted(lambda store, month: shares.get(store, 0.2))
    found = {each.group: each.better for each in summary.differences}
    assert found == {"Leeds": False, "York": True}
    second = summary.differences[1]
    assert "Leeds" not in second.others, "the surest has left the comparison"


def test_chance_is_no_finding():
    """At most 5% of tables without a change have one, and 4 of 20 are very unlikely (binomial)."""
    tables = [planted(lambda store, month: 0.15, seed) for seed in range(20)]
    assert sum(table.change is not None for table in tables) < 4
    assert sum(bool(table.differences) for table in tables) < 4
    assert "dashed" not in tables[0].html().partition("</style>")[2]
    assert tables[0].in_short == (
        "There are no significant changes over time.",
        "There are no significant differences by store.",
    )


def themes_of(collector):
    """Two themes: the texts that speak of parcels, and the tenth of all texts."""

    def theme(name, figures, parts):
        def counted(of):
            shares = ((part, parts(of, part).texts, of[part].texts) for part in of)
            return tuple(Part(part, n, all, share_interval(n, all)) for part, n, all in shares)

        of = collector.all
        share = share_interval(figures.texts, of.figures.texts)
        groups, periods = counted(of.groups), counted(dict(sorted(of.periods.items())))
        return Theme(name, "negative", (), figures, share, (), groups, periods, ())

    tally, tenth = collector.terms["parcel"], lambda of, part: Figures(of[part].texts // 10)

    def late(of, part):
        return {**tally.groups, **tally.periods}.get(part, Figures())

    themes = theme("It was late", tally.figures, late), theme("Dear", Figures(160), tenth)
    share = share_interval(1, 10)
    sides = (SideFigures("negative", 160, share, share, share),)
    return Themes(
        *("x.csv", "vectors", 1600, 1600, False, collector.all.figures, themes, sides),
        *("store", "day", "month", (), (), np.zeros(0, MATCH)),
    )


def test_a_theme_says_when_and_where_and_accounts_for_a_change():
    def late(store, month):
        return 0.4 * (store == "Leeds" and month >= 7)

    summary = planted(lambda *at: 0.1 + late(*at), late=late, themes=themes_of)
    first, second, third, *_ = summary.in_short
    assert first.endswith("; the theme “It was late” accounts for nearly all of it.")
    assert second == "Most frequent complaints: “It was late” (5%) and “Dear” (10%) of 1,600 texts."
    assert third.startswith("Complaints like “It was late”: 5% of the texts; 10% from Jul 2025 ")
    assert third.endswith(", compared with 0% before; most of all in Leeds.")
    assert not any("Dear”:" in sentence for sentence in summary.in_short)
    page = summary.html()
    assert page.index("What people complain about") < page.index("What people mention")
    assert summary.to_dict()["themes"]["themes"][0]["title"] == "It was late"
    advice = "This report has no themes"
    assert advice not in page
    assert advice in planted(lambda *at: 0.1).html()
    none = planted(lambda *at: 0.1, late=late, themes=lambda of: replace(themes_of(of), themes=()))
    assert advice not in none.html()
    assert "No theme was found. A theme needs at least 4 texts" in none.html()
    assert json.loads(none.to_json())["themes"]["themes"] == []
