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
    HeaderOption,
    IsolatedOption,
    JsonOption,
    ModelOption,
    SeparatorOption,
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
from thinstack.cli.predict_unread import Unread
from thinstack.core.config import TreeSource
from thinstack.data.files.writing import write_atomically
from thinstack.data.tables.text_streams import lines_of
from thinstack.errors import InputError

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.why import Contribution


def predict(
    context: typer.Context,
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Texts to score. Without any, each line of standard input is a text."),
    ] = None,
    model: ModelOption = "sst",
    source: Annotated[
        TreeSource,
        typer.Option(
            help="Where the trees come from. auto: whatever the model was trained on. self: the "
            "model's own parser."
        ),
    ] = "auto",
    as_json: JsonOption = False,
    as_json_lines: Annotated[
        bool, typer.Option("--jsonl", help="Print JSON as it comes, one line per sentence.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write the results to this file, as one HTML page.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Draw the trees to this file, as an SVG picture.")
    ] = None,
    classes: ClassesOption = None,
    abstain: Annotated[
        float | None,
        typer.Option(
            help="Give no label if the best class is less probable than this, such as 0.6."
        ),
    ] = None,
    max_words: Annotated[
        int, typer.Option(help="Split a sentence that has more words than this into parts.")
    ] = 400,
    why: Annotated[
        bool, typer.Option("--why", help="Show how much each phrase contributes to the label.")
    ] = False,
    encoding: Annotated[
        str,
        typer.Option(
            help="Encoding of the files or of standard input. A byte order mark is ignored."
        ),
    ] = "utf-8",
    input: Annotated[
        Path | None,
        typer.Option(
            help="Score a whole corpus and write the scores to the folder --out. Give a file "
            "(.txt, .json, .jsonl, .csv, .tsv, .parquet, .spacy; also .gz), a folder of such "
            "files, or - for standard input."
        ),
    ] = None,
    out: OutOption = None,
    text: TextOption = None,
    id: IdOption = None,
    separator: SeparatorOption = None,
    header: HeaderOption = None,
    output: OutputOption = None,
    format: FormatOption = None,
    jobs: JobsOption = None,
    fail_after: FailOption = None,
    allow_repeated_ids: RepeatedOption = None,
    device: DeviceOption = "cpu",
    isolated: IsolatedOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Score English texts: each sentence, and every phrase in it.

    The bundled model, sst, finds sentiment. Other models have classes of their own.
    """
    from thinstack import load
    from thinstack.runtime.text import predict_text

    if input is not None:
        predict_corpus(context.params)
    refuse_without_input(context.params)
    pages = {"html": html, "svg": svg}
    if as_json_lines and (as_json or any(pages.values())):
        raise InputError(
            "--jsonl cannot be combined with --json, --html or --svg: choose one kind of output"
        )
    for option, path in pages.items():
        if path is not None and path.is_dir():
            raise InputError(
                f"--{option} {path}: expected a file to write, found a folder: name a file in it, "
                f"such as {path / f'result.{option}'}"
            )
    inputs = texts or _lines_of_input(encoding)
    predictor = load(
        model,
        device=device,
        threads=threads,
        classes=classes,
        abstain=abstain,
        max_words=max_words,
        isolated=isolated,
    )
    unread = Unread(predictor.vocabulary)
    scored = unread.seen(_with_words(predict_text(predictor, inputs, source=source)))
    if as_json_lines:
        _print_lines(scored, max_words, why=why)
    else:
        _show(scored, max_words, as_json=as_json, pages=pages, why=why)
    unread.warn()


def _show(
    texts: "Iterable[tuple[int, list[Prediction]]]",
    max_words: int,
    *,
    as_json: bool,
    pages: Mapping[str, Path | None],
    why: bool,
) -> None:
    """Print all texts as one JSON list, write them as a page or a picture, or draw them."""
    predictions: list[Prediction] = []
    several: dict[int, list[Prediction]] = {}  # texts, by the place of their last sentence
    for _, sentences in texts:
        predictions.extend(sentences)
        if len(sentences) > 1:
            several[len(predictions) - 1] = sentences
    whys = [_contributions(prediction, max_words) if why else [] for prediction in predictions]
    if path := pages["html"]:
        from thinstack.integrations.show.html import page

        write_atomically(path, page(predictions, whys=whys))
    if path := pages["svg"]:
        from thinstack.integrations.show.svg import svg

        write_atomically(path, svg(predictions, whys=whys))
    if as_json:
        print_json([_data(*pair, why=why) for pair in zip(predictions, whys, strict=True)])
    elif not any(pages.values()):
        from thinstack.integrations.show.terminal import draw, draw_text

        console = Console()
        for place, prediction in enumerate(predictions):
            console.print(draw(prediction, whys[place]))
            if place in several:
                console.print(draw_text(several[place]), "")


def _with_words(texts: Iterable["list[Prediction]"]) -> "Iterator[tuple[int, list[Prediction]]]":
    """The texts that have words, each with its place from 0. Warns about each text that has no
    words, and raises InputError if no text has any."""
    empty = True
    for place, sentences in enumerate(texts):
        if sentences:
            empty = False
            yield place, sentences
        else:
            print(f"warning: text {place} has no words", file=sys.stderr)
    if empty:
        raise InputError('found no words to score: give a text, such as "The acting is superb."')


def _print_lines(
    texts: "Iterable[tuple[int, list[Prediction]]]", max_words: int, *, why: bool
) -> None:
    """Print a record for each sentence as soon as it is ready, until the reader stops."""
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
    print(
        f"warning: --why leaves out a sentence of {len(prediction.words):,} words, because it "
        f"explains at most {max_words:,}: raise --max-words to include it",
        file=sys.stderr,
    )
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
            'found no text: give one, as in thinstack predict "The acting is superb.", or pipe '
            "texts into standard input"
        )
    return lines_of(sys.stdin.buffer, encoding, name="standard input")
