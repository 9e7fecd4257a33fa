"""`thinstack predict --input`: files of texts in, a folder of scored rows out."""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console

from thinstack.errors import InputError, StoppedError

if TYPE_CHECKING:
    from thinstack.corpora.run import Progress as Done
    from thinstack.corpora.run import Request

__all__ = ["predict_corpus", "refuse_without_input"]

STANDARD_INPUT = "-"

OutOption = Annotated[
    Path | None, typer.Option(help="Of --input: the folder for the rows, new or to go on in.")
]
TextOption = Annotated[
    str | None, typer.Option(help="Of --input: the column of the texts; text by default.")
]
IdOption = Annotated[
    str | None,
    typer.Option(help="Of --input: the column of the ids; by default the line is the id."),
]
OutputOption = Annotated[
    Literal["phrases", "sentences", "documents"] | None,
    typer.Option(help="Of --input: what has a row; sentences by default."),
]
FormatOption = Annotated[
    Literal["parquet", "jsonl"] | None,
    typer.Option(
        help="Of --input: how rows are written; by default parquet of parquet, else jsonl."
    ),
]
FailOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Of --input: stop when a greater share of rows has failed; 0.01 by default.",
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=256,
        help="Of --input: processes that score side by side; 0 is the command's own; 1 by default.",
    ),
]
RepeatedOption = Annotated[
    bool | None,
    typer.Option("--allow-repeated-ids", help="Of --input: several rows may have one id."),
]
_OF_INPUT = ("out", "text", "id", "output", "format", "fail_after", "allow_repeated_ids", "jobs")
_OF_TEXTS = ("texts", "as_json", "as_json_lines", "html", "svg", "why")
_NAMES = {"texts": "the texts", "as_json": "--json", "as_json_lines": "--jsonl"}

_GO_ON = "start the same command again to go on"


def refuse_without_input(asked: Mapping[str, Any]) -> None:
    """Raise InputError for options that are for --input, and for the name of a file in place of a
    text."""
    if given := [name for name in _OF_INPUT if asked[name] is not None]:
        raise InputError(f"{_listed(given)}: for --input, which names a file or folder to score")
    texts = asked["texts"] or []
    if len(texts) == 1 and os.path.isfile(texts[0]):
        raise InputError(
            f"{texts[0]} is a file: to score what is in it say thinstack predict --input "
            f"{texts[0]} --out FOLDER"
        )


def predict_corpus(asked: Mapping[str, Any]) -> None:
    """Score the texts of a file, a folder or standard input into a folder, and exit: 0 when all
    rows have scores, 1 when some have failed.

    `asked`: the arguments of `thinstack predict`. Raises InputError for those that do not go
    together, StoppedError for an interrupt or a full disk, and what `score_corpus` raises.
    """
    from thinstack.cli.corpus_bar import CorpusBar
    from thinstack.corpora.run import score_corpus

    if given := [name for name in _OF_TEXTS if asked[name]]:
        raise InputError(f"--input writes files into --out: leave {_listed(given)} out")
    if asked["out"] is None:
        raise InputError("--input needs --out, a folder for the rows")
    out, console = asked["out"], Console(stderr=True)
    try:
        with CorpusBar(console) as bar:
            last = score_corpus(_request(**asked), bar.tell)
    except KeyboardInterrupt:
        raise StoppedError(f"stopped; what is in {out} stays: {_GO_ON}") from None
    except OSError as error:
        raise StoppedError(f"{error}; what is in {out} stays: mend that, and {_GO_ON}") from None
    console.print(_summary(last, out), soft_wrap=True, highlight=False, markup=False)
    raise typer.Exit(1 if last.failed else 0)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(_NAMES.get(name, "--" + name.replace("_", "-")) for name in names)


def _request(
    input: Path,
    out: Path,
    *,
    model: str,
    device: Any,
    threads: int | None,
    format: str | None,
    jobs: int | None,
    fail_after: float | None,
    allow_repeated_ids: bool | None,
    **others: Any,
) -> "Request":
    """`others`: fields of `thinstack.corpora.manifest.Settings`, None for the default, and what is
    of no concern."""
    from thinstack.corpora.manifest import Settings
    from thinstack.corpora.run import FAIL_AFTER, Request
    from thinstack.corpora.work import Model

    if str(input) == STANDARD_INPUT and sys.stdin.isatty():
        raise InputError("--input - reads standard input: pipe texts into it, or name a file")
    of_parquet = input.suffix.lower() == ".parquet"
    settings = {name: others[name] for name in Settings.model_fields if name in others}
    given = {name: value for name, value in settings.items() if value is not None}
    given["format"] = format or ("parquet" if of_parquet else "jsonl")
    return Request(
        input=sys.stdin.buffer if str(input) == STANDARD_INPUT else input,
        out=out,
        settings=Settings.parse(given, source="options"),
        model=Model(model, device, threads or 1),
        jobs=1 if jobs is None else jobs,
        fail_after=FAIL_AFTER if fail_after is None else fail_after,
        named=bool(given.keys() & {"text", "id"}),
        repeated_ids=bool(allow_repeated_ids),
    )


def _summary(last: "Done", out: Path) -> str:
    failed = f", {last.failed:,} failed: {out / 'errors'} says why" if last.failed else ""
    before = f" ({last.before:,} before)" if last.before else ""
    return f"{last.done:,} rows{before}{failed}; the scores are in {out}"
