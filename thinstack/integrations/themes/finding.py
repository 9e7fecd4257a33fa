"""Finds themes in a sample of texts, frequent complaints and frequent praise, and their typical
words."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import unescape
from itertools import chain, count
from math import log
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.data.tables.alike import likeness
from thinstack.integrations.report.collect import MARKS
from thinstack.integrations.themes.centres import (
    Floats,
    Ints,
    centres_of,
    grouped,
    polarity_direction,
    without,
)
from thinstack.integrations.themes.clauses import ReadTexts, is_topic
from thinstack.integrations.themes.matching import FoundThemes, ignored_directions
from thinstack.runtime.predictor import Predictor
from thinstack.text.english import rules

_MOST: Final = 5  # words per theme
_THIS: Final = re.compile(r"\bthis ([a-z]+)(?: ([a-z]+))?")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+\b")
_WORD: Final = re.compile(r"[a-z]+")
_POINTED: Final = 0.2  # minimum share, among the texts with a word, that have it after "this"
_FEWEST: Final = 4  # minimum number of these texts, and of the texts of a theme
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
    counts, everywhere = [Counter[str]() for _ in phrases], Counter[str]()
    for words, some in zip(counts, phrases, strict=True):
        for phrase, times in some.items():
            for word in (part.strip(MARKS) for part in phrase.lower().split()):
                if len(word) > 1 and word.isalpha() and word not in left_out:
                    words[word] += times
        everywhere.update(words)
    average = sum(everywhere.values()) / max(len(counts), 1)
    weights = [
        {word: times * log(1 + average / everywhere[word]) for word, times in some.items()}
        for some in counts
    ]
    return [tuple(sorted(some, key=lambda word: (-some[word], word))[:_MOST]) for some in weights]


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


_MOST_CLAUSES: Final = 10_000  # clauses per side that are clustered; more are subsampled evenly
_EXAMPLES: Final = 5  # clauses with which a theme is saved
_LARGE: Final = 0.1  # share of the texts above which a theme is split
_LONGEST: Final = 80  # characters of a title
_TITLE: Final = range(2, 11)  # words of a title
_CLEAR: Final = 0.4  # minimum polarity of a clause used as a title, toward its side
_TYPICAL: Final = 0.05  # bonus to the similarity of a clause for each typical word in it
_STRONG: Final = 0.25  # weight of its polarity
_BEFORE: Final = frozenset(
    (
        *("as", "at", "because", "by", "for", "from", "if", "in", "into", "of", "on", "since"),
        *("than", "that", "though", "to", "when", "where", "which", "while", "who", "with"),
    )
)
"""Words that do not start a title."""


class ClauseGroups(NamedTuple):
    """A clustering of clauses.

    Attributes:
        said: the n clauses.
        texts: (n,) the text of each.
        groups: (n,) the group of each, or `OUTSIDE`.
        says: (n,) the polarity of each, times the side of all.
        vectors: (n, D) the vectors that were compared.
        sentences: (n, D) the vectors of their sentences.
        directions: (k, D) the directions projected out of them.
    """

    said: NDArray[np.object_]
    texts: Ints
    groups: Ints
    says: Floats
    vectors: Floats
    sentences: Floats
    directions: Floats


class ClauseSample:
    """The clauses of one side in a sample of T texts."""

    def __init__(self, side: int):
        self._side, self._said = side, list[str]()
        self._columns = list[tuple[NDArray[Any], ...]]()  # vectors, sentences, polarity, texts

    def add(self, texts: ReadTexts, first: int) -> None:
        """Add the clauses of texts. `first`: the number of their first row."""
        if (nodes := texts.nodes) is None:
            return
        opinions = nodes.opinions
        (some,) = np.nonzero((opinions.sides == self._side) & (opinions.clauses >= 0))
        clauses, at = np.unique(opinions.clauses[some], return_index=True)
        owners = opinions.texts[some][at]
        vectors, sentences = nodes.vectors(clauses), nodes.vectors(nodes.roots[clauses])
        self._columns.append((vectors, sentences, nodes.polarity[clauses], owners + first))
        for owner, span in zip(owners.tolist(), nodes.characters(clauses).tolist(), strict=True):
            self._said.append(texts.rows[owner].text[slice(*span)])

    def groups(self, count: int, names: Floats) -> ClauseGroups:
        """Cluster the clauses of `count` texts. `names`: directions (k, D) to project out of the
        vectors, in addition to that of polarity."""
        if not self._said:
            none, said = np.zeros(0, np.int64), np.zeros(0, object)
            return ClauseGroups(said, none, none, names[:0, 0], names[:0], names[:0], names)
        size = min(len(self._said), _MOST_CLAUSES)
        chosen = np.arange(size) * len(self._said) // size
        columns = (np.concatenate(column)[chosen] for column in zip(*self._columns, strict=True))
        vectors, sentences, polarity, owners = columns
        vectors = without(vectors, names)
        directions = np.concatenate([names, polarity_direction(vectors, polarity)[None]])
        vectors, sentences = without(vectors, directions), without(sentences, directions)
        least = max(_FEWEST, round(_RAREST * count))
        groups = grouped(vectors, owners, least=least, most=max(round(_LARGE * count), least))
        said, says = np.array(self._said, object)[chosen], self._side * polarity
        return ClauseGroups(said, owners, groups, says, vectors, sentences, directions)


def find_themes(
    model: Predictor, texts: Iterable[ReadTexts], ignore: Collection[str]
) -> FoundThemes:
    """Find the complaints and the praise in some texts. `ignore`: names that are not topics."""
    samples, rows, count = {side: ClauseSample(side) for side in (-1, 1)}, 0, 0
    for some in texts:
        for sample in samples.values():
            sample.add(some, rows)
        rows += len(some.rows)
        count += sum(row.unreadable is None for row in some.rows)
    names = ignored_directions(model, ignore)
    examples, side_of = list[list[str]](), list[int]()
    parts, directions = list[Floats](), dict[int, Floats]()
    for side, sample in samples.items():
        clauses = sample.groups(count, names)
        directions[side] = clauses.directions
        parts.append(centres := centres_of(clauses.vectors, clauses.groups))
        said = [clauses.said[clauses.groups == group] for group in range(len(centres))]
        for group, typical in enumerate(typical_words([*map(Counter, said)])):
            ranked = best_first(clauses, group, centres, typical)
            examples.append(_distinct(clauses.said[ranked])[:_EXAMPLES])
            side_of.append(side)
    return FoundThemes(side_of, examples, np.concatenate(parts), directions)


def best_first(
    clauses: ClauseGroups, group: int, centres: Floats, typical: Collection[str]
) -> Ints:
    """Return the clauses of a group, those that can name it best first: clear ones with a typical
    word, then those that are, with their sentences, near its centroid. Clauses nearer to another of
    the `centres` (K, D) are left out, because they do not count, unless all are."""
    members = np.flatnonzero(clauses.groups == group)
    own = members[(clauses.vectors[members] @ centres.T).argmax(axis=1) == group]
    members, centre = own if len(own) else members, centres[group]
    says = clauses.says[members]
    counts = np.array([count_words(clause, typical) for clause in clauses.said[members]])
    near = (clauses.vectors + clauses.sentences)[members] @ centre
    near += _TYPICAL * counts + _STRONG * says
    return members[np.lexsort((-near, (says < _CLEAR) | (counts == 0)))]


def title_of(examples: Sequence[str], words: Iterable[str]) -> str:
    """Return the first suitable clause with the most typical word, otherwise with the next."""
    readable = [example for example in examples if _reads(example)]
    fitting = (one for word in words for one in readable if count_words(one, [word]))
    return next(fitting, examples[0])


def free_title(title: str, taken: Collection[str]) -> str:
    """Return a title, numbered if another theme has it."""
    names = chain([title], (f"{title} ({number})" for number in count(2)))
    return next(name for name in names if name not in taken)


def _distinct(said: Iterable[str]) -> list[str]:
    """Format clauses for display, without duplicates, those that make sense alone first."""
    shown = dict[str, str]()
    for clause in map(_trimmed, said):
        shown.setdefault(likeness(clause), clause)
    return sorted(shown.values(), key=lambda clause: not _reads(clause))


def _trimmed(clause: str) -> str:
    """Put a clause on one line, without surrounding punctuation and trailing words like "and"."""
    words = unescape(clause).split()
    while len(words) > 1 and words[-1].strip(MARKS).lower() in rules().dangling["last"] | {""}:
        del words[-1]
    return " ".join(words).strip(MARKS)


def _reads(clause: str) -> bool:
    """Whether a clause can be a title."""
    words = clause.split()
    fits = len(words) in _TITLE and len(clause) <= _LONGEST
    return fits and words[0].lower() not in _BEFORE.union(rules().dangling["first"])
