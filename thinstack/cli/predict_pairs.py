"""`thinstack predict` for models of text pairs: two texts, or a table with a column for each."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import typer

from thinstack.cli.options import print_json
from thinstack.cli.predict_corpus import CorpusSettings
from thinstack.cli.print_results import Kind, rounded, until_the_reader_stops
from thinstack.data.files.outputs import check_output
from thinstack.data.files.writing import replacing
from thinstack.data.tables.csv_rows import check_classes, csv_writer
from thinstack.errors import DataError, InputError, ThinstackError, escaped

if TYPE_CHECKING:
    from thinstack.runtime.pairs import PairResult
    from thinstack.runtime.predictor import Predictor

ADVICE: Final = "name the two columns of texts with --text, given twice"


def print_pair(predictor: "Predictor", pair: tuple[str, str], kind: Kind) -> None:
    """Print the result for a pair of texts."""
    result = predictor.pairs(*pair)
    if kind == "as_csv":
        _write_csv([result], predictor, sys.stdout)
    elif kind in ("as_json", "as_json_lines"):
        print_json(result.to_dict(), indent=2 if kind == "as_json" else None)
    elif result.rating is not None:
        print(f"{result.rating:.2f} (from {predictor.labels[0]} to {predictor.labels[-1]})")
    else:
        best = sorted(result.scores.items(), key=lambda item: -item[1])
        scores = ", ".join(f"{escaped(label)} {score:.2f}" for label, score in best)
        print(f"{escaped(result.label or 'no label')} ({scores})")


def score_table(predictor: "Predictor", corpus: CorpusSettings, *, encoding: str) -> None:
    """Write one row per pair of a table, as CSV to standard output, or to the file --out. Rows that
    cannot be read are skipped and reported on standard error; the exit code is then 1.

    Raises DataError for a table without the two columns.
    """
    from thinstack.data.tables.table import Table
    from thinstack.runtime.pairs import SIDES, PairReader

    assert corpus.input is not None, "it is asked for"
    columns = tuple(corpus.text or SIDES)
    if len(columns) != 2 or columns[0] == columns[1]:
        problem = f"expected two different columns for a pair model, found {', '.join(columns)}"
        raise InputError(f"--text: {problem}; {ADVICE}")
    table = Table(corpus.input, encoding=encoding, separator=corpus.separator, header=corpus.header)
    lines, failed = list[int](), list[DataError]()

    def pairs() -> Iterator[tuple[str, str]]:
        for row in table.rows(columns, advice=ADVICE, skipped=failed):
            lines.append(row.line)
            yield row.values[columns[0]], row.values[columns[1]]

    def fail(place: int, error: ThinstackError) -> None:
        problem = str(error).partition(": ")[2]
        failed.append(DataError(f"{corpus.input}:{lines[place]}: {problem}"))

    results = PairReader(predictor).results(pairs(), fail)
    with _output(corpus.out, [corpus.input, predictor.bundle.path]) as stream:
        if corpus.out is None or corpus.out.suffix.lower() == ".csv":
            _write_csv(results, predictor, stream)
        else:
            for result in results:
                print_json(result.to_dict(), indent=None, file=stream)
    if failed:
        print(f"{len(failed):,} rows failed, the first: {escaped(str(failed[0]))}", file=sys.stderr)
        raise typer.Exit(1)


@contextmanager
def _output(out: Path | None, used: Sequence[Path]) -> Iterator[TextIO]:
    """Open the file `out`, which is written atomically, or standard output. Raises InputError for a
    file of another type, and for an existing one."""
    if out is None:
        with until_the_reader_stops():
            sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
            yield sys.stdout
        return
    if out.suffix.lower() not in (".csv", ".jsonl"):
        raise InputError(
            f"--out {out}: expected a file of pairs, whose name ends in .csv or .jsonl"
        )
    check_output(out, "--out", used)
    if out.exists():
        raise InputError(f"{out}: already exists: name another file with --out, or remove it")
    with replacing(out) as path, path.open("w", encoding="utf-8", newline="") as stream:
        yield stream


def _write_csv(results: "Iterable[PairResult]", predictor: "Predictor", stream: TextIO) -> None:
    """Write rows of CSV: the texts, and the rating, or the label and one column per class."""
    names = ["text_a", "text_b", "rating" if predictor.rates_pairs else "label"]
    labels = () if predictor.rates_pairs else predictor.labels
    check_classes("CSV", labels, names, "choose --jsonl, or --out FILE.jsonl")
    writer = csv_writer(stream)
    writer.writerow([*names, *labels])
    for result in results:
        answer = result.label if result.rating is None else result.rating
        cells = [result.text_a, result.text_b, answer, *map(result.scores.get, labels)]
        writer.writerow(rounded(cells))
