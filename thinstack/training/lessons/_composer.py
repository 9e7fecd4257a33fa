"""Draws texts from templates, as trees with a label at every node."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from random import Random
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.transitions import REDUCE, SHIFT
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.errors import ConfigError
from thinstack.training.lessons._composition import (
    NEUTRAL,
    SAME,
    UNLABELLED,
    Composition,
    End,
    FromTreebank,
    Node,
    Part,
    Slot,
    Template,
    Word,
    templates,
    texts_of,
    unknown,
)

MERGED: Final = {
    2: ((1, 0), (1, 0), (0.5, 0.5), (0, 1), (0, 1)),
    3: ((1, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 1)),
    5: tuple(map(tuple, np.eye(5).tolist())),
}
"""How each of five classes counts in 2, 3 or 5 classes."""
PLURAL_SHARE: Final = 0.25
"""The share of subjects in the plural."""
OPPOSITE: Final = {"+": "-", "-": "+", "0": "0"}
OWN_SHARE: Final = 0.6
"""How often a word of the composition is taken where the treebank has words too."""


class Composed(NamedTuple):
    """A text from a frame.

    Attributes:
        family, frame: its family, and its template.
        text: the tree over the whole text.
        sentences: the trees of its sentences.
    """

    family: str
    frame: str
    text: LabelledTree
    sentences: tuple[LabelledTree, ...]


class _Draft:
    """The words, the steps and the names of the labels of a tree."""

    __slots__ = ("labels", "steps", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.steps: list[int] = []
        self.labels: list[str] = []

    def add(self, other: "_Draft") -> None:
        self.words += other.words
        self.steps += other.steps
        self.labels += other.labels


class _Frame(NamedTuple):
    family: str
    text: str
    rule: str
    sentences: list[list[Template]]


class Composer:
    """Draws texts of a composition in `classes` classes.

    `weights`: of the families to draw from; all with their own weights, if there are none.
    `held_out`: draw from the frames that training leaves out. `more`: for each list, words of the
    treebank with their labels.

    Raises ConfigError if a template or a rule is wrong, or if there is nothing to draw from.
    """

    def __init__(
        self,
        composition: Composition,
        classes: int = 5,
        weights: Mapping[str, float] | None = None,
        *,
        held_out: bool = False,
        more: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        if classes not in MERGED:
            raise ConfigError(
                "composed sentences have 2, 3 or 5 classes, from negative to positive; found "
                f"{classes}; leave the lesson out"
            )
        self.known = composition
        self._an = re.compile(composition.an_before)
        self._rules = {name: (each.of, each.table) for name, each in composition.rules.items()}
        self._numbers = {name: place for place, name in enumerate(composition.labels)}
        self._soft = np.array([*composition.labels.values()]) @ np.array(MERGED[classes])
        self._soft = self._soft.astype(np.float16)
        self._classes = np.where(self._soft.any(1), self._soft.argmax(1), -1)
        self.pieces = self._pieces_of_lists(more or {})
        self.phrases = {
            (name, ended): [one for text in texts for one in templates(text, composition, ended)]
            for name, texts in composition.phrases.items()
            for ended in (False, True)
        }
        self._possible: dict[tuple[str, bool, str], frozenset[str]] = {}
        families = composition.families
        chosen = weights or {name: family.weight for name, family in families.items()}
        if odd := sorted(chosen.keys() - families.keys()):
            raise ConfigError(f"families: {unknown('family', odd[0], families)}")
        frames = {name: [*self._frames_of(name, held_out)] for name in families}
        self._weights = {n: w for n, w in chosen.items() if w > 0 and frames[n]}
        self._frames = [frames[name] for name in self._weights]
        if not self._frames:
            raise ConfigError(
                "no sentence can be composed: expected a family with frames and a weight above 0, "
                f"found none of {', '.join(families) or 'no families'}"
            )

    def draw(self, number: int, seed: int) -> list[Composed]:
        """So many texts. Those that differ in exchanged words only stand side by side."""
        draw, texts = Random(seed), list[Composed]()
        bags: dict[int, list[_Draft]] = {}
        while len(texts) < number:
            frame = draw.choice(draw.choices(self._frames, [*self._weights.values()])[0])
            family, again = self.known.families[frame.family], draw.random()
            for _ in range(min(family.copies, number - len(texts))):
                own = draw if family.copies == 1 else Random(again)
                texts.append(self._text(frame, _Pen(self, own, draw, family.exchanged, bags)))
        return texts

    def _frames_of(self, name: str, held_out: bool) -> Iterator[_Frame]:
        """The frames of a family to draw from. All of them are checked."""
        family = self.known.families[name]
        for text in (*family.frames, *family.held_out):
            rule, sentences = texts_of(text)
            frame = _Frame(name, text, rule, [templates(s, self.known, True) for s in sentences])
            try:
                self._check(frame)
            except ConfigError as error:
                raise ConfigError(f"family {name}, frame {text!r}: {error}") from None
            if (text in family.held_out) == held_out:
                yield frame

    def _check(self, frame: _Frame) -> None:
        """Raises ConfigError if a rule does not say what becomes of a label that a slot can have,
        or if a slot has no words for a side."""
        for side in "+-":
            whole = None
            for choices in frame.sentences:
                roots = frozenset().union(*(self._labels(one.part, side) for one in choices))
                pairs = product(whole or (), roots)
                whole = roots if whole is None else {self.label(frame.rule, *p) for p in pairs}
                if UNLABELLED in roots and len(frame.sentences) == 1:
                    raise ConfigError(f"its root can have the label {UNLABELLED!r}; name a rule")

    def _labels(self, part: Part, side: str) -> frozenset[str]:
        """All labels that a part can have."""
        if isinstance(part, Word):
            return frozenset({part.label})
        if isinstance(part, End):
            return frozenset({NEUTRAL})
        if isinstance(part, Node):
            pairs = product(self._labels(part.left, side), self._labels(part.right, side))
            return frozenset(self.label(part.rule, *pair) for pair in pairs)
        side = _side(part, side)
        key = (part.name, part.ended, side)
        if key not in self._possible:
            self._possible[key] = frozenset()  # a phrase within itself adds nothing
            if part.name in self.known.phrases:
                inner = self.phrases[part.name, part.ended]
                found = frozenset().union(*(self._labels(one.part, side) for one in inner))
            else:
                lists = [self.pieces[part.name, many, side] for many in (False, True)]
                if not all(lists):
                    raise ConfigError(f"the list {part.name} has no words of the side {side!r}")
                found = frozenset(piece.labels[-1] for pieces in lists for piece in pieces)
            self._possible[key] = found
        return self._possible[key]

    def label(self, rule: str, left: str, right: str) -> str:
        """The label of a node. By the rule "same", it is that of the part that is not neutral, or
        the right one's. Raises ConfigError if the rule does not say it."""
        if rule == SAME:
            if right == NEUTRAL:
                return left
            return left if right == UNLABELLED and left != NEUTRAL else right
        of, table = self._rules[rule]
        found = left if of == "left" else right
        if found not in table:
            raise ConfigError(
                f"rule {rule}: expected one of the labels {', '.join(table)} on the {of}, found "
                f"{found!r}"
            )
        return table[found]

    def _text(self, frame: _Frame, pen: "_Pen") -> Composed:
        side, whole, sentences = "+-"[pen.draw.random() < 0.5], None, []
        for choices in frame.sentences:
            pen.draft = draft = _Draft()
            pen.write_one(choices, side, False)
            self._spell(draft.words)
            sentences.append(self._tree(draft))
            if whole is None:
                whole = draft
            else:
                root = self.label(frame.rule, whole.labels[-1], draft.labels[-1])
                whole.add(draft)
                whole.steps.append(REDUCE)
                whole.labels.append(root)
        assert whole is not None
        text = sentences[0] if len(sentences) == 1 else self._tree(whole)
        return Composed(frame.family, frame.text, text, tuple(sentences))

    def _spell(self, words: list[str]) -> None:
        for place in range(len(words) - 1):
            if words[place] == "a" and self._an.match(words[place + 1]):
                words[place] = "an"
        words[0] = words[0][0].upper() + words[0][1:]

    def _tree(self, draft: _Draft) -> LabelledTree:
        numbers = [self._numbers[name] for name in draft.labels]
        words, steps = iter(draft.words), draft.steps
        tree = Tree(
            parents=_parents(bytes(steps)),
            tokens=tuple([None if step else next(words) for step in steps]),
            labels=(None,) * len(steps),
        )
        return LabelledTree(tree, self._classes[numbers], self._soft[numbers])

    def _pieces_of_lists(
        self, more: Mapping[str, Mapping[str, str]]
    ) -> dict[tuple[str, bool, str], list[_Draft]]:
        """The words of each list by number and side."""
        pieces = {}
        for name, many, side, words in self.known.words():
            own = [self._piece(text, label) for text, label in words]
            extra = [
                self._piece(word, label)
                for word, label in more.get(name, {}).items()
                if self.known.side(label) == side
            ]
            times = round(len(extra) * OWN_SHARE / (1 - OWN_SHARE) / len(own)) if own else 0
            pieces[name, many, side] = own * max(times, 1) + extra
        return pieces

    def _piece(self, text: str, label: str) -> _Draft:
        """A word or a phrase. Phrases with a label other than neutral have words without one."""
        pen = _Pen(self, Random(0), Random(0), (), {})
        pen.write(templates(text, self.known, False)[0].part, "+", False)
        inner = pen.draft.labels[:-1]
        pen.draft.labels = [*(inner if label == NEUTRAL else [UNLABELLED] * len(inner)), label]
        return pen.draft


