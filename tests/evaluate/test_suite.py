"""The suite of polarities that thinstack brings along is what its page says, and a suite that is
none is refused."""

from collections import Counter

import pytest

from thinstack.errors import DataError, UnknownNameError
from thinstack.evaluate.suite import Case, halves, read_suite, suite_names

CASES = read_suite("polarity")
ONE_SIDED = {"negated_negatives": "positive", "negated_positives": "negative", "facts": "neutral"}
BY_OTHER_NEGATORS = {"never", "hardly", "without", "nothing", "no"}
DOMAINS = {"restaurants", "hotels", "phones", "software", "books", "services"}
OTHERS = {"concessions", "comparatives", "could_have_been", "irony"}


def test_it_has_these_kinds_in_halves_of_one_size():
    assert suite_names() == ["polarity"]
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


def test_a_score_may_move_within_a_polarity(write):
    assert read_suite(write("c", polarity="positive"))[2].moves == "down"


def test_columns_and_known_names_are_told(tmp_path):
    (tmp_path / "mine.csv").write_text("text,label\na,b\n")
    with pytest.raises(DataError, match=r"'id'.*id, half, kind, polarity"):
        read_suite(tmp_path / "mine.csv")
    with pytest.raises(UnknownNameError, match="'polar'; known: polarity"):
        read_suite("polar")
