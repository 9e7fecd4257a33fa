"""Training of vectors: the texts and their phrases, trees from a guide, the initial leaf table and
head from the teacher's vectors of pieces, and the losses."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize, pad

from thinstack.core.embedding import Leaves
from thinstack.core.fast import one_weight_gradient
from thinstack.core.head import TaskHead
from thinstack.core.model.model import Joint, Model
from thinstack.core.transitions import SHIFT, over, spans_of
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.plugins.build import build_model
from thinstack.plugins.manager import manager
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.scored import Scored
from thinstack.text.sentences import Sentence
from thinstack.training.loop.losses import beside_parsing, lower_precision, sent
from thinstack.training.recipe import Recipe
from thinstack.training.task import Losses, Step
from thinstack.training.tasks.vectors.encoder import TeacherTable, main_directions

if TYPE_CHECKING:
    from thinstack.training.tasks.vectors import VectorsOfPhrases

MEAN_BESIDE: Final = "mean_beside.v1"

RARE: Final = 1e-3
"""A piece of frequency p has the weight a / (a + p) (Arora et al. 2017)."""

SIMILARITY_WEIGHT: Final = 10.0
"""Weight of the mean squared difference of the cosines in a batch, relative to 1 - cosine."""

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


def start_of(
    recipe: Recipe, vocabulary: Vocabulary, words: Iterable[str], teacher: TeacherTable
) -> Leaves:
    """Return the initial leaves: the main directions of the teacher's vectors of pieces, where rare
    pieces have more weight. The head maps the mean of words back to the teacher's columns.

    `words`: those of the training texts, whose pieces are counted.
    """
    model = build_model(recipe.model, entries=1)
    cell, head = cell_of(model), head_of_vectors(model)
    pieces = list(vocabulary.entries)
    turned = teacher.turned_strings([piece.removeprefix("##") for piece in pieces])
    ids = vocabulary.fields(list(words))["piece_ids"]
    counts = np.bincount(ids, minlength=len(pieces)).astype(np.float64)
    weights = RARE / (RARE + counts / max(counts.sum(), 1))
    centred = turned - turned[counts > 0].mean(0)
    counted = centred * (np.sqrt(counts + 1) * weights)[:, None]
    directions = main_directions(counted, cell.columns)
    table = (centred @ directions) * weights[:, None]
    table /= table.std()
    linear = torch.zeros(head.classes, head.hidden_size)
    first = sum(cell.state_sizes[: cell.own])
    linear[:, first : first + cell.columns] = torch.from_numpy(directions)
    name = "head" if model.vectors is None else "vectors"
    return Leaves(vocabulary, table.astype(np.float32), {f"{name}.linear.weight": linear})


def head_of_vectors(model: Model) -> TaskHead:
    """Return the head of a model that returns vectors."""
    return model.head if model.vectors is None else model.vectors


def vector_losses(step: Step, teacher: Tensor, task: "VectorsOfPhrases") -> Losses:
    """Return the losses of a minibatch, as sums over its texts. `teacher`: the vectors (n, D) of
    the targets that have one."""
    model, batch = step.model, step.batch
    inputs = model.inputs(batch.forest)
    with lower_precision(model, step.training), one_weight_gradient():
        encoding = model.encode(inputs, True)
        learnt = sent(np.flatnonzero(batch.targets >= 0), encoding.stacked)
        rows = encoding.stacked.index_select(0, encoding.places.index_select(0, learnt))
        logits = model.head(encoding.stacked) if batch.soft is not None else encoding.stacked
        vectors = head_of_vectors(model)(rows).float()
    loss = similarity_loss(vectors, teacher, task)
    if batch.soft is not None:
        soft = sent(batch.soft, logits)
        classes = -(soft * logits.float().index_select(0, encoding.places).log_softmax(1)).sum(1)
        loss = loss + task.class_weight * classes.mean()
    joint = Joint(logits, encoding.choices.float(), encoding.free)
    return beside_parsing(model, batch, joint, (loss * batch.size, batch.size))


def mean_losses(step: Step, teacher: Tensor, task: "VectorsOfPhrases") -> Losses:
    """Return the losses of vectors of the mean of words only: the rest of the state is 0, and no
    tree is composed."""
    model, batch = step.model, step.batch
    words = model.embed(model.inputs(batch.forest))
    spans = sent(spans_of(batch.forest.transitions)[batch.targets >= 0], words)
    sums = pad(words.cumsum(0), (0, 0, 1, 0))
    total = sums.index_select(0, spans[:, 1]) - sums.index_select(0, spans[:, 0])
    count = (spans[:, 1] - spans[:, 0]).unsqueeze(1).float()
    cell = cell_of(model)
    empty = [total.new_zeros(len(total), width) for width in cell.state_sizes[: cell.own]]
    rows = cell.output([*empty, total[:, : cell.columns], count])
    loss = similarity_loss(head_of_vectors(model)(rows), teacher, task)
    return (loss * batch.size, loss.new_zeros([])), (batch.size, 0)


def cell_of(model: Model) -> Any:
    """Return the `MEAN_BESIDE` cell of a model."""
    kind = manager().find("cell", MEAN_BESIDE).plugin
    return next(part for part in model.encoder.modules() if isinstance(part, kind))


def similarity_loss(vectors: Tensor, teacher: Tensor, task: "VectorsOfPhrases") -> Tensor:
    """Return the mean of 1 - cosine to the teacher's vectors (n, D), plus the mean squared
    difference of the cosines of all pairs; and add the same for the first `task.short` columns,
    with the weight `task.short_weight` (Kusupati et al. 2022)."""
    teacher = teacher.to(vectors.device, non_blocking=True)

    def loss(rows: Tensor, teacher: Tensor) -> Tensor:
        rows, n = normalize(rows), max(len(rows), 2)
        differences = rows @ rows.T - teacher @ teacher.T
        pairs = (differences * differences).sum() / (n * (n - 1))
        return (1 - (rows * teacher).sum(1)).mean() + SIMILARITY_WEIGHT * pairs

    whole, short = loss(vectors, teacher), slice(task.short)
    if not task.short_weight:
        return whole
    return whole + task.short_weight * loss(vectors[:, short], normalize(teacher[:, short]))
