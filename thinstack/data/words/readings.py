"""Readings: the plain English words that a vocabulary looks up for an emoji, an emoticon, a star
rating, a word with hidden or stretched letters, a hashtag, a handle or a web address, from
`emoji.json` (docs/text.md)."""

import json
import re
from collections.abc import Container
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("emoji.json")

_HANDLE, _LINK = "someone", "link"
_TAG = re.compile("[#@][A-Za-z_]")
_ADDRESS = re.compile(r"(?:https?://|ftp://|www\.).", re.IGNORECASE)
_STRETCHED = re.compile(r"([a-z])\1{2,}")
_ODD = re.compile(r"[^\0-\x7f]|[:;=<^*#$%_@!]|[a-zA-Z][0-9-]|[0-9][a-zA-Z]|^[wW]{3}\.")
"""Characters of words that have another reading."""
_MODIFIERS = "\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
_JOINED = "\u200d[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"


@cache
def _data() -> dict[str, dict[str, Any]]:
    return dict(json.loads(TABLE.read_text(encoding="utf-8")))


@cache
def _emoji() -> tuple[re.Pattern[str], dict[str, str]]:
    """Return a pattern of an emoji that has a word, with skin tone and joined emoji, or of a flag;
    and the word for the first character of an emoji."""
    words = {char: word for word, chars in _data()["emoji"].items() for char in chars}
    first = f"[\U0001f1e6-\U0001f1ff]{{2}}|[{''.join(words)}]"
    return re.compile(f"(?:{first})(?:[{_MODIFIERS}]|{_JOINED})*"), words


@cache
def _signs() -> tuple[re.Pattern[str], list[str]]:
    """Return a pattern of an emoticon, a star rating, or a word with hidden letters and an optional
    ending; and the word of each group."""
    data, hidden = _data(), _hidden_forms()
    emoticons = list(data["emoticons"].items())
    groups = ("|".join(f"({one[1]})" for one in forms) for forms in (emoticons, hidden))
    signs = "{}|(?:{})(?:{})?".format(*groups, data["hidden"]["endings"])
    return re.compile(signs), [word for word, _ in emoticons + hidden]


def _hidden_forms() -> list[tuple[str, str]]:
    """Return words, with patterns that hide any of their letters but leave one after the first."""
    data, forms = _data()["hidden"], list[tuple[str, str]]()
    for word in data["words"]:
        first, *rest = (f"{char}{char.upper()}{data['alike'].get(char, '')}" for char in word)
        hidden = "".join(f"[{one}{data['marks']}]" for one in rest)
        forms.append((word, f"[{first}](?=[^a-zA-Z ]{{0,9}}[a-zA-Z]){hidden}"))
    return [*forms, *data["alone"].items()]


def hidden_words() -> str:
    """Return a pattern, without groups, of words whose letters may be hidden. It also matches the
    plain words."""
    forms = "|".join(pattern for _, pattern in _hidden_forms())
    return f"(?:{forms})(?:{_data()['hidden']['endings']})?"


def reading(word: str) -> str:
    """Return the space-separated words to look up for a word; most words are unchanged.

    An emoji becomes its word in `emoji.json`, anywhere in the word; unlisted ones are unchanged. An
    emoticon, a star rating (★★★★☆) and a word with hidden letters (`sh*t`) also become words. A
    hashtag loses its `#`. A handle, such as @ada, becomes `someone`, and a web address `link`.
    """
    if word.isalpha() or not _ODD.search(word):  # the usual case
        return word
    if _ADDRESS.match(word):
        return _LINK
    signs, meanings = _signs()
    if sign := signs.fullmatch(word):
        group = sign.lastindex or 0
        return meanings[group - 1] + word[sign.end(group) :]
    if not word.isascii():
        emoji, words = _emoji()
        word = emoji.sub(lambda match: f" {words[match[0][0]]} ", word)
    if not _TAG.match(word):
        return word
    return _HANDLE if word[0] == "@" else word[1:]


def unstretched(word: str, entries: Container[str]) -> str:
    """Return the entry for a lower-case word with stretched letters (`sooo goood`): with runs of
    three or more letters reduced to two or else one; the word itself if neither is an entry."""
    if word in entries or not _STRETCHED.search(word):
        return word
    forms = (_STRETCHED.sub(letters, word) for letters in (r"\1\1", r"\1"))
    return next((form for form in forms if form in entries), word)
