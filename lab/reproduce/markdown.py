"""A report of a table as Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reproduce.bootstrap import DRAWS, LEVEL

Report = Mapping[str, Any]

SHOWN_DIGITS = 12
"""Of a digest."""

DIFFERENCES = f"With the middle {LEVEL}% of a paired bootstrap ({DRAWS:,} draws)."
LIKELIHOOD: Mapping[str, Any] = {
    "key": "negative_log_likelihood",
    "title": "negative log-likelihood",
    "digits": 3,
}
"""The column of this measure."""


def markdown(report: Report, plots: Sequence[str] = ()) -> str:
    """The report as a page: the table, what differs, what it comes from; `plots` are file names."""
    parts = [
        f"# {report['title']}",
        _caption(report),
        "\n".join(_table(report)),
        "\n".join(_comparisons(report)),
        *(f"![{name}]({name})" for name in plots),
        _section("What differs from the paper", [*report["differs"], *_of_rows(report, "differs")]),
        _section("Where the figures come from", _origin(report)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _caption(report: Report) -> str:
    splits = sorted({part["split"] for row in report["rows"] for part in row["runs"]})
    paper = f" In brackets: {report['paper']}." if report["paper"] else ""
    text = f"Mean ± standard deviation over seeds, on {' and '.join(splits)} data.{paper}"
    if not report["complete"]:
        text += "\n\n**This is a part of the table.**"
        text += "".join(
            f" Row {name} is missing: {_line(reason)}."
            for name, reason in report["missing"].items()
        )
    return text


def _table(report: Report) -> Iterator[str]:
    rows = report["rows"]
    columns = [column for column in report["columns"] if column.get("shown", True)]
    measured = any(_likelihood(row) for row in rows)
    heads = [column["title"] for column in [*columns, *[LIKELIHOOD] * measured]]
    yield from _head(["", *heads, "parameters", "seeds"], words=1)
    bold = {column["key"]: _best(column, rows) for column in columns}
    for row in rows:
        figures = [_figure(column, row, bold[column["key"]]) for column in columns]
        figures += [_likelihood(row) or "-"] * measured
        counts = row["parameters"]
        parameters = counts["encoder" if "encoder" in counts else "model"]
        known = row["paper"].get("parameters")
        printed = _bracketed("" if known is None else f"{known:,.0f}")
        title = f"{row['title']}{_bracketed(row['source'])}"
        yield _cells([title, *figures, f"{parameters:,}{printed}", _seeds(row["runs"])])


def _likelihood(row: Report) -> str:
    """The mean over the seeds; nothing where it is not known."""
    spread = row.get("measures", {}).get(LIKELIHOOD["key"])
    return "" if spread is None else _number(spread["mean"], LIKELIHOOD)


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
    paper = row["paper"].get(key)
    printed = _bracketed("" if paper is None else _number(paper, column))
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
    yield "## Differences"
    yield ""
    yield DIFFERENCES
    yield ""
    yield from _head(["", "column", "difference", "interval", "paper"], words=2)
    for found in report["comparisons"]:
        column = columns[found["key"]]
        yield _cells(
            [
                f"{titles[found['a']]} less {titles[found['b']]}",
                column["title"],
                _signed(found["difference"], column),
                _interval(found, column),
                "-" if found["paper"] is None else _signed(found["paper"], column),
            ]
        )


def _signed(value: float, column: Mapping[str, Any]) -> str:
    return f"{value:+.{column['digits']}f}"


def _interval(found: Report, column: Mapping[str, Any]) -> str:
    """The interval of a difference; where there is none, the standard error over seeds."""
    if (ends := found.get("interval")) is not None:
        return " to ".join(_signed(end, column) for end in ends)
    error = found["error"]
    return "-" if error is None else f"± {_number(error, column)} over seeds"


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


def _versions(report: Report) -> Iterator[str]:
    """What computed the rows: the versions of each package, if there are several."""
    by_row = [row.get("versions", report["versions"]) for row in report["rows"]]
    for name in report["versions"]:
        found = sorted({versions[name] for versions in by_row if name in versions})
        yield f"{name} {' and '.join(found)}"


def _section(title: str, lines: Iterator[str] | Sequence[str]) -> str:
    items = "\n".join(f"- {_line(line)}" for line in lines)
    return f"## {title}\n\n{items}" if items else ""


def _head(titles: Sequence[str], *, words: int) -> Iterator[str]:
    """The first two lines of a table whose first columns, `words`, are no numbers."""
    yield _cells(titles)
    yield f"|{'---|' * words}{'---:|' * (len(titles) - words)}"


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_line(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _line(text: str) -> str:
    return " ".join(text.split())
