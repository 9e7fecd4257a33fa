"""Converts spaCy's parses to trees.

Whitespace tokens are not in trees. The words are the other tokens in order, which are the nodes of
a dependency tree.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span, Token

from thinstack.core import Tree
from thinstack.core.tree import depths
from thinstack.data.trees.binarize import binarize
from thinstack.data.trees.brackets import from_brackets
from thinstack.data.words import ptb
from thinstack.errors import InputError, TreeError, raised_by_signal_handler
from thinstack.integrations.spacy.splitter import has_sentences, sentence_spans, tokens_at
from thinstack.text.sentences import Sentence

_SPACE_LEAF = re.compile(r"\(\s*[^\s()]+\s+\)")


def dependency_trees(doc: Doc) -> list[Tree]:
    """Return the dependency tree of each sentence with words. Raises like `dependency_tree`."""
    return [dependency_tree(span) for span in sentence_spans(doc) if _read(span)]


def constituency_trees(doc: Doc) -> list[Tree]:
    """Return the constituency tree of each sentence with words. Raises like `constituency_tree`."""
    return [constituency_tree(span) for span in sentence_spans(doc) if _read(span)]


def dependency_tree(sentence: Span | Doc) -> Tree:
    """Return the tree of `Token.head`. Its labels are `Token.dep_`, or None if that is empty. A Doc
    counts as one sentence.

    A part of a sentence is accepted if it has one root. A word whose head is whitespace depends on
    the next word above that. Raises InputError unless there are words, a parse and exactly one
    root.
    """
    span = sentence[:]
    words = _read(span)
    if not words:
        raise InputError(f"{_shown(span)} has no words; a tree needs at least one")
    if not span.doc.has_annotation("DEP"):
        remedy = "run a pipeline with a parser, or create the Doc with heads and deps"
        raise InputError(f"{_shown(span)} has no dependency parse: {remedy}")
    parents = _heads(span, [token.i - span.start for token in words])
    roots = [repr(word.text) for word, parent in zip(words, parents, strict=True) if parent < 0]
    if len(roots) != 1:
        problem = f"{len(roots)} roots ({', '.join(roots[:8])}), expected one"
        remedy = "use one of doc.sents, or all of them with dependency_trees(doc)"
        raise InputError(f"{_shown(span)} has {problem}; {remedy}")
    labels = [word.dep_ or None for word in words]
    return Tree.from_parents(parents, [word.text for word in words], labels)


def constituency_tree(sentence: Span | Doc) -> Tree:
    """Return the tree that benepar stores in `Span._.parse_string`, not binarized, in treebank
    spelling. A Doc counts as one sentence.

    Raises InputError unless `parse_string` is a tree over the words of the sentence.
    """
    span = sentence[:]
    tree = _parse(span)
    expected = [_plain(token.text) for token in _read(span)]
    words = [_plain(leaf) for leaf in tree.words]
    if expected != words:
        pairs = zip([*expected, None], [*words, None], strict=False)
        place, (token, leaf) = next((i, pair) for i, pair in enumerate(pairs) if pair[0] != pair[1])
        problem = f"does not match its tokens: at {place} expected {token!r}, found {leaf!r}"
        raise InputError(f"Span._.parse_string of {_shown(span)} {problem}")
    return tree


def parses_of(doc: Doc, sentences: Sequence[Sentence]) -> list[NDArray[np.int8]]:
    """Return the transitions (2L - 1,) of the parse of each of these sentences, over its words.

    The parse is `constituency_tree`, binarized (`thinstack.data.trees.binarize`). A token that
    makes several words becomes a phrase of them. A word made from several tokens takes the position
    of the first one.
    """
    parses = []
    for sentence in sentences:
        firsts = tokens_at(doc, sentence.offsets + sentence.start)[:, 0].tolist()
        span = doc[firsts[0]].sent if has_sentences(doc) else doc[:]
        groups: dict[int, list[str]] = {token.i: [] for token in _read(span)}
        for word, first in zip(sentence.words, firsts, strict=True):
            groups[first].append(word)
        parses.append(binarize(constituency_tree(span), list(groups.values())).transitions)
    return parses


def _read(span: Span) -> list[Token]:
    """Return the tokens that are not whitespace."""
    return [token for token in span if not token.is_space]


def _heads(span: Span, places: list[int]) -> list[int]:
    """Return the node of the next word above each word at `places` in the span, -1 for none."""
    heads = np.array([token.head.i - span.start for token in span])
    heads[(heads < 0) | (heads >= len(span)) | (heads == np.arange(len(span)))] = -1
    if (depths(heads) < 0).any():
        problem = "form a cycle: expected one root, which is its own head"
        raise InputError(f"the heads of {_shown(span)} {problem}")
    node_at = {-1: -1} | {place: node for node, place in enumerate(places)}
    parents = []
    for place in places:
        above = heads[place]
        while above not in node_at:  # whitespace
            above = heads[above]
        parents.append(node_at[above])
    return parents


def _parse(span: Span) -> Tree:
    if not span.has_extension("parse_string"):
        raise InputError(
            "constituency trees are read from Span._.parse_string, which is not set: pip "
            'install benepar, and, before a tree_sentiment with source "benepar": import benepar; '
            'nlp.add_pipe("benepar", config={"model": "benepar_en3"})'
        )
    try:
        text = span._.parse_string
    except Exception as error:  # a third-party getter may raise anything
        if raised_by_signal_handler(error):
            raise
        problem = f"Span._.parse_string of {_shown(span)} cannot be read: {error}"
        raise InputError(problem) from error
    if not isinstance(text, str):
        problem = f"{text!r}, expected labeled brackets; run benepar before tree_sentiment"
        raise InputError(f"Span._.parse_string of {_shown(span)} is {problem}")
    dropped = 1
    while dropped:  # a whitespace token leaves empty brackets, perhaps nested
        text, dropped = _SPACE_LEAF.subn("", text)
    try:
        return from_brackets(text)
    except TreeError as error:
        raise InputError(
            f"Span._.parse_string of {_shown(span)} contains no tree: {error}"
        ) from None


def _plain(text: str) -> str:
    """Normalize quotation marks and escapes, so that a token equals its leaf."""
    return ptb.plain("".join(text.split()))


def _shown(span: Span) -> str:
    text = span.text if len(span.text) <= 60 else span.text[:57] + "..."
    return f"the sentence {text!r}"
