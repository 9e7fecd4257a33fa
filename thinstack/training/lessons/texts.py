"""A lesson of sentences of plain English texts, for a teacher to parse and label."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
from pydantic import Field

from thinstack.data.files.reading import without_compression
from thinstack.data.trees.conllu import blocks_of
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.data.trees.text_files import read_lines
from thinstack.errors import DataError
from thinstack.text.sentences import splitter
from thinstack.training.lesson import Lesson, Treebank

__all__ = ["Texts", "read_plain_texts"]

COMMENT: Final = "# text = "


class Texts(Lesson):
    """Sentences of English texts, parsed by a teacher."""

    name: ClassVar[str] = "texts.v1"
    summary: ClassVar[str] = "sentences of texts without labels"
    taught: ClassVar[bool] = True

    texts: tuple[str, ...] = Field(min_length=1)
    """Files of English text, read line by line (in `.conllu`, the comments `# text`).
    `teacher.parser` parses their sentences."""
    max_words: int = Field(default=30, gt=1)
    """Maximum number of words. Longer sentences are skipped."""

    @property
    def files(self) -> tuple[str, ...]:
        """The texts."""
        return self.texts

    def trees(self, treebank: Treebank, draw: np.random.Generator) -> list[LabelledTree]:
        """Return a tree without labels for each sentence."""
        assert treebank.parse is not None, "a lesson that is taught has a teacher"
        files = [self.path(name, treebank.folders) for name in self.texts]
        sentences = read_plain_texts(files, self.max_words, treebank.aside)
        return [LabelledTree.unlabelled(tree) for tree in treebank.parse(sentences)]


def read_plain_texts(
    files: Sequence[Path], most_words: int, left_out: Collection[Sequence[str]] = ()
) -> list[tuple[str, ...]]:
    """Return the words of the English sentences of files, as treebanks spell them, without
    repetitions.

    Each line of a file is a text, or each comment `# text` of a `.conllu` file. Sentences of one
    word or of more than `most_words` are skipped, as are those in `left_out`, ignoring case. Raises
    DataError for a file that cannot be read or contains no sentence.
    """

    def lowered(words: Sequence[str]) -> tuple[str, ...]:
        return tuple(word.lower() for word in words)

    cut, seen = splitter(), {lowered(words) for words in left_out}
    read: list[tuple[str, ...]] = []
    for file in files:
        if without_compression(file).suffix == ".conllu":
            comments = (row.text for rows, _ in blocks_of(file) for row in rows)
            texts = [text.removeprefix(COMMENT) for text in comments if text.startswith(COMMENT)]
        else:
            texts = read_lines(file)
        sentences = [tuple(one.words) for text in cut(texts) for one in text]
        if not sentences:
            raise DataError(f"{file}: expected English sentences, found none; omit the file")
        for words in sentences:
            if 1 < len(words) <= most_words and lowered(words) not in seen:
                seen.add(lowered(words))
                read.append(words)
    return read
