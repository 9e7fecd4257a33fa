"""What a vocabulary looks up for an emoji, an emoticon, a hashtag or a handle: plain English words,
by `emoji.json` (docs/text.md)."""

import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).with_name("emoji.json")

_HANDLE = "someone"
_TAG = re.compile("[#@][A-Za-z_]")
_MODIFIERS = "\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
_JOINED = "\u200d[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"


class _Table(NamedTuple):
    emoji: re.Pattern[str]
    """An emoji that has a word, with its skin tone and what is joined to it; a flag."""
    words: dict[str, str]
    """The word of the first character of an emoji."""
    emoticons: list[tuple[re.Pattern[str], str]]


@cache
def _table() -> _Table:
    data = json.loads(TABLE.read_text(encoding="utf-8"))
    words = {char: word for word, chars in data["emoji"].items() for char in chars}
    flags = "[\U0001f1e6-\U0001f1ff]{2}"
    emoji = re.compile(f"(?:{flags}|[{''.join(words)}])(?:[{_MODIFIERS}]|{_JOINED})*")
    emoticons = [(re.compile(pattern), word) for word, pattern in data["emoticons"].items()]
    return _Table(emoji, words, emoticons)


def reading(word: str) -> str:
    """The words that are looked up for a word, between spaces; most words as they stand.

    An emoji is the word that `emoji.json` gives it, wherever it stands, and one that is not listed
    stays. An emoticon is a word too. A hashtag loses its `#`. A handle, such as @ada, is `someone`.
    """
    if not word.isascii():
        table = _table()
        word = table.emoji.sub(lambda found: f" {table.words[found[0][0]]} ", word)
    if word[:1] in ":;=<^-":
        emoticons = _table().emoticons
        return next((name for pattern, name in emoticons if pattern.fullmatch(word)), word)
    if not _TAG.match(word):
        return word
    return _HANDLE if word[0] == "@" else word[1:]
