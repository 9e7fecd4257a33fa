"""`thinstack predict --input`: scores files of texts, and writes the rows to a folder."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

import typer
from rich.console import Console

from thinstack.cli.options import listed
from thinstack.data.files.signals import stoppable
from thinstack.errors import InputError, StoppedError, escaped

if TYPE_CHECKING:
    from thinstack.integrations.corpora.run import Progress as Done
    from thinstack.integrations.corpora.run import Request


_STANDARD_INPUT = "-"

OutOption = Annotated[
    Path | None,
    typer.Option(
        help="With --input: the folder for the scores, or one file whose name ends in .csv, .jsonl "
        "or .parquet. A run that stopped goes on with the same command."
    ),
]
TextOption = Annotated[
    str | None, typer.Option(help="With --input: the column of the texts.  [default: text]")
]
IdOption = Annotated[
    str | None,
    typer.Option(help="With --input: the column of the ids.  [default: the line number]"),
]
OutputOption = Annotated[
    Literal["phrases", "sentences", "documents", "aspects"] | None,
    typer.Option(help="With --input: what to write a row for.  [default: sentences]"),
]
FormatOption = Annotated[
    Literal["parquet", "jsonl", "csv"] | None,
    typer.Option(
        help="With --input: the format of the rows.  [default: that of the file --out; else "
        "parquet if the input is parquet, else jsonl]"
    ),
]
FailOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="With --input: stop if more than this share of the rows fails.  [default: 0.01]",
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=256,
        help="With --input: number of processes that score side by side. 0 scores in the process "
        "of the command itself.  [default: 1]",
    ),
]
RepeatedOption = Annotated[
    bool | None,
    typer.Option("--allow-repeated-ids", help="With --input: let several rows have the same id."),
]
BomOption = Annotated[
    bool | None,
    typer.Option(
        "--bom",
        help="With --input and --out FILE.csv: start the file with a byte order mark, by which "
        "Excel knows UTF-8.",
    ),
]
_OF_INPUT = (
    "out",
    "text",
    "id",
    "separator",
    "header",
    "output",
    "format",
    "fail_after",
    "allow_repeated_ids",
    "bom",
    "jobs",
)
_OF_TABLES = ("text", "id", "separator", "header")
_OF_TEXTS = (
    *("texts", "as_json", "as_json_lines", "as_csv", "brief", "full", "html", "svg", "why"),
    *("aspects", "about"),
)
_GO_ON = "run the same command again to continue"


def refuse_without_input(asked: Mapping[str, Any]) -> None:
    """Raise InputError for options that need --input, and for a file name in place of a text."""
    if misplaced := [name for name in _OF_INPUT if asked[name] is not None]:
        raise InputError(
            f"{listed(misplaced)}: works only with --input, which names a file or folder to score"
        )
    texts = asked["texts"] or []
    if len(texts) == 1 and os.path.isfile(texts[0]):
        raise InputError(
            f"{texts[0]} is a file, not a text: to score the texts in it, run thinstack predict "
            f"--input {texts[0]} --out scored.csv"
        )


def predict_corpus(asked: Mapping[str, Any]) -> None:
    """Score the texts of a file, a folder or standard input, and write the scores to a folder, as
    the arguments of `thinstack predict` say. The exit code is 0 if all rows have scores, and 1 if
    some have failed. Raises StoppedError for Ctrl-C, SIGTERM or a full disk."""
    from thinstack.cli.corpus_bar import CorpusBar
    from thinstack.integrations.corpora.run import score_corpus

    if misplaced := [name for name in _OF_TEXTS if asked[name]]:
        raise InputError(
            f"{listed(misplaced)}: does not work with --input, which writes its scores to --out, "
            "such as --out scored.csv: leave it out"
        )
    if asked["out"] is None:
        raise InputError(
            "--input needs a folder or a file for the scores: add --out FOLDER, or --out scored.csv"
        )
    request, console = _request(asked), Console(stderr=True)
    kept = f"the rows in {request.out} are kept"
    try:
        with stoppable(f"stopped; {kept}: {_GO_ON}"), CorpusBar(console) as bar:
            last = score_corpus(request, bar.tell)
    except OSError as error:
        raise StoppedError(f"{error}; {kept}: fix the problem, then {_GO_ON}") from None
    console.print(escaped(_summary(last, request)), soft_wrap=True, highlight=False, markup=False)
    raise typer.Exit(1 if last.failed else 0)


def _request(asked: Mapping[str, Any]) -> "Request":
    """The run that the arguments ask for; None means the default."""
    from thinstack.integrations.corpora.one_file import file_format, parts_folder
    from thinstack.integrations.corpora.run import Request
    from thinstack.integrations.corpora.run_manifest import Settings
    from thinstack.integrations.corpora.work import ModelSource

    input, threads, isolated = asked["input"], asked["threads"] or 1, asked["isolated"]
    tables = [name for name in _OF_TABLES if asked[name] is not None]
    if asked["paragraphs"] and tables:
        raise InputError(
            f"{listed(tables)}: is for tables, whose texts --paragraphs does not cut: leave one out"
        )
    known = {name: value for name, value in asked.items() if value is not None}
    settings = {name: known[name] for name in Settings.model_fields if name in known}
    out, own = asked["out"], file_format(asked["out"])
    if own and settings.setdefault("format", own) != own:
        raise InputError(
            f"--out {out} ends like a file of {own}, but --format is {settings['format']}: leave "
            "--format out, or name a folder"
        )
    if asked["bom"] and own != "csv":
        raise InputError("--bom is for one file of CSV: add --out FILE.csv, or leave --bom out")
    settings.setdefault("format", "parquet" if input.suffix.lower() == ".parquet" else "jsonl")
    return Request(
        input=standard_input(input) or input,
        out=parts_folder(out) if own else out,
        file=out if own else None,
        settings=Settings.parse(settings, source="options"),
        model=ModelSource(asked["model"], asked["device"], threads, isolated=isolated),
        named=bool(known.keys() & {"text", "id"}),
        repeated_ids=bool(asked["allow_repeated_ids"]),
        bom=bool(asked["bom"]),
        **{name: known[name] for name in ("jobs", "fail_after") if name in known},
    )


def standard_input(input: Path) -> BinaryIO | None:
    """Standard input where `input` names it, else None. Raises InputError if it is a terminal."""
    if str(input) != _STANDARD_INPUT:
        return None
    if sys.stdin.isatty():
        raise InputError(
            "- reads standard input, but that is a terminal: pipe texts into it, or name a file"
        )
    return sys.stdin.buffer


def _summary(last: "Done", request: "Request") -> str:
    from thinstack.integrations.corpora.one_file import failed_file

    out = request.file or request.out
    errors = failed_file(out) if request.file else out / "errors"
    failed = f", {last.failed:,} failed: {errors} says why" if last.failed else ""
    before = f" ({last.before:,} before)" if last.before else ""
    return f"{last.done:,} rows{before}{failed}; the scores are in {out}"
