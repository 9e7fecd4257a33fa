"""Names of things as texts have them: read as texts are read, in the singular and in the plural,
with a hyphen, a space or nothing between their parts (docs/text.md)."""

import re
from collections.abc import Sequence
from itertools import pairwise
from os.path import commonprefix

from thinstack.data.words.letters import plain_letters
from thinstack.data.words.ptb import unescape
from thinstack.text.english import rules
from thinstack.text.sentences import splitter


def read_plainly(text: str) -> str:
    """A text as it is read: without markup, with plain letters, hyphens and apostrophes."""
    plain = rules().typed.plain(text)
    return unescape((plain.text if plain else text).translate(rules().spelled))


def plain_words(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """Treebank words without escapes, and in plain letters if they were not typed but given; and
    the same words with spaces between them, and none inside."""
    joined = " ".join(words)
    spaces = joined.count(" ") >= len(words)
    if spaces or not joined.isascii() or "\\" in joined or "B-" in joined:
        spelled = {**rules().spelled, ord(" "): "-"}
        words = [unescape(plain_letters(word).translate(spelled)) for word in words]
        joined = " ".join(words)
    return words, joined


def parts_of(name: str) -> list[str]:
    """The parts of a name between spaces and hyphens, as the words of a text are read, without the
    sign of a hashtag. Clitics are parts too: `driver`, `'s`, `seat`."""
    (sentences,) = splitter(sentences=False)([name])
    _, joined = plain_words([word for sentence in sentences for word in sentence.words])
    return [part.lstrip("#") or part for part in re.split("[ -]+", joined) if part]


def singulars(name: str) -> list[str]:
    """What a name may be the plural of, by its end: `batteries` of `battery`. Many are no words."""
    lowered, plurals = name.lower(), rules().plurals
    if lowered.endswith("ss") or lowered in plurals["none"] or _is_function_word(name):
        return []
    pairs = ((one, many) for one, many in plurals["endings"] if lowered.endswith(many))
    bases = (name[: -len(many)] + one for one, many in pairs)
    return [base for base in bases if len(base) > 1 and not _is_function_word(base)]


def forms(word: str) -> list[str]:
    """The word, its singulars, and the plurals of all. A word that only looks like a plural, such
    as `news`, is none of `new`."""
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
    """A regular expression for a name of these parts in the words of a text with spaces between
    them; and what all that it matches begin with, in lower case, without spaces and hyphens."""
    *before, last = parts
    lasts = sorted(forms(last), key=len, reverse=True)
    either = f"(?:{'|'.join(map(_spaced, lasts))})"
    stem = commonprefix(lasts)  # noqa: RUF071 - of characters
    return "[ -]{0,2}".join([*map(_spaced, before), either]), "".join([*before, stem]).lower()


def _spaced(part: str) -> str:
    """An expression for a part of a name, with what may stand between its characters."""
    spelt = re.escape(part[0])
    for place, pair in enumerate(pairwise(part), 1):
        hyphen = "(?:- ?)?" if "".join(pair).isalnum() else " ?"
        spelt += "[ -]{0,2}" if _may_be_two(part[:place], part[place:]) else hyphen
        spelt += re.escape(pair[1])
    return spelt


def _may_be_two(first: str, second: str) -> bool:
    """Whether a text may have a name as these two words: `wi fi` is `wifi` and `set up` is `setup`,
    but `are a` is no `area`."""
    long = len(first) > 1 and len(second) > 1 and (first + second).isalnum()
    particle = second.lower() in rules().plurals["particles"]
    return long and not _is_function_word(first) and (particle or not _is_function_word(second))


def _is_function_word(word: str) -> bool:
    return word.lower() in rules().function_words
