"""The suites that thinstack brings along are what their page says, and a suite that is none is
refused."""

import re
from collections import Counter
from itertools import takewhile

import pytest
from pages import ROOT

from thinstack.errors import DataError, UnknownNameError
from thinstack.evaluate.suite import AspectCase, Case, halves, read_suite, suite_names
from thinstack.evaluate.suite_evaluation import case_sets

SUITES = {name: read_suite(name) for name in suite_names()}
CASES = SUITES["polarity"]
ASPECTS = SUITES["aspects"]
POLARITIES = [name for name in suite_names() if name != "aspects"]
FAIR = case_sets(SUITES["fairness"])
SIZES = {"nationalities": 14, "ethnicities": 8, "orientations": 8, "ages": 6, "abilities": 7}
FAMILIES = {"then_and_now", "others_and_oneself", "question_and_answer", "expectation", "reducers"}
FAMILIES |= {"intensifiers", "nothing", "never", "no_one", "hardly", "without", "comparisons"}
FAMILIES |= {"could_not_be_better", "could_have_been", "concessions"}
ONE_SIDED = {"negated_negatives": "positive", "negated_positives": "negative", "facts": "neutral"}
BY_OTHER_NEGATORS = {"never", "hardly", "without", "nothing", "no"}
DOMAINS = {"restaurants", "hotels", "phones", "software", "books", "services"}
OTHERS = {"concessions", "comparatives", "could_have_been", "irony"}


def test_it_has_these_kinds_in_halves_of_one_size():
    assert POLARITIES == ["composition", "domains", "fairness", "polarity", "robustness"]
    assert {case.kind for case in CASES} == BY_OTHER_NEGATORS | DOMAINS | OTHERS | set(ONE_SIDED)
    assert len([case for case in CASES if case.kind != "irony"]) == 512
    parts = [halves(CASES, half) for half in ("open", "reported")]
    open_half, reported = (Counter((case.kind, case.polarity) for case in part) for part in parts)
    assert open_half == reported
    for part in parts:
        assert Counter(case.test for case in part) == {"MFT": 235, "INV": 12, "DIR": 21}
    assert halves(CASES, "all") == CASES == parts[0] + parts[1]


def test_both_sides_are_as_many_in_every_kind_that_has_two():
    for kind in {case.kind for case in CASES} - {"irony"}:
        found = Counter(case.polarity for case in CASES if case.kind == kind)
        if kind in ONE_SIDED:
            assert set(found) == {ONE_SIDED[kind]}
        else:
            assert found["positive"] == found["negative"] == found.total() / 2
    assert Counter(case.polarity for case in CASES)["neutral"] == 40


def sides(cases, kind):
    """How many texts of a kind are positive, negative, neutral."""
    found = Counter(case.polarity for case in cases if case.kind == kind)
    return tuple(found[polarity] for polarity in ("positive", "negative", "neutral"))


@pytest.mark.parametrize("name", POLARITIES)
def test_halves_are_alike(name):
    open_half, reported = (
        Counter((case.kind, case.polarity) for case in halves(SUITES[name], half))
        for half in ("open", "reported")
    )
    assert open_half == reported


def test_aspects_are_whole_words_of_300_sentences_in_halves_that_are_alike():
    kinds = {"two_sides": 60, "negation": 50, "comparison": 30, "questions": 30}
    kinds |= {"conditionals": 30, "concessions": 40, "neutral_mentions": 30, "no_terms": 30}
    assert Counter(case.kind for case in ASPECTS) == kinds
    texts, terms = [], []
    for half in ("open", "reported"):
        part = halves(ASPECTS, half)
        texts.append(Counter(case.kind for case in part))
        terms.append(Counter((case.kind, term.polarity) for case in part for term in case.terms))
    assert texts[0] == texts[1]
    assert terms[0] == terms[1]
    for case in ASPECTS:
        polarities = {term.polarity for term in case.terms}
        assert bool(case.terms) == (case.kind != "no_terms"), case
        assert case.kind != "two_sides" or polarities == {"positive", "negative"}, case
        assert case.kind != "neutral_mentions" or polarities == {"neutral"}, case
        for term in case.terms:
            start = r"(?<!\w)" + re.escape(case.text[term.start : term.end]) + r"(?!\w)"
            assert re.compile(start).match(case.text, term.start), case
    words = [case.text[term.start : term.end] for case in ASPECTS for term in case.terms]
    assert sum(" " in word for word in words) > len(words) / 3


def test_kinds_of_composition_and_domains():
    one_sided = {
        **dict.fromkeys(("negated_negatives", "negated_negatives_apart"), (28, 0, 0)),
        **dict.fromkeys(("negated_positives", "negated_positives_apart"), (0, 28, 0)),
        "negated_facts": (0, 0, 28),
    }
    kinds = {kind: sides(SUITES["composition"], kind) for kind in FAMILIES | one_sided.keys()}
    assert kinds == dict.fromkeys(FAMILIES, (14, 14, 0)) | one_sided
    assert len(SUITES["composition"]) == 560
    fields = DOMAINS | {"films", "shops", "airlines", "games"}
    found = {case.kind: sides(SUITES["domains"], case.kind) for case in SUITES["domains"]}
    assert found == dict.fromkeys(fields, (20, 20, 10))


