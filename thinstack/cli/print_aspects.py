"""Prints what texts say of what, as `thinstack predict --aspects` and `--about` were asked to."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console

from thinstack.cli.options import print_json
from thinstack.cli.print_results import Numbered, until_the_reader_stops

if TYPE_CHECKING:
    from thinstack.runtime.aspects import Aspect
    from thinstack.runtime.result import Result
    from thinstack.runtime.views import View

_PLACES: Final = 6
"""Digits of a number behind the point."""


class Found:
    """Finds the aspects of a text: those of the `terms` that a user names, or if there are none all
    that the model finds."""

    def __init__(self, terms: Sequence[str]):
        self.terms = terms
        self._mentioned = set[str | None]()

    def __call__(self, result: "Result") -> "Sequence[Aspect]":
        if not self.terms:
            return result.aspects
        aspects = result.about(*self.terms)
        self._mentioned.update(aspect.asked for aspect in aspects)
        return aspects

    def watched(self, texts: Iterable[Numbered]) -> Iterator[Numbered]:
        """The texts; behind the last one, a warning of each term that none of them mentions."""
        from thinstack.runtime.mentions import warn_of_unmentioned

        yield from texts
        warn_of_unmentioned(term for term in self.terms if term not in self._mentioned)


def draw_aspects(texts: Iterable[Numbered], found: Found) -> None:
    """Draw each text with its aspects, as it comes."""
    from thinstack.integrations.show.terminal_text import AspectsAnswer

    console, between = Console(), False
    with until_the_reader_stops():
        for _, result in texts:
            if result.sentences:
                if between:
                    console.print()
                console.print(AspectsAnswer(result, found(result)))
                between = True


def print_brief_aspects(
    texts: Iterable[Numbered], view: "View", found: Found, *, numbered: bool
) -> None:
    """Print a line for each aspect as it comes, cut to the width of a terminal. If texts are
    `numbered`, it begins with the place of the text, from 0."""
    from thinstack.integrations.show.pen import Pen
    from thinstack.integrations.show.terminal_text import brief_aspect

    console = Console()
    pen = Pen(view, console.options)
    with until_the_reader_stops():
        for place, result in texts:
            for aspect in found(result):
                start = f"{place:>4}  " if numbered else ""
                line = brief_aspect(pen, aspect, start, cut=console.is_terminal)
                console.print(line, soft_wrap=True, highlight=False)


def print_csv_aspects(texts: Iterable[Numbered], view: "View", found: Found) -> None:
    """Print a row of CSV for each aspect as it comes, in UTF-8, with a column for each class.
    Raises InputError for a class that has the name of another column."""
    from thinstack.data.tables.csv_rows import check_classes, csv_writer

    asked = ["asked"] if found.terms else []
    names = ["text", "aspect", *asked, "start", "end", "label", "polarity", "because"]
    check_classes("--csv", view.labels, names, "choose --jsonl")
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    writer = csv_writer(sys.stdout)
    with until_the_reader_stops():
        writer.writerow([*names, *view.labels])
        for _, result in texts:
            for each in found(result):
                named = [each.asked] if found.terms else []
                place = None if each.polarity is None else round(each.polarity, _PLACES)
                cells = [result.text, each.text, *named, each.start, each.end, each.label, place]
                scores = (round(each.scores[label], _PLACES) for label in view.labels)
                writer.writerow([*cells, each.because, *scores])


def print_aspect_lines(texts: Iterable[Numbered], found: Found) -> None:
    """Print a record of JSON for each aspect as it comes."""
    with until_the_reader_stops():
        for text_index, result in texts:
            for aspect in found(result):
                print_json({"text_index": text_index} | aspect.to_dict(), indent=None)


def print_aspect_list(texts: Iterable[Numbered], found: Found) -> None:
    """Print all texts with their aspects as one list of JSON."""
    print_json([_data(result, found) for _, result in texts])


def _data(result: "Result", found: Found) -> dict[str, Any]:
    polarity = None if result.polarity is None else round(result.polarity, _PLACES)
    return {
        "text": result.text,
        "label": result.label,
        "polarity": polarity,
        "scores": {label: round(score, _PLACES) for label, score in result.scores.items()},
        "aspects": [aspect.to_dict() for aspect in found(result)],
    }
