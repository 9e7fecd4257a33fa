"""What training a table takes, from the command to the bundle: `thinstack train` as a process of
its own, beside a linear model of the same texts.

    python lab/benchmarks/tables.py --data FOLDER [--only NAME] [--rounds 1] [--json]

Tables are the first 600 and 5,000 questions of TREC, and 2,000 reviews of Alexa with their stars.
Accuracy is that on the questions behind the 5,000, and on the other reviews. The linear model is
scikit-learn's logistic regression of TF-IDF over words and pairs of words. Python starts and reads
the tables in both times. A run may use all cores of the machine. Times are medians of the rounds.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

SEED = "1"
# Table: seconds that the project set out to need.
TARGETS = {"600 questions": 15, "2,000 reviews": 50, "5,000 questions": 120}
LINEAR = """
import json, sys
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
train, test = ([json.loads(line) for line in open(path)] for path in sys.argv[1:])
words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))
model = make_pipeline(words, LogisticRegression(C=10.0, max_iter=1000))
texts, labels = ([row[key] for row in train] for key in ("text", "label"))
model.fit(texts, labels)
texts, labels = ([row[key] for row in test] for key in ("text", "label"))
print(100 * model.score(texts, labels))
"""

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Result:
    """One table; seconds are of the clock, and of the processor where it says so."""

    table: str
    seconds: float
    processor_seconds: float
    accuracy: float
    linear_seconds: float
    linear_accuracy: float


def tables_of(data: Path) -> dict[str, tuple[Rows, Rows]]:
    """The rows to learn from, and those that measure, of each table."""
    questions = [
        {"text": row["sentence"], "label": row["label"]}
        for row in _rows(data / "trec/trec_train.jsonl")
    ]
    reviews = [
        {"text": row["text"], "label": str(row["stars"])}
        for row in _rows(data / "domains/alexa-reviews.jsonl")
        if row["text"].strip() not in ("", "None")  # missing values
    ]
    return {
        "600 questions": (questions[:600], questions[5000:]),
        "2,000 reviews": (reviews[:2000], reviews[2000:]),
        "5,000 questions": (questions[:5000], questions[5000:]),
    }


def _rows(file: Path) -> Rows:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def taken(run: Callable[[], float]) -> tuple[float, float, float]:
    """Seconds of the clock and of the processor of children, and what `run` returns."""
    before, start = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    found = run()
    seconds, after = time.perf_counter() - start, getrusage(RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, found


def trained(train: Path, test: Path) -> float:
    """The accuracy on `test` of a model that `thinstack train` makes."""
    with tempfile.TemporaryDirectory() as folder:
        given = [train, "--test", test, "--out", folder, "--seed", SEED]
        _run("-m", "thinstack", "train", *given)
        results = json.loads((Path(folder) / "results.json").read_text(encoding="utf-8"))
    accuracy: float = results["test"]["self"]["accuracy"]["mean"]
    return accuracy


def linear(train: Path, test: Path) -> float:
    """The accuracy on `test` of the linear model."""
    return float(_run("-c", LINEAR, train, test))


def _run(*arguments: Any) -> str:
    """What Python prints with these arguments. It ends the benchmark if that fails."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    found = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, env=environment
    )
    if found.returncode:
        typer.echo(found.stderr, err=True)
        raise typer.Exit(found.returncode)
    return found.stdout


def measured(name: str, rows: tuple[Rows, Rows], rounds: int) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "train.jsonl", Path(folder) / "test.jsonl"
        for file, part in zip(files, rows, strict=True):
            file.write_text("".join(json.dumps(row) + "\n" for row in part), encoding="utf-8")
        ours, theirs = [], []
        for _ in range(rounds):
            ours.append(taken(lambda: trained(*files)))
            theirs.append(taken(lambda: linear(*files)))
    seconds, processor, accuracy = (median(values) for values in zip(*ours, strict=True))
    linear_seconds, _, linear_accuracy = (median(values) for values in zip(*theirs, strict=True))
    return Result(name, seconds, processor, accuracy, linear_seconds, linear_accuracy)


def show(results: list[Result]) -> None:
    table = Table("table", "s", "processor s", "accuracy", "linear: s", "accuracy", "target")
    for one in results:
        most = TARGETS[one.table]
        table.add_row(
            one.table,
            f"{one.seconds:.1f}",
            f"{one.processor_seconds:.1f}",
            f"{one.accuracy:.1f}",
            f"{one.linear_seconds:.1f}",
            f"{one.linear_accuracy:.1f}",
            f"{most} s {'met' if one.seconds <= most else 'MISSED'}",
        )
    Console().print(table)


def main(
    data: Annotated[
        Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that holds trec/ and domains/.")
    ],
    only: Annotated[
        list[str] | None, typer.Option(help="A table, such as '600 questions'.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1)] = 1,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Train each table, and the linear model beside it."""
    tables = tables_of(data)
    if unknown := set(only or ()) - set(tables):
        raise typer.BadParameter(f"expected one of {', '.join(tables)}, found {unknown.pop()}")
    results = [measured(name, tables[name], rounds) for name in only or tables]
    if as_json:
        Console().print_json(json.dumps([asdict(one) for one in results]))
    else:
        show(results)


if __name__ == "__main__":
    typer.run(main)
