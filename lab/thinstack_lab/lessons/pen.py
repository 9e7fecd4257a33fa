"""Writes a template as a tree: its words, steps and labels."""

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from thinstack.core.transitions import REDUCE, SHIFT
from thinstack_lab.lessons.composition import NEUTRAL
from thinstack_lab.lessons.templates import MARKS, End, Node, Part, Slot, Template, Word

if TYPE_CHECKING:
    from thinstack_lab.lessons.composer import Composer

PLURAL_SHARE: Final = 0.25
"""The share of subjects in the plural."""
OPPOSITE: Final = {"+": "-", "-": "+", "0": "0"}


class Draft(NamedTuple):
    """The words of a tree, its steps, and the names of its labels."""

    words: list[str]
    steps: list[int]
    labels: list[str]

    def add(self, other: "Draft") -> None:
        """Write another draft behind this one."""
        self.words.extend(other.words)
        self.steps.extend(other.steps)
        self.labels.extend(other.labels)

    def join(self, label: str) -> None:
        """Join the last two phrases to one."""
        self.steps.append(REDUCE)
        self.labels.append(label)

    def drop_mark(self) -> None:
        """Take the mark off the end, if the phrase beside it has the label of both."""
        mark = len(self.steps) - 1 - self.steps[::-1].index(SHIFT)
        labels = self.labels[mark - 1 : mark + 2 : 2]
        if self.words[-1] in MARKS and mark and len(labels) == 2 and labels[0] == labels[1]:
            del self.words[-1], self.steps[mark : mark + 2], self.labels[mark : mark + 2]


class Pen:
    """Writes drafts. `draw` makes all choices but those of `exchanged` lists. Their words come from
    shuffled `bags`, so that all are drawn equally often."""

    def __init__(
        self,
        composer: "Composer",
        draw: Random,
        shuffle: Random,
        exchanged: Sequence[str],
        bags: dict[int, list[Draft]],
    ) -> None:
        self.composer, self.draw, self.draft = composer, draw, Draft([], [], [])
        self._shuffle, self._exchanged, self._bags = shuffle, exchanged, bags

    def new_draft(self) -> Draft:
        """The draft that is written from now on."""
        self.draft = Draft([], [], [])
        return self.draft

    def write_one(self, choices: Sequence[Template], side: str, *, many: bool) -> None:
        """Write one of some templates."""
        part, counts = choices[int(self.draw.random() * len(choices))]
        self.write(part, side, many=self.draw.random() < PLURAL_SHARE if counts else many)

    def write(self, part: Part, side: str, *, many: bool) -> None:
        """Write a part. `side` and `many` are those of its template."""
        draft, composer = self.draft, self.composer
        if isinstance(part, Node):
            self.write(part.left, side, many=many)
            left = draft.labels[-1]
            self.write(part.right, side, many=many)
            draft.join(composer.label(part.rule, left, draft.labels[-1]))
        elif isinstance(part, Slot):
            side, many = side_of(part, side), many and not part.one
            if choices := composer.phrases.get((part.name, part.ended)):
                self.write_one(choices, side, many=many)
            else:
                draft.add(self._piece(part, many, side))
                if part.ended:
                    draft.words[-1] = self._end()
        else:
            if isinstance(part, End):
                part = Word(self._end(), NEUTRAL)
            draft.words.append(part.word)
            draft.steps.append(SHIFT)
            draft.labels.append(part.label)

    def _end(self) -> str:
        ends = self.composer.known.ends
        return ends[int(self.draw.random() * len(ends))]

    def _piece(self, slot: Slot, many: bool, side: str) -> Draft:
        pieces = self.composer.pieces[slot.name, many, side, slot.ended]
        if slot.name not in self._exchanged:
            return pieces[int(self.draw.random() * len(pieces))]
        bag = self._bags.setdefault(id(pieces), [])
        if not bag:
            bag += self._shuffle.sample(pieces, len(pieces))
        return bag.pop()


def side_of(slot: Slot, side: str) -> str:
    """The side of a slot in a template of a side."""
    return OPPOSITE[side] if slot.side == "!" else slot.side or side
