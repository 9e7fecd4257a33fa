"""`thinstack predict`: scores texts and their phrases."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from thinstack.cli import options
from thinstack.cli.options import argument, option
from thinstack.cli.predict_corpus import CorpusSettings, predict_corpus, print_pair, score_table
from thinstack.cli.print_results import Aspects, Kind, Numbered, Sentences, print_texts
from thinstack.core.config import TreeSource
from thinstack.data.files.outputs import Output, check_output
from thinstack.data.files.reading import lines_of, paragraphs_of
from thinstack.errors import InputError

if TYPE_CHECKING:
    from thinstack.runtime.aspects import Asked
    from thinstack.runtime.result import Result


_KINDS: Final[tuple[Kind, ...]] = ("as_json", "as_json_lines", "as_csv", "brief")
_APART: Final = (
    ((*_KINDS, "full"), (*_KINDS, "full")),
    (("aspects",), ("about", "category")),
    (("aspects", "about", "category"), ("full", "html", "svg", "why")),
    (("why",), ("as_csv", "brief")),
    (("html", "svg"), ("as_json_lines", "as_csv", "brief", "full")),
)
"""Conflicting options: any one of the first with any one of the second."""

_MODES: Final[dict[str, tuple[str, ...]]] = {
    "--pair": ("as_json", "as_json_lines", "as_csv", "encoding"),
    "a table of pairs": ("input", "out", "text", "separator", "header", "encoding"),
    "--input": (
        *("source", "encoding", "paragraphs", "about", "category"),
        *(setting.name for setting in fields(CorpusSettings)),
    ),
}
"""Options that each kind of input supports, other than those of the model and its classes."""


@dataclass(frozen=True)
class DisplaySettings:
    """What to show of texts, and in which format."""

    as_json: options.JsonOption = False
    as_json_lines: bool = option("Stream JSON, one line per sentence.", "--jsonl", default=False)
    as_csv: bool = option("Stream CSV, one row per text.", "--csv", default=False)
    brief: bool = option("Print one line per text: label, polarity, text.", default=False)
    full: bool = option(
        "Draw the trees of all sentences, also for a text of several sentences.", default=False
    )
    html: Path | None = option("Write the results to this HTML file.")
    svg: Path | None = option("Draw the trees in this SVG file.")
    why: bool = option(
        "Print the phrase that decides each label and mark it in the tree. --json and --jsonl list "
        "how much every phrase contributes.",
        default=False,
    )
    aspects: bool = option(
        "Find the terms in each text, and label the opinion about each term. Uses the model "
        "aspects.",
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
        """The terms and categories that the user requests."""
        return options.asked(self.about, self.category)

    def kind(self) -> Kind:
        """Return the output format. Raises InputError for options with several formats. An HTML
        page and an SVG picture can be combined with JSON."""
        named = options.chosen(self)
        for names, others in _APART:
            left = [name for name in named if name in names]
            if left and (right := [name for name in named if name in others and name != left[0]]):
                both = options.listed([left[0], *right])
                raise InputError(f"{both}: cannot be combined: choose one")
        return next((kind for kind in _KINDS if kind in named), "drawn")


@dataclass(frozen=True)
class ReadingSettings:
    """How to read texts."""

    source: TreeSource = option(
        "Where the trees come from. auto: the same as in training. self: the "
        "model's own parser. balanced, left, right: trees of this shape.",
        default="auto",
    )
    encoding: str = option(
        "Encoding of the files or of standard input. A byte order mark is ignored.", default="utf-8"
    )
    paragraphs: bool = option(
        "For standard input or a .txt file: only a blank line ends a text.", default=False
    )


@dataclass(frozen=True)
class Running(options.Running):
    """Where and how to run a model; files are scored on one thread by default."""

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
    from thinstack.bundle import open_bundle

    origin = context.get_parameter_source("model")
    if origin is not None and origin.name == "DEFAULT":
        model = "vectors" if corpus.vectors or shown.category else model
        model = "aspects" if shown.aspects or corpus.output == "aspects" else model
    pair_table = corpus.input is not None and open_bundle(model).reads_pairs
    mode = "--pair" if pair else "a table of pairs" if pair_table else "--input"
    if pair or corpus.input is not None:
        named = [*["texts"] * bool(texts), *chain(*map(options.chosen, (reading, shown, corpus)))]
        if refused := [name for name in named if name not in _MODES[mode]]:
            raise InputError(f"{options.listed(refused)}: does not work with {mode}: remove it")
    if pair is not None:
        print_pair(running.load(model, **vars(view)), pair, shown.kind())
        return
    if pair_table:
        score_table(running.load(model, **vars(view)), corpus, encoding=reading.encoding)
        return
    if corpus.input is not None:
        examples = options.named_examples("--category", shown.category, options.EXAMPLE)
        read = vars(reading) | vars(view) | {"categories": examples}
        read |= {"about": tuple(shown.about or ())}
        predict_corpus(corpus, model, running, read)
    corpus.refuse_without_input(texts or [])
    kind = shown.kind()
    if texts and reading.paragraphs:
        raise InputError("--paragraphs splits standard input, but you passed texts: remove either")
    inputs = texts or _texts_of_input(reading.encoding, paragraphs=reading.paragraphs)
    predictor = running.load(model, **vars(view))
    used, pages = [predictor.bundle.path, None if texts else 0], dict[str, Output]()
    if shown.html is not None:
        pages["html"] = check_output(shown.html, "--html", used)
    if shown.svg is not None:
        pages["svg"] = check_output(shown.svg, "--svg", [*used, shown.html])
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
    """Yield the texts with their indices from 0. Warns about each text without words, and raises
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
