"""Prints results of texts in the formats of `thinstack predict`."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal

from rich.console import Console, RenderableType
from rich.text import Text

from thinstack.cli.options import print_json
from thinstack.data.files.outputs import Output

if TYPE_CHECKING:
    from thinstack.integrations.show.terminal import Pen
    from thinstack.runtime.aspects import Asked, Aspect
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.predictor import Predictor
    from thinstack.runtime.result import Result
    from thinstack.runtime.views import View
    from thinstack.runtime.why import Contribution

Numbered = tuple[int, "Result"]
"""The index of a text, from 0, and its result."""

Kind = Literal["as_json", "as_json_lines", "as_csv", "brief", "drawn"]

_DIGITS: Final = 6  # decimal places


def print_texts(texts: Iterable[Numbered], answers: "Sentences", view: "View", kind: Kind) -> None:
    """Print the results of texts as they arrive, or `as_json` at the end. Raises InputError for a
    class with the name of another column of CSV."""
    console = Console()
    with until_the_reader_stops():
        if kind == "as_json":
            print_json([answers.data(result) for _, result in texts])
        elif kind == "as_json_lines":
            for place, result in texts:
                for record in answers.records(place, result):
                    print_json(record, indent=None)
        elif kind == "as_csv":
            _print_csv(texts, answers, view)
        elif kind == "brief":
            from thinstack.integrations.show.terminal import Pen

            pen, cut = Pen(view, console.options), console.is_terminal
            for place, result in texts:
                for line in answers.lines(pen, place, result, cut=cut):
                    console.print(line, soft_wrap=True, highlight=False)
        else:
            blocks = (block for _, result in texts for block in answers.blocks(result))
            for number, block in enumerate(blocks):
                if number:
                    console.print()
                console.print(block)


def _print_csv(texts: Iterable[Numbered], answers: "Sentences", view: "View") -> None:
    """Print rows of CSV in UTF-8, with one column per class."""
    from thinstack.data.tables.cell_text import check_classes, csv_line

    view.need_labels("--csv")
    check_classes("--csv", view.labels, answers.columns, "choose --jsonl")
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(csv_line([*answers.columns, *view.labels]))
    for _, result in texts:
        sys.stdout.writelines(csv_line(rounded(cells)) for cells in answers.rows(result))


def rounded(cells: Iterable[Any]) -> list[Any]:
    """Round the numbers among cells for printing."""
    return [round(cell, _DIGITS) if isinstance(cell, float) else cell for cell in cells]


class Sentences:
    """The output for texts and their sentences.

    `explained`: maximum number of words of sentences to explain; None explains no sentence. `full`:
    whether to draw all trees of a text of several sentences.
    """

    columns: tuple[str, ...] = ("text", "label", "polarity")
    """Columns of CSV before those of the classes."""

    def __init__(self, explained: int | None = None, *, full: bool = False):
        self.explained, self.full = explained, full

    def blocks(self, result: "Result") -> Iterator[RenderableType]:
        """Yield a sentence with its tree, or a summary of a text of several sentences."""
        from thinstack.integrations.show.terminal import Answer, Drawing

        several = len(result.sentences) > 1
        trees = self.full or self.explained is not None
        if several:
            yield Answer(result, more="" if trees else "use --full to draw the trees")
        if trees or not several:
            for sentence in result.sentences:
                yield Drawing(sentence, self.reasons(sentence))

    def lines(self, pen: "Pen", place: int, result: "Result", *, cut: bool) -> Iterator[Text]:
        """Yield lines for a text. `cut`: whether to truncate them to the width of a terminal."""
        from thinstack.integrations.show.terminal import brief

        yield brief(pen, result, cut=cut)

    def rows(self, result: "Result") -> Iterator[list[Any]]:
        """Yield rows of CSV: the cells of `columns` and the scores."""
        scores = map(result.scores.get, result.view.labels)
        yield [result.text, result.label, result.polarity, *scores]

    def records(self, place: int, result: "Result") -> Iterator[dict[str, Any]]:
        """Yield JSON records, one per line."""
        data = self.data(result)
        document = {name: data[name] for name in ("label", "polarity", "scores")}
        for number, sentence in enumerate(data["sentences"]):
            yield {"text_index": place, "sentence_index": number, "document": document} | sentence

    def data(self, result: "Result") -> dict[str, Any]:
        """Return a text as an item of a JSON list, with the reasons of explained sentences."""
        from thinstack.runtime.why import why_data

        data = result.to_dict()
        if self.explained is not None:
            for item, sentence in zip(data["sentences"], result.sentences, strict=True):
                item["why"] = why_data(sentence, self.reasons(sentence))
        return data

    def write_pages(self, texts: Iterable["Result"], pages: Mapping[str, Output]) -> None:
        """Write the sentences of all texts as an HTML page, an SVG picture, or both."""
        from thinstack.integrations.show.svg import page, svg

        sentences = [sentence for result in texts for sentence in result.sentences]
        whys = [self.reasons(sentence) for sentence in sentences]
        for name, output in pages.items():
            draw = page if name == "html" else svg
            output.write(draw(sentences, whys=whys))

    def reasons(self, sentence: "Prediction") -> "list[Contribution]":
        """Return the contributions of phrases to an explained sentence; warns if it is too long."""
        if self.explained is None:
            return []
        if len(sentence.words) <= self.explained:
            return sentence.why()
        print(
            f"warning: --why skipped a sentence of {len(sentence.words):,} words, because it "
            f"explains at most {self.explained:,}. Raise --max-words to include it.",
            file=sys.stderr,
        )
        return []


class Aspects(Sentences):
    """The output for the aspects of texts: those of the `terms` and categories that a user names,
    or all that the model finds if there are none. With `several` texts, a line begins with the
    index of its text, from 0, and ends with the text. Raises errors for unsuitable models and
    invalid terms."""

    def __init__(self, model: "Predictor", terms: "Asked", *, several: bool):
        from thinstack.runtime.aspects import term_columns

        super().__init__()
        self.terms, self.several = terms, several
        self._mentioned = set[str | None]()
        asked = ("asked",) if terms else ()
        self.columns = ("text", "aspect", *asked, "start", "end", "label", "polarity", "because")
        term_columns(terms, model)
        self.of(model(""))

    def of(self, result: "Result") -> "Sequence[Aspect]":
        """Return the aspects of a text."""
        if not self.terms:
            return result.aspects
        aspects = result.about(*self.terms)
        self._mentioned.update(aspect.asked for aspect in aspects)
        return aspects

    def watched(self, texts: Iterable[Numbered]) -> Iterator[Numbered]:
        """Yield the texts; after the last one, warn of each term that none of them mentions."""
        from thinstack.runtime.aspects import name_of
        from thinstack.runtime.mentions import warn_of_unmentioned

        yield from texts
        warn_of_unmentioned({*map(name_of, self.terms)} - self._mentioned)

    def blocks(self, result: "Result") -> Iterator[RenderableType]:
        """Yield a text with its aspects."""
        from thinstack.integrations.show.terminal import Answer

        if result.sentences:
            yield Answer(result, self.of(result))

    def lines(self, pen: "Pen", place: int, result: "Result", *, cut: bool) -> Iterator[Text]:
        """Yield one line per aspect."""
        from thinstack.integrations.show.terminal import brief

        start, end = (f"{place:>4}  ", f" | {result.text}") if self.several else ("", "")
        for aspect in self.of(result):
            yield brief(pen, aspect, start, end, cut=cut)

    def rows(self, result: "Result") -> Iterator[list[Any]]:
        """Yield one row per aspect."""
        for aspect in self.of(result):
            asked = [aspect.asked] if self.terms else []
            cells = [result.text, aspect.text, *asked, aspect.start, aspect.end, aspect.label]
            scores = (aspect.scores[label] for label in result.view.labels)
            yield [*cells, aspect.polarity, aspect.because, *scores]

    def records(self, place: int, result: "Result") -> Iterator[dict[str, Any]]:
        """Yield one record per aspect."""
        for aspect in self.of(result):
            yield {"text_index": place} | aspect.to_dict()

    def data(self, result: "Result") -> dict[str, Any]:
        """Return a text with its aspects."""
        data, aspects = result.to_dict(), [aspect.to_dict() for aspect in self.of(result)]
        names = ("text", "label", "polarity", "scores")
        return {name: data[name] for name in names} | {"aspects": aspects}


@contextmanager
def until_the_reader_stops() -> Iterator[None]:
    """Stop printing when the reader of a pipe closes it, as `head` does."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:  # nothing is left to flush on exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
