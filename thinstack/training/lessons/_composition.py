"""Templates of sentences whose trees have a label at every node, and the rules of these labels."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from thinstack.core.config.base import Strict, problems
from thinstack.errors import ConfigError

NEUTRAL: Final = "0"
"""The label of a word that has no other."""
UNLABELLED: Final = "none"
"""The label of a phrase whose class is unknown."""
SAME: Final = "same"
"""The rule of a node that names none."""
MARKS: Final = frozenset(".!?") | {"!!", "...", "?!"}
"""The words that end a sentence."""
LEAN: Final = 0.25
"""The least difference of positive and negative probabilities for a label to have a side."""

Words = tuple[str, ...]

_TOKEN: Final = re.compile(r"\(|\)|~|[^\s()~]+")
_SLOT: Final = re.compile(r"\{([a-z_]+)([#1]?)([!+0-]?)(\.?)\}")
_CHOICE: Final = re.compile(r"\[([^][]*)\]")


class Rule(Strict):
    """How the label of a node follows from the label of one of its two parts."""

    of: Literal["left", "right"]
    to: dict[str, str]  # labels with spaces between, and what they become

    @cached_property
    def table(self) -> dict[str, str]:
        return {old: new for olds, new in self.to.items() for old in olds.split()}


class Family(Strict):
    """Frames of one kind.

    Attributes:
        weight: how often it is drawn, relative to the others.
        frames: its templates.
        held_out: templates that no training sentence is made from, to measure what is understood.
        copies: how many sentences a draw gives, which differ only in the words of `exchanged`.
        exchanged: the lists whose words differ.
    """

    weight: float = Field(default=1.0, ge=0)
    frames: Words = Field(min_length=1)
    held_out: Words = ()
    copies: int = Field(default=1, ge=1)
    exchanged: Words = ()


class FromTreebank(Strict):
    """Words of the treebank for a list: those that follow certain words, one word long.

    Attributes:
        after: the words before them, such as "very".
        least: how often a word must stand there.
        not_like: a pattern of words that are left out.
        left_out: words that are left out.
    """

    after: frozenset[str]
    least: int = 2
    not_like: str = "$^"
    left_out: frozenset[str] = frozenset()


class Composition(Strict):
    """Templates, lists of words, labels and rules. docs/teaching.md says how they are written.

    Attributes:
        labels: five probabilities for each label, from very negative to very positive.
        rules: the rules of labels, by name.
        unlabelled: words in templates that have the label "none".
        lists: words and phrases for slots: of one label; by label; or "one" and "many" of these.
        phrases: templates for slots.
        families: of the sentences.
        ends: the marks that end a sentence, in proportion; "" is none.
        an_before: the pattern of the words before which "a" becomes "an".
        from_treebank: words of the treebank for lists.
    """

    labels: dict[str, tuple[float, float, float, float, float]] = {}
    rules: dict[str, Rule] = {}
    unlabelled: frozenset[str] = frozenset()
    lists: dict[str, JsonValue] = {}
    phrases: dict[str, Words] = {}
    families: dict[str, Family] = {}
    ends: Words = (".",)
    an_before: str = "$^"
    from_treebank: dict[str, FromTreebank] = {}

    def side(self, label: str) -> str:
        """The side of a label: "+", "-" or "0"."""
        low, less, _, more, high = self.labels[label]
        lean = more + high - low - less
        return "+" if lean > LEAN else "-" if lean < -LEAN else "0"

    def words(self) -> Iterator[tuple[str, bool, str, list[tuple[str, str]]]]:
        """The words of each list with their labels, by whether they are plural and by side. Words
        without a side are of each side. Raises ConfigError for a list of another form."""
        for name, value in self.lists.items():
            numbered = isinstance(value, dict) and value.keys() == {"one", "many"}
            for many, key in enumerate(("one", "many")):
                part = value[key] if numbered else value  # type: ignore[index, call-overload]
                for side, words in self._by_side(name, part).items():
                    yield name, bool(many), side, words

    def _by_side(self, name: str, part: Any) -> dict[str, list[tuple[str, str]]]:
        plain = not isinstance(part, dict)
        try:
            by_label = _BY_LABEL.validate_python({NEUTRAL: part} if plain else part)
        except ValidationError as error:
            raise ConfigError(f"list {name}: {problems(error, most=3)}") from None
        sides: dict[str, list[tuple[str, str]]] = {"+": [], "-": [], "0": []}
        for label, words in by_label.items():
            if label not in self.labels:
                raise ConfigError(f"list {name}: {unknown('label', label, self.labels)}")
            for side in sides if plain or label == UNLABELLED else [self.side(label)]:
                sides[side] += [(word, label) for word in words]
        return sides


_BY_LABEL: Final = TypeAdapter(dict[str, Words])


def read_composition(paths: Sequence[Path]) -> Composition:
    """The templates of one or more JSON files, whose tables are put together.

    Raises ConfigError for a file that holds something else, and for a name that two files have.
    """
    whole: dict[str, Any] = {}
    for path in paths:
        try:
            part = Composition.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise ConfigError(f"{path}: no templates: {problems(error, most=3)}") from None
        for field in part.model_fields_set:
            value, before = getattr(part, field), whole.get(field)
            if before is not None and not isinstance(value, dict):
                raise ConfigError(f"{path}: {field}: expected it in one file, found it in two")
            if before is not None and (twice := sorted(before.keys() & value.keys())):
                raise ConfigError(f"{path}: {field}: {twice[0]!r} stands in two files; rename one")
            whole[field] = value if before is None else before | value
    return Composition.model_construct(**whole)


# -- templates


class Word(NamedTuple):
    """A word of a template, with its label."""

    word: str
    label: str


class Slot(NamedTuple):
    """A place for a word of a list, or for a phrase.

    Attributes:
        name: of the list or of the phrases.
        side: "" for the side of the template, "!" for the other one, or a side.
        ended: whether the mark of the end stands in the phrase.
        one: whether it is in the singular, whatever the template drew.
    """

    name: str
    side: str
    ended: bool
    one: bool


class End(NamedTuple):
    """The place of the mark that ends the sentence."""


class Node(NamedTuple):
    """Two parts and the rule of their label."""

    rule: str
    left: "Part"
    right: "Part"


Part = Word | Slot | End | Node


class Template(NamedTuple):
    """A template as a tree. `counts`: whether it draws whether its subject is plural."""

    part: Part
    counts: bool


def templates(text: str, composition: Composition, ended: bool) -> list[Template]:
    """The templates of a text, one for each of its choices `[a|b]`. `ended`: with the mark that
    ends a sentence, in its last part but for the first.

    Raises ConfigError for a slot or a rule that is unknown, and for brackets that do not close.
    """
    return [_Parser(each, composition).template(ended) for each in _choices(text)]


def texts_of(frame: str) -> tuple[str, list[str]]:
    """The rule of the text that a frame makes, "" for one sentence, and its sentences, which stand
    between bars."""
    if " | " not in frame:
        return "", [frame]
    rule, colon, rest = frame.partition(": ")
    if not colon or " " in rule:
        raise ConfigError(f"{frame!r}: expected a rule and a colon before two sentences")
    return rule, [each.strip() for each in rest.split(" | ")]


def _choices(text: str) -> Iterator[str]:
    match = _CHOICE.search(text)
    if match is None:
        yield text
        return
    for choice in match[1].split("|"):
        yield from _choices(f"{text[: match.start()]}{choice.strip()}{text[match.end() :]}")


class _Parser:
    """Reads one template."""

    def __init__(self, text: str, composition: Composition) -> None:
        self.text, self.composition = text, composition
        self.tokens = _TOKEN.findall(text)
        self.counts = False

    def template(self, ended: bool) -> Template:
        rule, parts = self._group(closed=False)
        if self.tokens:
            raise self._error("a bracket closes that none opened")
        if ended and not _ends(parts[-1]):
            parts.append(End())
        *others, last = parts
        if len(others) > 1 and isinstance(last, Word | End) and _ends(last):
            parts = [others[0], Node(SAME, _right(SAME, others[1:]), last)]
        elif rule != SAME and len(others) < 2 and isinstance(last, End):
            raise self._error(f"the rule {rule} needs two parts")
        return Template(_right(rule, parts), self.counts)

    def _group(self, *, closed: bool) -> tuple[str, list[Part]]:
        """The rule and the parts up to a closing bracket, or to the end."""
        rule, parts, joins = SAME, list[Part](), False
        if self.tokens and self.tokens[0].endswith(":") and len(self.tokens[0]) > 1:
            rule = self.tokens.pop(0)[:-1]
            if rule not in {SAME, *self.composition.rules}:
                raise self._error(unknown("rule", rule, self.composition.rules))
        while self.tokens and self.tokens[0] != ")":
            token = self.tokens.pop(0)
            if token == "~":
                joins = bool(parts)
                continue
            part = _right(*self._group(closed=True)) if token == "(" else self._word(token)
            if joins:
                part, joins = Node(SAME, parts.pop(), part), False
            parts.append(part)
        if closed:
            if not self.tokens:
                raise self._error("a bracket is not closed")
            self.tokens.pop(0)
        if not parts:
            raise self._error("expected words, found none")
        if rule != SAME and len(parts) < 2:
            raise self._error(f"the rule {rule} needs two parts")
        return rule, parts

    def _word(self, token: str) -> Part:
        if not token.startswith("{"):
            lowered = token.lower() in self.composition.unlabelled
            return Word(token, UNLABELLED if lowered else NEUTRAL)
        match, known = _SLOT.fullmatch(token), self.composition
        if match is None:
            raise self._error(f"{token!r} is no slot, such as {{thing}}")
        if match[1] not in known.lists and match[1] not in known.phrases:
            raise self._error(unknown("slot", match[1], [*known.lists, *known.phrases]))
        self.counts = self.counts or match[2] == "#"
        return Slot(match[1], match[3], bool(match[4]), match[2] == "1")

    def _error(self, problem: str) -> ConfigError:
        return ConfigError(f"template {self.text!r}: {problem}")


def _right(rule: str, parts: Sequence[Part]) -> Part:
    """The parts joined from the right; the rule is that of the whole."""
    whole = parts[-1]
    for place in range(len(parts) - 2, -1, -1):
        whole = Node(rule if place == 0 else SAME, parts[place], whole)
    return whole


def _ends(part: Part) -> bool:
    """Whether the last word of a part is the mark of the end."""
    while isinstance(part, Node):
        part = part.right
    return part.word in MARKS if isinstance(part, Word) else isinstance(part, End) or part.ended


def unknown(kind: str, name: str, known: Iterator[str] | Sequence[str] | Mapping[str, Any]) -> str:
    return f"expected a {kind} of {', '.join(sorted(known)) or 'none'}; found {name!r}"
