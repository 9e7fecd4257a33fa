"""What the lexicalized classifier of Bowman et al. 2015, *A large annotated corpus for learning
natural language inference*, section 3.2, looks at in a pair of sentences."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

LONGEST: Final = 4
"""Words of the longest n-grams whose precision counts."""

Words = Sequence[str]
WordPair = tuple[Words, Words]
"""The words of the premise and of the hypothesis."""


def indicators(pair: WordPair) -> Iterator[str]:
    """A name for each word and each two neighbours of the hypothesis, and for each pair of these
    with one of the premise: cross-unigrams and cross-bigrams. Words are lower-cased."""
    premise, hypothesis = (list(map(str.lower, words)) for words in pair)
    for count in (1, 2):
        ours = [" ".join(words) for words in ngrams(hypothesis, count)]
        theirs = [" ".join(words) for words in ngrams(premise, count)]
        yield from ours
        yield from (f"{a}\t{b}" for a in theirs for b in ours)


def numbers(pair: WordPair) -> list[float]:
    """Numbers of a pair: for n-grams of one to four words, which share of the hypothesis is in the
    premise, as BLEU counts it; how many words the hypothesis has more; how many different words
    both have, and which share of the hypothesis's that is. Words are lower-cased."""
    premise, hypothesis = (list(map(str.lower, words)) for words in pair)
    both = len({*premise} & {*hypothesis})
    return [
        *(_precision(premise, hypothesis, count) for count in range(1, LONGEST + 1)),
        len(hypothesis) - len(premise),
        both,
        both / len({*hypothesis}),
    ]


def ngrams(words: Words, count: int) -> list[tuple[str, ...]]:
    """All `count` neighbours among the words, in their order."""
    return list(zip(*(words[start:] for start in range(count)), strict=False))


def _precision(premise: Words, hypothesis: Words, count: int) -> float:
    """Each n-gram counts as often as the premise has it; 0 for a shorter hypothesis."""
    theirs, ours = (Counter(ngrams(words, count)) for words in (premise, hypothesis))
    return (theirs & ours).total() / max(ours.total(), 1)
