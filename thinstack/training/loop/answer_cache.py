"""Keeps what teachers answer in files, so that a stopped run asks no question again."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.data.files.writing import replacing

OnRead = Callable[[str, int, int], object]
"""Takes the name of what a teacher reads, how much of it is done, and how much there is."""

AT_ONCE: Final = 1000
"""The sentences whose answers are in one file. A stopped run reads no more than these again."""


class AnswerCache:
    """The answers of teachers, each file with those about `at_once` trees, sentences or strings.

    The name of a file is the digest of who is asked and of what, so an answer is never used for
    another question. Without a `folder` nothing is kept. `on_read` is called after each file.
    """

    def __init__(
        self,
        folder: Path | None = None,
        on_read: OnRead = lambda *_: None,
        *,
        at_once: int = AT_ONCE,
    ):
        self._folder, self._on_read, self._at_once = folder, on_read, at_once
        self._used = set[Path]()

    def answers(
        self,
        what: str,
        teachers: Sequence[str],
        asked: Sequence[Any],
        ask: Callable[[Sequence[Any]], NDArray[Any]],
    ) -> Iterator[NDArray[Any]]:
        """The rows that `ask` gives for what is `asked`, a file at a time. `teachers`: the digests
        of who is asked. `what` names the question for `on_read`."""
        for start in range(0, len(asked), self._at_once):
            part = asked[start : start + self._at_once]
            yield self._rows(teachers, part, ask)
            self._on_read(what, start + len(part), len(asked))

    def _rows(
        self,
        teachers: Sequence[str],
        part: Sequence[Any],
        ask: Callable[[Sequence[Any]], NDArray[Any]],
    ) -> NDArray[Any]:
        if self._folder is None:
            return ask(part)
        path = self._file(self._folder, teachers, part)
        self._used.add(path)
        with suppress(OSError, EOFError, ValueError):
            stored: NDArray[Any] = np.load(path, allow_pickle=False)
            return stored
        rows = ask(part)
        self.keep(teachers, part, rows)
        return rows

    def keep(self, teachers: Sequence[str], part: Sequence[Any], rows: NDArray[Any]) -> None:
        """Store the answers about a part of a question, of at most `at_once`."""
        if self._folder is not None:
            path = self._file(self._folder, teachers, part)
            with replacing(path) as temporary, temporary.open("wb") as file:
                np.save(file, rows)

    def remove_unused(self) -> None:
        """Remove the files that were not asked for."""
        if self._folder is not None:
            for path in set(self._folder.glob("*.npy")) - self._used:
                path.unlink()

    @staticmethod
    def _file(folder: Path, teachers: Sequence[str], part: Sequence[Any]) -> Path:
        asked = [
            [one.words, one.transitions.tolist()] if isinstance(one, Tree) else one for one in part
        ]
        digest = hashlib.sha256(json.dumps([teachers, asked]).encode()).hexdigest()
        return folder / f"{digest:.32}.npy"
