"""The suites of thinstack are what their page says, and a suite that is none is refused."""

import re
from collections import Counter
from itertools import takewhile

import pytest

from thinstack.errors import DataError, UnknownNameError
from thinstack.evaluate.suite import AspectCase, Case, halves, read_suite, suite_names
from thinstack.evaluate.suite_evaluation import case_sets

SUITES = {name: read_suite(name) for name in suite_names()}
POLARITIES = [name for name in suite_names() if name != "aspects"]
FAIR = case_sets(SUITES["fairness"])
SIZES = {"nationalities": 14, "ethnicities": 8, "orientations": 8, "ages": 6, "abilities": 7}


@pytest.mark.parametrize("name", POLARITIES)
def test_halves_are_alike(name):
    open_half, reported = (
        Counter((case.kind, case.polarity) for case in halves(SUITES[name], half))
        for half in ("open", "reported")
    )
    assert open_half == reported


def test_sets_of_fairness_differ_in_one_place_and_those_of_robustness_have_two_or_three_texts():
    sets = [(kind, [SUITES["fairness"][place].text for place in places]) for kind, places in FAIR]
    more = {"genders": 18, "faiths": 24, "orientations": 24}
    kinds = Counter(kind for kind, _ in sets)
    assert kinds == dict.fromkeys(kinds, 12) | more
    for kind, texts in sets:
        first, last = (common_start([line[::step] for line in texts]) for step in (1, -1))
        assert max(map(len, texts)) - first - last <= 20, texts
        assert len(texts) == SIZES.get(kind, 12) or kind == "genders"
    robust = SUITES["robustness"]
    kinds, places = zip(*case_sets(robust), strict=True)
    assert {len(one) for one in places} == {2, 3}
    assert sum(map(len, places)) == len(robust)
    assert {*Counter(kinds).values()} == {20}


def common_start(texts):
    """How many first characters all texts have in common."""
    return sum(1 for _ in takewhile(lambda column: len({*column}) == 1, zip(*texts, strict=False)))


def runs(case, length):
    """The words of a text, so many in a row."""
    words = re.findall(r"[\w']+", case.text.lower())
    return {tuple(words[place : place + length]) for place in range(len(words) - length + 1)}


@pytest.mark.parametrize("name", ["aspects", "composition", "domains", "polarity", "robustness"])
def test_halves_have_no_three_words_in_a_row_in_common(name):
    open_half, reported = (
        {run for case in halves(SUITES[name], half) for run in runs(case, 3)}
        for half in ("open", "reported")
    )
    assert not open_half & reported


def test_suites_have_no_four_words_in_a_row_in_common():
    of_suites = [{run for case in cases for run in runs(case, 4)} for cases in SUITES.values()]
    assert len(set().union(*of_suites)) == sum(map(len, of_suites))


GOOD = {
    "a": Case("a", "open", "no", "positive", "MFT", "-", "-", "No bugs."),
    "b": Case("b", "open", "no", "positive", "INV", "a", "-", "No mice."),
    "c": Case("c", "open", "no", "negative", "DIR", "a", "down", "No luck."),
}


@pytest.fixture
def write(tmp_path):
    """Writes a suite: `GOOD`, with a field of a case changed."""
    return lambda name="a", **changed: written(
        tmp_path, (GOOD | {name: GOOD[name]._replace(**changed)}).values()
    )


def written(folder, rows):
    path = folder / "mine.tsv"
    header = next(iter(rows))._fields
    path.write_text("".join("\t".join(row) + "\n" for row in (header, *rows)), encoding="utf-8")
    return path


def test_a_table_of_these_columns_is_a_suite(write):
    assert read_suite(write()) == read_suite(str(write())) == list(GOOD.values())


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("b", {"half": "closed"}, ":3: expected open or reported in the column 'half', found 'clo"),
        ("a", {"polarity": "good"}, ":2: expected positive or negative or neutral in the column"),
        ("a", {"test": "MTF"}, ":2: expected MFT or INV or DIR in the column 'test', found 'MTF'"),
        ("c", {"moves": "-"}, "expected up or down in the column 'moves', found '-' for DIR"),
        ("b", {"moves": "up"}, "expected - in the column 'moves', found 'up' for INV"),
        ("b", {"id": "a"}, ":3: duplicate id 'a'"),
        ("c", {"text": "No mice."}, ":4: duplicate text 'No mice.'"),
        ("a", {"partner": "b"}, ":2: expected partner '-' for an MFT, found 'b'"),
        ("b", {"partner": "x"}, "open half as partner, found 'x'"),
        ("b", {"partner": "b"}, "open half as partner, found 'b'"),
        ("b", {"half": "reported"}, "reported half as partner"),
        ("b", {"polarity": "neutral"}, "the partner's polarity in the column 'polarity', found ne"),
        ("c", {"moves": "up"}, "a move up in the column 'polarity', found negative after"),
        ("c", {"text": ""}, ":4: expected a text or a number in the column 'text'"),
    ],
)
def test_what_is_no_suite_is_placed(write, name, changed, message):
    with pytest.raises(DataError, match=rf"mine\.tsv.*{message}"):
        read_suite(write(name, **changed))


ROWS = [
    AspectCase("a", "open", "two", "0-3 negative; 8-13 positive", "Bad old times."),
    AspectCase("b", "reported", "none", "-", "We left."),
]


@pytest.fixture
def write_aspects(tmp_path):
    """Writes a suite of aspects: `ROWS`, with other terms of the first."""
    return lambda terms: written(tmp_path, [ROWS[0]._replace(terms=terms), ROWS[1]])


def test_a_table_with_terms_is_a_suite_of_aspects(write_aspects):
    first, second = read_suite(write_aspects("0-3 negative;8-13 positive"))
    assert first.terms == ((0, 3, "negative"), (8, 13, "positive"))
    assert (first.expected, second.expected) == ("Bad negative, times positive", "no term")
    assert (second.terms, second.half, second.text) == ((), "reported", "We left.")


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ("0-3", r"expected terms such as '4-11 positive; .* in the column 'terms', found '0-3'"),
        ("0-3 good", "found '0-3 good'"),
        ("0-3 negative;", "found ''"),
        ("8-15 neutral", "expected offsets from 0 to 14 in the column 'terms', found 8-15 n"),
        ("3-3 neutral", "expected offsets from 0 to 14"),
        ("8-13 neutral; 0-3 neutral", "terms in text order .* found 0-3 neu"),
        ("0-7 neutral; 4-7 neutral", "non-overlapping .* found 4-7 neutral"),
        ("0-2 neutral", "expected whole words in the column 'terms', found 0-2 neutral"),
        ("5-7 neutral", "expected whole words"),
        ("0-4 neutral", "expected whole words"),
    ],
)
def test_terms_that_do_not_fit_are_placed(write_aspects, terms, message):
    with pytest.raises(DataError, match=rf"mine\.tsv:2: .*{message}"):
        read_suite(write_aspects(terms))


def test_a_score_may_move_within_a_polarity(write):
    assert read_suite(write("c", polarity="positive"))[2].moves == "down"


def test_columns_and_known_names_are_told(tmp_path):
    (tmp_path / "mine.csv").write_text("text,label\na,b\n")
    with pytest.raises(DataError, match=r"'id'.*id, half, kind, polarity"):
        read_suite(tmp_path / "mine.csv")
    with pytest.raises(UnknownNameError, match=r"'polar'; known: aspects, .*polarity"):
        read_suite("polar")
