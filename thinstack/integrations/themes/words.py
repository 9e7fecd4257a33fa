"""Words that are typical of themes."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import log
from typing import Final

from thinstack.integrations.report.terms import MARKS
from thinstack.text.english import rules

MOST: Final = 5
"""Words of a theme."""


def count_words(phrase: str, words: Collection[str]) -> int:
    """How many of some words a phrase has."""
    return len({part.strip(MARKS) for part in phrase.lower().split()}.intersection(words))


def typical_words(
    phrases: Sequence[Mapping[str, int]], ignore: Collection[str] = ()
) -> list[tuple[str, ...]]:
    """At most five words of each theme by c-TF-IDF (Grootendorst 2022): how often it has a word,
    times log(1 + A / f). All themes together have the word f times, and A words on average.
    `phrases`: of each theme, how often each is said. `ignore`: words that are left out."""
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
