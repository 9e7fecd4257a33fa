"""Split English text into sentences of treebank words, by the rules in `english.json`
(docs/text.md)."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from sys import maxsize
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinstack.data.tables.containers import check_container
from thinstack.data.words.readings import hidden_words
from thinstack.data.words.vocabulary import Cache
from thinstack.text.plain_text import PlainText, Typed
from thinstack.text.sentences import Sentence, check_text

LONGEST = 500
"""Maximum characters of a word with many pieces; the rest becomes another word. Most encoders read
510 pieces at once."""

_RUN = "(?:{0})(?: (?:{0})){{0,63}}"
"""Plain tokens separated by single spaces: nearly all words are in such runs, which take half the
time of matching token by token."""

RULES = Path(__file__).with_name("english.json")


@dataclass(frozen=True, slots=True)
class Token:
    """A kind of token, and its role in words and sentences."""

    name: str
    pattern: str
    role: str = "word"
    """`plain`: unchanged; `word`; `single`, `double`: a quotation mark that may open or close;
    `stop`: may end a sentence; `break`: ends one, and is not a word."""
    spelled: str = ""
    """The word for all tokens of the kind; by default, their characters."""
    ends: str = ""
    """The pattern after the sentence end, a key of `Rules.ends`; required for a stop."""
    abbreviates: bool = False
    """Whether a stop may belong to the preceding word."""


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """Words that may end in a full stop: those listed, and those that match the pattern."""

    ends: str
    words: frozenset[str]
    pattern: re.Pattern[str]
    when: re.Pattern[str]
    """The text after the full stop."""
    first: bool
    """Whether it applies only to the first word of a sentence."""
    splits: bool
    """Whether the full stop is still a separate word."""

    def fits(self, word: str) -> bool:
        return word in self.words or self.pattern.fullmatch(word) is not None


@dataclass(frozen=True, slots=True)
class Clauses:
    """Words that separate clauses, in lower case."""

    apart: Sequence[str]
    """Words that separate two phrases into clauses."""
    joined: Sequence[str]
    """Words that do so only between phrases of opposite polarity."""
    opposite: Sequence[str]
    """Words that invert the opinion about what follows ("except the battery")."""
    unreal: str
    """A pattern before a positive opinion that is only a wish ("I wish the screen was bigger")."""


class Rules:
    """The content of `english.json`. Group i of `scan` matches token i.

    Compiling all patterns takes as long as scoring many texts, so rare patterns are compiled on
    first use, in `compiled`.
    """

    def __init__(self, data: dict[str, Any]):
        starters, typed = "|".join(data["starters"]), data["typed"]
        self._classes = {"starters": starters, "shouted": starters.upper()}
        for name in ("verbs", "shortened", "subjects"):
            self._classes[name] = "|".join(_cased(typed[name]))
        self._classes["hidden"] = hidden_words()
        for name, pattern in data["classes"].items():
            self._classes[name] = self.expanded(pattern)
        self.compiled = Cache(lambda text: re.compile(self.expanded(text)), longest=maxsize)
        self.tokens = [Token("", ""), *(Token(**token) for token in data["tokens"])]
        self.plain = [token.role for token in self.tokens].index("plain")
        patterns = [token.pattern for token in self.tokens]
        patterns[self.plain] = _RUN.format(patterns[self.plain])
        self.scan = self.compiled[" ?(?:{})".format("|".join(f"({one})" for one in patterns[1:]))]
        self.spelled = str.maketrans(data["spelled"])
        self.spelling = Cache(lambda token: token.translate(self.spelled), limit=4096)
        self.quotes: dict[str, tuple[str, str]] = data["quotes"]
        self.open_after = frozenset(data["open_after"])
        self.dangling = {end: frozenset(words) for end, words in data["dangling"].items()}
        self.clauses = Clauses(**data["clauses"])
        self.function_words = frozenset(data["function_words"])
        self.other_words = frozenset(data["other_words"])
        """Function words of other languages that are not English words."""
        self.followed = self.compiled[data["followed"]]
        self.closers = self.compiled[data["closers"]]
        self.text_ends = self.compiled[data["text_ends"]]
        self.ends: dict[str, str] = data["ends"]
        """Uncompiled patterns."""
        self.closed_ends: dict[str, str] = data["closed_ends"]
        self.first_ends: dict[str, str] = data["first_ends"]
        self._data = data
        self._classes["slip"] = self.expanded(typed["slip"])
        self.typed = Typed(typed, self.compiled)
        self.plurals: dict[str, Any] = data["plurals"]

    @property
    def signs(self) -> re.Pattern[str]:
        """Emoji, hashtags and words with hidden letters."""
        return self.compiled["<picture>|<veil>|" + self._data["typed"]["hashtag"]]

    @property
    def scripts(self) -> re.Pattern[str]:
        """A non-Latin letter."""
        return self.compiled[self._data["scripts"]]

    @cached_property
    def abbreviations(self) -> Cache[list[Abbreviation]]:
        """{word: the abbreviations that it may be}."""
        kinds = [
            Abbreviation(
                ends=kind["ends"],
                words=frozenset(_cased(kind.get("words", ()))),
                pattern=self.compiled[kind.get("pattern", "(?!)")],
                when=self.compiled[kind.get("when", "")],
                first=kind.get("first", False),
                splits=kind.get("splits", False),
            )
            for kind in self._data["abbreviations"]
        ]
        return Cache(lambda word: [kind for kind in kinds if kind.fits(word)], limit=4096)

    def ends_so(self, name: str, text: str, place: int) -> bool:
        """Return whether the text after a position matches the end pattern of this name."""
        return self.compiled[self.ends[name]].match(text, place) is not None

    def expanded(self, pattern: str) -> str:
        """Expand the character classes that a pattern names in angle brackets."""
        return re.sub(r"<([a-z]+)>", lambda match: self._classes[match[1]], pattern)


def _cased(words: Iterable[str]) -> Iterator[str]:
    """Iterate over the words as listed, capitalized, and in capitals."""
    return (form for one in words for form in (one, one[0].upper() + one[1:], one.upper()))


@cache
def rules() -> Rules:
    """Load `RULES`."""
    return Rules(json.loads(RULES.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class EnglishSplitter:
    """A `thinstack.text.sentences.Splitter` for English texts. With `sentences` False, each text is
    one sentence.

    It reads each character a bounded number of times, for any text.
    """

    sentences: bool = True

    def __call__(self, texts: Iterable[str]) -> Iterator[list[Sentence]]:
        if type(texts) is not list:
            check_container(texts, "texts")
        english = rules()
        for place, text in enumerate(texts):
            if type(text) is not str:
                check_text(text, place)
            plain = english.typed.plain(text)
            reader = _Reader(text, plain, plain.text if plain else text, english)
            yield list(reader.read(self.sentences))


def plain_words(text: str) -> tuple[list[str], NDArray[np.int64]]:
    """Return the words of a plain text (`PlainText.text`), without sentence ends, and their
    characters [start, end), (L, 2)."""
    sentence = next(_Reader(text, None, text, rules()).read(False), None)
    if sentence is None:
        return [], np.zeros((0, 2), np.int64)
    return sentence.words, sentence.offsets + sentence.start


@dataclass(slots=True)
class _Reader:
    """A token-by-token reader of a text; fields after the first four describe the open sentence."""

    typed: str
    plain: PlainText | None
    text: str
    """The text to read: the typed text, or the plain one if it differs."""
    rules: Rules
    words: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """The start and end in `text` of each word, flattened."""
    quoted: bool = False
    """Whether a double quote is open."""
    end: int = maxsize
    """The end of the sentence, once a stop has determined it."""

    def read(self, split: bool) -> Iterator[Sentence]:
        """Iterate over the sentences of the text, or yield all of it as one."""
        rules, text, words, places = self.rules, self.text, self.words, self.places
        plain, end = rules.plain, maxsize
        for match in rules.scan.finditer(text):
            number = match.lastindex or 0
            place = match.span(number)
            if place[0] >= end and split:
                yield self._sentence()
                words, places, end = self.words, self.places, maxsize
            if number == plain:
                start, run = place[0], match[number].split(" ")
                words += run
                for word in run:
                    places += start, (behind := start + len(word))
                    start = behind + 1
                continue
            kind, token = rules.tokens[number], match[number]
            # Any piece vocabulary maps a long word of letters to the unknown piece.
            if len(token) > LONGEST and not (kind.spelled or (token.isascii() and token.isalnum())):
                place = self._shortened(*place)
                token = text[slice(*place)]
            if kind.role == "break":
                self.end = place[0] if words else maxsize
            elif kind.role != "stop":
                quoted = kind.role in rules.quotes and self._quote(kind, *place)
                words.append(quoted or kind.spelled or rules.spelling[token])
                places += place
                if kind.ends and len(words) > 1 and rules.ends_so(kind.ends, text, place[1]):
                    self.end = place[1]
            elif self._joins(kind, *place):
                words[-1] += token
                places[-1] = place[1]
            else:
                words.append(kind.spelled or token)
                places += place
            end = self.end
        if words:
            yield self._sentence()

    def _sentence(self) -> Sentence:
        count, text = len(self.places), self.typed
        places = np.fromiter(self.places, np.int64, count).reshape(-1, 2)  # faster than np.array
        first, last = self.places[0], self.places[-1]
        if self.plain is not None:
            places = self.plain.typed(places)
            first, last = int(places[0, 0]), int(places[-1, 1])
        shifted = places - first if first else places
        sentence = Sentence(text[first:last], self.words, shifted, first)
        self.words, self.places, self.quoted, self.end = [], [], False, maxsize
        return sentence

    def _shortened(self, start: int, end: int) -> tuple[int, int]:
        """Split off words from a long token, and return the position of its last characters."""
        for place in range(start, end - LONGEST, LONGEST):
            behind = start = place + LONGEST
            self.words.append(self.text[place:behind].translate(self.rules.spelled))
            self.places += place, behind
        return start, end

    def _quote(self, kind: Token, start: int, end: int) -> str:
        """Return the treebank spelling of a quotation mark."""
        rules = self.rules
        opening, closing = rules.quotes[kind.role]
        opens = self.places[-1:] != [start] or self.words[-1] in rules.open_after
        followed = rules.followed.match(self.text, end) is not None
        if kind.role == "single":
            return opening if opens and followed else closing
        self.quoted = opens if opens == followed else not self.quoted
        return opening if self.quoted else closing

    def _joins(self, kind: Token, start: int, end: int) -> bool:
        """Return whether a stop belongs to the preceding word; set the sentence end if it is
        here."""
        rules, text, ends, joins = self.rules, self.text, kind.ends, False
        if kind.abbreviates and self.places[-1:] == [start]:  # it touches the word
            for one in rules.abbreviations[self.words[-1]]:
                if one.when.match(text, end) and (len(self.words) == 1 or not one.first):
                    ends, joins = one.ends, not one.splits
                    break
        size = len(text)
        closers = rules.closers.match(text, end) if end < size else None
        after = closers.end() if closers else end
        if after > end:
            ends = rules.closed_ends.get(ends, ends)
        if not self.words:
            ends = rules.first_ends.get(ends, ends)
        if after == size or rules.text_ends.match(text, after) or rules.ends_so(ends, text, after):
            self.end = after
        return joins
