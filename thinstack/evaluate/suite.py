"""Reads suites: sentences of known polarity, with minimal pairs (CheckList, Ribeiro et al.
2020)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast, get_args

from thinstack.errors import DataError, UnknownNameError

SUITES = Path(__file__).parent / "suites"

Polarity = Literal["positive", "negative", "neutral"]
Half = Literal["open", "reported", "all"]
"""The part of a suite to take: the half that may be looked at, the half that is reported, or
both."""
HALVES: Final = ("open", "reported")


class Case(NamedTuple):
    """A text of a suite, and the answer that is expected.

    Attributes:
        id: the name of the text, which never changes.
        half: "open" or "reported".
        kind: what the text tests, such as "negated_negatives".
        polarity: the polarity that its readers found.
        test: "MFT" tests only the polarity. "INV" is a changed partner with the same polarity.
            "DIR" is a changed partner whose score moves.
        partner: the id of the text that was changed into this one, in the same half; "-" for MFT.
        moves: for DIR, "up" or "down": how the score moves from the partner's to this text's. "-"
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


_VALUES: Mapping[str, tuple[str, ...]] = {
    "half": HALVES,
    "polarity": get_args(Polarity),
    "test": ("MFT", "INV", "DIR"),
}
_ADVICE = f"a suite has the columns {', '.join(Case._fields)}"


def suite_names() -> list[str]:
    """The suites that thinstack brings along."""
    return sorted(path.stem for path in SUITES.glob("*.tsv"))


def read_suite(name_or_path: str | Path) -> list[Case]:
    """The texts of a suite. `name_or_path`: the name of a suite that thinstack brings along, or the
    path of a table (`thinstack.data.tables`) whose columns are the fields of `Case`.

    Raises UnknownNameError for an unknown name. Raises DataError, with file and line, for a row
    that is no case. Also for an id or a text that occurs twice, and a partner that does not fit.
    """
    # Not before: the command line takes the names of the halves from here when it starts.
    from thinstack.data.tables.table import Table
    from thinstack.data.tables.table_kinds import is_table

    path = Path(name_or_path)
    if not is_table(path):
        if str(name_or_path) not in suite_names():
            raise UnknownNameError("suite", str(name_or_path), suite_names())
        path = SUITES / f"{name_or_path}.tsv"
    lines: dict[str, int] = {}
    cases: dict[str, Case] = {}
    texts: set[str] = set()
    for row in Table(path).rows(Case._fields, advice=_ADVICE):
        case, place = Case(**cast(dict[str, Any], row.values)), f"{path}:{row.line}"
        _check_values(case, place)
        for column, value, known in (("id", case.id, cases), ("text", case.text, texts)):
            if value in known:
                raise DataError(f"{place}: expected each {column} once, found {value!r:.60} again")
        texts.add(case.text)
        cases[case.id], lines[case.id] = case, row.line
    for case in cases.values():
        _check_pair(case, cases, f"{path}:{lines[case.id]}")
    return list(cases.values())


def halves(cases: list[Case], half: Half) -> list[Case]:
    """The cases of one half, or of both ("all")."""
    return [case for case in cases if half in ("all", case.half)]


def _check_values(case: Case, place: str) -> None:
    moves = ("up", "down") if case.test == "DIR" else ("-",)
    for column, known in {**_VALUES, "moves": moves}.items():
        if (value := getattr(case, column)) not in known:
            expected = f"expected {' or '.join(known)} in the column {column!r}"
            found = f"{value!r:.60}" + (f" of a {case.test}" if column == "moves" else "")
            raise DataError(f"{place}: {expected}, found {found}")


def _check_pair(case: Case, cases: Mapping[str, Case], place: str) -> None:
    if case.test == "MFT":
        if case.partner != "-":
            raise DataError(f"{place}: expected no partner ('-') of an MFT, found {case.partner!r}")
        return
    partner = cases.get(case.partner)
    if partner is None or partner is case or partner.half != case.half:
        wrong = f"expected the id of another text of the {case.half} half as partner"
        raise DataError(f"{place}: {wrong}, found {case.partner!r:.60}")
    order = ("negative", "neutral", "positive")
    change = order.index(case.polarity) - order.index(partner.polarity)
    allowed = {"-": change == 0, "up": change >= 0, "down": change <= 0}
    if not allowed[case.moves]:
        wanted = "the partner's polarity" if case.test == "INV" else f"one that goes {case.moves}"
        found = f"{case.polarity} after {partner.polarity}"
        raise DataError(f"{place}: expected {wanted} in the column 'polarity', found {found}")
