"""Pairs of texts, rated or classified by a model trained on pairs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from thinstack.core.forest import EMPTY
from thinstack.data.tables.containers import check_container
from thinstack.errors import InputError
from thinstack.runtime.scorer import Scorer
from thinstack.runtime.stream import OnError, TextReader
from thinstack.runtime.units import Limits, Units
from thinstack.text.batching import Size, listed, sizes_of
from thinstack.text.sentences import check_text

Value = TypeVar("Value")

SIDES: Final = ("text_a", "text_b")
"""The names of the two texts of a pair, also used as column names."""


@dataclass(frozen=True, slots=True)
class PairResult:
    """The rating or label of a pair of texts, as `model.pairs(a, b)` returns it.

    Attributes:
        text_a, text_b: the texts.
        rating: the similarity on the scale of the training ratings, such as 1 to 5: the mean of its
            whole numbers, weighted by `scores`. None for a classifier.
        label: the most probable class (of the sign of the polarity). None for a model of ratings,
            and if it is less probable than `abstain`.
        scores: the probability of each class, or of each whole number of the scale.
    """

    text_a: str
    text_b: str
    rating: float | None
    label: str | None
    scores: dict[str, float] = field(hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the texts and the `rating`, or the `label` and the `scores`, as data for JSON."""
        texts = {"text_a": self.text_a, "text_b": self.text_b}
        if self.rating is not None:
            return texts | {"rating": round(self.rating, 6)}
        scores = {label: round(score, 6) for label, score in self.scores.items()}
        return texts | {"label": self.label, "scores": scores}


class PairScorer(Scorer):
    """A scorer that also reads pairs of texts, if the model was trained on pairs."""

    def check_reads_pairs(self) -> None:
        """Raise InputError for a model of single texts."""
        if not self.reads_pairs:
            raise InputError(
                "pairs: this model reads single texts: call model(text), or load a model "
                "trained on pairs (thinstack train pairs.csv)"
            )

    def score_pairs(self, sides: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """Return the scores (P, V) of P pairs of sentences of words, 2k and 2k + 1 of `sides`.

        A sentence of more than `max_words` words is read in parts if the model composes them, and
        else as a whole. Raises InputError, with the index of the side (from 0), for one without
        words or with too many word pieces; also for a model of single texts.
        """
        self.check_reads_pairs()
        words = listed(sides)
        sizes_of(words)
        trees = self._trees.of_sentences(words, "auto", self._parse)
        whole = trees is not None or "breaks" not in self._types
        limits = Limits(self.max_words, self._most_pieces, self.vocabulary, with_trees=whole)
        units = Units(words, [1] * len(words), limits, joins=True, whole=True)

        def run(pairs: list[int], _: object) -> list[NDArray[np.float32]]:
            places = [2 * pair + side for pair in pairs for side in (0, 1)]
            steps = EMPTY if trees is None else np.concatenate([trees[place] for place in places])
            batch = self._batch_of(units, places, steps)
            return list(self._run(batch).scores)

        sizes = [*map(Size.total, _by_pair(units.sizes))]
        rows = self._in_batches(run, sizes, None)
        scores = np.stack(rows) if rows else np.zeros((0, len(self.config.labels)), np.float32)
        return self.view.scores(scores)[0]

    def ratings(self, scores: NDArray[np.float32]) -> NDArray[np.float64] | None:
        """Return the ratings (P,) of pairs with these scores; None for a classifier."""
        if not self.rates_pairs:
            return None
        try:
            scale = [float(label) for label in self.labels]
        except ValueError:  # a SICK recipe, whose config has another name for ratings
            scale = [1.0 + place for place in range(len(self.labels))]
        ratings: NDArray[np.float64] = scores.astype(np.float64) @ np.array(scale)
        return ratings


class PairReader(TextReader):
    """A reader of pairs of texts. Raises InputError for a model of single texts."""

    def __init__(self, scorer: PairScorer):
        super().__init__(scorer, split=False)
        scorer.check_reads_pairs()
        self.scorer = scorer

    def results(
        self, pairs: Iterable[tuple[str, str]], on_error: OnError | None = None
    ) -> Iterator[PairResult]:
        """Iterate over the results of pairs, in order, in batches. Raises InputError, with the
        index (from 0) and side, for a value that is not text or has no words. `on_error` receives
        the index and the error of a pair without words, which is then skipped."""
        checked, first = starmap(_checked, enumerate(pairs)), 0
        for batch in self.batches(checked, lambda pair: sum(map(len, pair)), texts=2):
            yield from self._scored(batch, first, on_error)
            first += len(batch)

    def _scored(
        self, batch: Sequence[tuple[str, str]], first: int, on_error: OnError | None
    ) -> Iterator[PairResult]:
        cuts = list(self._cut([text for pair in batch for text in pair]))
        read, words = list[tuple[str, str]](), list[Sequence[str]]()
        for place, (pair, cut) in enumerate(zip(batch, _by_pair(cuts), strict=True), start=first):
            if all(cut):
                read.append(pair)
                words += [sentences[0].words for sentences in cut]
                self.warn_of_language(f"{SIDES[0]} of pair {place}", words[-2])
                self.warn_of_language(f"{SIDES[1]} of pair {place}", words[-1])
                continue
            side = 0 if not cut[0] else 1
            problem = f"expected a text with words, found {pair[side]!r:.60}; leave the pair out"
            error = InputError(f"{SIDES[side]} of pair {place}: {problem}")
            if on_error is None:
                raise error
            on_error(place, error)
        scores = self.scorer.score_pairs(words)
        ratings, view = self.scorer.ratings(scores), self.scorer.view
        for place, (pair, row) in enumerate(zip(read, scores.tolist(), strict=True)):
            rating = None if ratings is None else float(ratings[place])
            label = view.label(row) if ratings is None else None
            named = dict(zip(view.labels, row, strict=True))
            yield PairResult(pair[0], pair[1], rating, label, named)


def _checked(place: int, pair: tuple[object, object]) -> tuple[str, str]:
    first, second = (f"{side} of pair" for side in SIDES)
    return check_text(pair[0], place, first), check_text(pair[1], place, second)


def paired(a: object, b: object) -> list[tuple[str, str]]:
    """Return the pairs of two columns of texts. Raises InputError for objects that do not iterate
    over texts, and for columns of different lengths."""
    columns = [a, b]
    for name, column in zip(SIDES, columns, strict=True):
        if isinstance(column, str):
            raise InputError(
                f"pairs: expected two texts or two lists of texts, found one text as {name}: "
                "pass a list that repeats it for each other text"
            )
        check_container(column, "several texts")
    first, second = (list(column) for column in columns)  # type: ignore[call-overload]
    if len(first) != len(second):
        raise InputError(
            f"pairs: expected two lists of the same length, found {len(first):,} and "
            f"{len(second):,} texts; give each text its partner"
        )
    return list(zip(first, second, strict=True))


def _by_pair(values: Sequence[Value]) -> Iterator[tuple[Value, Value]]:
    return zip(values[::2], values[1::2], strict=True)
