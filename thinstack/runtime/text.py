"""From raw text to predictions: a splitter makes sentences and words, and the model scores them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from thinstack.core.config import TreeSource
from thinstack.data.tables.containers import check_container
from thinstack.errors import InputError, ThinstackError, shown
from thinstack.runtime.culprit import each_part
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.predictor import Predictor
from thinstack.text.batching import BATCH_CHARACTERS, BATCH_TEXTS, in_batches
from thinstack.text.sentences import Sentence as Sentence
from thinstack.text.sentences import Splitter as Splitter
from thinstack.text.sentences import check_text as check_text
from thinstack.text.sentences import splitter as splitter

OnError = Callable[[int, ThinstackError], None]
"""Is told the place of a text, from 0, and what is wrong with it."""


def predict_text(
    predictor: Predictor,
    texts: Iterable[str],
    *,
    source: TreeSource = "auto",
    split: bool = True,
    on_error: OnError | None = None,
) -> Iterator[list[Prediction]]:
    """Predictions for the sentences of each English text. A text without words has no predictions.

    `split`: whether to cut texts into sentences; otherwise each text is one sentence. `on_error`:
    called with the place (from 0) and the error of a text that cannot be scored. That text then has
    no predictions, and the others go on. By default the error is raised, behind the predictions for
    earlier texts.

    Raises InputError for what is no text (None, NaN, a number), and for text whose bytes were read
    with the wrong encoding. These name the place of the text, from 0. Raises InputError also for
    what does not iterate over texts, such as one text, a DataFrame or a dict. So it does for what
    is no predictor, and for a source that the model does not have. Raises BundleError if the model
    fails.
    """
    other: object = predictor
    if not isinstance(other, Predictor):
        what = shown(other, 60)
        raise InputError(f"expected a Predictor, found {what}: predict_text(predictor, texts)")
    predictor.tree_maker(source)  # an unknown source is an error without texts too
    check_container(texts, "texts")
    reader = _Reader(predictor, splitter(sentences=split), source, on_error)
    threads = predictor.pool.threads
    most, characters = BATCH_TEXTS[predictor.device] * threads, BATCH_CHARACTERS * threads
    checked = map(reader.checked, enumerate(texts))
    for batch in in_batches(checked, most, lambda each: len(each[1]), characters):
        yield from reader.scored(batch)


class _Reader(NamedTuple):
    """What `predict_text` was asked for; it works on texts with their places."""

    predictor: Predictor
    cut: Splitter
    source: TreeSource
    on_error: OnError | None

    def checked(self, numbered: tuple[int, object]) -> tuple[int, str]:
        """A text, "" in place of one that is none, if the error is told."""
        place, text = numbered
        try:
            return place, check_text(text, place)
        except InputError as error:
            if self.on_error is None:
                raise
            self.on_error(place, error)
            return place, ""

    def scored(self, batch: Sequence[tuple[int, str]]) -> Iterator[list[Prediction]]:
        """The predictions for each text."""
        if self.on_error is None:
            yield from self._predictions(batch)
            return
        for part, result in each_part(batch, self._predictions, ThinstackError):
            if isinstance(result, ThinstackError):
                self.on_error(part[0][0], result)
                yield []
            else:
                yield from result

    def _predictions(self, numbered: Sequence[tuple[int, str]]) -> list[list[Prediction]]:
        texts, predictor = list(self.cut([text for _, text in numbered])), self.predictor
        shown = predictor.labels, predictor.view.abstain
        flat = list(chain.from_iterable(texts))
        scored = predictor.trees_and_scores([sentence.words for sentence in flat], self.source)
        predictions = (
            Prediction(
                *(text, tuple(words), offsets, *each[:2], *shown),
                weight=each.weight,
                parts=each.parts,
                predictor=predictor,
            )
            for (text, words, offsets, _), each in zip(flat, scored, strict=True)
        )
        return [list(islice(predictions, len(sentences))) for sentences in texts]
