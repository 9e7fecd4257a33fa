"""Read suites: sentences of known polarity, with minimal pairs (CheckList, Ribeiro et al. 2020),
and sentences with terms of known polarity."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar, cast, get_args

from thinstack.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    from thinstack.data.tables.table import Table

SUITES = Path(__file__).parent / "suites"

Polarity = Literal["positive", "negative", "neutral"]
Half = Literal["open", "reported", "all"]
"""The part of a suite to use: the half for development, the half for reported results, or both."""
HALVES: Final = ("open", "reported")

NO_TERMS: Final = "-"
"""The cell for a text without terms."""
_EXAMPLE: Final = "'4-11 positive; 20-28 negative'"
_TERM: Final = re.compile(r"(\d{1,6})-(\d{1,6}) (negative|neutral|positive)", re.ASCII)


class Case(NamedTuple):
    """A text of a suite, and its expected answer.

    Attributes:
        id: the permanent name of the text.
        half: "open" or "reported".
        kind: the phenomenon that it tests, such as "negated_negatives".
        polarity: the polarity according to human readers.
        test: "MFT" tests only the polarity. "INV" is a modified partner with the same polarity.
            "DIR" is a modified partner with a different score.
        partner: the id of the original text, in the same half; "-" for MFT.
        moves: for DIR, "up" or "down": the direction from the partner's score to this one's. "-"
            for other tests.
        text: the sentence or sentences.
    """

    id: str
    half: str
    kind: str
    polarity: Polarity
    test: str
    partner: str
    moves: str
    text: str

    @property
    def expected(self) -> str:
        """The expected answer in words."""
        return self.polarity


class CaseTerm(NamedTuple):
    """A term of a text: the characters [start, end), and the polarity of the opinion about it."""

    start: int
    end: int
    polarity: str


class AspectCase(NamedTuple):
    """A text of an aspects suite, and the opinions about its terms.

    Attributes:
        id, half, kind, text: as in `Case`.
        terms: its terms in text order, not nested.
    """

    id: str
    half: str
    kind: str
    terms: tuple[CaseTerm, ...]
    text: str

    @property
    def expected(self) -> str:
        """The expected answer in words."""
        opinions = (f"{self.text[term.start : term.end]} {term.polarity}" for term in self.terms)
        return ", ".join(opinions) or "no term"


AnyCase = TypeVar("AnyCase", bound=Case | AspectCase)

_VALUES: Mapping[str, tuple[str, ...]] = {
    "half": HALVES,
    "polarity": get_args(Polarity),
    "test": ("MFT", "INV", "DIR"),
}
_ADVICE = f"a suite has the columns {', '.join(Case._fields)}"
_ADVICE += f"; an aspects suite has {', '.join(AspectCase._fields)}"


def suite_names() -> list[str]:
    """Return the names of the bundled suites."""
    return sorted(path.stem for path in SUITES.glob("*.tsv"))


def read_suite(name_or_path: str | Path) -> list[Case] | list[AspectCase]:
    """Read the texts of a suite. `name_or_path`: the name of a bundled suite, or the path of a
    table (`thinstack.data.tables`) whose columns are the fields of `Case` or of `AspectCase`, with
    `terms` in the format of `terms_of`.

    Raises UnknownNameError for an unknown name. Raises DataError, with file and line, for a row
    that is not a case. Also for a duplicate id or text, and for an invalid partner.
    """
    # Not at the top: the command line imports the names of the halves from here at startup.
    from thinstack.data.tables.dialects import is_table
    from thinstack.data.tables.table import Table

    path = Path(name_or_path)
    if not is_table(path):
        if str(name_or_path) not in suite_names():
            raise UnknownNameError("suite", str(name_or_path), suite_names())
        path = SUITES / f"{name_or_path}.tsv"
    table = Table(path)
    if "terms" in table.columns and "polarity" not in table.columns:
        return [
            AspectCase(**values | {"terms": terms_of(values["terms"], values["text"], place)})
            for place, values in _rows(table, AspectCase._fields)
        ]
    places, cases = dict[str, str](), dict[str, Case]()
    for place, values in _rows(table, Case._fields):
        case = Case(**values)
        moves = ("up", "down") if case.test == "DIR" else ("-",)
        _check_value(values, "moves", moves, place, f" for {case.test}")
        cases[case.id], places[case.id] = case, place
    for case in cases.values():
        _check_pair(case, cases, places[case.id])
    return list(cases.values())


def halves(cases: Sequence[AnyCase], half: Half) -> list[AnyCase]:
    """Return the cases of one half, or of both ("all")."""
    return [case for case in cases if half in ("all", case.half)]


def _rows(table: "Table", columns: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Iterate over the rows of a suite with their places. Raises DataError for an invalid value,
    and for a duplicate id or text."""
    seen: dict[str, set[str]] = {"id": set(), "text": set()}
    for row in table.rows(columns, advice=_ADVICE):
        place, values = f"{table.path}:{row.line}", cast(dict[str, Any], row.values)
        for column, allowed in _VALUES.items():
            if column in columns:
                _check_value(values, column, allowed, place)
        for column, before in seen.items():
            if (value := values[column]) in before:
                raise DataError(f"{place}: duplicate {column} {value!r:.60}; make it unique")
            before.add(value)
        yield place, values


