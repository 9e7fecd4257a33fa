"""Draws texts from templates, as trees with a label at every node."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from random import Random
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.transitions import SHIFT
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.errors import ConfigError
from thinstack_lab.lessons.composition import NEUTRAL, SAME, UNLABELLED, Composition, unknown
from thinstack_lab.lessons.pen import OPPOSITE, Draft, Pen, side_of
from thinstack_lab.lessons.templates import Node, Part, Slot, Template, Word, templates, texts_of
from thinstack_lab.lessons.typos import misspell

MERGED: Final = {
    2: ((1, 0), (1, 0), (0.5, 0.5), (0, 1), (0, 1)),
    3: ((1, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 1)),
    5: tuple(np.eye(5).tolist()),
}
"""How each of five classes counts in 2, 3 or 5 classes."""
OWN_SHARE: Final = 0.6
"""How often a word of the composition is drawn where the treebank has words too."""


class ComposedText(NamedTuple):
    """A text of one sentence or more.

    Attributes:
        family, frame: the family and the frame that it comes from.
        tree: the tree over the whole text.
        sentences: the trees of its sentences.
    """

    family: str
    frame: str
    tree: LabelledTree
    sentences: tuple[LabelledTree, ...]


class Frame(NamedTuple):
    """A frame of a family, with the rule of its text and the templates of each sentence."""

    family: str
    text: str
    rule: str
    sentences: list[list[Template]]


class Composer:
    """Draws texts of a composition in `classes` classes.

    `weights`: of the families to draw from. Without any, all have the weights of the composition.
    `held_out`: whether to draw from the frames that training leaves out. `more`: for each list,
    further words with their labels.

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
                "composed sentences: expected 2, 3 or 5 classes, from negative to positive; found "
                f"{classes}"
            )
        self.known, families = composition, composition.families
        self._an = re.compile(composition.an_before)
        self._rules = {name: (rule.of, rule.table) for name, rule in composition.rules.items()}
        for name, labels in [("labels", {NEUTRAL, UNLABELLED}), *self._results()]:
            if odd := sorted(labels - composition.labels.keys()):
                raise ConfigError(f"{name}: expected the label {odd[0]!r} among the labels")
        self._ids = {label: place for place, label in enumerate(composition.labels)}
        soft = np.array([*composition.labels.values()]).reshape(-1, 5) @ np.array(MERGED[classes])
        self._soft = soft.astype(np.float16)
        self._classes = np.where(soft.any(1), soft.argmax(1), -1)
        self.pieces = {
            (name, many, side, ended): self._pieces(
                name, many, side, (more or {}).get(name, {}), ended=ended
            )
            for name, many, side, ended in product(
                composition.lists, (False, True), OPPOSITE, (False, True)
            )
        }
        self.phrases = {
            (name, ended): [*self._templates(f"phrase {name}", texts, ended)]
            for name, texts in composition.phrases.items()
            for ended in (False, True)
        }
        self._possible: dict[tuple[str, bool, str], frozenset[str]] = {}
        chosen = weights or {name: family.weight for name, family in families.items()}
        if odd := sorted(chosen.keys() - families.keys()):
            raise ConfigError(f"families: {unknown('family', odd[0], families)}")
        frames = {name: [*self._frames_of(name, held_out)] for name in families}
        self._weights = [weight for name, weight in chosen.items() if frames[name]]
        self._frames = [frames[name] for name in chosen if frames[name]]
        if not any(self._weights):
            raise ConfigError(
                "composed sentences: expected a family with a weight above 0 and frames; found "
                f"none among {', '.join(chosen) or 'no families'}"
            )

    def draw(self, number: int, seed: int) -> list[ComposedText]:
        """So many texts. Copies that differ in exchanged words stand side by side, as a group."""
        draw, texts, bags = Random(seed), list[ComposedText](), dict[int, list[Draft]]()
        while len(texts) < number:
            frame = draw.choice(draw.choices(self._frames, self._weights)[0])
            family, again = self.known.families[frame.family], draw.random()
            group = None if family.copies == 1 else draw.getrandbits(62)
            for _ in range(min(family.copies, number - len(texts))):
                own = draw if family.copies == 1 else Random(again)
                text = self._text(frame, Pen(self, own, draw, family.exchanged, bags))
                texts.append(text._replace(tree=text.tree._replace(group=group)))
        return texts

    def label(self, rule: str, left: str, right: str) -> str:
        """The label of a node. By the rule "same", it is that of the part that is not neutral, and
        of the right one if neither is. Raises ConfigError if the rule does not say it."""
        if rule == SAME:
            keeps = right == NEUTRAL or (right == UNLABELLED and left != NEUTRAL)
            return left if keeps else right
        of, table = self._rules[rule]
        label = left if of == "left" else right
        if label not in table:
            raise ConfigError(f"rule {rule}: {unknown(f'label on the {of}', label, table)}")
        return table[label]

    def _text(self, frame: Frame, pen: Pen) -> ComposedText:
        family = self.known.families[frame.family]
        side, drafts = "+-"[pen.draw.random() < 0.5], list[Draft]()
        for choices in frame.sentences:
            drafts.append(pen.new_draft())
            pen.write_one(choices, side, many=False)
            words = drafts[-1].words
            for place in range(len(words) - 1):
                if words[place] == "a" and self._an.match(words[place + 1]):
                    words[place] = "an"
            words[0] = words[0][0].upper() + words[0][1:]
            if pen.draw.random() < family.typos:
                misspell(words, pen.draw)
        if family.bare and pen.draw.random() < family.bare:
            drafts[-1].drop_mark()
        trees = tuple(map(self._tree, drafts))
        whole, *others = drafts
        for other in others:
            label = self.label(frame.rule, whole.labels[-1], other.labels[-1])
            whole.add(other)
            whole.join(label)
        tree = trees[0]
        if others:
            lengths = tuple(len(one.tree.words) for one in trees)
            tree = self._tree(whole)._replace(sentences=lengths)
        return ComposedText(frame.family, frame.text, tree, trees)

    def _tree(self, draft: Draft) -> LabelledTree:
        words, ids = iter(draft.words), [self._ids[label] for label in draft.labels]
        tokens = tuple([next(words) if step == SHIFT else None for step in draft.steps])
        tree = Tree(parents=_parents(bytes(draft.steps)), tokens=tokens, labels=(None,) * len(ids))
        return LabelledTree(tree, self._classes[ids], self._soft[ids])

    # -- before the first draw

    def _results(self) -> Iterator[tuple[str, set[str]]]:
        """Each rule and the labels that it gives."""
        for name, (_, table) in self._rules.items():
            yield f"rule {name}", {*table.values()}

    def _pieces(
        self, name: str, many: bool, side: str, more: Mapping[str, str], *, ended: bool
    ) -> list[Draft]:
        """The words of a list, each a tree, with the mark of the end if `ended`. A phrase that is
        not neutral has unlabelled words."""
        own = self.known.words(name, many, side)
        extra = [(word, label) for word, label in more.items() if self.known.side(label) == side]
        if own and extra:
            own *= max(1, round(len(extra) / len(own) * OWN_SHARE / (1 - OWN_SHARE)))
        pieces = []
        for text, label in own + extra:
            pen = Pen(self, Random(0), Random(0), (), {})
            for template in self._templates(f"list {name}", [text], ended=ended):
                pen.write(template.part, side, many=many)
            words, steps, labels = pen.draft
            if label != NEUTRAL:
                labels = [UNLABELLED] * len(labels)
            if ended:
                mark = len(steps) - 1 - steps[::-1].index(SHIFT)
                labels[mark] = NEUTRAL
                if mark == len(steps) - 2:  # it stands beside the whole phrase
                    labels[mark - 1] = label
            pieces.append(Draft(words, steps, [*labels[:-1], label]))
        return pieces

    def _templates(self, place: str, texts: Sequence[str], ended: bool) -> Iterator[Template]:
        for text in texts:
            try:
                yield from templates(text, self.known, ended=ended)
            except ConfigError as error:
                raise ConfigError(f"{place}, {text!r}: {error}") from None

    def _frames_of(self, name: str, held_out: bool) -> Iterator[Frame]:
        """The frames of a family to draw from. All of them are checked."""
        family = self.known.families[name]
        for text in (*family.frames, *family.held_out):
            try:
                rule, texts = texts_of(text)
                if rule not in {SAME, *self._rules}:
                    raise ConfigError(unknown("rule", rule, self._rules))
                frame = Frame(
                    name, text, rule, [templates(one, self.known, ended=True) for one in texts]
                )
                self._check(frame)
            except ConfigError as error:
                raise ConfigError(f"family {name}, {text!r}: {error}") from None
            if (text in family.held_out) == held_out:
                yield frame

    def _check(self, frame: Frame) -> None:
        """Raises ConfigError if a rule does not say what becomes of a label that a part can have,
        if a list has no words for a side, or if the label of the text can be unknown."""
        for side in "+-":
            roots = [
                frozenset().union(*(self._labels(one.part, side) for one in choices))
                for choices in frame.sentences
            ]
            whole = roots[0]
            for other in roots[1:]:
                whole = frozenset(self.label(frame.rule, *both) for both in product(whole, other))
            if UNLABELLED in whole:
                raise ConfigError("expected a label for the whole text, found none; name a rule")

    def _labels(self, part: Part, side: str) -> frozenset[str]:
        """All labels that a part can have."""
        if isinstance(part, Node):
            pairs = product(self._labels(part.left, side), self._labels(part.right, side))
            return frozenset(self.label(part.rule, *pair) for pair in pairs)
        if not isinstance(part, Slot):
            return frozenset([part.label if isinstance(part, Word) else NEUTRAL])
        side = side_of(part, side)
        key = (part.name, part.ended, side)
        if key not in self._possible:
            self._possible[key] = frozenset()  # a phrase within itself adds nothing
            if (inner := self.phrases.get(key[:2])) is not None:
                labels = [self._labels(each.part, side) for each in inner]
            else:
                labels = [
                    frozenset(
                        piece.labels[-1] for piece in self.pieces[part.name, many, side, part.ended]
                    )
                    for many in (False, True)
                ]
                if not all(labels):
                    raise ConfigError(f"list {part.name}: expected words of the side {side!r}")
            self._possible[key] = frozenset().union(*labels)
        return self._possible[key]


@lru_cache(maxsize=20_000)
def _parents(steps: bytes) -> NDArray[np.int64]:
    """The parents of the nodes of a tree. Many sentences have the same."""
    return Tree.from_transitions([*steps], [""] * steps.count(SHIFT)).parents