class _Pen:
    """Writes drafts. `draw` makes all choices but those of the words that are `exchanged`, which
    come from shuffled bags, so that all of a list are drawn equally often."""

    def __init__(
        self,
        composer: Composer,
        draw: Random,
        shuffle: Random,
        exchanged: Sequence[str],
        bags: dict[int, list[_Draft]],
    ) -> None:
        self.composer, self.draw, self.draft = composer, draw, _Draft()
        self._shuffle, self._exchanged, self._bags = shuffle, exchanged, bags

    def write_one(self, choices: Sequence[Template], side: str, many: bool) -> None:
        part, counts = choices[int(self.draw.random() * len(choices))]
        self.write(part, side, self.draw.random() < PLURAL_SHARE if counts else many)

    def write(self, part: Part, side: str, many: bool) -> None:
        draft, composer = self.draft, self.composer
        if isinstance(part, Node):
            self.write(part.left, side, many)
            left = draft.labels[-1]
            self.write(part.right, side, many)
            draft.steps.append(REDUCE)
            draft.labels.append(composer.label(part.rule, left, draft.labels[-1]))
        elif isinstance(part, Slot):
            many, side = many and not part.one, _side(part, side)
            if choices := composer.phrases.get((part.name, part.ended)):
                self.write_one(choices, side, many)
            else:
                draft.add(self._one_of(part.name, side, many))
        else:
            word, label = part if isinstance(part, Word) else (self._end(), NEUTRAL)
            draft.words.append(word)
            draft.steps.append(SHIFT)
            draft.labels.append(label)

    def _end(self) -> str:
        ends = self.composer.known.ends
        return ends[int(self.draw.random() * len(ends))]

    def _one_of(self, name: str, side: str, many: bool) -> _Draft:
        pieces = self.composer.pieces[name, many, side]
        if name not in self._exchanged:
            return pieces[int(self.draw.random() * len(pieces))]
        bag = self._bags.setdefault(id(pieces), [])
        if not bag:
            bag += self._shuffle.sample(pieces, len(pieces))
        return bag.pop()


