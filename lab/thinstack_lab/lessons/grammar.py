"""What the lesson `negated` knows of a language: words, and templates of short sentences. And the
phrases of a treebank that it can negate."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import ValidationError

from thinstack.core import Tree
from thinstack.core.config.base import Strict, problems
from thinstack.data.trees.subtrees import subtree
from thinstack.errors import ConfigError
from thinstack.training.lesson import Treebank

MOST_WORDS: Final = 5
"""The most words of a phrase that is negated."""

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
    """The grammar in a JSON file. Raises ConfigError for a file that holds something else."""
    try:
        return Grammar.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise ConfigError(f"{path}: not a grammar: {problems(error, most=3)}") from None


class Place(NamedTuple):
    """A place where a phrase can be negated.

    Attributes:
        node: the node of one of `negated_words` before the phrase, or the node of a noun phrase
            with its article.
        noun: whether it is a noun phrase.
    """

    node: int
    noun: bool


class Negatable(NamedTuple):
    """The phrases of a treebank that can be negated.

    Attributes:
        phrases: for each slot of a template, the phrases with a class below the middle, and the
            phrases with a class above it.
        places: for each tree, the places where a phrase can be negated.
    """

    phrases: dict[str, tuple[list[Tree], list[Tree]]]
    places: list[list[Place]]


class _Pair(NamedTuple):
    """A word, or an auxiliary with its negation, and the phrase after it.

    `left` and `right` are their nodes. `alone` says that the word has no negation. `phrase` holds
    the words of the phrase in lower case.
    """

    left: int
    right: int
    word: str
    alone: bool
    phrase: tuple[str, ...]


def negatable(treebank: Treebank, grammar: Grammar) -> Negatable:
    """The phrases of a treebank that can be negated, by their slots, and the places of its trees.

    The slots are complements `c`, adjectives `a`, verb phrases `v`, and noun phrases with their
    article `n` or without it `b`. The word before a phrase tells its slot: a complement follows a
    copula, a verb phrase follows a modal.

    A phrase is left out if it has the middle one of the classes, a negation, more than
    `MOST_WORDS` words, or anything but words.
    """
    pairs = [list(_pairs(one.tree, grammar)) for one in treebank.trees]
    after = {pair.phrase[0] for part in pairs for pair in part if pair.word in grammar.modals}
    others = grammar.no_verbs | grammar.no_complements | grammar.articles
    verbs = {word for word in after - others if not word.endswith(grammar.adverb)}
    phrases: dict[str, tuple[list[Tree], list[Tree]]] = defaultdict(lambda: ([], []))
    places: list[list[Place]] = []
    for each, part in zip(treebank.trees, pairs, strict=True):
        tree, labels = each.tree, each.labels
        places.append([])
        for pair in part:
            noun = pair.word in grammar.articles
            node = int(tree.parents[pair.right]) if noun else pair.right
            lean = 2 * int(labels[node]) - (treebank.classes - 1)
            slots = _slots(pair, verbs, grammar)
            if not slots or labels[node] < 0 or lean == 0:
                continue
            for slot in slots:
                phrase = subtree(tree, node if slot == "n" else pair.right)
                phrases[slot][lean > 0].append(phrase)
            if noun or (pair.alone and pair.word in grammar.negated_words):
                places[-1].append(Place(node if noun else pair.left, noun))
    return Negatable(dict(phrases), places)


def _pairs(tree: Tree, grammar: Grammar) -> Iterator[_Pair]:
    """Each word with the phrase after it whose kind the word may tell."""
    words, spans = tree.words, tree.spans.tolist()
    for below in tree.children:
        if len(below) != 2:
            continue
        (start, middle), (_, end) = spans[below[0]], spans[below[1]]
        alone, phrase = middle - start == 1, tuple(word.lower() for word in words[middle:end])
        auxiliary = alone or (middle - start == 2 and words[start + 1] in grammar.negations)
        fits = grammar.pattern.fullmatch
        plain = all(fits(word) and word not in grammar.negations for word in phrase)
        if auxiliary and plain and end - middle <= MOST_WORDS:
            yield _Pair(below[0], below[1], words[start], alone, phrase)


def _slots(pair: _Pair, verbs: set[str], grammar: Grammar) -> str:
    """The slots that the phrase of a pair fills, a letter each."""
    first, single = pair.phrase[0], len(pair.phrase) == 1
    if pair.word in grammar.articles:
        return "nb"
    if pair.word in grammar.modals or pair.word == grammar.infinitive:
        return "v" if first in verbs else ""
    complement = pair.word in grammar.copulas or (pair.word in grammar.degrees and single)
    if not complement or first in grammar.no_complements or first in grammar.articles:
        return ""
    return "ca" if single and not first.endswith(grammar.adverb) else "c"
