"""How many words of a text a model knows, and whether the text may not be English."""

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
"""Words of a text that is doubted for its language; a shorter one only if it cannot be read."""

_ENGLISH = "the", "and", "of", "is"


def is_word(token: str) -> bool:
    """Whether a treebank token is no mark of punctuation. It has a letter or digit, or it is an
    emoticon or another sign that is not ASCII, such as an emoji."""
    return token.isalnum() or any(
        char.isalnum() or not (char.isascii() or unicodedata.category(char)[0] == "P")
        for char in reading(ptb.plain(token))
    )


class Language:
    """What a vocabulary says of the words of texts.

    A word is *known* if the vocabulary holds it, or each of the parts that marks cut it into; so is
    an emoji that is read. One that is only spelt by pieces of words is not, nor is a function word
    of another language, to a vocabulary of English. A word is *unread* if a part of it is the
    unknown one, or if it has letters that are not Latin.

    A text is doubted if most of its words are unread. A vocabulary of English also doubts texts of
    `FEWEST` words or more in which few are English. Those that count are known words and function
    words, less function words of other languages. They must be half as many as the words.
    """

    def __init__(self, vocabulary: Vocabulary):
        self._vocabulary, self._rules = vocabulary, rules()
        self._english = all(map(vocabulary.holds, _ENGLISH))
        self._points = Cache(self._points_of)

    def known(self, words: Sequence[str]) -> float | None:
        """The share of known words, from 0 to 1. None without words."""
        knows = [self.knows(word) for word in words if is_word(word)]
        return sum(knows) / len(knows) if knows else None

    def knows(self, word: str) -> bool:
        """Whether a word is known."""
        return not (self._unread(word) or self._other(word)) and self._vocabulary.holds(word)

    def doubt(self, *sentences: Sequence[str]) -> str | None:
        """Why the scores of a text of these sentences of words may say little; None if nothing
        speaks against them."""
        points = self._points.__getitem__
        if sum([sum(map(points, words)) for words in sentences]) >= 0:  # as of nearly all texts
            return None
        words = list(filter(is_word, chain.from_iterable(sentences)))
        unread = list(filter(self._unread, words))
        if 2 * len(unread) > len(words):
            count = f"{len(unread)} of its {len(words)} words"
            return f"the model does not know {count}, such as {shown(unread[0], 40)}"
        if not self._english or len(words) < FEWEST:
            return None
        count_known = sum(map(self.knows, words))
        return f"it may not be English: the model knows {count_known} of its {len(words)} words"

    def _unread(self, word: str) -> bool:
        other = not word.isascii() and self._rules.scripts.search(plain_letters(word))
        return bool(other) or not self._vocabulary.knows(word)

    def _other(self, word: str) -> bool:
        return self._english and word.lower() in self._rules.other_words

    def _points_of(self, word: str) -> int:
        """They add up to less than 0 in a text that is doubted, and in few others."""
        if not is_word(word):
            return 0
        if self._unread(word):
            return -4
        if not self._english:
            return 3
        english = word.lower() in self._rules.function_words
        return 2 * (self.knows(word) + english - self._other(word)) - 1
