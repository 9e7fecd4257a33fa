"""Reads templates of sentences as trees of words, slots and rules."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from thinstack.errors import ConfigError
from thinstack_lab.lessons.composition import NEUTRAL, SAME, UNLABELLED, Composition, unknown

MARKS: Final = frozenset(".!?")
"""The words that end a sentence."""

_TOKEN: Final = re.compile(r"[()~]|[^\s()~]+")
_SLOT: Final = re.compile(r"\{([a-z_]+)([#1]?)([!+0-]?)(\.?)\}")
_CHOICE: Final = re.compile(r"\[([^][]*)\]")


class Word(NamedTuple):
    """A word of a template, with its label."""

    word: str
    label: str


class Slot(NamedTuple):
    """A place for a word of a list, or for a phrase.

    Attributes:
        name: of the list or of the phrases.
        side: "" for the side of the template, "!" for the other side, or a side.
        one: whether it is in the singular, whatever the template draws.
        ended: whether the mark that ends the sentence stands within it.
    """

    name: str
    side: str
    one: bool
    ended: bool


class End(NamedTuple):
    """The place of the mark that ends a sentence."""


class Node(NamedTuple):
    """Two parts and the rule of their label."""

    rule: str
    left: "Part"
    right: "Part"


Part = Word | Slot | End | Node


class Template(NamedTuple):
    """A tree of parts. `counts`: whether the template draws the number of its subject."""

    part: Part
    counts: bool


def texts_of(frame: str) -> tuple[str, list[str]]:
    """The rule of the text that a frame makes, "same" for one sentence, and the templates of its
    sentences. Raises ConfigError for two sentences without a rule."""
    if " | " not in frame:
        return SAME, [frame]
    rule, colon, sentences = frame.partition(": ")
    if not colon or " " in rule:
        raise ConfigError("expected a rule and a colon before two sentences, found none")
    return rule, sentences.split(" | ")


def templates(text: str, known: Composition, *, ended: bool = False) -> list[Template]:
    """The templates of a text, one for each of its choices `[a|b]`.

    `ended`: with the mark that ends a sentence. It stands as in the treebank, beside the last of
    two parts or of more: (subject (predicate .)).

    Raises ConfigError for an unknown slot or rule, and for brackets that do not fit.
    """
    return [
        Template(_sentence(each, known, ended=ended), re.search(r"\{\w+#", each) is not None)
        for each in _choices(text)
    ]


def _choices(text: str) -> Iterator[str]:
    if (match := _CHOICE.search(text)) is None:
        yield text
        return
    for choice in match[1].split("|"):
        yield from _choices(text[: match.start()] + choice + text[match.end() :])


def _sentence(text: str, known: Composition, *, ended: bool) -> Part:
    tokens = _TOKEN.findall(text)
    rule, parts = _group(tokens, known)
    if tokens:
        raise ConfigError("a bracket closes that none opened")
    if ended and not _ends(parts[-1]):
        parts.append(End())
    *others, last = parts
    if len(others) > 1 and isinstance(last, Word | End) and _ends(last):
        parts = [others[0], Node(SAME, _branch(SAME, others[1:]), last)]
    return _branch(rule, parts)


def _group(tokens: list[str], known: Composition) -> tuple[str, list[Part]]:
    """The rule and the parts up to a closing bracket or the end, which are taken from `tokens`."""
    rule, parts, joins = SAME, list[Part](), False
    if tokens and len(tokens[0]) > 1 and tokens[0].endswith(":"):
        rule = tokens.pop(0)[:-1]
        if rule not in {SAME, *known.rules}:
            raise ConfigError(unknown("rule", rule, known.rules))
    while tokens and tokens[0] != ")":
        token = tokens.pop(0)
        if token == "~":
            joins = True
            continue
        if token == "(":
            part = _branch(*_group(tokens, known))
            if not tokens:
                raise ConfigError("a bracket is not closed")
            tokens.pop(0)
        else:
            part = _word(token, known)
        parts.append(Node(SAME, parts.pop(), part) if joins and parts else part)
        joins = False
    if not parts:
        raise ConfigError("expected words, found none")
    return rule, parts


def _word(token: str, known: Composition) -> Word | Slot:
    if not token.startswith("{"):
        return Word(token, UNLABELLED if token.lower() in known.unlabelled else NEUTRAL)
    if (match := _SLOT.fullmatch(token)) is None:
        raise ConfigError(f"expected a slot, such as {{thing}}; found {token!r}")
    if match[1] not in known.lists and match[1] not in known.phrases:
        raise ConfigError(unknown("slot", match[1], [*known.lists, *known.phrases]))
    return Slot(match[1], match[3], match[2] == "1", bool(match[4]))


def _branch(rule: str, parts: Sequence[Part]) -> Part:
    """The parts joined from the right. The rule is that of the whole."""
    whole = parts[-1]
    for place in range(len(parts) - 2, -1, -1):
        whole = Node(SAME if place else rule, parts[place], whole)
    if rule != SAME and len(parts) < 2:
        raise ConfigError(f"expected two parts for the rule {rule}, found one")
    return whole


def _ends(part: Part) -> bool:
    """Whether a part ends with the mark of the end."""
    while isinstance(part, Node):
        part = part.right
    return part.word in MARKS if isinstance(part, Word) else isinstance(part, End) or part.ended
