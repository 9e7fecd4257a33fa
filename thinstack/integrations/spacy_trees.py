"""From a spaCy Doc to what a model reads: sentences as treebank words, each with a binary tree over them."""

import re
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.binarize import binarize
from thinstack.data import ptb
from thinstack.data.raw_text import treebank_words
from thinstack.data.tree_sources import TreeMaker
from thinstack.errors import InputError, TreeError
from thinstack.integrations.spacy_results import Sentence

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

__all__ = ["sentences"]

_SPACE_LEAF = re.compile(r"\(\s*[^\s()]+\s+\)")


def sentences(doc: "Doc", make_tree: TreeMaker | None) -> list[Sentence]:
    """The sentences of a Doc that hold words; the whole Doc is one where no sentence boundaries are set.

    `make_tree` makes the tree of its words. Without it the labelled brackets that benepar leaves in `Span._.parse_string` are
    read, binarised (`thinstack.core.binarize`); where treebank words and tokens differ, a token that makes several words
    becomes a phrase of them, and a word made of several tokens stands where its first token does.
    Raises InputError if there are no such brackets, or they are not about the tokens of the sentence.
    """
    found = []
    spans = doc.sents if len(doc) and doc.has_annotation("SENT_START") else (doc[:],)
    for span in spans:
        words, tokens = _words(span)
        if words:
            steps = make_tree(words) if make_tree else _parsed(span, words, tokens)
            found.append(Sentence(span.start, span.end, words, tokens, steps))
    return found


def _words(span: "Span") -> tuple[list[str], NDArray[np.int64]]:
    """Treebank words of a sentence, and the tokens of the Doc that each was made of, (L, 2)."""
    read = list(span)
    texts, spaces = [token.text for token in read], [bool(token.whitespace_) for token in read]
    if not any(len(text.split()) > 1 for text in texts):
        words, tokens = treebank_words(texts, spaces)
        return words, tokens + span.start
    # Merged tokens hold white space: to the treebank each part is a word.
    parts = [text.split() or [text] for text in texts]
    owners = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    spaces = [j + 1 < len(part) or space for part, space in zip(parts, spaces, strict=True) for j in range(len(part))]
    words, tokens = treebank_words(list(chain.from_iterable(parts)), spaces)
    return words, np.stack([owners[tokens[:, 0]], owners[tokens[:, 1] - 1] + 1], axis=1) + span.start


def _parsed(span: "Span", words: list[str], tokens: NDArray[np.int64]) -> NDArray[np.int8]:
    """Transitions of the sentence's parse over its treebank words."""
    tree = _parse(span)
    read = [token for token in span if not token.is_space]
    expected, found = [_plain(token.text) for token in read], [_plain(leaf) for leaf in tree.words]
    if expected != found:
        pairs = zip([*expected, None], [*found, None], strict=False)
        place, (token, leaf) = next((i, pair) for i, pair in enumerate(pairs) if pair[0] != pair[1])
        raise InputError(
            f"Span._.parse_string of {_shown(span)} is not about its tokens: at {place} expected {token!r}, found {leaf!r}"
        )
    groups: dict[int, list[str]] = {token.i: [] for token in read}
    for word, (first, _) in zip(words, tokens.tolist(), strict=True):
        groups[first].append(word)
    return binarize(tree, list(groups.values())).transitions


def _parse(span: "Span") -> Tree:
    if not span.has_extension("parse_string"):
        raise InputError(
            'tree_sentiment with source "benepar" reads Span._.parse_string, which nothing has set: pip install benepar, and '
            'before tree_sentiment: import benepar; nlp.add_pipe("benepar", config={"model": "benepar_en3"})'
        )
    try:
        text = span._.parse_string
    except Exception as error:  # whatever a stranger's getter raises, the reader is told which sentence
        raise InputError(f"Span._.parse_string of {_shown(span)} cannot be read: {error}") from error
    if not isinstance(text, str):
        raise InputError(
            f"Span._.parse_string of {_shown(span)} is {text!r}, expected labelled brackets; "
            f"does the component benepar come before tree_sentiment?"
        )
    dropped = 1
    while dropped:  # tokens of white space leave a bracket without a word, and perhaps one around it
        text, dropped = _SPACE_LEAF.subn("", text)
    try:
        return Tree.from_brackets(text)
    except TreeError as error:
        raise InputError(f"Span._.parse_string of {_shown(span)} holds no tree: {error}") from None


def _plain(text: str) -> str:
    """The same for a token and for its leaf in brackets, however quotation marks and escapes are written."""
    return ptb.plain("".join(text.split()))


def _shown(span: "Span") -> str:
    text = span.text if len(span.text) <= 60 else span.text[:57] + "..."
    return f"the sentence {text!r}"
