"""Write and undo Penn Treebank escapes of brackets, slashes, asterisks and quotation marks in
words."""

import re

_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_ESCAPES = {**_BRACKETS, "/": "\\/", "*": "\\*"}
_UNESCAPES = {escape: char for char, escape in _ESCAPES.items()}
_SPECIAL = re.compile(r"[()\[\]{}/*]")
_ESCAPED = re.compile(r"-[LR][RSC]B-|\\[/*]", re.IGNORECASE)
_QUOTES = {"``": '"', "''": '"'}


def escape(word: str) -> str:
    """Escape a word as in the treebank: `(` becomes `-LRB-`, `and/or` becomes `and\\/or`, and `*`
    becomes `\\*`, anywhere in the word."""
    return _SPECIAL.sub(lambda match: _ESCAPES[match.group()], word)


def unescape(word: str) -> str:
    """Undo `escape`. `-lrb-` is read like `-LRB-`."""
    if "\\" not in word and "-" not in word:
        return word
    return _ESCAPED.sub(lambda match: _UNESCAPES[match.group().upper()], word)


def plain(word: str) -> str:
    """Unescape a word as in running text, with `"` for two backticks or two apostrophes."""
    return _QUOTES.get(word) or unescape(word)
