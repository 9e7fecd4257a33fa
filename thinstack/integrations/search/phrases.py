"""Which phrases of a sentence are worth finding."""

from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from thinstack.runtime.highlights import turned_nodes, word_edges
from thinstack.runtime.phrase import Nodes
from thinstack.runtime.prediction import Prediction

MOST_WORDS: Final = 12
"""Words of a phrase at most, but for whole sentences."""


class Span(NamedTuple):
    """A node of the tree of a sentence, and its characters [start, end) in the whole text."""

    node: int
    start: int
    end: int


def phrases_of(sentence: Prediction) -> Iterator[Span]:
    """The phrases of a sentence that can be read without the rest, without the marks of punctuation
    around them: single words that carry content, longer phrases that hold such a word and end where
    a phrase may end (`word_edges`), and the sentence. Those that the words around them turn round,
    as "worth it" in "not worth it", are left out. Two nodes with the same words are one."""
    nodes, edges, seen = Nodes(sentence), word_edges(sentence), set[tuple[int, int]]()
    content, turned = [0, *accumulate(edges.content)], turned_nodes(sentence)
    root, offsets = len(nodes.spans) - 1, (sentence.offsets + sentence.start).tolist()
    for node, (start, end) in enumerate(nodes.spans):
        while start < end and not edges.words[start]:
            start += 1
        while start < end and not edges.words[end - 1]:
            end -= 1
        reads = node == root or (
            end - start <= MOST_WORDS
            and content[start] < content[end]
            and edges.first[start]
            and edges.last[end - 1]
            and not (edges.inside[start] or edges.inside[end])
        )
        if start < end and reads and not turned[node] and (start, end) not in seen:
            seen.add((start, end))
            yield Span(node, offsets[start][0], offsets[end - 1][1])
