"""Names: their singulars and plurals, their parts, and what a text may have in place of them."""

import re

import pytest

from thinstack.text.names import forms, parts_of, pattern_of

PAIRS = """battery batteries, knife knives, shelf shelves, dish dishes, box boxes, photo photos,
hero heroes, movie movies, menu menus, lens lenses, bus buses, glass glasses, woman women, day days,
person people, foot feet, analysis analyses, house houses, quiz quizzes, café cafés, TV TVs,
status statuses, fry fries"""
ALIKE = (
    "new news, len lens, it its, a as, caf caves, ga gas, good goods, glas glass, princes princess"
)


@pytest.mark.parametrize("pair", PAIRS.split(","))
def test_singulars_and_plurals_find_each_other(pair):
    one, many = pair.split()
    assert {one, many} <= {*forms(one)} & {*forms(many)}


@pytest.mark.parametrize("pair", ALIKE.split(","))
def test_what_only_looks_like_a_plural_is_none(pair):
    one, other = pair.split()
    assert other not in forms(one)
    assert one not in forms(other)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        *[("wi-fi", "wi fi"), ("wi\u2011fi ", "wi fi"), ("driver’s  seat", "driver 's seat")],
        *[("#BatteryLife", "Battery Life"), ("cafe\u0301", "café"), ("C#", "C #")],
        *[("don't", "do n't"), ("<br>", "")],
    ],
)
def test_a_name_has_the_parts_that_a_reader_finds(name, parts):
    assert parts_of(name) == parts.split()


@pytest.mark.parametrize(
    ("name", "words", "fits"),
    [
        *[("wifi", "wi fi|wi-fi|wi- fi|wifi|WIFIS", True), ("wi-fi", "wifi|wi fi", True)],
        ("battery life", "battery-life|batterylife|battery lives", True),
        *[("setup", "set up|set-up", True), ("headphones", "head phone", True)],
        *[("area", "are a|ar ex", False), ("meat", "me at", False), ("pasta", "past a", False)],
        *[("iphone", "i phone", False), ("battery life", "battery . life|battery and life", False)],
    ],
)
def test_between_parts_stands_a_hyphen_a_space_or_nothing(name, words, fits):
    pattern, stem = pattern_of(parts_of(name))
    for each in words.split("|"):
        assert bool(re.fullmatch(pattern, each, re.IGNORECASE)) == fits, each
        assert not fits or re.sub("[ -]", "", each).lower().startswith(stem)
