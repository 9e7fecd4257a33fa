"""Names of things as texts have them: read as texts are read, in the singular and in the plural,
with a hyphen, a space or nothing between their parts (docs/text.md)."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from thinstack.data.words.letters import plain_letters
from thinstack.data.words.ptb import unescape
from thinstack.text.english import rules
from thinstack.text.sentences import splitter

_BETWEEN: Final = re.compile(r"[\s-]+")
_ANY, _HYPHEN, _SPACE = "[ -]{0,2}", "(?:- ?)?", " ?"  # what may stand between two characters


def read_plainly(text: str) -> str:
    """A text as it is read: without markup, with plain letters, hyphens and apostrophes."""
    plain = rules().typed.plain(text)
    spelled = (plain.text if plain else text).translate(rules().spelled)
    return unescape(spelled)


def without_spaces(name: str) -> str:
    """A name without its spaces and hyphens, which people set in different ways."""
    return _BETWEEN.sub("", name)


def plain_words(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """Treebank words without escapes, and in plain letters if they were not typed but given; and
    the same words with spaces between them."""
    joined = " ".join(words)
    if not joined.isascii() or "\\" in joined or "B-" in joined:
        spelled = rules().spelled
        words = [unescape(plain_letters(word).translate(spelled)) for word in words]
        joined = " ".join(words)
    return words, joined


def parts_of(name: str) -> list[str]:
    """The parts of a name between spaces and hyphens, as the words of a text are read, without the
    sign of a hashtag. Clitics are parts too: `driver`, `'s`, `seat`."""
    (sentences,) = splitter(sentences=False)([name])
    words, _ = plain_words([word for sentence in sentences for word in sentence.words])
    parts = (part.lstrip("#") or part for word in words for part in word.split("-"))
    return [part for part in parts if part]


def singulars(name: str) -> list[str]:
    """What a name may be the plural of, by its end: `batteries` of `battery`. Many are no words."""
    lowered, none = name.lower(), _is_no_plural(name)
    if lowered.endswith("ss") or none:
        return []
    found = (
        name[: -len(plural)] + singular
        for singular, plural in rules().plurals["endings"]
        if lowered.endswith(plural)
    )
    return [each for each in found if len(each) > 1 and not _is_function_word(each)]


def forms(word: str) -> list[str]:
    """The word, its plurals, its singulars and their plurals. Function words and words that only
    look like a plural, such as `news`, have no singular, and are no plural."""
    bases = [word, *singulars(word)]
    found = dict.fromkeys(bases)
    for base in bases[1:] or bases:
        lowered = base.lower()
        for singular, plural in rules().plurals["endings"]:
            if lowered.endswith(singular) and lowered[-1:].isalpha():
                made = base[: len(base) - len(singular)] + plural
                found |= {} if _is_no_plural(made) or _is_function_word(base) else {made: None}
    return [*found]


def pattern_of(parts: Sequence[str]) -> tuple[str, str]:
    """A regular expression for a name of these parts in the words of a text with spaces between
    them; and what all that it matches begin with, without spaces and hyphens, in lower case."""
    *before, last = parts
    lasts = sorted(forms(last), key=len, reverse=True)
    stem = last
    while not all(form.startswith(stem) for form in lasts):
        stem = stem[:-1]
    either = f"(?:{'|'.join(map(_spaced, lasts))})"
    return _ANY.join([*map(_spaced, before), either]), "".join([*before, stem]).lower()


def _spaced(part: str) -> str:
    """An expression for a part of a name, with what may stand between its characters."""
    spelt = re.escape(part[0])
    for place, pair in enumerate(pairwise(part), 1):
        gap = _HYPHEN if "".join(pair).isalnum() else _SPACE
        gap = _ANY if _may_be_two(part[:place], part[place:]) else gap
        spelt += gap + re.escape(pair[1])
    return spelt


def _may_be_two(first: str, second: str) -> bool:
    """Whether a text may have a name as these two words: `wi fi` is `wifi` and `set up` is `setup`,
    but `are a` is no `area`."""
    long = len(first) > 1 and len(second) > 1 and (first + second).isalnum()
    particle = second.lower() in rules().plurals["particles"]
    return long and not _is_function_word(first) and (particle or not _is_function_word(second))


def _is_function_word(word: str) -> bool:
    return word.lower() in rules().function_words


def _is_no_plural(word: str) -> bool:
    """Whether a word looks like a plural, and is none."""
    return word.lower() in rules().plurals["none"] or _is_function_word(word)
