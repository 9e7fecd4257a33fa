"""A report of a table as Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reproduce.bootstrap import DRAWS, LEVEL

Report = Mapping[str, Any]

SHOWN_DIGITS = 12
"""Of a digest."""

DIFFERENCES = (
    "± is the standard error over the seeds. *Examples*: the standard error of the difference that "
    "comes from measuring on so few examples, which both rows answer. *Interval*: the middle "
    f"{LEVEL}% of a paired bootstrap of {DRAWS:,} draws. Each draw takes examples, the same for "
    "both rows, and seeds, with replacement. An interval that holds 0 shows no difference. Rows "
    "that were run apart from each other, or before the bootstrap was made, have no interval."
)
MEASURES = (
    "*Negative log-likelihood*: the mean, over sentences or pairs, of -ln of the probability of "
    "the right class. *Calibration error*: how far probabilities are from the share of right "
    "answers, in percentage points (Guo et al. 2017, 15 bins). Lower is better in both."
)
NOT_KEPT = (
    "{} here were run when probabilities were not kept. Negative log-likelihood and calibration "
    "error stand beside accuracy once they are run again."
)
NLL = "negative log-likelihood"
MEASURED: Mapping[str, Mapping[str, Any]] = {
    NLL: {"key": "negative_log_likelihood", "digits": 3},
    "calibration error": {"key": "calibration_error", "digits": 1},
}
"""The columns of the measures, by their titles."""


def markdown(report: Report, plots: Sequence[str] = ()) -> str:
    """The report as a page: the table, what differs, what it comes from; `plots` are file names."""
    parts = [
        f"# {report['title']}",
        _caption(report),
        "\n".join(_table(report)),
        "\n".join(_measures(report)),
        "\n".join(_comparisons(report)),
        *(f"![{name}]({name})" for name in plots),
        _section("What differs from the paper", [*report["differs"], *_of_rows(report, "differs")]),
        _section("Where the figures come from", _origin(report)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _caption(report: Report) -> str:
    splits = sorted({part["split"] for row in report["rows"] for part in row["runs"]})
    paper = f" In brackets: {report['paper']}." if report["paper"] else ""
    text = f"Mean ± standard deviation of the seeds' figures on {' and '.join(splits)} data.{paper}"
    if not report["complete"]:
        text += "\n\n**This is a part of the table.**"
        text += "".join(
            f" Row {name} is missing: {_line(reason)}."
            for name, reason in report["missing"].items()
        )
    return text


def _table(report: Report) -> Iterator[str]:
    columns, rows = report["columns"], report["rows"]
    titles = ["", *(column["title"] for column in columns), "parameters", "seconds a run", "seeds"]
    yield _cells(titles)
    yield _cells(["---", *["---:"] * (len(titles) - 1)])
    bold = {column["key"]: _best(column, rows) for column in columns}
    for row in rows:
        figures = [_figure(column, row, bold[column["key"]]) for column in columns]
        runs = row["runs"][0]
        counts = row["parameters"]
        parameters = counts["encoder" if "encoder" in counts else "model"]
        known = row["paper"].get("parameters")
        printed = _bracketed("" if known is None else f"{known:,.0f}")
        title = f"{row['title']}{_bracketed(row['source'])}"
        rest = f"{parameters:,}{printed}", f"{runs['seconds']:.0f}", _seeds(row["runs"])
        yield _cells([title, *figures, *rest])


def _measures(report: Report) -> Iterator[str]:
    """A table of the measures beside accuracy, and which rows are not in it."""
    if not any(column["key"].endswith("accuracy") for column in report["columns"]):
        return
    models = [row for row in report["rows"] if row["rival"] is None]
    known = [row for row in models if None not in row.get("measures", {"": None}).values()]
    if known:
        yield from (MEASURES, "", _cells(["", *MEASURED]), _cells(["---", "---:", "---:"]))
    for row in known:
        figures = [
            _number(row["measures"][column["key"]]["mean"], column)
            + _spread(row["measures"][column["key"]]["std"], column)
            for column in MEASURED.values()
        ]
        yield _cells([row["title"], *figures])
    if len(known) < len(models):
        yield from [""] * bool(known)
        yield NOT_KEPT.format("Models that are not" if known else "The models")


def _best(column: Mapping[str, Any], rows: Sequence[Report]) -> str | None:
    """The best mean of a column, as it is shown, of the rows that are measured on the same."""
    key = column["key"]
    found = [row["figures"].get(key) for row in rows if _shares_cases(key, row)]
    means = [figure["mean"] for figure in found if figure is not None]
    if len(means) < 2:
        return None
    return _number(max(means) if column["best"] == "highest" else min(means), column)


def _shares_cases(key: str, row: Report) -> bool:
    """Whether a row's figure is of the same cases as the other rows'. A model that reads other
    trees than the treebank's has only those phrases that both have."""
    return "phrase" not in key or (row["trees"] == "gold" and row.get("parser") is None)


