"""Typical words of themes, and words for the subject of the texts, such as "camera"."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log
from typing import Final

from thinstack.integrations.report.terms import MARKS
from thinstack.integrations.themes.clauses import is_topic
from thinstack.text.english import rules

MOST: Final = 5
"""Number of words per theme."""

_THIS: Final = re.compile(r"\bthis ([a-z]+)(?: ([a-z]+))?")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+\b")
_WORD: Final = re.compile(r"[a-z]+")

_POINTED: Final = 0.2  # minimum share, among the texts with a word, that have it after "this"
_FEWEST: Final = 4  # minimum number of these texts
_RAREST: Final = 0.003  # their minimum share of all texts
_FREQUENT: Final = 0.1  # minimum share of the texts that have a name


def count_words(phrase: str, words: Collection[str]) -> int:
    """Count the distinct words of a phrase that are among `words`."""
    return len({part.strip(MARKS) for part in phrase.lower().split()}.intersection(words))


def typical_words(
    phrases: Sequence[Mapping[str, int]], ignore: Collection[str] = ()
) -> list[tuple[str, ...]]:
    """Return at most five words per theme by c-TF-IDF (Grootendorst 2022): how often the theme has
    the word, times log(1 + A / f). All themes have the word f times in total, and A words on
    average. `phrases`: the occurrences of each, by theme. `ignore`: words to leave out."""
    left_out = rules().function_words | {*ignore}
    counts = [_counted(some, left_out) for some in phrases]
    everywhere = Counter[str]()
    for some in counts:
        everywhere.update(some)
    average = sum(everywhere.values()) / max(len(counts), 1)
    weights = [
        {word: times * log(1 + average / everywhere[word]) for word, times in some.items()}
        for some in counts
    ]
    return [tuple(sorted(some, key=lambda word: (-some[word], word))[:MOST]) for some in weights]


def _counted(phrases: Mapping[str, int], left_out: Collection[str]) -> Counter[str]:
    words = Counter[str]()
    for phrase, times in phrases.items():
        for part in phrase.lower().split():
            word = part.strip(MARKS)
            if len(word) > 1 and word.isalpha() and word not in left_out:
                words[word] += times
    return words


def product_words(texts: Iterable[str]) -> frozenset[str]:
    """Return the lower-case words that name the subject of the texts: nouns that often follow
    "this", and names that many texts capitalize. Clauses may share these and nothing else."""
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