@lru_cache(maxsize=20_000)
def _parents(steps: bytes) -> NDArray[np.int64]:
    """The parents of the nodes of a tree. Many sentences have the same."""
    return Tree.from_transitions([*steps], [""] * steps.count(SHIFT)).parents


def _side(slot: Slot, side: str) -> str:
    """The side of a slot in a template of a side."""
    return OPPOSITE[side] if slot.side == "!" else slot.side or side


def words_of_treebank(
    trees: Sequence[LabelledTree], wanted: FromTreebank, classes: int
) -> dict[str, str]:
    """The words of a treebank that stand alone after certain words, with a label each: the side of
    their most frequent class, twice if that is one of the ends of five. A word that is seldom
    there, or neutral, is left out."""
    counts, seen = Counter[tuple[str, int]](), Counter[str]()
    left_out = re.compile(wanted.not_like)
    for tree, labels, _ in trees:
        spans, words = tree.spans.tolist(), tree.words
        for below in tree.children:
            if len(below) == 2:
                (first, middle), (_, last) = spans[below[0]], spans[below[1]]
                if middle - first == 1 == last - middle and words[first] in wanted.after:
                    seen[words[middle]] += 1
                    counts[words[middle], int(labels[below[1]])] += 1
    middle_class, chosen = (classes - 1) / 2, dict[str, str]()
    for (word, label), _ in counts.most_common():
        fits = seen[word] >= wanted.least and word.isalpha() and word.islower()
        if fits and word not in chosen and word not in wanted.left_out:
            sign = "" if label in (-1, middle_class) else "+" if label > middle_class else "-"
            if not left_out.search(word):
                chosen[word] = sign * (2 if classes == 5 and label in (0, 4) else 1)
    return {word: label for word, label in chosen.items() if label}
