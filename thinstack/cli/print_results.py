"""Prints the results of texts, as `thinstack predict` was asked to."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType

from thinstack.cli.options import print_json
from thinstack.data.files.outputs import Output

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.result import Result
    from thinstack.runtime.views import View
    from thinstack.runtime.why import Contribution

Numbered = tuple[int, "Result"]
"""The place of a text, from 0, and its result."""


def draw_texts(texts: Iterable[Numbered], explained: int | None, *, full: bool) -> None:
    """Draw each text as it comes: a sentence with its tree, and a text of several sentences in some
    lines, with `full` or if sentences are explained with all trees.

    `explained`: sentences of at most so many words are explained; None explains no sentence.
    """
    from thinstack.integrations.show.terminal import draw
    from thinstack.integrations.show.terminal_text import TextAnswer

    console, trees = Console(), full or explained is not None
    with until_the_reader_stops():
        between = False
        for _, result in texts:
            several = len(result.sentences) > 1
            more = "" if trees else "--full draws each with its tree"
            blocks: list[RenderableType] = [TextAnswer(result, more)] if several else []
            if trees or not several:
                blocks += [draw(each, _contributions(each, explained)) for each in result.sentences]
            for block in blocks:
                if between:
                    console.print()
                console.print(block)
                between = True


def print_brief(texts: Iterable[Numbered], view: "View") -> None:
    """Print a line for each text as it comes, cut to the width of a terminal."""
    from thinstack.integrations.show.pen import Pen
    from thinstack.integrations.show.terminal_text import brief

    console = Console()
    pen = Pen(view, console.options)
    with until_the_reader_stops():
        for _, result in texts:
            line = brief(pen, result, cut=console.is_terminal)
            console.print(line, soft_wrap=True, highlight=False)


def print_csv(texts: Iterable[Numbered], view: "View") -> None:
    """Print a row of CSV for each text as it comes, in UTF-8, with a column for each class. Raises
    InputError for a class that has the name of another column."""
    from thinstack.data.tables.csv_rows import check_classes, csv_writer

    names = ["text", "label", "polarity"]
    check_classes("--csv", view.labels, names, "choose --jsonl")
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    writer = csv_writer(sys.stdout)
    with until_the_reader_stops():
        writer.writerow([*names, *view.labels])
        for _, result in texts:
            numbers = [result.polarity, *map(result.scores.get, view.labels)]
            rounded = (None if number is None else round(number, 6) for number in numbers)
            writer.writerow([result.text, result.label, *rounded])


def print_lines(texts: Iterable[Numbered], explained: int | None) -> None:
    """Print a record of JSON for each sentence as it comes."""
    with until_the_reader_stops():
        for text_index, result in texts:
            data = _data(result, explained)
            document = {name: data[name] for name in ("label", "polarity", "scores")}
            for sentence_index, sentence in enumerate(data["sentences"]):
                places = {"text_index": text_index, "sentence_index": sentence_index}
                print_json(places | {"document": document} | sentence, indent=None)


def print_list(texts: Iterable["Result"], explained: int | None) -> None:
    """Print all texts as one list of JSON."""
    print_json([_data(result, explained) for result in texts])


def write_pages(
    texts: Iterable["Result"], pages: Mapping[str, Output], explained: int | None
) -> None:
    """Write the sentences of all texts as an HTML page, an SVG picture, or both."""
    predictions = [sentence for result in texts for sentence in result.sentences]
    whys = [_contributions(prediction, explained) for prediction in predictions]
    if output := pages.get("html"):
        from thinstack.integrations.show.svg import page

        output.write(page(predictions, whys=whys))
    if output := pages.get("svg"):
        from thinstack.integrations.show.svg import svg

        output.write(svg(predictions, whys=whys))


@contextmanager
def until_the_reader_stops() -> Iterator[None]:
    """Printing in the block ends where the reader of a pipe stops, as `head` does."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:  # nothing is left to flush at the end
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


def _data(result: "Result", explained: int | None) -> dict[str, Any]:
    """The result as data, whose sentences say why if they are explained."""
    from thinstack.runtime.why import why_data

    data = result.to_dict()
    if explained is not None:
        for sentence, each in zip(data["sentences"], result.sentences, strict=True):
            sentence["why"] = why_data(each, _contributions(each, explained))
    return data