def _check_value(
    values: Mapping[str, str], column: str, allowed: Sequence[str], place: str, more: str = ""
) -> None:
    if (value := values[column]) not in allowed:
        expected = f"expected {' or '.join(allowed)} in the column {column!r}"
        raise DataError(f"{place}: {expected}, found {value!r:.60}{more}")


def _check_pair(case: Case, cases: Mapping[str, Case], place: str) -> None:
    if case.test == "MFT":
        if case.partner != "-":
            raise DataError(f"{place}: expected partner '-' for an MFT, found {case.partner!r}")
        return
    partner = cases.get(case.partner)
    if partner is None or partner is case or partner.half != case.half:
        wrong = f"expected the id of another text in the {case.half} half as partner"
        raise DataError(f"{place}: {wrong}, found {case.partner!r:.60}")
    order = ("negative", "neutral", "positive")
    change = order.index(case.polarity) - order.index(partner.polarity)
    allowed = {"-": change == 0, "up": change >= 0, "down": change <= 0}
    if not allowed[case.moves]:
        wanted = "the partner's polarity" if case.test == "INV" else f"a move {case.moves}"
        raise DataError(
            f"{place}: expected {wanted} in the column 'polarity', found {case.polarity} after "
            f"{partner.polarity}"
        )


def terms_of(cell: str, text: str, place: str) -> tuple[CaseTerm, ...]:
    """Parse the terms of a cell such as "4-11 positive; 20-28 negative", in text order; "-" means
    none.

    Raises DataError, whose message starts with `place`, for any other cell. Also for characters
    outside the text, terms that are not whole words, and terms out of order or nested.
    """
    terms = list[CaseTerm]()
    for part in () if cell == NO_TERMS else cell.split(";"):
        match = _TERM.fullmatch(part.strip())
        if match is None:
            expected = f"expected terms such as {_EXAMPLE}, or '{NO_TERMS}' for none"
            raise DataError(f"{place}: {expected}, in the column 'terms', found {part!r:.60}")
        start, end, problem = int(match[1]), int(match[2]), None
        around = (text[at - 1 : at + 1] for at in (start, end) if 0 < at < len(text))
        if not start < end <= len(text):
            problem = f"offsets from 0 to {len(text)}"
        elif terms and start < terms[-1].end:
            problem = "non-overlapping terms in text order"
        elif any(map(str.isalnum, around)) or text[start:end] != text[start:end].strip():
            problem = "whole words"
        if problem:
            raise DataError(f"{place}: expected {problem} in the column 'terms', found {match[0]}")
        terms.append(CaseTerm(start, end, match[3]))
    return tuple(terms)
