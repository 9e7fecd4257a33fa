"""Every table and figure of the papers with ours beside them, lab/papers.md, written from
`papers.toml` and `lab/results/`.

    python lab/scripts/papers_page.py lab/papers.md
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from written_page import run

ROOT = Path(__file__).parents[2]
Item = Mapping[str, Any]

INTRO = """\
# The papers, table by table

Ours are means over the seeds on development data; the papers' figures, in brackets, are on test
data. [What the tables show](results/README.md) lists what is reproduced and what is not.

A name in the last column is a [table](tables.md), whose page or JSON has the standard deviations.

<!-- Written by `python lab/scripts/papers_page.py lab/papers.md` from `lab/results/` and the
list in `lab/scripts/papers.toml`. -->
"""


def page() -> str:
    """Every table and figure of the papers with ours beside them."""
    papers = tomllib.loads((ROOT / "lab" / "scripts" / "papers.toml").read_text(encoding="utf-8"))[
        "papers"
    ]
    parts = [INTRO]
    for paper in papers:
        lines = "\n".join(_row(item) for item in paper["items"])
        head = "| | what it shows | ours (the paper's) | from |\n|---|---|---|---|"
        parts.append(f"## {paper['title']}\n\n{paper['about']}\n\n{head}\n{lines}\n")
    return "\n".join(parts)


def _row(item: Item) -> str:
    name = item.get("results")
    source = item.get("command", f"[{name}](results/{name}.md)" if name else "")
    ours = "<br>".join([*_figures(item), *_plot(item), *_text(item)])
    return f"| {item['name']} | {item['shows']} | {ours} | {source} |"


def report_of(name: str) -> Any:
    """The report in `lab/results/NAME.json`, or one without rows of a table that was never run."""
    file = ROOT / "lab" / "results" / f"{name}.json"
    if file.is_file():
        return json.loads(file.read_text(encoding="utf-8"))
    columns = [{"digits": 2, **column} for column in _table(name)["columns"]]
    return {"rows": [], "columns": columns, "curves": {}}


def rows_of(name: str) -> dict[str, Item]:
    """What `lab/recipes/tables/NAME.toml` says of its rows, by their names."""
    return {row["name"]: row for row in _table(name)["rows"]}


def _table(name: str) -> Item:
    return tomllib.loads((ROOT / "lab" / "recipes" / "tables" / f"{name}.toml").read_text("utf-8"))


def _figures(item: Item) -> Iterator[str]:
    """A line for each row, of the report or of the table that it comes from. A column that is newer
    than the report is not yet run."""
    if "rows" not in item:
        return
    report = report_of(item["results"])
    rows = {row["name"]: row for row in report["rows"]}
    columns = [*_table(item["results"]).get("columns", ()), *report["columns"]]
    digits = {column["key"]: column.get("digits", 2) - 1 for column in columns}
    for name in item["rows"]:
        if name not in rows:
            yield f"{rows_of(item['results'])[name]['title']}: {_not_run(item, name, digits)}"
            continue
        row = rows[name]
        if item.get("kind") == "seconds":
            run = row["runs"][0]
            epochs = sum(run["epochs_run"]) / len(run["epochs_run"])
            each = f"{run['seconds'] / epochs:.0f} an epoch"
            figures = f"{run['seconds']:.0f} s, {epochs:g} epochs, {each}"
        else:
            figures = " / ".join(
                _figure(row, key, digits[key])
                if key in row["figures"]
                else _not_run({**item, "columns": [key]}, name, digits)
                for key in item["columns"]
            )
        yield f"{row['title']}: {figures}"


def _not_run(item: Item, name: str, digits: Mapping[str, int]) -> str:
    """The paper's figures of a row that the report does not have."""
    paper = rows_of(item["results"])[name].get("paper", {})
    shown = [
        f"{paper[key]:.{digits[key]}f}" if key in paper else "-" for key in item.get("columns", ())
    ]
    return "not yet run" + (f" ({' / '.join(shown)})" if shown else "")


def _figure(row: Item, key: str, digits: int) -> str:
    found, paper = row["figures"][key], row["paper"].get(key)
    ours = "-" if found is None else f"{found['mean']:.{digits}f}"
    return ours if paper is None else f"{ours} ({paper:.{digits}f})"


def _plot(item: Item) -> Iterator[str]:
    """A link to the plot of a curve, and with `groups` the figures of its rows."""
    if "curve" not in item:
        return
    report = report_of(item["results"])
    titles = {row["name"]: row["title"] for row in report["rows"]}
    lines = report["curves"].get(item["curve"], {})
    name = f"{item['results']}-{item['curve']}.svg"
    yield f"[{name}](results/{name})" if any(lines.values()) else f"{name}: not yet run"
    if "groups" in item:
        for row, points in lines.items():
            figures = (f"{point['mean']:.1f}" for point in points)
            yield f"{titles[row]}: {' / '.join(figures)}"


def _text(item: Item) -> Iterator[str]:
    if "ours" in item:
        yield re.sub(r"\{(.*?), (.*?)\}", lambda found: _ratio(*found.groups()), item["ours"])


def _ratio(subject: str, against: str) -> str:
    """The ratio of two encoders in batches of 512, from `lab/results/speed.md`."""
    speed = (ROOT / "lab" / "results" / "speed.md").read_text(encoding="utf-8")
    row = rf"512 +{re.escape(subject)} +{re.escape(against)} +[\d,]+ +([\d.]+) "
    found = re.findall(row, speed)
    if len(found) != 1:
        raise ValueError(f"lab/results/speed.md: expected one row of {subject} against {against}")
    return str(found[0])


if __name__ == "__main__":
    run(page)
