"""Penn Treebank brackets: `(3 (2 The) (4 acting))`, one label and then either one word or children."""

import re
from collections.abc import Sequence

from thinstack.errors import TreeError

__all__ = ["parse", "write"]

# ASCII white space only: treebanks hold no-break spaces inside tokens.
_NAME = re.compile(r"[^ \t\r\n\f\v()]+")
_PIECE = re.compile(rf"[()]|{_NAME.pattern}")


def parse(
    text: str, *, source: str | None = None, line: int | None = None
) -> tuple[list[int], list[str | None], list[str | None]]:
    """Parents, tokens and labels of one bracketed tree, in transition order.

    `line` is the number of the text's first line, 1 unless told. Raises TreeError, with line and column of what is wrong.
    """
    parents: list[int] = []
    tokens: list[str | None] = []
    labels: list[str | None] = []
    frames: list[_Frame] = []
    done = False

    def place(at: int) -> tuple[int, int]:
        return (line or 1) + text.count("\n", 0, at), at - text.rfind("\n", 0, at)

    def fail(message: str, at: int) -> TreeError:
        row, column = place(at)
        return TreeError(message, source=source, line=row, column=column)

    for match in _PIECE.finditer(text):
        piece, at = match.group(), match.start()
        if done:
            raise fail(f"expected one tree, found {piece!r} after its end", at)
        if piece == "(":
            if frames and frames[-1].word is not None:
                raise fail(f"expected ')' after the word {frames[-1].word!r}, found '('", at)
            frames.append(_Frame(at))
        elif not frames:
            raise fail(f"expected '(', found {piece!r}", at)
        elif piece != ")":
            if not frames[-1].take(piece):
                expected = "'(' or ')'" if frames[-1].word is None else f"')' after the word {frames[-1].word!r}"
                raise fail(f"expected {expected}, found the word {piece!r}", at)
        else:
            frame = frames.pop()
            if frame.word is None and not frame.children:
                raise fail("expected a word or children before ')'", at)
            for child in frame.children:
                parents[child] = len(parents)
            if frames:
                frames[-1].children.append(len(parents))
            parents.append(-1)
            tokens.append(frame.word)
            labels.append(frame.label)
            done = not frames
    if frames:
        row, column = place(frames[-1].at)
        raise fail(f"unbalanced brackets: {len(frames)} '(' without a ')', the last at {row}:{column}", len(text.rstrip()))
    if not done:
        raise fail("expected a bracketed tree, found nothing", 0)
    return parents, tokens, labels


class _Frame:
    """An open bracket: where it stands, its label, word and the children closed so far."""

    __slots__ = ("at", "children", "label", "word")

    def __init__(self, at: int):
        self.at = at
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

    Raises TreeError for a tree with a word at an inner node, for a node without a label, and for a word or label that brackets
    cannot hold: an empty one, one with white space or with brackets (write those `-LRB-` and `-RRB-`).
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
        for what, text in (("label", labels[node]), ("word", tokens[node])):
            if text is not None and not _NAME.fullmatch(text):
                raise TreeError(f"node {node} has the {what} {text!r}; brackets hold no white space, '(' or ')' inside one")
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
