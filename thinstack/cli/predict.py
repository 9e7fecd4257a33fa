"""`thinstack predict`: texts in, their phrases and scores out."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from thinstack.cli import options, predict_corpus
from thinstack.core.config import TreeSource
from thinstack.data.files.writing import write_atomically
from thinstack.data.tables.text_streams import lines_of
from thinstack.errors import InputError, escaped

if TYPE_CHECKING:
    from thinstack.data.words.vocabulary import Vocabulary
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.result import Result
    from thinstack.runtime.why import Contribution

Numbered = tuple[int, "Result"]
"""The place of a text, from 0, and its result."""


def predict(
    context: typer.Context,
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Texts to score. Without any, each line of standard input is a text."),
    ] = None,
    model: options.ModelOption = "sst",
    source: Annotated[
        TreeSource,
        typer.Option(
            help="Where the trees come from. auto: whatever the model was trained on. self: the "
            "model's own parser."
        ),
    ] = "auto",
    as_json: options.JsonOption = False,
    as_json_lines: Annotated[
        bool, typer.Option("--jsonl", help="Print JSON as it comes, one line per sentence.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write the results to this file, as one HTML page.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Draw the trees to this file, as an SVG picture.")
    ] = None,
    classes: options.ClassesOption = None,
    abstain: options.AbstainOption = None,
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
    out: predict_corpus.OutOption = None,
    text: predict_corpus.TextOption = None,
    id: predict_corpus.IdOption = None,
    separator: options.SeparatorOption = None,
    header: options.HeaderOption = None,
    output: predict_corpus.OutputOption = None,
    format: predict_corpus.FormatOption = None,
    jobs: predict_corpus.JobsOption = None,
    fail_after: predict_corpus.FailOption = None,
    allow_repeated_ids: predict_corpus.RepeatedOption = None,
    device: options.DeviceOption = "cpu",
    isolated: options.IsolatedOption = None,
    threads: options.ThreadsOption = None,
) -> None:
    """Score English texts: each sentence, and every phrase in it.

    The bundled model, sst, finds sentiment. Other models have classes of their own.
    """
    from thinstack import load

    if input is not None:
        predict_corpus.predict_corpus(context.params)
    predict_corpus.refuse_without_input(context.params)
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
    view: dict[str, Any] = {"classes": classes, "abstain": abstain, "max_words": max_words}
    predictor = load(model, device=device, threads=threads, isolated=isolated, **view)
    unread = Unread(predictor.vocabulary)
    scored = unread.seen(_with_words(predictor.stream(inputs, source=source)))
    most = max_words if why else None
    if as_json_lines:
        _print_lines(scored, most)
    else:
        _show(scored, most, as_json=as_json, pages=pages)
        if not (as_json or predictor.phrases):
            print("note: this model scores whole sentences, not their phrases", file=sys.stderr)
    unread.warn()


def _show(
    texts: Iterable[Numbered],
    explained: int | None,
    *,
    as_json: bool,
    pages: Mapping[str, Path | None],
) -> None:
    """Print all texts as one JSON list, write them as a page or a picture, or draw them.
    `explained`: sentences of at most so many words are explained; None explains no sentence."""
    predictions: list[Prediction] = []
    several: dict[int, Result] = {}  # texts, by the place of their last sentence
    for _, result in texts:
        predictions.extend(result.sentences)
        if len(result.sentences) > 1:
            several[len(predictions) - 1] = result
    whys = [_contributions(prediction, explained) for prediction in predictions]
    if path := pages["html"]:
        from thinstack.integrations.show.html import page

        write_atomically(path, page(predictions, whys=whys))
    if path := pages["svg"]:
        from thinstack.integrations.show.svg import svg

        write_atomically(path, svg(predictions, whys=whys))
    if as_json:
        pairs = zip(predictions, whys, strict=True)
        options.print_json([_data(*pair, explained) for pair in pairs])
    elif not any(pages.values()):
        from thinstack.integrations.show.terminal import draw, draw_text

        console = Console()
        for place, prediction in enumerate(predictions):
            console.print(draw(prediction, whys[place]))
            if place in several:
                console.print(draw_text(several[place]), "")


def _with_words(texts: Iterable["Result"]) -> Iterator[Numbered]:
    """The texts that have words, each with its place from 0. Warns about each text that has no
    words, and raises InputError if no text has any."""
    empty = True
    for place, result in enumerate(texts):
        if result.sentences:
            empty = False
            yield place, result
        else:
            print(f"warning: text {place} has no words", file=sys.stderr)
    if empty:
        raise InputError('found no words to score: give a text, such as "The acting is superb."')


def _print_lines(texts: Iterable[Numbered], explained: int | None) -> None:
    """Print a record for each sentence as soon as it is ready, until the reader stops."""
    try:
        for text_index, result in texts:
            document = result.to_dict()
            document = {name: document[name] for name in ("label", "polarity", "scores")}
            for sentence_index, prediction in enumerate(result.sentences):
                places = {"text_index": text_index, "sentence_index": sentence_index}
                data = _data(prediction, _contributions(prediction, explained), explained)
                options.print_json(places | {"document": document} | data, indent=None)
        sys.stdout.flush()
    except BrokenPipeError:  # as `head` leaves; nothing is left to flush at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _contributions(prediction: "Prediction", explained: int | None) -> "list[Contribution]":
    if explained is None:
        return []
    if len(prediction.words) <= explained:
        return prediction.why()
    print(
        f"warning: --why leaves out a sentence of {len(prediction.words):,} words, because it "
        f"explains at most {explained:,}: raise --max-words to include it",
        file=sys.stderr,
    )
    return []


def _data(
    prediction: "Prediction", why: "list[Contribution]", explained: int | None
) -> dict[str, Any]:
    from thinstack.runtime.why import why_data

    data = prediction.to_dict()
    return data if explained is None else data | {"why": why_data(prediction, why)}


def _lines_of_input(encoding: str) -> "Iterator[str]":
    if sys.stdin.isatty():
        raise InputError(
            'found no text: give one, as in thinstack predict "The acting is superb.", or pipe '
            "texts into standard input"
        )
    return lines_of(sys.stdin.buffer, encoding, name="standard input")


class Unread:
    """Counts the texts most of whose words have no entry in a vocabulary. Marks of punctuation are
    no words here."""

    def __init__(self, vocabulary: "Vocabulary"):
        self._vocabulary = vocabulary
        self._places: list[int] = []
        self._word = ""

    def seen(self, texts: Iterable[Numbered]) -> Iterator[Numbered]:
        """The texts, each with its place from 0, once they were looked at."""
        for place, result in texts:
            words = [word for each in result.sentences for word in each.words if _is_word(word)]
            unknown = [word for word in words if not self._vocabulary.knows(word)]
            if 2 * len(unknown) > len(words):
                self._word = self._word or unknown[0]
                self._places.append(place)
            yield place, result

    def warn(self) -> None:
        """Say on standard error how many texts there were, if any."""
        if count := len(self._places):
            first = f"text {self._places[0]}"
            which = first if count == 1 else f"{count:,} texts, the first of them {first},"
            print(
                f"warning: the model does not know most words of {which} such as "
                f"{escaped(self._word):.40}: their scores say little",
                file=sys.stderr,
            )


def _is_word(word: str) -> bool:
    return any(char.isalnum() or not char.isascii() for char in word)
