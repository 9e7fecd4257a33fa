"""`thinstack predict`: texts in, their phrases and scores out."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thinstack.cli import options, predict_corpus, print_aspects, print_results
from thinstack.cli.print_results import Numbered
from thinstack.core.config import TreeSource
from thinstack.data.files.outputs import check_output
from thinstack.data.tables.text_streams import lines_of, paragraphs_of
from thinstack.errors import InputError

if TYPE_CHECKING:
    from thinstack.runtime.predictor import Predictor
    from thinstack.runtime.result import Result

_KINDS = ("as_json", "as_json_lines", "as_csv", "brief", "full")
"""Kinds of output, of which there is one."""


def predict(
    context: typer.Context,
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Texts to score. Without any, each line of standard input is a text."),
    ] = None,
    model: options.ModelOption = "sentiment",
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
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV as it comes, one row per text.")
    ] = False,
    brief: Annotated[
        bool, typer.Option("--brief", help="Print one line per text: label, polarity, text.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Draw all sentences of a text with their trees.")
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
    aggregation: options.AggregationOption = None,
    why: Annotated[
        bool, typer.Option("--why", help="Show how much each phrase contributes to the label.")
    ] = False,
    aspects: Annotated[
        bool,
        typer.Option(
            "--aspects",
            help="Show what is said of what: the terms of each text, by the model aspects.",
        ),
    ] = False,
    about: Annotated[
        list[str] | None,
        typer.Option(
            help="Show what is said of a term, such as battery, or price|cost for two names of "
            "one. Give it again for another term."
        ),
    ] = None,
    encoding: Annotated[
        str,
        typer.Option(
            help="Encoding of the files or of standard input. A byte order mark is ignored."
        ),
    ] = "utf-8",
    paragraphs: options.ParagraphsOption = False,
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
    bom: predict_corpus.BomOption = None,
    device: options.DeviceOption = "cpu",
    isolated: options.IsolatedOption = None,
    threads: options.ThreadsOption = None,
) -> None:
    """Score English texts: each sentence, and every phrase in it.

    The bundled model says how positive or negative. Other models have classes of their own.
    """
    from thinstack import load

    context.params["model"] = model = _model_of(context)
    if input is not None:
        predict_corpus.predict_corpus(context.params)
    predict_corpus.refuse_without_input(context.params)
    _check_one_kind(context.params)
    if texts and paragraphs:
        raise InputError("--paragraphs cuts standard input, but texts are given: leave one out")
    inputs = texts or _texts_of_input(encoding, paragraphs=paragraphs)
    view: dict[str, Any] = {"classes": classes, "abstain": abstain, "max_words": max_words}
    view["aggregation"] = aggregation
    predictor = load(model, device=device, threads=threads, isolated=isolated, **view)
    used = [predictor.bundle.path, None if texts else 0]
    pages = {
        option: check_output(path, f"--{option}", [*used, html if option == "svg" else None])
        for option, path in (("html", html), ("svg", svg))
        if path is not None
    }
    scored = _noted(predictor.stream(inputs, source=source))
    most = max_words if why else None
    if aspects or about:
        _print_aspects(scored, predictor, context.params)
    elif as_json_lines:
        print_results.print_lines(scored, most)
    elif as_csv:
        print_results.print_csv(scored, predictor.view)
    elif brief:
        print_results.print_brief(scored, predictor.view)
    elif as_json or pages:
        results = [result for _, result in scored]
        print_results.write_pages(results, pages, most)
        if as_json:
            print_results.print_list(results, most)
    else:
        print_results.draw_texts(scored, most, full=full)
        if not predictor.phrases:
            print("note: this model scores whole sentences, not their phrases", file=sys.stderr)


def _model_of(context: typer.Context) -> str:
    """The name of the model, by default of one that can do what is asked."""
    model: str = context.params["model"]
    source = context.get_parameter_source("model")
    by_default = source is not None and source.name == "DEFAULT"
    asked = context.params["aspects"] or context.params["output"] == "aspects"
    return "aspects" if asked and by_default else model


def _print_aspects(
    scored: Iterator[Numbered], predictor: "Predictor", asked: Mapping[str, Any]
) -> None:
    """Print what the texts say of what."""
    found = print_aspects.Found(asked["about"] or ())
    found(predictor(""))  # which raises what is wrong with the model and the terms
    scored = found.watched(scored)
    if asked["as_json_lines"]:
        print_aspects.print_aspect_lines(scored, found)
    elif asked["as_csv"]:
        print_aspects.print_csv_aspects(scored, predictor.view, found)
    elif asked["brief"]:
        one = len(asked["texts"] or ()) == 1
        print_aspects.print_brief_aspects(scored, predictor.view, found, numbered=not one)
    elif asked["as_json"]:
        print_aspects.print_aspect_list(scored, found)
    else:
        print_aspects.draw_aspects(scored, found)


def _check_one_kind(asked: Mapping[str, Any]) -> None:
    """Raise InputError for options that ask for several kinds of output. A page and a picture may
    be written beside JSON."""
    kinds = [
        name for name in ("as_json", "as_json_lines", "as_csv", "brief", "full") if asked[name]
    ]
    pages = [name for name in ("html", "svg") if asked[name]]
    unexplained = {"as_csv", "brief"}.intersection(kinds) if asked["why"] else ()
    aspects = [name for name in ("aspects", "about") if asked[name]]
    whole = [name for name in ("full", *pages, "why") if asked[name]] if aspects else []
    if len(aspects) > 1 or whole:
        both = options.listed([*aspects, *whole])
        raise InputError(f"{both}: do not go together: choose one of them")
    if len(kinds) > 1 or unexplained or (pages and kinds not in ([], ["as_json"])):
        all_of_them = options.listed([*kinds, *pages, *(["why"] if unexplained else [])])
        raise InputError(f"{all_of_them}: do not go together: choose one kind of output")


def _noted(texts: Iterable["Result"]) -> Iterator[Numbered]:
    """The texts, each with its place from 0. Warns about each text that has no words, and raises
    InputError if no text has any."""
    empty = True
    for place, result in enumerate(texts):
        empty = empty and not result.sentences
        if not result.sentences:
            print(f"warning: text {place} has no words", file=sys.stderr)
        yield place, result
    if empty:
        raise InputError('found no words to score: give a text, such as "The acting is superb."')


def _texts_of_input(encoding: str, *, paragraphs: bool) -> "Iterator[str]":
    if sys.stdin.isatty():
        raise InputError(
            'found no text: give one, as in thinstack predict "The acting is superb.", or pipe '
            "texts into standard input"
        )
    lines = lines_of(sys.stdin.buffer, encoding, name="standard input")
    return (text for _, text in paragraphs_of(lines)) if paragraphs else lines
