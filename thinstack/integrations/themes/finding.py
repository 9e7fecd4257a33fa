"""Finds themes in some texts: what many of them complain about, and what many praise."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from html import unescape
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.data.tables.alike import likeness
from thinstack.integrations.report.terms import MARKS
from thinstack.integrations.themes.centres import (
    Floats,
    Ints,
    centres_of,
    grouped,
    polarity_direction,
    without,
)
from thinstack.integrations.themes.clauses import ReadTexts
from thinstack.integrations.themes.matching import FoundThemes, ignored_directions
from thinstack.integrations.themes.words import count_words, typical_words
from thinstack.runtime.predictor import Predictor
from thinstack.text.english import rules

MOST_CLAUSES: Final = 10_000
"""Clauses of each side that are grouped; of more, some are taken evenly."""

EXAMPLES: Final = 5
"""Clauses that a theme that was found is saved by."""

_FEWEST: Final = 4  # texts of a theme, and
_RAREST: Final = 0.003  # the share of the texts that it has, at least
_LARGE: Final = 0.1  # the share of the texts above which a theme is split
_LONGEST: Final = 80  # characters of a title
_TITLE: Final = range(2, 11)  # words of a title
_CLEAR: Final = 0.4  # the polarity of a clause that is a title, for its side, at least
_TYPICAL: Final = 0.05  # how much nearer a clause is for each typical word that it has
_BEFORE: Final = frozenset(
    (
        *("as", "at", "because", "by", "for", "from", "if", "in", "into", "of", "on", "since"),
        *("than", "that", "though", "to", "when", "where", "which", "while", "who", "with"),
    )
)
"""Words that a title does not begin with."""


class ClauseGroups(NamedTuple):
    """Clauses that are grouped.

    Attributes:
        said: the n clauses.
        texts: (n,) the text of each.
        groups: (n,) the group of each, or `OUTSIDE`.
        says: (n,) the polarity of each, for the side of all.
        vectors: (n, D) that were compared.
        directions: (k, D) that these are without.
    """

    said: NDArray[np.object_]
    texts: Ints
    groups: Ints
    says: Floats
    vectors: Floats
    directions: Floats


class ClauseSample:
    """The clauses of one side in a sample of T texts, which `add` takes."""

    def __init__(self, side: int):
        self._side = side
        self._vectors, self._polarity = list[NDArray[np.floating]](), list[Floats]()
        self._owners, self._said = list[Ints](), list[str]()

    def add(self, texts: ReadTexts, first: int) -> None:
        """Take in the clauses of texts, of whose rows the first one has this number."""
        nodes = texts.nodes
        if nodes is None:
            return
        opinions = nodes.opinions
        (some,) = np.nonzero((opinions.sides == self._side) & (opinions.clauses >= 0))
        clauses, at = np.unique(opinions.clauses[some], return_index=True)
        owners = opinions.texts[some][at]
        self._vectors.append(nodes.vectors(clauses))
        self._polarity.append(nodes.polarity[clauses])
        self._owners.append(owners + first)
        for owner, span in zip(owners.tolist(), nodes.characters(clauses).tolist(), strict=True):
            self._said.append(texts.rows[owner].text[slice(*span)])

    def groups(self, count: int, names: Floats) -> ClauseGroups:
        """The groups of the clauses of `count` texts. `names`: directions (k, D) that clauses are
        compared without, as they are without that of polarity."""
        if not self._said:
            none, said = np.zeros(0, np.int64), np.zeros(0, object)
            return ClauseGroups(said, none, none, none.astype(np.float32), names[:0], names)
        size = min(len(self._said), MOST_CLAUSES)
        chosen = np.arange(size) * len(self._said) // size
        vectors = without(np.concatenate(self._vectors)[chosen], names)
        polarity = np.concatenate(self._polarity)[chosen]
        direction = polarity_direction(vectors, polarity)
        directions = np.concatenate([names, direction[None]])
        vectors, owners = without(vectors, directions), np.concatenate(self._owners)[chosen]
        least = max(_FEWEST, round(_RAREST * count))
        groups = grouped(vectors, owners, least=least, most=max(round(_LARGE * count), least))
        said, says = np.array(self._said, object)[chosen], self._side * polarity
        return ClauseGroups(said, owners, groups, says, vectors, directions)


def find_themes(
    model: Predictor, texts: Iterable[ReadTexts], ignore: Collection[str]
) -> FoundThemes:
    """The complaints and the praise in some texts. `ignore`: names that do not count."""
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
        parts.append(centres_of(clauses.vectors, clauses.groups))
        groups = [np.flatnonzero(clauses.groups == group) for group in range(len(parts[-1]))]
        words = typical_words([Counter(clauses.said[some]) for some in groups])
        for members, centre, typical in zip(groups, parts[-1], words, strict=True):
            said = clauses.said[members]
            counts = np.array([count_words(clause, typical) for clause in said])
            near = clauses.vectors[members] @ centre + _TYPICAL * counts
            unclear = (clauses.says[members] < _CLEAR) | (counts == 0)
            examples.append(_distinct(said[np.lexsort((-near, unclear))])[:EXAMPLES])
            side_of.append(side)
    return FoundThemes(side_of, examples, np.concatenate(parts), directions)


def title_of(examples: Sequence[str], words: Iterable[str]) -> str:
    """The first clause that can be a title and has the most typical word; else the next word."""
    readable = [example for example in examples if _reads(example)]
    fitting = (one for word in words for one in readable if count_words(one, [word]))
    return next(fitting, examples[0])


def free_title(title: str, taken: Collection[str]) -> str:
    """A title, with a number if another theme has it."""
    number, name = 1, title
    while name in taken:
        number += 1
        name = f"{title} ({number})"
    return name


def _distinct(said: Iterable[str]) -> list[str]:
    """Clauses as they are shown, each once, those that can be read alone first."""
    shown = dict[str, str]()
    for clause in map(_trimmed, said):
        shown.setdefault(likeness(clause), clause)
    return sorted(shown.values(), key=lambda clause: not _reads(clause))


def _trimmed(clause: str) -> str:
    """A clause on one line, without marks around it and words such as "and" behind it."""
    words = unescape(clause).split()
    while len(words) > 1 and words[-1].strip(MARKS).lower() in rules().dangling["last"] | {""}:
        del words[-1]
    return " ".join(words).strip(MARKS)


def _reads(clause: str) -> bool:
    """Whether a clause can be a title."""
    words = clause.split()
    if len(words) not in _TITLE or len(clause) > _LONGEST:
        return False
    return words[0].lower() not in _BEFORE.union(rules().dangling["first"])
