"""`thinstack predict`: texts in, their phrases and scores out."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from thinstack.cli import options
from thinstack.cli.options import argument, option
from thinstack.cli.predict_corpus import CorpusSettings, predict_corpus
from thinstack.cli.predict_pairs import KINDS, print_pair, refuse_with_pairs, score_table
from thinstack.cli.print_results import Aspects, Kind, Numbered, Sentences, print_texts
from thinstack.core.config import TreeSource
from thinstack.data.files.outputs import check_output
from thinstack.data.tables.text_streams import lines_of, paragraphs_of
from thinstack.errors import InputError

if TYPE_CHECKING:
    from thinstack.runtime.mentions import Asked
    from thinstack.runtime.result import Result


@dataclass(frozen=True)
class DisplaySettings:
    """What is shown of texts, and how."""

    as_json: options.JsonOption = False
    as_json_lines: bool = option("Stream JSON, one line per sentence.", "--jsonl", default=False)
    as_csv: bool = option("Stream CSV, one row per text.", "--csv", default=False)
    brief: bool = option(
        "Print one line per text: label, polarity, text.", "--brief", default=False
    )
    full: bool = option(
        "Draw the trees of all sentences, also for a text of several sentences.",
        "--full",
        default=False,
    )
    html: Path | None = option("Write the results to this HTML file.")
    svg: Path | None = option("Draw the trees in this SVG file.")
    why: bool = option(
        "Name the phrase that decides each label, and mark it in the tree. --json and --jsonl list "
        "how much every phrase contributes.",
        "--why",
        default=False,
    )
    aspects: bool = option(
        "Find the terms in each text, and label the opinion about each term. Uses the model "
        "aspects.",
        "--aspects",
        default=False,
    )
    about: list[str] | None = option(
        "Label the opinions about a term, such as battery, or price|cost for two names of one "
        "thing. Can be repeated. With --input: adds two columns per term."
    )
    category: list[str] | None = option(
        "Label the opinions about a category that you define by examples, such as "
        '"price=overpriced,pay extra,cheap". Uses the model vectors.'
    )

    @property
    def asked(self) -> "Asked":
        """The terms and categories that are asked for."""
        return options.asked(self.about, self.category)

    def kind(self) -> Kind:
        """The one kind of output. Raises InputError for options that ask for several. A page and a
        picture may be written beside JSON."""
        kinds = options.chosen(self, "as_json", "as_json_lines", "as_csv", "brief", "full")
        pages = options.chosen(self, "html", "svg")
        why = options.chosen(self, "why")
        named = options.chosen(self, "about", "category")
        terms = [*options.chosen(self, "aspects"), *named[:1]]
        whole = [*options.chosen(self, "full"), *pages, *why]
        if len(terms) > 1 or (terms and whole):
            both = options.listed([*terms, *whole])
            raise InputError(f"{both}: do not go together: choose one of them")
        unexplained = why if {"as_csv", "brief"}.intersection(kinds) else []
        if len(kinds) > 1 or unexplained or (pages and kinds not in ([], ["as_json"])):
            clashing = options.listed([*kinds, *pages, *unexplained])
            raise InputError(f"{clashing}: do not go together: choose one kind of output")
        order: tuple[Kind, ...] = ("as_json", "as_json_lines", "as_csv", "brief")
        return next((kind for kind in order if kind in kinds), "drawn")


@dataclass(frozen=True)
class ReadingSettings:
    """How texts are read."""

    source: TreeSource = option(
        "Where the trees come from. auto: the trees that the model was trained on. self: the "
        "model's own parser. balanced, left, right: trees of this shape.",
        default="auto",
    )
    encoding: str = option(
        "Encoding of the files or of standard input. A byte order mark is ignored.", default="utf-8"
    )
    paragraphs: bool = option(
        "For standard input or a .txt file: only a blank line ends a text.",
        "--paragraphs",
        default=False,
    )


@dataclass(frozen=True)
class Running(options.Running):
    """Where and how a model runs; files are scored on one thread, unless a user names another."""

    threads: int | None = option(
        "Number of threads.  [default: one per core, but 1 with --input]", min=1, max=256
    )


@options.grouped
def predict(
    context: typer.Context,
    *,
    texts: list[str] | None = argument(
        "Texts to score. If you pass none, each line of standard input is a text.", default=None
    ),
    model: options.ModelOption = "sentiment",
    pair: tuple[str, str] | None = option(
        "Score two texts as a pair. Requires a model that was trained on pairs."
    ),
    reading: ReadingSettings,
    shown: DisplaySettings,
    view: options.ViewSettings,
    corpus: CorpusSettings,
    running: Running,
) -> None:
    """Score English texts: each sentence, and every phrase in it.

    The bundled model predicts sentiment. Other models predict their own labels.
    """
    from thinstack import load
    from thinstack.bundle import open_bundle

    origin = context.get_parameter_source("model")
    if origin is not None and origin.name == "DEFAULT":
        model = "vectors" if corpus.vectors or shown.category else model
        model = "aspects" if shown.aspects or corpus.output == "aspects" else model
    texts_alone = [*(["texts"] if texts else []), *options.chosen(shown)]
    if pair is not None or (corpus.input is not None and open_bundle(model).reads_pairs):
        refused = [name for name in texts_alone if pair is None or name not in KINDS]
        refused += options.chosen(reading, "source", "paragraphs")
        refuse_with_pairs(refused, corpus, of_table=pair is None)
        predictor = load(model, **vars(running), **vars(view))
        if pair is not None:
            print_pair(predictor, pair, shown.kind())
        else:
            score_table(predictor, corpus, encoding=reading.encoding)
        return
    if corpus.input is not None:
        misplaced = [name for name in texts_alone if name not in ("about", "category")]
        read = vars(reading) | vars(view) | {"asked": shown.asked}
        predict_corpus(corpus, corpus.input, model, running, read, misplaced)
    corpus.refuse_without_input(texts or [])
    kind = shown.kind()
    if texts and reading.paragraphs:
        raise InputError("--paragraphs cuts standard input, but texts are given: leave one out")
    inputs = texts or _texts_of_input(reading.encoding, paragraphs=reading.paragraphs)
    predictor = load(model, **vars(running), **vars(view))
    used = [predictor.bundle.path, None if texts else 0]
    pages = {
        name: check_output(path, f"--{name}", [*used, shown.html if name == "svg" else None])
        for name, path in (("html", shown.html), ("svg", shown.svg))
        if path is not None
    }
    scored = _numbered(predictor.stream(inputs, source=reading.source))
    if shown.aspects or shown.asked:
        answers = Aspects(predictor, shown.asked, several=len(texts or ()) != 1)
        print_texts(answers.watched(scored), answers, predictor.view, kind)
        return
    sentences = Sentences(view.max_words if shown.why else None, full=shown.full)
    if pages:
        results = list(scored)
        sentences.write_pages([result for _, result in results], pages)
        scored = iter(results)
    if not pages or shown.as_json:
        print_texts(scored, sentences, predictor.view, kind)
    if kind == "drawn" and not pages and not predictor.phrases:
        print("note: this model scores whole sentences, not their phrases", file=sys.stderr)


def _numbered(texts: Iterable["Result"]) -> Iterator[Numbered]:
    """The texts, each with its place from 0. Warns about each text that has no words, and raises
    InputError if no text has any."""
    empty = True
    for place, result in enumerate(texts):
        empty = empty and not result.sentences
        if not result.sentences:
            print(f"warning: text {place} has no words", file=sys.stderr)
        yield place, result
    if empty:
        raise InputError('found no words to score: pass a text, such as "The acting is superb."')


def _texts_of_input(encoding: str, *, paragraphs: bool) -> "Iterator[str]":
    if sys.stdin.isatty():
        raise InputError(
            'found no text: pass one, as in thinstack predict "The acting is superb.", or pipe '
            "texts into standard input"
        )
    lines = lines_of(sys.stdin.buffer, encoding, name="standard input")
    return (text for _, text in paragraphs_of(lines)) if paragraphs else lines
