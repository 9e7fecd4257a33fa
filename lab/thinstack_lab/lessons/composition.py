"""What the lesson `composed.v1` knows of a language: templates of sentences, words for their slots,
and the rules of labels."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, JsonValue, ValidationError

from thinstack.core.config.base import Strict, problems
from thinstack.errors import ConfigError

NEUTRAL: Final = "0"
"""The label of a word that has no other."""
UNLABELLED: Final = "none"
"""The label of a phrase whose class is unknown."""
SAME: Final = "same"
"""The rule of a node that names none."""
PARTS: Final = (
    *("english", "words", "people", "deeds", "events", "idioms", "reports"),
    *("scales", "talk", "daily", "plain", "neutral-words"),
)
GRAMMARS: Final = tuple(f"grammar/composed-{part}.json" for part in PARTS)
"""The files of `lab/recipes/grammar`."""
LEAN: Final = 0.25
"""By how much one side of a label's probabilities must exceed the other."""

Words = tuple[str, ...]


class Rule(Strict):
    """How the label of a node follows from the label of one of its two parts. `to` holds labels,
    with spaces between, and what they become."""

    of: Literal["left", "right"]
    to: dict[str, str]

    @cached_property
    def table(self) -> dict[str, str]:
        """What each label becomes."""
        return {label: new for labels, new in self.to.items() for label in labels.split()}


class Family(Strict):
    """Sentences of one kind.

    Attributes:
        frames: the templates of its sentences.
        held_out: templates that no training sentence is made from, to measure what is understood.
        weight: how often it is drawn, relative to other families.
        copies: how many sentences a draw gives. They differ only in words of `exchanged`.
        exchanged: the lists whose words differ. All words of such a list are drawn equally often.
        typos: how often (0 to 1) a sentence has a word that is misspelt.
        bare: how often (0 to 1) a text ends without a mark, as people type short ones.
    """

    frames: Words = Field(min_length=1)
    held_out: Words = ()
    weight: float = Field(default=1.0, ge=0)
    copies: int = Field(default=1, ge=1)
    exchanged: Words = ()
    typos: float = Field(default=0.0, ge=0, le=1)
    bare: float = Field(default=0.0, ge=0, le=1)


class FromTreebank(Strict):
    """Which words of the treebank join a list: those that stand alone after certain words.

    Attributes:
        after: the words before them.
        least: how often they must stand there.
        left_out: words that do not join.
        not_like: a pattern of words that do not join.
    """

    after: frozenset[str]
    least: int = 1
    left_out: frozenset[str] = frozenset()
    not_like: str = "$^"


class Composition(Strict):
    """Templates, words and rules. The guide lab/teaching.md shows how they are written.

    Attributes:
        labels: five probabilities for each label, from very negative to very positive.
        rules: the rules of labels, by name.
        unlabelled: words in templates that have the label "none".
        lists: words and phrases for slots: words alone, or by their label, and either of these by
            "one" and "many".
        phrases: templates for slots.
        families: the kinds of sentences.
        ends: the marks that end a sentence, each as often as it stands there.
        an_before: the pattern of the words before which "a" becomes "an".
        from_treebank: words of the treebank for lists.
    """

    labels: dict[str, tuple[float, float, float, float, float]] = Field(default_factory=dict)
    rules: dict[str, Rule] = Field(default_factory=dict)
    unlabelled: frozenset[str] = frozenset()
    lists: dict[str, JsonValue] = Field(default_factory=dict)
    phrases: dict[str, Words] = Field(default_factory=dict)
    families: dict[str, Family] = Field(default_factory=dict)
    ends: Words = (".",)
    an_before: str = "$^"
    from_treebank: dict[str, FromTreebank] = Field(default_factory=dict)

    def side(self, label: str) -> str:
        """The side of a label: "+", "-" or "0". Raises ConfigError for an unknown one."""
        if label not in self.labels:
            raise ConfigError(unknown("label", label, self.labels))
        low, less, _, more, high = self.labels[label]
        lean = more + high - low - less
        return "+" if lean > LEAN else "-" if lean < -LEAN else "0"

    def words(self, name: str, many: bool, side: str) -> list[tuple[str, str]]:
        """The words of a list for the singular or the plural and for a side, with their labels.
        Words alone, and words without a label, are for each side."""
        words: Any = self.lists[name]
        if isinstance(words, dict) and words.keys() == {"one", "many"}:
            words = words["many" if many else "one"]
        by_label = words if isinstance(words, dict) else {NEUTRAL: words}
        plain = by_label is not words
        try:
            return [
                (str(word), label)
                for label, each in by_label.items()
                if self.side(label) == side or plain or label == UNLABELLED
                for word in each
            ]
        except (ConfigError, TypeError) as error:
            raise ConfigError(f"list {name}: {error}") from None


def read_composition(paths: Sequence[Path]) -> Composition:
    """The templates of some JSON files, whose tables are put together.

    Raises ConfigError for a file that holds something else, and for a name that two files have.
    """
    whole: dict[str, Any] = {}
    for path in paths:
        try:
            part = Composition.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise ConfigError(f"{path}: no templates: {problems(error, most=3)}") from None
        for field in part.model_fields_set:
            value, before = getattr(part, field), whole.get(field, {})
            names = set(before) & set(value) if isinstance(value, dict) else {field} & {*whole}
            if names:
                raise ConfigError(f"{path}: {field}: {min(names)!r} is in two files; rename one")
            whole[field] = before | value if isinstance(value, dict) else value
    return Composition.model_construct(**whole)


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """The message for a name that is not among those known."""
    return f"expected a {kind} of {', '.join(sorted(known)) or 'none'}; found {name!r}"
