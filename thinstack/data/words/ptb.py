"""Writes and undoes Penn Treebank escapes: how treebanks spell brackets, slashes, asterisks and
quotation marks inside a word."""

import re

_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_ESCAPES = {**_BRACKETS, "/": "\\/", "*": "\\*"}
_UNESCAPES = {escape: char for char, escape in _ESCAPES.items()}
_SPECIAL = re.compile(r"[()\[\]{}/*]")
_ESCAPED = re.compile(r"-[LR][RSC]B-|\\[/*]", re.IGNORECASE)
_QUOTES = {"``": '"', "''": '"'}


def escape(word: str) -> str:
    """The treebank's spelling of a word: `(` becomes `-LRB-`, `and/or` becomes `and\\/or`, and `*`
    becomes `\\*`, anywhere in the word."""
    return _SPECIAL.sub(lambda match: _ESCAPES[match.group()], word)


def unescape(word: str) -> str:
    """The word before `escape`. `-lrb-` is read as `-LRB-` is."""
    if "\\" not in word and "-" not in word:
        return word
    return _ESCAPED.sub(lambda match: _UNESCAPES[match.group().upper()], word)


def plain(word: str) -> str:
    """The word as running text has it: unescaped, with `"` for two backticks or two apostrophes."""
    return _QUOTES.get(word) or unescape(word)
