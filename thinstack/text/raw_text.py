"""Convert a general tokenizer's words to treebank words, and treebank words to running text."""

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from thinstack.data.words import ptb

_REPLACED = {
    **dict.fromkeys("–—―", "--"),
    **dict.fromkeys("“„«", "``"),
    **dict.fromkeys("”»", "''"),
    "…": "...",
}
_RUN = re.compile(r"-{3,}$|\.{4,}$")
_APOSTROPHES = frozenset("'‘’")
_JOINERS = frozenset("-/")
_ASKING = frozenset({*_APOSTROPHES, *_JOINERS, '"', ".", "*"})
"""Marks whose context determines their meaning."""
_STRAIGHT = str.maketrans("‘’ʼ–‑‐", "'''---")
_OPENING = frozenset({"``", "`", "-LRB-", "-LSB-", "-LCB-", "--"})
_ELIDED = re.compile(r"(\d\ds?|tis|twas|till?|cause|cos|bout|em|n|round)$", re.IGNORECASE)
_INITIALS = re.compile(r"\w(\.\w)+$")

_SHOWN = {"``": '"', "''": '"', "`": "'"}
_CLITICS = frozenset({"'", "'s", "'re", "'ve", "'ll", "'d", "'m", "n't"})
_AFTER_WORD = re.compile(r"[.,:;?!%)\]}]+$")
_BEFORE_WORD = frozenset({"``", "`", "(", "[", "{", "$", "#"})
_TWO_IN_ONE = frozenset(
    {("can", "not"), ("gon", "na"), ("got", "ta"), ("wan", "na"), ("gim", "me"), ("lem", "me")}
)


def treebank_words(
    tokens: Sequence[str], spaces: Sequence[bool]
) -> tuple[list[str], NDArray[np.int64]]:
    """Convert the tokens of a sentence to Penn Treebank words.

    `tokens` come from a general tokenizer. `spaces[i]`: whether white space follows token i
    (spaCy's `whitespace_`). Returns L words, and the tokens [first, last + 1) of each word, at
    least one, (L, 2) int64.

    - White-space tokens are dropped.
    - Adjacent tokens are joined if the treebank does not split them: `well-made`, `and/or`,
      `gonna`, `'80s`, `b.s.`; `can` and `not` stay two words.
    - Double quotes become two backticks or two apostrophes, single quotes a backtick or an
      apostrophe. A quote opens after a space and closes before one; else a double quote closes if
      one is open. Curly apostrophes become straight.
    - Dashes become `--` (inside a token, `-`), an ellipsis becomes `...`. Brackets, `/` and `*` are
      escaped (`ptb.escape`).
    """
    words, dropped, joined = read_tokens(tokens, spaces)
    return words, tokens_of_words(len(tokens), dropped, joined)


def read_tokens(
    tokens: Sequence[str], spaces: Sequence[bool]
) -> tuple[list[str], list[int], list[int]]:
    """Return the words of `treebank_words`, the indices of dropped tokens, and those of tokens that
    continue the word of the preceding token. Every other token begins a word."""
    words: list[str] = []
    dropped: list[int] = []
    joined: list[int] = []
    # glued: no space precedes this token. joining: the token continues the last word. quoted: a
    # double quote is open.
    glued = joining = quoted = False
    for i, token in enumerate(tokens):
        if not (glued or joining) and token.isalnum():  # the usual case
            words.append(token)
        elif not token or token.isspace():
            dropped.append(i)
            glued = joining = False
            continue
        elif not (joining or token in _ASKING or token.isalnum()):
            words.append(_spelt(token))
        else:
            before, last = tokens[i - 1] if i else "", i + 1 == len(tokens)
            after = "" if spaces[i] or last else tokens[i + 1].strip()
            if joining or (glued and _continues(before, token, after, last)):
                words[-1] += _spelt(token)
                joined.append(i)
                joining, glued = token in _JOINERS, not spaces[i]
                continue
            opens = not glued or words[-1] in _OPENING
            if token == '"':
                quoted = opens if opens == bool(after) else not quoted
                words.append("``" if quoted else "''")
            elif token in _APOSTROPHES:
                joining = opens and _ELIDED.match(after) is not None
                opening = token == "‘" or (token == "'" and opens and after)
                words.append("`" if opening and not joining else "'")
            else:
                words.append(token if token.isalnum() else _spelt(token))
        glued = not spaces[i]
    return words, dropped, joined


def tokens_of_words(count: int, dropped: Sequence[int], joined: Sequence[int]) -> NDArray[np.int64]:
    """Return the tokens [first, last + 1) of each word, (L, 2), from the results of `read_tokens`
    for this many tokens."""
    begins = np.ones(count, np.bool_)
    begins[[*dropped, *joined]] = False
    firsts = begins.nonzero()[0].astype(np.int64, copy=False)
    ends = firsts + 1
    ends[firsts.searchsorted(joined) - 1] = np.add(joined, 1)  # of several tokens, the last
    return np.stack([firsts, ends], axis=1)


def _continues(before: str, token: str, after: str, last: bool) -> bool:
    """Return whether a token belongs to the same word as the adjacent token before it."""
    if token.isalnum():
        return before.isalnum() and (before.lower(), token.lower()) != ("can", "not")
    if token in _JOINERS:
        return after[:1].isalnum() and (before[-1].isalnum() or before[-1] == ".")
    if token == ".":
        return not last and not after and _INITIALS.match(before) is not None
    return token == "*" and before[-1] == "*"


@lru_cache(maxsize=1 << 14)
def _spelt(token: str) -> str:
    if _RUN.match(token):
        return "--" if token[0] == "-" else "..."
    return _REPLACED.get(token) or ptb.escape(token.translate(_STRAIGHT))


def detokenize(words: Sequence[str]) -> str:
    """Return the running text of treebank words, with straight quotes and without escapes.

    Spaces are as in printed English: `n't` is attached to the word before, `$` to the word after,
    and `can not` becomes `cannot`. A full stop after an abbreviation that ends in one is omitted.
    """
    out: list[str] = []
    before, touches = "", True
    for word in words:
        text = _SHOWN.get(word) or ptb.unescape(word)
        if text == "." and re.search(r"\w\.$", before):
            continue
        pair = (before.lower(), text.lower())
        clitic = word == "''" or pair[1] in _CLITICS or pair in _TWO_IN_ONE
        if not (touches or (clitic and word != "`") or _AFTER_WORD.match(text)):
            out.append(" ")
        out.append(text)
        before, touches = text, word in _BEFORE_WORD or text in _BEFORE_WORD
    return "".join(out)
