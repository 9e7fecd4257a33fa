"""`thinstack predict`: texts in, their phrases and scores out."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from thinstack.cli.options import (
    ClassesOption,
    DeviceOption,
    JsonOption,
    ModelOption,
    ThreadsOption,
    print_json,
)
from thinstack.cli.predict_corpus import (
    FailOption,
    FormatOption,
    IdOption,
    JobsOption,
    OutOption,
    OutputOption,
    RepeatedOption,
    TextOption,
    predict_corpus,
    refuse_without_input,
)
from thinstack.config import TreeSource
from thinstack.data.text_streams import lines_of
from thinstack.errors import InputError

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.why import Contribution

__all__ = ["predict"]


def predict(
    context: typer.Context,
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Texts; by default each line of standard input is one."),
    ] = None,
    model: ModelOption = "sst",
    source: Annotated[
        TreeSource,
        typer.Option(
            help="Where trees come from: auto is what the model was trained for, "
            "self its own parse."
        ),
    ] = "auto",
    as_json: JsonOption = False,
    as_json_lines: Annotated[
        bool,
        typer.Option(
            "--jsonl", help="Print data as it comes, one record a line: a sentence and its text."
        ),
    ] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write a self-contained page to this file.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Draw the trees into this file, as an SVG.")
    ] = None,
    classes: ClassesOption = None,
    abstain: Annotated[
        float | None,
        typer.Option(help="Give no label where no class is as probable as this, such as 0.6."),
    ] = None,
    max_words: Annotated[
        int, typer.Option(help="Read a sentence of more words in parts of at most so many.")
    ] = 400,
    why: Annotated[
        bool, typer.Option("--why", help="Say what each phrase contributes to the label.")
    ] = False,
    encoding: Annotated[
        str, typer.Option(help="Of standard input or the files; a byte order mark is dropped.")
    ] = "utf-8",
    input: Annotated[
        Path | None,
        typer.Option(
            help="Score a file (.txt, .jsonl, .csv, .tsv, .parquet, .spacy), a folder of them, or "
            "- for standard input, into the folder --out."
        ),
    ] = None,
    out: OutOption = None,
    text: TextOption = None,
    id: IdOption = None,
    output: OutputOption = None,
    format: FormatOption = None,
    jobs: JobsOption = None,
    fail_after: FailOption = None,
    allow_repeated_ids: RepeatedOption = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
) -> None:
    """The class of each sentence of English texts, and of every phrase in it: with `sst` their
    sentiment."""
    import thinstack
    from thinstack.runtime.text import predict_text

    if input is not None:
        predict_corpus(context.params)
    refuse_without_input(context.params)
    pages = {"html": html, "svg": svg}
    if as_json_lines and (as_json or any(pages.values())):
        raise InputError("--jsonl is a form of its own: leave --json, --html and --svg out")
    given = texts or _lines_of_input(encoding)
    predictor = thinstack.load(
        model, device=device, threads=threads, classes=classes, abstain=abstain, max_words=max_words
    )
    scored = _with_words(predict_text(predictor, given, source=source))
    if as_json_lines:
        _print_lines(scored, max_words, why=why)
    else:
        _show(scored, max_words, as_json=as_json, pages=pages, why=why)


def _show(
    texts: "Iterable[tuple[int, list[Prediction]]]",
    max_words: int,
    *,
    as_json: bool,
    pages: Mapping[str, Path | None],
    why: bool,
) -> None:
    """Print all texts as one list of data, write them as a page or a picture, or draw them."""
    found: list[Prediction] = []
    several: dict[int, list[Prediction]] = {}  # texts, by the place of their last sentence
    for _, sentences in texts:
        found.extend(sentences)
        if len(sentences) > 1:
            several[len(found) - 1] = sentences
    whys = [_contributions(prediction, max_words) if why else [] for prediction in found]
    if path := pages["html"]:
        from thinstack.show.html import page

        path.write_text(page(found, whys=whys), encoding="utf-8")
    if path := pages["svg"]:
        from thinstack.show.svg import svg

        path.write_text(svg(found, whys=whys), encoding="utf-8")
    if as_json:
        print_json([_data(*pair, why=why) for pair in zip(found, whys, strict=True)])
    elif not any(pages.values()):
        from thinstack.show.terminal import render, render_text

        console = Console()
        for place, prediction in enumerate(found):
            console.print(render(prediction, whys[place]))
            if place in several:
                console.print(render_text(several[place]), "")


def _with_words(texts: Iterable["list[Prediction]"]) -> "Iterator[tuple[int, list[Prediction]]]":
    """The texts that have words, each with its place from 0. Warns of others; raises InputError if
    there is no other."""
    empty = True
    for place, sentences in enumerate(texts):
        if sentences:
            empty = False
            yield place, sentences
        else:
            print(f"warning: text {place + 1} has no words", file=sys.stderr)
    if empty:
        raise InputError(
            'there are no words to predict from: give a text such as "The acting is superb."'
        )


def _print_lines(
    texts: "Iterable[tuple[int, list[Prediction]]]", max_words: int, *, why: bool
) -> None:
    """Print a record a sentence, as soon as it is there, for as long as somebody reads."""
    from thinstack.runtime.documents import document_data

    try:
        for text_index, sentences in texts:
            document = document_data(sentences)
            for sentence_index, prediction in enumerate(sentences):
                places = {"text_index": text_index, "sentence_index": sentence_index}
                data = _data(
                    prediction, _contributions(prediction, max_words) if why else [], why=why
                )
                print_json(places | {"document": document} | data, indent=None)
        sys.stdout.flush()
    except BrokenPipeError:  # as `head` leaves; nothing is left to flush at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _contributions(prediction: "Prediction", max_words: int) -> "list[Contribution]":
    if len(prediction.words) <= max_words:
        return prediction.why()
    many = f"a sentence of {len(prediction.words):,} words, more than {max_words:,}"
    print(f"warning: what phrases contribute to {many}, is not told", file=sys.stderr)
    return []


def _data(
    prediction: "Prediction", contributions: "list[Contribution]", *, why: bool
) -> dict[str, Any]:
    from thinstack.runtime.why import why_data

    data = prediction.to_dict()
    return data | {"why": why_data(prediction, contributions)} if why else data


def _lines_of_input(encoding: str) -> "Iterator[str]":
    if sys.stdin.isatty():
        raise InputError(
            'give a text, such as thinstack predict "The acting is superb.", or texts on standard '
            "input"
        )
    return lines_of(sys.stdin.buffer, encoding, name="standard input")
