"""From texts to results: a splitter makes sentences and words, and the model scores them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from thinstack.core.config import TreeSource
from thinstack.data.tables.containers import check_container
from thinstack.errors import InputError, ThinstackError, shown
from thinstack.runtime.culprit import each_part
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.result import Result
from thinstack.text.batching import BATCH_CHARACTERS, BATCH_TEXTS, in_batches
from thinstack.text.sentences import Splitter, check_text, splitter

if TYPE_CHECKING:
    from thinstack.runtime.predictor import Predictor

OnError = Callable[[int, ThinstackError], None]
"""Is told the place of a text, from 0, and what is wrong with it."""


class Reader(NamedTuple):
    """Scores texts with a predictor, as `Predictor.stream` says."""

    predictor: "Predictor"
    cut: Splitter
    source: TreeSource
    on_error: OnError | None

    @classmethod
    def of(
        cls, predictor: "Predictor", source: TreeSource, *, split: bool, on_error: OnError | None
    ) -> "Reader":
        """Raises InputError for a source that the model does not have."""
        if source != "auto":
            predictor.tree_maker(source)  # an unknown source is an error without texts too
        return cls(predictor, splitter(sentences=split), source, on_error)

    def result(self, text: str) -> Result:
        """The result of one text."""
        return next(self._scored([self._checked((0, text))]))

    def results(self, texts: Iterable[str]) -> Iterator[Result]:
        """The results of texts, in batches."""
        device, threads = self.predictor.device, self.predictor.pool.threads
        most, characters = BATCH_TEXTS[device] * threads, BATCH_CHARACTERS * threads
        checked = map(self._checked, enumerate(texts))
        for batch in in_batches(checked, most, lambda each: len(each[1]), characters):
            yield from self._scored(batch)

    def _checked(self, numbered: tuple[int, object]) -> tuple[int, str]:
        """A text, "" in place of one that is none, if the error is told."""
        place, text = numbered
        try:
            return place, check_text(text, place)
        except InputError as error:
            if self.on_error is None:
                raise
            self.on_error(place, error)
            return place, ""

    def _scored(self, batch: Sequence[tuple[int, str]]) -> Iterator[Result]:
        """The result of each text."""
        if self.on_error is None:
            yield from self._results(batch)
            return
        for part, results in each_part(batch, self._results, ThinstackError):
            if isinstance(results, ThinstackError):
                place, text = part[0]
                self.on_error(place, results)
                yield Result(text, (), self.predictor.view)
            else:
                yield from results

    def _results(self, numbered: Sequence[tuple[int, str]]) -> list[Result]:
        predictor = self.predictor
        view, texts = predictor.view, [text for _, text in numbered]
        cut = list(self.cut(texts))
        flat = list(chain.from_iterable(cut))
        scored = predictor.trees_and_scores([sentence.words for sentence in flat], self.source)
        predictions = (
            Prediction(
                text, tuple(words), offsets, steps, scores, view, weight, parts, start, predictor
            )
            for (text, words, offsets, start), (steps, scores, weight, parts) in zip(
                flat, scored, strict=True
            )
        )
        return [
            Result(text, tuple(islice(predictions, len(sentences))), view)
            for text, sentences in zip(texts, cut, strict=True)
        ]


def check_texts(texts: object) -> None:
    """Raise InputError for what does not iterate over texts."""
    if isinstance(texts, str):
        text = shown(texts, 60)
        raise InputError(f"expected several texts, found {text}: model(text) scores one text")
    check_container(texts, "a text or several texts")
