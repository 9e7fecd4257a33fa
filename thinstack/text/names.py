"""Match names in texts: normalized like texts, in the singular and the plural, with a hyphen, a
space or nothing between their parts (docs/text.md)."""

import re
from collections.abc import Sequence
from itertools import pairwise
from os.path import commonprefix

from thinstack.data.words.letters import plain_letters
from thinstack.data.words.ptb import unescape
from thinstack.text.english import rules
from thinstack.text.sentences import splitter


def read_plainly(text: str) -> str:
    """Return a text without markup, with plain letters, hyphens and apostrophes."""
    plain = rules().typed.plain(text)
    return unescape((plain.text if plain else text).translate(rules().spelled))


def plain_words(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return treebank words without escapes, and with plain letters unless a splitter has read
    them; and the same words joined by spaces, without spaces inside words."""
    joined = " ".join(words)
    spaces = joined.count(" ") >= len(words)
    if spaces or not joined.isascii() or "\\" in joined or "B-" in joined:
        spelled = {**rules().spelled, ord(" "): "-"}
        words = [unescape(plain_letters(word).translate(spelled)) for word in words]
        joined = " ".join(words)
    return words, joined


def parts_of(name: str) -> list[str]:
    """Split a name at spaces and hyphens, as the words of a text, without the sign of a hashtag.
    Clitics are separate parts: `driver`, `'s`, `seat`."""
    (sentences,) = splitter(sentences=False)([name])
    _, joined = plain_words([word for sentence in sentences for word in sentence.words])
    return [part.lstrip("#") or part for part in re.split("[ -]+", joined) if part]


def singulars(name: str) -> list[str]:
    """Return what a name may be the plural of: `battery` for `batteries`. Many are not words."""
    lowered, plurals = name.lower(), rules().plurals
    if lowered.endswith("ss") or lowered in plurals["none"] or _is_function_word(name):
        return []
    pairs = ((one, many) for one, many in plurals["endings"] if lowered.endswith(many))
    bases = (name[: -len(many)] + one for one, many in pairs)
    return [base for base in bases if len(base) > 1 and not _is_function_word(base)]


def forms(word: str) -> list[str]:
    """Return the word, its singulars, and the plurals of all. A word that only looks like a plural,
    such as `news`, is not a form of `new`."""
    bases, plurals = [word, *singulars(word)], rules().plurals
    others = dict.fromkeys(bases)
    for base in bases if word[-1].isalpha() else ():
        for one, many in plurals["endings"]:
            form = base[: len(base) - len(one)] + many
            plural = not form.lower().endswith("ss") and form.lower() not in plurals["none"]
            if plural and base.lower().endswith(one):
                others[form] = None
    return [form for form in others if form == word or not _is_function_word(form)]


def pattern_of(parts: Sequence[str]) -> tuple[str, str]:
    """Return a regular expression for a name of these parts in the space-separated words of a text;
    and the prefix of all its matches, in lower case, without spaces and hyphens."""
    *before, last = parts
    lasts = sorted(forms(last), key=len, reverse=True)
    either = f"(?:{'|'.join(map(_spaced, lasts))})"
    stem = commonprefix(lasts)  # noqa: RUF071 - of characters
    return "[ -]{0,2}".join([*map(_spaced, before), either]), "".join([*before, stem]).lower()


def _spaced(part: str) -> str:
    """Return a pattern for a part of a name, with optional characters between its characters."""
    spelt = re.escape(part[0])
    for place, pair in enumerate(pairwise(part), 1):
        hyphen = "(?:- ?)?" if "".join(pair).isalnum() else " ?"
        spelt += "[ -]{0,2}" if _may_be_two(part[:place], part[place:]) else hyphen
        spelt += re.escape(pair[1])
    return spelt


def _may_be_two(first: str, second: str) -> bool:
    """Return whether a text may write a name as these two words: `wi fi` is `wifi` and `set up` is
    `setup`, but `are a` is not `area`."""
    long = len(first) > 1 and len(second) > 1 and (first + second).isalnum()
    particle = second.lower() in rules().plurals["particles"]
    return long and not _is_function_word(first) and (particle or not _is_function_word(second))


def _is_function_word(word: str) -> bool:
    return word.lower() in rules().function_words
