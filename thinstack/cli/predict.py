"""`thinstack predict`: texts in, their phrases and scores out."""

import sys
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
from thinstack.config import TreeSource
from thinstack.errors import InputError

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.why import Contribution

__all__ = ["predict"]


def predict(
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
    html: Annotated[
        Path | None, typer.Option(help="Write a self-contained page to this file.")
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
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
) -> None:
    """The class of each sentence of English texts, and of every phrase in it: with `sst` their
    sentiment."""
    import thinstack
    from thinstack.runtime.text import predict_text

    given = texts or _lines_of_input()
    predictor = thinstack.load(
        model, device=device, threads=threads, classes=classes, abstain=abstain, max_words=max_words
    )
    found: list[Prediction] = []
    several: dict[int, list[Prediction]] = {}  # texts, by the place of their last sentence
    for number, sentences in enumerate(predict_text(predictor, given, source=source), 1):
        if not sentences:
            print(f"warning: text {number} has no words", file=sys.stderr)
        found.extend(sentences)
        if len(sentences) > 1:
            several[len(found) - 1] = sentences
    if not found:
        raise InputError(
            'there are no words to predict from: give a text such as "The acting is superb."'
        )
    whys = [_contributions(prediction, max_words) if why else [] for prediction in found]
    if html is not None:
        from thinstack.show.html import page

        html.write_text(page(found, whys=whys), encoding="utf-8")
    if as_json:
        print_json([_data(*pair, why=why) for pair in zip(found, whys, strict=True)])
    elif html is None:
        from thinstack.show.terminal import render, render_text

        console = Console()
        for place, prediction in enumerate(found):
            console.print(render(prediction, whys[place]))
            if place in several:
                console.print(render_text(several[place]), "")


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


def _lines_of_input() -> list[str]:
    if sys.stdin.isatty():
        raise InputError(
            'give a text, such as thinstack predict "The acting is superb.", or texts on standard '
            "input"
        )
    try:
        return [line.rstrip("\n") for line in sys.stdin]
    except UnicodeDecodeError as error:
        raise InputError(
            f"standard input is no text in {error.encoding}: {error.reason}; convert it first"
        ) from None
