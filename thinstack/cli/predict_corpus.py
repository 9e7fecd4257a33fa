"""`thinstack predict` for files and for pairs: scores files of texts, and writes the rows to a
folder; and two texts, or a table with a column for each, with a model of text pairs."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, TextIO

import typer

from thinstack.cli.options import (
    HeaderOption,
    Running,
    SeparatorOption,
    chosen,
    listed,
    option,
    print_json,
)
from thinstack.cli.print_results import Kind, rounded, until_the_reader_stops
from thinstack.cli.table_query import print_note, standard_input, watched
from thinstack.data.files.outputs import Used, check_output
from thinstack.data.files.paths import FileContent
from thinstack.data.files.writing import replacing
from thinstack.data.tables.cell_text import check_classes, csv_line
from thinstack.errors import DataError, InputError, StoppedError, ThinstackError, escaped

if TYPE_CHECKING:
    from thinstack.integrations.corpora.run import Request
    from thinstack.runtime.pairs import PairResult
    from thinstack.runtime.predictor import Predictor

_GO_ON = "run the same command again to continue"


@dataclass(frozen=True)
class CorpusSettings:
    """The files to score, and the output of the scores."""

    input: Path | None = option(
        "Score a file or folder and write the scores to --out. Reads .txt, .json, .jsonl, .csv, "
        ".tsv, .parquet and .spacy, also .gz; - is standard input."
    )
    out: Path | None = option(
        "With --input: a folder for the scores, or one .csv, .jsonl or .parquet file. If a run "
        "stops, run the same command again to resume."
    )
    text: list[str] | None = option(
        "With --input: the text column. For a pair model, pass two.  [default: text, or text_a "
        "and text_b for pairs]"
    )
    id: str | None = option("With --input: the id column.  [default: id, or the line number]")
    separator: SeparatorOption = None
    header: HeaderOption = None
    output: Literal["phrases", "sentences", "documents", "aspects"] | None = option(
        "With --input: what each row of the output describes.  [default: sentences]"
    )
    vectors: bool = option(
        "With --input: add a column with the vector of each row. Writes Parquet.", default=False
    )
    format: Literal["parquet", "jsonl", "csv"] | None = option(
        "With --input: the output format.  [default: that of the --out file; otherwise parquet "
        "with --vectors or Parquet input; otherwise jsonl]"
    )
    jobs: int = option(
        "With --input: number of parallel processes. 0 scores in the main process.",
        default=1,
        min=0,
        max=256,
    )
    fail_after: float = option(
        "With --input: stop if more than this share of the rows fails.", default=0.01, min=0, max=1
    )
    allow_repeated_ids: bool = option(
        "With --input: allow several rows with the same id.", default=False
    )
    keep: Literal["all", "none"] | None = option(
        "With a table as --input: whether to copy the table's other columns to the output.  "
        "[default: all]"
    )
    columns: str | None = option(
        "With a table as --input: the names of the other columns to copy, such as store,date."
    )
    bom: bool = option(
        "With --out FILE.csv: start the file with a byte order mark, so that Excel reads it as "
        "UTF-8.",
        default=False,
    )

    @property
    def kept(self) -> tuple[str, ...] | None:
        """The columns of a table to copy; None means all. Raises InputError for columns together
        with --keep none."""
        if self.columns is None:
            return () if self.keep == "none" else None
        if self.keep == "none":
            raise InputError(
                "--columns selects columns to copy, but --keep none copies none: remove either"
            )
        return tuple(name.strip() for name in self.columns.split(","))

    def refuse_without_input(self, texts: Sequence[str]) -> None:
        """Raise InputError for options that require --input, and for a file passed as a text."""
        if misplaced := chosen(self):
            raise InputError(
                f"{listed(misplaced)}: works only with --input: add --input with the file or "
                "folder to score"
            )
        if len(texts) == 1 and os.path.isfile(texts[0]):
            raise InputError(
                f"{texts[0]} is a file, not a text: to score the texts in it, run thinstack "
                f"predict --input {texts[0]} --out scored.csv"
            )


def predict_corpus(
    corpus: CorpusSettings, model: str, running: Running, reading: Mapping[str, Any]
) -> NoReturn:
    """Score the texts of a file, a folder or standard input, and write the scores to a folder.
    `reading`: how to read texts, and the terms and categories. The exit code is 0 if all rows have
    scores, and 1 if some have failed. Raises StoppedError for Ctrl-C, SIGTERM or a full disk."""
    from thinstack.integrations.corpora.output_files import failed_file, first_reason
    from thinstack.integrations.corpora.run import score_corpus

    request = _request(corpus, model, running, reading)
    stays = f"the rows in {request.out} are kept"
    try:
        with watched(f"stopped; {stays}: {_GO_ON}") as tell:
            last = score_corpus(request, tell)
    except OSError as error:
        raise StoppedError(f"{error}; {stays}: fix the problem, then {_GO_ON}") from None
    scores, failed = request.file or request.out, ""
    if last.failed:
        errors = failed_file(scores) if request.file else scores / "errors"
        failed = f", {last.failed:,} failed, the first: {first_reason(errors)}; all are in {errors}"
    before = f" ({last.before:,} before)" if last.before else ""
    print_note(f"{last.done:,} rows{before}{failed}; the scores are in {scores}")
    raise typer.Exit(1 if last.failed else 0)


def _request(
    corpus: CorpusSettings, model: str, running: Running, reading: Mapping[str, Any]
) -> "Request":
    from thinstack.integrations.corpora.output_files import file_format, parts_folder
    from thinstack.integrations.corpora.run import Request
    from thinstack.integrations.corpora.run_manifest import Settings
    from thinstack.integrations.corpora.workers import ModelSource
    from thinstack.integrations.frames import checked_mentions

    input, out = corpus.input, corpus.out
    assert input is not None, "only --input scores tables"
    if out is None:
        raise InputError(
            "--input needs a folder or a file for the scores: add --out FOLDER, or --out scored.csv"
        )
    of_tables = chosen(corpus, "text", "id", "separator", "header")
    if reading["paragraphs"] and of_tables:
        raise InputError(
            f"{listed(of_tables)}: works only with tables, --paragraphs with .txt: remove either"
        )
    if corpus.text is not None and len(corpus.text) > 1:
        raise InputError(
            f"--text: expected one column, found {', '.join(corpus.text)}; two columns require a "
            "pair model (--model)"
        )
    names = ("id", "separator", "header", "output", "vectors", "format")
    settings = {name: getattr(corpus, name) for name in chosen(corpus, *names)}
    settings |= {name: reading[name] for name in reading if reading[name] is not None}
    settings |= {"text": corpus.text[0]} if corpus.text else {}
    by_terms = settings["about"] or settings["categories"]
    if by_terms and settings.setdefault("output", "documents") != "documents":
        raise InputError(
            "--about and --category add columns to the rows of texts: remove --output, or "
            "choose --output documents"
        )
    one_file = file_format(out)
    if one_file and settings.setdefault("format", one_file) != one_file:
        raise InputError(
            f"--out {out} is a {one_file} file, but --format is {corpus.format}: remove --format, "
            "or pass a folder"
        )
    if corpus.bom and one_file != "csv":
        raise InputError("--bom requires a single CSV file: add --out FILE.csv, or remove --bom")
    parquet = corpus.vectors or input.suffix.lower() == ".parquet"
    settings.setdefault("format", "parquet" if parquet else "jsonl")
    parsed = Settings.parse(settings, source="options")
    checked_mentions(parsed.asked)
    return Request(
        input=standard_input(input) or input,
        out=parts_folder(out) if one_file else out,
        file=out if one_file else None,
        settings=parsed,
        model=ModelSource(model, running.device, running.threads or 1, isolated=running.isolated),
        named=bool(chosen(corpus, "text", "id", "columns")),
        repeated_ids=corpus.allow_repeated_ids,
        keep=corpus.kept,
        bom=corpus.bom,
        jobs=corpus.jobs,
        fail_after=corpus.fail_after,
    )


ADVICE: Final = "pass --text twice, once per text column"


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

    assert corpus.input is not None, "only --input scores tables"
    columns = tuple(corpus.text or SIDES)
    if len(columns) != 2 or columns[0] == columns[1]:
        problem = f"expected two different columns for a pair model, found {', '.join(columns)}"
        raise InputError(f"--text: {problem}; {ADVICE}")
    stream, input = standard_input(corpus.input), corpus.input
    content = stream.read() if stream else b""
    source = FileContent("standard input", lambda: content) if stream else input
    table = Table(source, encoding=encoding, separator=corpus.separator, header=corpus.header)
    lines, failed = list[int](), list[DataError]()

    def pairs() -> Iterator[tuple[str, str]]:
        for row in table.rows(columns, advice=ADVICE, skipped=failed):
            lines.append(row.line)
            yield row.values[columns[0]], row.values[columns[1]]

    def fail(place: int, error: ThinstackError) -> None:
        problem = str(error).partition(": ")[2]
        failed.append(DataError(f"{source}:{lines[place]}: {problem}"))

    results = PairReader(predictor).results(pairs(), fail)
    with _output(corpus.out, [0 if stream else input, predictor.bundle.path]) as output:
        if corpus.out is None or corpus.out.suffix.lower() == ".csv":
            _write_csv(results, predictor, output)
        else:
            for result in results:
                print_json(result.to_dict(), indent=None, file=output)
    if failed:
        print(f"{len(failed):,} rows failed, the first: {escaped(str(failed[0]))}", file=sys.stderr)
        raise typer.Exit(1)


@contextmanager
def _output(out: Path | None, used: Sequence[Used]) -> Iterator[TextIO]:
    """Open the file `out`, which is written atomically, or standard output. Raises InputError for a
    file of another type, and for an existing one."""
    if out is None:
        with until_the_reader_stops():
            sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
            yield sys.stdout
        return
    if out.suffix.lower() not in (".csv", ".jsonl"):
        raise InputError(f"--out {out}: expected a .csv or .jsonl file for the pairs: rename it")
    check_output(out, "--out", used)
    if out.exists():
        raise InputError(f"{out}: already exists: choose another file with --out, or remove it")
    with replacing(out) as path, path.open("w", encoding="utf-8", newline="") as stream:
        yield stream


def _write_csv(results: "Iterable[PairResult]", predictor: "Predictor", stream: TextIO) -> None:
    """Write rows of CSV: the texts, and the rating, or the label and one column per class."""
    names = ["text_a", "text_b", "rating" if predictor.rates_pairs else "label"]
    labels = () if predictor.rates_pairs else predictor.labels
    check_classes("CSV", labels, names, "choose --jsonl, or --out FILE.jsonl")
    stream.write(csv_line([*names, *labels]))
    for result in results:
        answer = result.label if result.rating is None else result.rating
        cells = [result.text_a, result.text_b, answer, *map(result.scores.get, labels)]
        stream.write(csv_line(rounded(cells)))