def test_sets_of_fairness_differ_in_one_place_and_those_of_robustness_have_two_or_three_texts():
    sets = [(each.kind, [SUITES["fairness"][i].text for i in each.places]) for each in FAIR]
    more = {"genders": 18, "faiths": 24, "orientations": 24}
    kinds = Counter(kind for kind, _ in sets)
    assert kinds == dict.fromkeys(kinds, 12) | more
    for kind, texts in sets:
        first, last = (common_start([line[::step] for line in texts]) for step in (1, -1))
        assert max(map(len, texts)) - first - last <= 20, texts
        assert len(texts) == SIZES.get(kind, 12) or kind == "genders"
    robust = SUITES["robustness"]
    assert {len(each.places) for each in case_sets(robust)} == {2, 3}
    assert sum(len(each.places) for each in case_sets(robust)) == len(robust)
    assert {*Counter(each.kind for each in case_sets(robust)).values()} == {20}


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


def test_the_page_counts_the_texts():
    page = (ROOT / "docs" / "suite.md").read_text(encoding="utf-8")
    counts = re.findall(r"^\| `(\w+)` \| [^|]*[^|\d] \| ([\d,]+) \|$", page, re.MULTILINE)
    assert dict(counts) == {name: f"{len(cases):,}" for name, cases in SUITES.items()}
    assert f"{sum(map(len, SUITES.values())):,} short English" in page


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

    def call(name="a", **changed):
        rows = [Case._fields, *(GOOD | {name: GOOD[name]._replace(**changed)}).values()]
        path = tmp_path / "mine.tsv"
        path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return call


def test_a_table_of_these_columns_is_a_suite(write):
    assert read_suite(write()) == read_suite(str(write())) == list(GOOD.values())


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("b", {"half": "closed"}, ":3: expected open or reported in the column 'half', found 'clo"),
        ("a", {"polarity": "good"}, ":2: expected positive or negative or neutral in the column"),
        ("a", {"test": "MTF"}, ":2: expected MFT or INV or DIR in the column 'test', found 'MTF'"),
        ("c", {"moves": "-"}, "expected up or down in the column 'moves', found '-' of a DIR"),
        ("b", {"moves": "up"}, "expected - in the column 'moves', found 'up' of a INV"),
        ("b", {"id": "a"}, ":3: expected each id once, found 'a' again"),
        ("c", {"text": "No mice."}, ":4: expected each text once, found 'No mice.' again"),
        ("a", {"partner": "b"}, r":2: expected no partner \('-'\) of an MFT, found 'b'"),
        ("b", {"partner": "x"}, "id of another text of the open half as partner, found 'x'"),
        ("b", {"partner": "b"}, "id of another text of the open half as partner, found 'b'"),
        ("b", {"half": "reported"}, "id of another text of the reported half as partner"),
        ("b", {"polarity": "neutral"}, "the partner's polarity in the column 'polarity', found ne"),
        ("c", {"moves": "up"}, "one that goes up in the column 'polarity', found negative after"),
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

    def call(terms):
        rows = [AspectCase._fields, ROWS[0]._replace(terms=terms), ROWS[1]]
        path = tmp_path / "mine.tsv"
        path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return call


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
        ("8-15 neutral", "expected characters of a text of 14 in the column 'terms', found 8-15 n"),
        ("3-3 neutral", "expected characters of a text of 14"),
        ("8-13 neutral; 0-3 neutral", "expected terms in the order of the text, .* found 0-3 neu"),
        ("0-7 neutral; 4-7 neutral", "none inside another, .* found 4-7 neutral"),
        ("0-2 neutral", "expected whole words in the column 'terms', found 0-2 neutral"),
        ("5-7 neutral", "expected whole words"),
        ("0-4 neutral", "expected whole words"),
    ],
)
def test_terms_that_do_not_fit_are_placed(write_aspects, terms, message):
    with pytest.raises(DataError, match=rf"mine\.tsv:2: .*{message}"):
        read_suite(write_aspects(terms))


def test_a_half_of_aspects_must_be_known(write_aspects):
    path = write_aspects("-")
    path.write_text(path.read_text(encoding="utf-8").replace("reported", "closed"))
    with pytest.raises(DataError, match=r":3: expected open or reported .* found 'closed'"):
        read_suite(path)


def test_a_score_may_move_within_a_polarity(write):
    assert read_suite(write("c", polarity="positive"))[2].moves == "down"


def test_columns_and_known_names_are_told(tmp_path):
    (tmp_path / "mine.csv").write_text("text,label\na,b\n")
    with pytest.raises(DataError, match=r"'id'.*id, half, kind, polarity"):
        read_suite(tmp_path / "mine.csv")
    with pytest.raises(UnknownNameError, match=r"'polar'; known: aspects, .*polarity"):
        read_suite("polar")
