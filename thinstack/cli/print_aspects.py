"""What texts say of what, as `thinstack predict --aspects` and `--about` print it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from thinstack.cli.print_results import Numbered, Sentences, rounded

if TYPE_CHECKING:
    from thinstack.integrations.show.pen import Pen
    from thinstack.runtime.aspects import Aspect
    from thinstack.runtime.predictor import Predictor
    from thinstack.runtime.result import Result


class Aspects(Sentences):
    """The answers for the aspects of texts: those of the `terms` that a user names, or if there are
    none all that the model finds. If texts are `numbered`, a line begins with the place of its
    text, from 0. Raises what is wrong with the model and the terms."""

    def __init__(self, model: "Predictor", terms: Sequence[str], *, numbered: bool):
        super().__init__()
        self.terms, self.numbered = terms, numbered
        self._mentioned = set[str | None]()
        asked = ("asked",) if terms else ()
        self.columns = ("text", "aspect", *asked, "start", "end", "label", "polarity", "because")
        self.of(model(""))

    def of(self, result: "Result") -> "Sequence[Aspect]":
        """The aspects of a text."""
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

    def blocks(self, result: "Result") -> Iterator[RenderableType]:
        """A text with its aspects."""
        from thinstack.integrations.show.terminal_text import AspectsAnswer

        if result.sentences:
            yield AspectsAnswer(result, self.of(result))

    def lines(self, pen: "Pen", place: int, result: "Result", *, cut: bool) -> Iterator[Text]:
        """A line for each aspect."""
        from thinstack.integrations.show.terminal_text import brief_aspect

        start = f"{place:>4}  " if self.numbered else ""
        for aspect in self.of(result):
            yield brief_aspect(pen, aspect, start, cut=cut)

    def rows(self, result: "Result") -> Iterator[list[Any]]:
        """A row for each aspect."""
        for aspect in self.of(result):
            asked = [aspect.asked] if self.terms else []
            cells = [result.text, aspect.text, *asked, aspect.start, aspect.end, aspect.label]
            scores = (aspect.scores[label] for label in result.view.labels)
            yield [*cells, aspect.polarity, aspect.because, *scores]

    def records(self, place: int, result: "Result") -> Iterator[dict[str, Any]]:
        """A record for each aspect."""
        for aspect in self.of(result):
            yield {"text_index": place} | aspect.to_dict()

    def data(self, result: "Result") -> dict[str, Any]:
        """A text with its aspects."""
        labels, scores = result.scores.keys(), rounded(result.scores.values())
        (polarity,) = rounded([result.polarity])
        return {
            "text": result.text,
            "label": result.label,
            "polarity": polarity,
            "scores": dict(zip(labels, scores, strict=True)),
            "aspects": [aspect.to_dict() for aspect in self.of(result)],
        }
