"""Penn Treebank brackets: `(3 (2 The) (4 acting))`, one label and then either one word or children."""

import re
from collections.abc import Sequence

from thinstack.errors import TreeError

__all__ = ["parse", "write"]

# ASCII white space only: treebanks hold no-break spaces inside tokens.
_PIECE = re.compile(r"[()]|[^ \t\r\n\f\v()]+")


def parse(
    text: str, *, source: str | None = None, line: int | None = None
) -> tuple[list[int], list[str | None], list[str | None]]:
    """Parents, tokens and labels of one bracketed tree, in transition order.

    Raises TreeError, with the column of what is wrong.
    """
    parents: list[int] = []
    tokens: list[str | None] = []
    labels: list[str | None] = []
    frames: list[_Frame] = []
    done = False

    def fail(message: str, column: int) -> TreeError:
        return TreeError(message, source=source, line=line, column=column + 1)

    for match in _PIECE.finditer(text):
        piece, column = match.group(), match.start()
        if done:
            raise fail(f"expected one tree, found {piece!r} after its end", column)
        if piece == "(":
            if frames and frames[-1].word is not None:
                raise fail(f"expected ')' after the word {frames[-1].word!r}, found '('", column)
            frames.append(_Frame(column))
        elif not frames:
            raise fail(f"expected '(', found {piece!r}", column)
        elif piece != ")":
            if not frames[-1].take(piece):
                raise fail(f"expected '(' or ')', found the word {piece!r}", column)
        else:
            frame = frames.pop()
            if frame.word is None and not frame.children:
                raise fail("expected a word or children before ')'", column)
            for child in frame.children:
                parents[child] = len(parents)
            if frames:
                frames[-1].children.append(len(parents))
            parents.append(-1)
            tokens.append(frame.word)
            labels.append(frame.label)
            done = not frames
    if frames:
        raise fail(
            f"unbalanced brackets: {len(frames)} '(' without a ')', the last at column {frames[-1].column + 1}",
            len(text.rstrip()),
        )
    if not done:
        raise fail("expected a bracketed tree, found nothing", 0)
    return parents, tokens, labels


class _Frame:
    """An open bracket: its column, label, word and the children closed so far."""

    __slots__ = ("children", "column", "label", "word")

    def __init__(self, column: int):
        self.column = column
        self.label: str | None = None
        self.word: str | None = None
        self.children: list[int] = []

    def take(self, piece: str) -> bool:
        """Read a label, then a word; False if there is no place for one more."""
        if self.children or self.word is not None:
            return False
        if self.label is None:
            self.label = piece
        else:
            self.word = piece
        return True


def write(parents: Sequence[int], tokens: Sequence[str | None], labels: Sequence[str | None]) -> str:
    """The bracket string of a tree in transition order.

    Raises TreeError for a tree with a word at an inner node, or with a node without a label.
    """
    below: list[list[str]] = [[] for _ in parents]
    children = [0] * len(parents)
    for parent in parents:
        if parent >= 0:
            children[parent] += 1
    first = _first_in_subtree(parents)
    opens = [""] * len(parents)
    for node, start in enumerate(first):
        if children[node] and tokens[node] is not None:
            raise TreeError(f"node {node} has both a word and children; brackets hold words at leaves only")
        if labels[node] is None:
            raise TreeError(f"node {node} has no label; labelled brackets need one at every node")
        below[start].append(f"({labels[node]} ")
    for node, pieces in enumerate(below):
        opens[node] = "".join(reversed(pieces))
    out: list[str] = []
    for node, token in enumerate(tokens):
        if children[node] == 0:
            out.append((" " if out else "") + opens[node] + f"{token})")
        else:
            out.append(")")
    return "".join(out)


def _first_in_subtree(parents: Sequence[int]) -> list[int]:
    """Position of the first node of each node's subtree, which is contiguous in transition order."""
    first = list(range(len(parents)))
    for node, parent in enumerate(parents):
        if parent >= 0:
            first[parent] = min(first[parent], first[node])
    return first
