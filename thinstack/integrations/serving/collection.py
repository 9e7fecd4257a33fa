"""Many texts that a reader of the page has put in: the phrases that mean most nearly the same."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

from thinstack.integrations.search.phrase_index import PhraseIndex
from thinstack.runtime.predictor import Predictor

NEAREST: Final = 8
"""Phrases that are shown of a phrase."""

_BATCH: Final = 64


class Turn(Protocol):
    """What has the model while its context lasts."""

    def __call__(self) -> AbstractContextManager[object]: ...


class Collection:
    """The phrases of some texts. The model gives vectors, and is had for a `turn` at a time.

    Raises what `PhraseIndex.add` raises.
    """

    def __init__(self, texts: Sequence[str], predictor: Predictor, turn: Turn):
        self._index, self._turn = PhraseIndex(predictor), turn
        for first in range(0, len(texts), _BATCH):
            places = range(first + 1, len(texts) + 1)[:_BATCH]
            with turn():
                self._index.add(texts[first : first + _BATCH], places)
        self.texts = len(texts)

    def describe(self) -> dict[str, Any]:
        """How many texts and phrases there are."""
        return {"texts": self.texts, "phrases": len(self._index)}

    def near(self, phrase: str) -> list[dict[str, Any]]:
        """The phrases that mean most nearly what a phrase means, the best first. Each has the
        `text` and the `line` of a place that mentions it, `polarity` and `similarity`, and how
        often it is mentioned. Raises InputError for a phrase without words."""
        with self._turn():
            hits = self._index.search(phrase, NEAREST)
        return [
            {"phrase": hit.phrase, "sentence": hit.sentence, "line": hit.id}
            | {"similarity": hit.similarity, "polarity": hit.polarity, "count": hit.count}
            for hit in hits
        ]
