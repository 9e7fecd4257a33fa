"""From texts to results: split texts into sentences and words, and score them."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from thinstack.core.config import TreeSource
from thinstack.errors import InputError, LanguageWarning, ThinstackError, outside, shown
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.result import Result
from thinstack.text.batching import BATCH_CHARACTERS, BATCH_TEXTS, each_part, in_batches
from thinstack.text.sentences import check_text, splitter

if TYPE_CHECKING:
    from thinstack.runtime.predictor import Predictor
    from thinstack.runtime.scorer import Scorer

Item = TypeVar("Item")

OnError = Callable[[int, ThinstackError], None]
"""Called with the index (from 0) of a text and its error."""


class TextReader:
    """A reader of texts or pairs, in batches. `split`: whether to split into sentences."""

    def __init__(self, scorer: "Scorer", *, split: bool):
        self._scorer, self._cut = scorer, splitter(sentences=split)
        self._has_warned = False

    def batches(
        self, items: Iterable[Item], size: Callable[[Item], int], texts: int = 1
    ) -> Iterator[list[Item]]:
        """Iterate over batches of items of `texts` texts each, limited by `size` in characters."""
        threads = self._scorer.pool.threads
        most = BATCH_TEXTS[self._scorer.device] * threads // texts
        return in_batches(items, most, size, BATCH_CHARACTERS * threads)

    def warn_of_language(self, name: str, *sentences: Sequence[str]) -> None:
        """Warn about the first text that may not be English."""
        if not self._has_warned and (doubt := self._scorer.language.doubt(*sentences)):
            problem = f"{name}: {doubt}; its scores are unreliable"
            warnings.warn(LanguageWarning(problem), stacklevel=outside())
            self._has_warned = True  # only if the warning was not raised as an error


class Reader(TextReader):
    """A reader of texts for `Predictor.stream`. Raises InputError for a source that the model does
    not support."""

    def __init__(
        self, predictor: "Predictor", source: TreeSource, *, split: bool, on_error: OnError | None
    ):
        super().__init__(predictor, split=split)
        predictor.check_reads_texts()
        receiver: object = on_error
        if receiver is not None and not callable(receiver):
            advice = "pass a function of a text's index and its error, or omit on_error"
            raise InputError(f"on_error: expected a function, found {shown(receiver)}: {advice}")
        if source != "auto":
            predictor.tree_maker(source)  # raise for an unknown source even without texts
        self.predictor, self.source, self.on_error = predictor, source, on_error

    def result(self, text: str) -> Result:
        """Return the result of one text."""
        return next(self._scored([self._checked((0, text))]))

    def results(self, texts: Iterable[str]) -> Iterator[Result]:
        """Iterate over the results of texts, in batches."""
        checked = map(self._checked, enumerate(texts))
        for batch in self.batches(checked, lambda numbered: len(numbered[1])):
            yield from self._scored(batch)

    def _checked(self, numbered: tuple[int, object]) -> tuple[int, str]:
        """Return the text, or "" for an invalid one if `on_error` receives the error."""
        place, text = numbered
        try:
            return place, check_text(text, place)
        except InputError as error:
            if self.on_error is None:
                raise
            self.on_error(place, error)
            return place, ""

    def _scored(self, batch: Sequence[tuple[int, str]]) -> Iterator[Result]:
        for part, results in each_part(batch, self._results, ThinstackError):
            if isinstance(results, ThinstackError):
                place, text = part[0]
                if not str(results).startswith(f"text {place}: "):
                    results.args = (f"text {place}: {results}",)
                if self.on_error is None:
                    raise results
                self.on_error(place, results)
                yield Result(text, (), self.predictor.view)
            else:
                yield from results

    def _results(self, numbered: Sequence[tuple[int, str]]) -> list[Result]:
        predictor = self.predictor
        view, texts = predictor.view, [text for _, text in numbered]
        cut = list(self._cut(texts))
        words = [[sentence.words for sentence in sentences] for sentences in cut]
        for (place, _), read_words in zip(numbered, words, strict=True):
            self.warn_of_language(f"text {place}", *read_words)
        scored = predictor.score_texts(words, self.source)
        results = list[Result]()
        for text, sentences, rows in zip(texts, cut, scored, strict=True):
            pairs = zip(sentences, rows.sentences, strict=True)
            read = tuple([Prediction.of_sentence(*pair, view, predictor) for pair in pairs])
            results.append(Result(text, read, view, joint=rows.joint))
        return results
