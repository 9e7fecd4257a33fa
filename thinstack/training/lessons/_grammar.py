"""What the lesson `negated` knows of a language: words, and templates of short sentences."""

import re
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from thinstack.core.config.base import Strict, problems
from thinstack.errors import ConfigError

__all__ = ["Grammar", "read_grammar"]

Words = frozenset[str]
Phrases = tuple[str, ...]


class Sides(Strict):
    """Phrases of both polarities."""

    negative: Phrases
    positive: Phrases


class Grammar(Strict):
    """Words of a language by what they do in a sentence, and templates to negate phrases in.

    A template is a sentence with slots in braces. Words joined by `~` form a phrase, and so do
    words between `(` and `)`. Words side by side branch to the right. The slots are:

    - `{s}`: a subject. The verbs of `inflected` agree with it.
    - `{p}`: a person who speaks or acts. `{d}`: a verb phrase that says what such a person does.
    - `{c}`: a complement, which may follow a copula. `{a}`: an adjective. `{x}`: an adjective of
      the opposite polarity.
    - `{v}`: a verb phrase in its base form.
    - `{n}`: a noun phrase with an article. `{b}`: a noun phrase without one.

    Attributes:
        word: the pattern of a word; phrases with anything else are left alone.
        articles, copulas, degrees, modals, negations: words of these kinds.
        infinitive: the word before a verb in its base form.
        adverb: the end of an adverb.
        no_complements: first words that may follow a copula, but not in every sentence with another
            form of it.
        no_verbs: words that may follow a modal and are no verbs, beside those and the articles.
        negated_words: the negations of a word before a phrase, in two words each.
        negated_articles: the words that take the place of the article of a noun phrase.
        subjects: subjects in the singular, by field.
        plural_subjects, people: subjects in the plural, and persons.
        inflected: the singular and the plural of verbs.
        everyday: for the slots `a`, `v`, `n` and `d`, fillers that are no phrases of the treebank.
        templates: in kinds that are drawn equally often.
    """

    word: str
    articles: Words
    copulas: Words
    degrees: Words
    modals: Words
    infinitive: str
    adverb: str
    negations: Words
    no_complements: Words
    no_verbs: Words
    negated_words: dict[str, Phrases]
    negated_articles: Phrases
    subjects: tuple[Phrases, ...]
    plural_subjects: Phrases
    people: Phrases
    inflected: dict[str, tuple[str, str]]
    everyday: dict[str, Sides]
    templates: dict[str, Phrases]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of a word."""
        return re.compile(self.word)


def read_grammar(path: Path) -> Grammar:
    """The grammar in a JSON file. Raises ConfigError for a file that holds something else, and
    OSError."""
    try:
        return Grammar.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise ConfigError(f"{path}: not a grammar: {problems(error, most=3)}") from None
