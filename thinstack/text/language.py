"""The share of known words in a text, and whether the text may not be English."""

import unicodedata
from collections.abc import Sequence
from itertools import chain

from thinstack.data.words import ptb
from thinstack.data.words.letters import plain_letters
from thinstack.data.words.readings import reading
from thinstack.data.words.vocabulary import Cache, Vocabulary
from thinstack.errors import shown
from thinstack.text.english import rules

FEWEST = 6
"""Minimum words to doubt a text for few English words; a shorter one must be unreadable."""

_ENGLISH = "the", "and", "of", "is"


def is_word(token: str) -> bool:
    """Return whether a treebank token is not punctuation: it has a letter or digit, or is an
    emoticon or another non-ASCII sign, such as an emoji."""
    return token.isalnum() or any(
        char.isalnum() or not (char.isascii() or unicodedata.category(char)[0] == "P")
        for char in reading(ptb.plain(token))
    )


class Language:
    """A check of the words of texts against a vocabulary.

    A word is *known* if it is in the vocabulary, or if each of its parts between punctuation is; so
    is an emoji with a reading. A word that only consists of word pieces is not known, nor is a
    function word of another language, to an English vocabulary. A word is *unread* if part of it is
    unknown, or if it has non-Latin letters.

    A text is doubted if most of its words are unread. An English vocabulary also doubts texts of
    `FEWEST` words or more with few English words: the known words and function words, minus
    function words of other languages, must be at least half of the words.
    """

    def __init__(self, vocabulary: Vocabulary):
        self._vocabulary, self._rules = vocabulary, rules()
        self._english = all(map(vocabulary.holds, _ENGLISH))
        self._points = Cache(self._points_of)

    def known(self, words: Sequence[str]) -> float | None:
        """Return the share of known words, from 0 to 1; None without words."""
        knows = [self.knows(word) for word in words if is_word(word)]
        return sum(knows) / len(knows) if knows else None

    def knows(self, word: str) -> bool:
        """Return whether a word is known."""
        return not (self._unread(word) or self._other(word)) and self._vocabulary.holds(word)

    def doubt(self, *sentences: Sequence[str]) -> str | None:
        """Return why the scores of a text, as sentences of words, may be unreliable; None if there
        is no reason."""
        points = self._points.__getitem__
        if sum([sum(map(points, words)) for words in sentences]) >= 0:  # the usual case
            return None
        words = list(filter(is_word, chain.from_iterable(sentences)))
        unread = list(filter(self._unread, words))
        if 2 * len(unread) > len(words):
            count = f"{len(unread)} of the {len(words)} words"
            return f"the model does not know {count}, such as {shown(unread[0], 40)}"
        if not self._english or len(words) < FEWEST:
            return None
        count_known = sum(map(self.knows, words))
        return f"it may not be English: the model knows {count_known} of the {len(words)} words"

    def _unread(self, word: str) -> bool:
        other = not word.isascii() and self._rules.scripts.search(plain_letters(word))
        return bool(other) or not self._vocabulary.knows(word)

    def _other(self, word: str) -> bool:
        return self._english and word.lower() in self._rules.other_words

    def _points_of(self, word: str) -> int:
        """Return the points of a word; they sum to less than 0 in doubted texts and few others."""
        if not is_word(word):
            return 0
        if self._unread(word):
            return -4
        if not self._english:
            return 3
        english = word.lower() in self._rules.function_words
        return 2 * (self.knows(word) + english - self._other(word)) - 1
