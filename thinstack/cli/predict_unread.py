"""Warns about texts whose words the model does not know."""

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from thinstack.errors import escaped

if TYPE_CHECKING:
    from thinstack.data.words.vocabulary import Vocabulary
    from thinstack.runtime.prediction import Prediction


class Unread:
    """Counts the texts most of whose words have no entry in a vocabulary. Marks of punctuation are
    no words here."""

    def __init__(self, vocabulary: "Vocabulary"):
        self._vocabulary = vocabulary
        self._places: list[int] = []
        self._word = ""

    def seen(
        self, texts: Iterable[tuple[int, "list[Prediction]"]]
    ) -> Iterator[tuple[int, "list[Prediction]"]]:
        """The texts, each with its place from 0, once they were looked at."""
        for place, sentences in texts:
            words = [word for each in sentences for word in each.words if _is_word(word)]
            unknown = [word for word in words if not self._vocabulary.knows(word)]
            if 2 * len(unknown) > len(words):
                self._word = self._word or unknown[0]
                self._places.append(place)
            yield place, sentences

    def warn(self) -> None:
        """Say on standard error how many texts there were, if any."""
        if count := len(self._places):
            first = f"text {self._places[0]}"
            which = first if count == 1 else f"{count:,} texts, the first of them {first},"
            print(
                f"warning: the model does not know most words of {which} such as "
                f"{escaped(self._word):.40}: their scores say little",
                file=sys.stderr,
            )


def _is_word(word: str) -> bool:
    return any(char.isalnum() or not char.isascii() for char in word)
