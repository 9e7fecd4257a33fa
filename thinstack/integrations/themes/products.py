"""What texts call the thing that they are about, such as "camera" in reviews of cameras."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from thinstack.integrations.themes.clauses import is_topic
from thinstack.text.english import rules

_THIS: Final = re.compile(r"\bthis ([a-z]+)(?: ([a-z]+))?")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+\b")
_WORD: Final = re.compile(r"[a-z]+")

_POINTED: Final = 0.2  # the share of the texts with a word that have it behind "this", at least
_FEWEST: Final = 4  # texts that do, and
_RAREST: Final = 0.003  # their share of all texts, at least
_FREQUENT: Final = 0.1  # the share of the texts that have a name, at least


def product_words(texts: Iterable[str]) -> frozenset[str]:
    """Words in lower case that name what texts are about: nouns that often stand behind "this", and
    names that many texts write with a capital. They are in clauses that have nothing else in
    common."""
    words, pointed, names, count = Counter[str](), Counter[str](), Counter[str](), 0
    content = rules().function_words.isdisjoint
    for text in texts:
        count += 1
        words.update({*_WORD.findall(text.lower())})
        pairs = _THIS.findall(text.lower())
        pointed.update({word for pair in pairs for word in pair[: 1 + content(pair[:1])]})
        names.update({name.lower() for name in _NAME.findall(text)})
    least = max(_FEWEST, _RAREST * count)
    nouns = {word for word, n in pointed.items() if n >= max(least, _POINTED * words[word])}
    nouns |= {name for name, n in names.items() if n > max(_FREQUENT * count, words[name] / 2)}
    return frozenset(filter(is_topic, nouns))
