"""Read and write Penn Treebank brackets, labelled, `(3 (2 The) (4 acting))`, or unlabelled, `( The
acting )`.

A labelled bracket contains its label, then one word or children. The label may be missing before
children, as in the outermost bracket of the treebank's files. An unlabelled bracket contains
children, and each word is a leaf. Traces, `(NP (-NONE- *-1))`, are omitted, with the constituents
that contain nothing else.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from thinstack.core.tree import Tree
from thinstack.data.trees.phrases import check_constituency
from thinstack.errors import TreeError

SPACE = " \t\r\n\f\v"
"""Separators: ASCII white space only, because treebanks have no-break spaces inside words."""

_TRACE = "-NONE-"
"""The Penn Treebank's label for an empty element."""
_NAME = re.compile(rf"[^{SPACE}()]+")
_LABELLED = re.compile(rf"\([{SPACE}]*({_NAME.pattern})?|\)|{_NAME.pattern}")
_UNLABELLED = re.compile(rf"[()]|{_NAME.pattern}")


def from_brackets(
    text: str, *, labelled: bool = True, source: str | None = None, line: int | None = None
) -> Tree:
    """Read one bracketed tree, such as `(3 (2 The) (4 acting))`, or `( The acting )` with
    `labelled=False`.

    `source` and `line`, the number of the text's first line, name the place in errors. Raises
    TreeError with the line and column of the fault.
    """
    reader, at = _Reader(labelled), 0

    def place(at: int) -> tuple[int, int]:
        return (line or 1) + text.count("\n", 0, at), at - text.rfind("\n", 0, at)

    try:
        for match in (_LABELLED if labelled else _UNLABELLED).finditer(text):
            at = match.start()
            reader.read(match)
        whole, *opened = reader.frames
        if opened:
            at, last = len(text.rstrip(SPACE)), "{}:{}".format(*place(opened[-1].at))
            raise TreeError(
                f"unbalanced brackets: {len(opened)} '(' without a ')', the last at {last}"
            )
        if not whole.children:
            raise TreeError("expected a bracketed tree, found nothing")
    except TreeError as error:
        row, column = place(at)
        raise TreeError(error.message, source=source, line=row, column=column) from None
    parents = np.array(reader.parents, np.int64)
    return Tree(parents=parents, tokens=tuple(reader.tokens), labels=tuple(reader.labels))


@dataclass(slots=True)
class _Frame:
    """An open bracket: its position, label, word and closed children, and whether it contained a
    trace."""

    at: int
    label: str | None = None
    word: str | None = None
    children: list[int] = field(default_factory=list)
    traced: bool = False


class _Reader:
    """The nodes read so far, and the open brackets, in a frame around the whole text."""

    def __init__(self, labelled: bool):
        self.labelled, self.frames = labelled, [_Frame(-1)]
        self.parents, self.tokens, self.labels = list[int](), list[str | None](), list[str | None]()

    def read(self, match: re.Match[str]) -> None:
        """Read a bracket or a word."""
        piece, frame = match[0], self.frames[-1]
        if self.frames[0].children:
            excess = "(" if piece[0] == "(" else piece
            raise TreeError(f"expected one tree, found {excess!r} after its end")
        if piece[0] == "(":
            if frame.word is not None:
                raise TreeError(f"expected ')' after the word {frame.word!r}, found '('")
            self.frames.append(_Frame(match.start(), match[1] if self.labelled else None))
        elif piece != ")" and not self.labelled:
            self._add(None, piece)
        elif len(self.frames) == 1:
            raise TreeError(f"expected '(', found {piece!r}")
        elif piece == ")":
            self._close()
        elif frame.word is not None or frame.children:
            expected = "'(' or ')'" if frame.word is None else f"')' after the word {frame.word!r}"
            raise TreeError(f"expected {expected}, found the word {piece!r}")
        else:
            frame.word = piece

    def _close(self) -> None:
        frame = self.frames.pop()
        if frame.word is None and not frame.children and not frame.traced:
            raise TreeError("expected a word or children before ')'")
        if (frame.word is not None and frame.label == _TRACE) or not (frame.word or frame.children):
            if len(self.frames) == 1:
                raise TreeError("expected a tree with words, found only traces (-NONE-)")
            self.frames[-1].traced = True
        else:
            self._add(frame.label, frame.word, frame.children)

    def _add(self, label: str | None, word: str | None, children: Sequence[int] = ()) -> None:
        for child in children:
            self.parents[child] = len(self.parents)
        self.frames[-1].children.append(len(self.parents))
        self.parents.append(-1)
        self.tokens.append(word)
        self.labels.append(label)


def to_brackets(tree: Tree, *, labelled: bool = True) -> str:
    """Return the bracket string of a constituency tree; `labelled=False` omits the labels.

    Raises TreeError for a tree with a word at an inner node and for a leaf without a label. Also
    for a word or label that is empty, or contains white space or a bracket. Write brackets as
    `-LRB-` and `-RRB-` (`ptb.escape`).
    """
    check_constituency(tree)
    # The brackets that open before each word, innermost first.
    opened: list[list[str]] = [[] for _ in tree.words]
    nodes = zip(tree.spans[:, 0].tolist(), tree.tokens, tree.labels, strict=True)
    for node, (start, word, label) in enumerate(nodes):
        if labelled and label is None and word is not None:
            expected = "labeled brackets need a label at every node"
            raise TreeError(
                f"node {node} has no label; {expected}; add one, or pass labelled=False"
            )
        for what, text in (("label", label if labelled else None), ("word", word)):
            if text is not None and not _NAME.fullmatch(text):
                expected = f"a non-empty {what} without white space, '(' or ')'"
                raise TreeError(
                    f"node {node} has the {what} {text!r}; expected {expected}; ptb.escape writes "
                    "brackets as -LRB- and -RRB-"
                )
        if labelled:
            opened[start].append(f"({label or ''} ")
        elif word is None:
            opened[start].append("( ")
    after_leaf, after_children = (")", ")") if labelled else ("", " )")
    out: list[str] = []
    before = iter(opened)
    for word in tree.tokens:
        if word is None:
            out.append(after_children)
        else:
            out += [" " if out else "", *reversed(next(before)), f"{word}{after_leaf}"]
    return "".join(out)