def _seeds(runs: Sequence[Mapping[str, Any]]) -> str:
    """The number of seeds, and that of a variant where it differs."""
    first, *others = ((run["variant"], len(run["seeds"])) for run in runs)
    return "; ".join([str(first[1]), *(f"{name} {n}" for name, n in others if n != first[1])])


def _figure(column: Mapping[str, Any], row: Report, best: str | None) -> str:
    key = column["key"]
    paper, paper_std = row["paper"].get(key), row["paper_std"].get(key)
    printed = _bracketed(
        "" if paper is None else _number(paper, column) + _spread(paper_std, column)
    )
    if (found := row["figures"].get(key)) is None:
        return ("-" if key in row["figures"] else "not yet run") + printed
    mean = _number(found["mean"], column)
    bold = mean == best and _shares_cases(key, row)
    return (f"**{mean}**" if bold else mean) + _spread(found["std"], column) + printed


def _spread(std: float | None, column: Mapping[str, Any]) -> str:
    return "" if std is None else f" ± {_number(std, column)}"


def _number(value: float, column: Mapping[str, Any]) -> str:
    return f"{value:.{column['digits']}f}"


def _bracketed(text: str) -> str:
    return f" ({text})" if text else ""


def _comparisons(report: Report) -> Iterator[str]:
    """A table of the differences of rows."""
    if not report["comparisons"]:
        return
    titles = {row["name"]: row["title"] for row in report["rows"]}
    columns = {column["key"]: column for column in report["columns"]}
    likelihood = MEASURED[NLL]
    yield "## Differences"
    yield ""
    yield DIFFERENCES
    yield ""
    yield _cells(["", "column", "difference", "examples", "interval", "paper", NLL])
    yield _cells(["---", "---", *["---:"] * 5])
    for found in report["comparisons"]:
        column, other = columns[found["key"]], found.get("likelihood")
        yield _cells(
            [
                f"{titles[found['a']]} less {titles[found['b']]}",
                column["title"],
                f"**{_signed(found['difference'], column)}**{_spread(found['error'], column)}",
                "-"
                if found["examples_error"] is None
                else _number(found["examples_error"], column),
                _interval(found.get("interval"), column),
                "-" if found["paper"] is None else _signed(found["paper"], column),
                "-"
                if other is None
                else f"{_signed(other['difference'], likelihood)}, "
                f"{_interval(other['interval'], likelihood)}",
            ]
        )


def _signed(value: float, column: Mapping[str, Any]) -> str:
    return f"{value:+.{column['digits']}f}"


def _interval(ends: Sequence[float] | None, column: Mapping[str, Any]) -> str:
    return "-" if ends is None else " to ".join(_signed(end, column) for end in ends)


def _of_rows(report: Report, key: str) -> Iterator[str]:
    for row in report["rows"]:
        if row[key]:
            yield f"{row['title']}: {row[key]}"


def _origin(report: Report) -> Iterator[str]:
    threads = report["threads"]
    yield f"Command: `{report['command']}`, {threads} thread{'s' * (threads > 1)} a run."
    parts = [part for row in report["rows"] for part in row["runs"]]
    commits = sorted({commit for part in parts for commit in part["commits"]})
    names = ", ".join(_versions(report))
    yield f"Commit: {', '.join(commits)}; {names}." if commits else f"No git repository; {names}."
    reported = dict.fromkeys(f"{part['reported_on']} ({part['split']})" for part in parts)
    yield f"Reported on: {', '.join(reported)}."
    files = {name: digest for part in parts for name, digest in part["data"].items()}
    digests = ", ".join(f"`{name}` {digest[:SHOWN_DIGITS]}" for name, digest in files.items())
    yield f"Data, SHA-256: {digests}."
    parameters = "Parameters count the encoder, without leaf vectors and task head."
    yield f"{parameters} Seconds count only the training."


def _versions(report: Report) -> Iterator[str]:
    """What computed the rows: the versions of each package, if there are several."""
    by_row = [row.get("versions", report["versions"]) for row in report["rows"]]
    for name in report["versions"]:
        found = sorted({versions[name] for versions in by_row if name in versions})
        yield f"{name} {' and '.join(found)}"


def _section(title: str, lines: Iterator[str] | Sequence[str]) -> str:
    items = "\n".join(f"- {_line(line)}" for line in lines)
    return f"## {title}\n\n{items}" if items else ""


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_line(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _line(text: str) -> str:
    return " ".join(text.split())
