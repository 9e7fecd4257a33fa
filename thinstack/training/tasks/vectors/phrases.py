"""Reads texts, parses them with a bundle, and draws the phrases whose vectors are trained."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import SHIFT, over, spans_of
from thinstack.data.files.paths import FilePath
from thinstack.data.tables.table import Table
from thinstack.errors import DataError
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.scored import Scored
from thinstack.text.sentences import Sentence, splitter

if TYPE_CHECKING:
    from thinstack.training.tasks.vectors import VectorsOfPhrases

LONGEST_PHRASE: Final = 25
"""Maximum words of a phrase."""
LONGEST_WHOLE: Final = 30
"""Maximum words of a whole text. The teacher's vector of a longer one covers too many topics."""
WORD_SHARE: Final = 0.3
"""Probability that a word of a text is drawn too."""
EVENNESS: Final = 8.0
"""A phrase of n words has the weight n / (n + 8), because most phrases are short."""


class Text(NamedTuple):
    """A text of a table, with its sentences."""

    text: str
    sentences: list[Sentence]

    @property
    def words(self) -> list[str]:
        return [word for sentence in self.sentences for word in sentence.words]

    def strings(self, spans: NDArray[np.int64]) -> list[str]:
        """Return the characters of the words [start, end) of each span."""
        offsets = np.concatenate([one.offsets + one.start for one in self.sentences])
        starts, ends = offsets[spans[:, 0], 0], offsets[spans[:, 1] - 1, 1]
        return [self.text[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]


def read_texts(path: FilePath, task: "VectorsOfPhrases") -> list[Text]:
    """Return the distinct texts of a table that have 1 to `task.max_words` words. Raises DataError
    if there are none."""
    rows = Table(path).rows([task.text_column])
    texts = list(dict.fromkeys(row.values[task.text_column] for row in rows))
    items = [Text(*pair) for pair in zip(texts, splitter()(texts), strict=True)]
    usable = [item for item in items if 0 < len(item.words) <= task.max_words]
    if not usable:
        raise DataError(
            f"{path}: expected texts of 1 to {task.max_words} words in {task.text_column}, "
            "found none; set the text column (task.text_column)"
        )
    return usable


def parse(texts: Sequence[Text], guide: Predictor) -> Iterator[Scored]:
    """Yield one tree for each text, from the guide, which also joins sentences, and the scores of
    its nodes."""
    words = [[sentence.words for sentence in text.sentences] for text in texts]
    for scored in guide.score_texts(words):
        if (top := scored.joint) is None:
            yield scored.sentences[0]
            continue
        sentences = iter(scored.sentences)
        above = zip(top.transitions, top.scores, strict=True)
        scores = [next(sentences).scores if step == SHIFT else row[None] for step, row in above]
        steps = over(top.transitions, [one.transitions for one in scored.sentences])
        yield Scored(steps, np.concatenate(scores))


def draw_nodes(
    steps: NDArray[np.integer], phrases: int, draw: np.random.Generator
) -> NDArray[np.int64]:
    """Draw nodes of the tree of a text: up to this number of `phrases`, the whole text if it is
    short, and sometimes a word."""
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
