"""Stores the answers of teachers in files, so that a resumed run does not ask again."""

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
"""Called with what a teacher reads, how many are done, and how many there are."""

AT_ONCE: Final = 1000
"""Sentences per file. A resumed run asks again about at most this many."""


class AnswerCache:
    """The answers of teachers about trees, sentences or strings, `at_once` of them per file.

    A file is named after the digest of the teachers and the question, so that an answer is never
    used for another question. Without a `folder`, nothing is stored. `on_read` is called after each
    file.
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
        """Yield the rows that `ask` returns for what is `asked`, one file at a time. `teachers`:
        their digests. `what` names the question for `on_read`."""
        for start in range(0, len(asked), self._at_once):
            part = asked[start : start + self._at_once]
            path, rows = self._path(teachers, part), None
            if path is not None:
                self._used.add(path)
                with suppress(OSError, EOFError, ValueError):
                    rows = np.load(path, allow_pickle=False)
            if rows is None:
                rows = ask(part)
                self.store(teachers, part, rows)
            yield rows
            self._on_read(what, start + len(part), len(asked))

    def store(self, teachers: Sequence[str], part: Sequence[Any], rows: NDArray[Any]) -> None:
        """Store the answers about at most `at_once` trees, sentences or strings."""
        if (path := self._path(teachers, part)) is not None:
            with replacing(path) as temporary, temporary.open("wb") as file:
                np.save(file, rows)

    def remove_unused(self) -> None:
        """Remove the files of questions that were not asked."""
        if self._folder is not None:
            for path in set(self._folder.glob("*.npy")) - self._used:
                path.unlink()

    def _path(self, teachers: Sequence[str], part: Sequence[Any]) -> Path | None:
        if self._folder is None:
            return None
        asked = [
            [one.words, one.transitions.tolist()] if isinstance(one, Tree) else one for one in part
        ]
        digest = hashlib.sha256(json.dumps([teachers, asked]).encode()).hexdigest()
        return self._folder / f"{digest:.32}.npy"
