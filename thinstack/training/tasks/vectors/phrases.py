"""Reads texts, makes their trees by a bundle, and draws the phrases that a teacher says a vector
of."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import SHIFT, over, spans_of
from thinstack.data.files.paths import FilePath
from thinstack.data.tables.table import Table
from thinstack.errors import DataError
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.scored import Scored, ScoredText
from thinstack.text.sentences import Sentence, splitter

if TYPE_CHECKING:
    from thinstack.training.tasks.vectors import VectorsOfPhrases

LONGEST_PHRASE: Final = 25
"""Words of a phrase that may be drawn."""
LONGEST_WHOLE: Final = 30
"""Words of a text whose own vector is learnt; a teacher reads a longer one as a whole, with much in
it."""
WORD_SHARE: Final = 0.3
"""How often one of the words of a text is drawn too."""
EVENNESS: Final = 8.0
"""A phrase of n words has the weight n / (n + 8), for short phrases are many."""


class Text(NamedTuple):
    """A text of a table: its sentences, and the words of all."""

    text: str
    sentences: list[Sentence]

    @property
    def words(self) -> list[str]:
        return [word for sentence in self.sentences for word in sentence.words]

    def strings(self, spans: NDArray[np.int64]) -> list[str]:
        """The characters of the words [start, end) of each span."""
        offsets = np.concatenate([one.offsets + one.start for one in self.sentences])
        starts, ends = offsets[spans[:, 0], 0], offsets[spans[:, 1] - 1, 1]
        return [self.text[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]


def read_texts(path: FilePath, task: "VectorsOfPhrases") -> list[Text]:
    """The texts of the column of a table, each once. Texts without words and of more than
    `task.max_words` words are left out. Raises DataError if none is left."""
    rows = Table(path).rows([task.text_column])
    texts = list(dict.fromkeys(row.values[task.text_column] for row in rows))
    cut = zip(texts, splitter()(texts), strict=True)
    items = [Text(text, sentences) for text, sentences in cut]
    usable = [item for item in items if 0 < len(item.words) <= task.max_words]
    if not usable:
        raise DataError(
            f"{path}: expected texts of 1 to {task.max_words} words in {task.text_column}, "
            "found none; name the text column (task.text_column)"
        )
    return usable


def parse(texts: Sequence[Text], guide: Predictor) -> Iterable[Scored]:
    """The trees of texts as the guide makes them, sentences joined as it joins them, and the scores
    of their nodes."""
    words = [[sentence.words for sentence in text.sentences] for text in texts]
    return map(_whole, guide.score_texts(words))


def _whole(text: ScoredText) -> Scored:
    """One tree over the nodes of all sentences."""
    if text.joint is None:
        return text.sentences[0]
    steps = over(text.joint.transitions, [one.transitions for one in text.sentences])
    sentences, top = iter(text.sentences), text.joint
    above = zip(top.transitions, top.scores, strict=True)
    scores = [next(sentences).scores if step == SHIFT else row[None] for step, row in above]
    return Scored(steps, np.concatenate(scores))


def draw_nodes(
    steps: NDArray[np.integer], phrases: int, draw: np.random.Generator
) -> NDArray[np.int64]:
    """Nodes of the tree of a text whose vectors are learnt: up to so many `phrases`, the whole text
    if it is short, and sometimes a word."""
    spans = spans_of(steps)
    sizes = spans[:, 1] - spans[:, 0]
    chosen = set[int]()
    inner = np.flatnonzero((sizes[:-1] >= 2) & (sizes[:-1] <= LONGEST_PHRASE))
    if len(inner):
        weights = sizes[inner] / (sizes[inner] + EVENNESS)
        count = min(phrases, len(inner))
        chosen |= {*draw.choice(inner, count, p=weights / weights.sum()).tolist()}
    if draw.random() < WORD_SHARE:
        chosen.add(int(draw.choice(np.flatnonzero(sizes == 1))))
    if sizes[-1] <= LONGEST_WHOLE:
        chosen.add(len(sizes) - 1)
    return np.array(sorted(chosen), np.int64)
