"""Suites of sentences whose polarity is known, with minimal pairs (CheckList, Ribeiro et al.
2020)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast, get_args

from thinstack.data.tables import is_table, read_table
from thinstack.errors import DataError, UnknownNameError

__all__ = ["HALVES", "Case", "Half", "Polarity", "halves", "read_suite", "suite_names"]

SUITES = Path(__file__).parent / "suites"

Polarity = Literal["positive", "negative", "neutral"]
Half = Literal["open", "reported", "all"]
"""What of a suite is taken: the half that may be looked at, the one that is reported, or both."""
HALVES: Final = ("open", "reported")


class Case(NamedTuple):
    """A text of a suite and what is expected of it.

    Attributes:
        id: its name, which stays with it.
        half: "open" or "reported".
        kind: what it shows, such as "negated_negatives".
        polarity: what its readers say.
        test: "MFT", the polarity alone; "INV", a change of the partner that changes no polarity;
            "DIR", one that moves the score.
        partner: the id of the text that it is a change of, in the same half; "-" for MFT.
        moves: for DIR where the score goes from the partner's to its own, "up" or "down"; else "-".
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
    """The texts of a suite, by its name or the path of a table (`thinstack.data.tables`) with the
    fields of `Case` as columns, "-" where there is nothing to say.

    Raises UnknownNameError for a name that is not known, DataError, with file and line, for a row
    that is no case, an id or a text that stands there twice, and a pair that is none.
    """
    path = Path(name_or_path)
    if not is_table(path):
        if str(name_or_path) not in suite_names():
            raise UnknownNameError("suite", str(name_or_path), suite_names())
        path = SUITES / f"{name_or_path}.tsv"
    lines: dict[str, int] = {}
    cases: dict[str, Case] = {}
    texts: set[str] = set()
    for row in read_table(path, Case._fields, advice=_ADVICE):
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
    """The cases of a half, or of both."""
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
