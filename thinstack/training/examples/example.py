"""Training examples, which hold sentences as index arrays, and their minibatches.

A minibatch contains the right transitions for a parser in any of its states, even after wrong
transitions: those of a dynamic oracle (Cross & Huang 2016).
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.config import ModelConfig
from thinstack.core.forest import Forest, join
from thinstack.core.transitions import REDUCE, SHIFT, parents_of, spans_of
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.data.trees.treebank import Labelled
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import TreeError
from thinstack.text.given_trees import tree_maker
from thinstack.training.examples.labelled import LabelledForest, labelled_chains, labelled_tree
from thinstack.training.recipe import TrainingConfig

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence, a text, a pair, or the phrases of a sentence as chains.

    Attributes:
        trees: its words over the trees of each tree source, always including "gold".
        parsed: whether a parser is trained on its gold tree.
        one_of: whether its soft label is a set of classes, one of which is right.
        group: the id of the examples that should get the same label, if any.
        turn, every: it is used in the epochs whose remainder, divided by `every`, is `turn`.
    """

    trees: dict[str, LabelledForest]
    parsed: bool = True
    one_of: bool = False
    group: int | None = None
    turn: int = 0
    every: int = 1

    @property
    def gold(self) -> LabelledForest:
        """Its words over the trees of the data."""
        return self.trees["gold"]

    @property
    def words(self) -> int:
        """The number of words in all sentences."""
        return int(self.gold.forest.lengths.sum())


class Minibatch(NamedTuple):
    """Several examples. Those on which a parser is trained come first.

    Attributes:
        forest: their words and trees, with N nodes.
        targets: (t,) the targets of the task head.
        right: (N,) the right transitions for a parser, -1 if unknown. For a static oracle, only the
            nodes of `parsed` examples, within sentences. Empty for models without a parser.
        trees: (size,) the number of trees of each example.
        size: the number of examples.
        counts: (size,) the number of targets of each example.
        whole: (size,) the index among all targets of the target for the whole example.
        soft: (t, C) soft labels, which replace `targets`, or None.
        sets: the indices of the targets of examples that are `one_of`.
        groups: (size,) the group of each example, -1 if none.
    """

    forest: Forest
    targets: NDArray[Any]
    right: IntArray
    trees: IntArray
    size: int
    counts: IntArray
    whole: IntArray
    soft: NDArray[np.float32] | None
    sets: IntArray = np.zeros(0, np.int64)
    groups: IntArray = np.zeros(0, np.int64)


def examples_of(
    treebank: Sequence[Labelled | LabelledTree],
    vocabulary: Vocabulary,
    config: ModelConfig,
    reads: str,
    sources: Sequence[str] = (),
) -> list[Example]:
    """Return the examples of labeled trees. `reads`: what the task head reads, "nodes" or "roots".

    The sentences of a text are read separately if the model joins their trees
    (`config.aggregation`); otherwise a text is read as one sentence.

    Each of `sources` adds binary trees over the words, which keep the labels of phrases that are
    also in the gold tree. The model makes the trees of "self" later. Raises TreeError, with the
    index from 0, for a tree that does not fit the model.
    """
    makers = {source: tree_maker(source) for source in sources if source not in ("gold", "self")}
    examples = []
    for number, one in enumerate(LabelledTree(*labelled) for labelled in treebank):
        try:
            if config.trees == "sequence":
                gold = labelled_chains(one.tree, one.labels, vocabulary, reads)
            else:
                gold = labelled_tree(one.tree, one.labels, vocabulary, config, reads)
        except TreeError as error:
            raise TreeError(f"tree {number}: {error}") from None
        if one.sentences is not None and config.aggregation == "tree":
            gold = gold.as_text(one.sentences)
        gold = gold._replace(soft=one.soft)
        trees = {"gold": gold}
        trees |= {source: gold.over(make(one.tree.words)) for source, make in makers.items()}
        examples.append(Example(trees, one_of=bool(one.root_set), group=one.group))
    return examples


def minibatch(
    examples: Sequence[Example], sources: Sequence[str], oracle: str | None = None
) -> Minibatch:
    """Join examples, example i over the trees of `sources[i]`.

    `oracle`: "static" or "dynamic" to add the right transitions for a model that parses (see
    `core.encoder.Encoder`).
    """
    pairs = zip(examples, sources, strict=True)
    drawn = sorted(pairs, key=lambda pair: not pair[0].parsed)
    chosen = [example.trees[source] for example, source in drawn]
    right: list[IntArray] = []
    if oracle == "static":
        right = [example.gold.forest.sentence_transitions for example, _ in drawn if example.parsed]
    elif oracle == "dynamic":
        right = [_right(example, one) for (example, _), one in zip(drawn, chosen, strict=True)]
    counts = np.array([len(one.targets) for one in chosen])
    soft = [one.soft for one in chosen if one.soft is not None]
    whole = np.cumsum(counts) - counts + [one.whole for one in chosen]
    return Minibatch(
        join(one.forest for one in chosen),
        np.concatenate([one.targets for one in chosen]),
        np.concatenate([np.zeros(0, np.int64), *right]),
        np.array([len(one.forest.sizes) for one in chosen]),
        len(examples),
        counts,
        whole,
        np.concatenate(soft).astype(np.float32) if soft else None,
        whole[[example.one_of for example, _ in drawn]],
        np.array([-1 if example.group is None else example.group for example, _ in drawn]),
    )


def together(order: IntArray, examples: Sequence[Example]) -> tuple[IntArray, list[int]]:
    """Move the examples of each group behind its first one in the order (E,).

    Also return the lengths in words by which examples are sorted into minibatches: for a group,
    that of its longest example.
    """
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place in order.tolist():
        group = examples[place].group
        groups[("alone", place) if group is None else group].append(place)
    lengths = [example.words for example in examples]
    for places in groups.values():
        longest = max(lengths[place] for place in places)
        for place in places:
            lengths[place] = longest
    return np.array([*chain.from_iterable(groups.values())], np.int64), lengths


def minibatch_places(
    order: IntArray, lengths: Sequence[int], config: TrainingConfig, draw: np.random.Generator
) -> Iterator[list[int]]:
    """Yield the indices of the examples of each minibatch, from their `order`. Within a bucket,
    examples of similar `lengths` in words are in the same minibatch."""
    width = config.buckets * config.batch_size
    for start in range(0, len(order), width):
        bucket = order[start : start + width].tolist()
        count = -(-len(bucket) // config.batch_size)
        if config.buckets > 1:
            bucket.sort(key=lengths.__getitem__)
        for number in draw.permutation(count).tolist() if config.buckets > 1 else range(count):
            yield bucket[number * config.batch_size : (number + 1) * config.batch_size]


def forests_of(
    examples: Sequence[Example], source: str, size: int = 256
) -> Iterator[tuple[Sequence[Example], Forest]]:
    """Yield `size` examples at a time, with their words over the trees of `source`."""
    for start in range(0, len(examples), size):
        part = examples[start : start + size]
        yield part, join(example.trees[source].forest for example in part)


def _right(example: Example, chosen: LabelledForest) -> IntArray:
    """Return the right transitions along the chosen trees, -1 unless the example is `parsed`."""
    gold, taken = example.gold.forest, chosen.forest.transitions
    if not example.parsed:
        return np.full(len(taken), -1)
    if taken is gold.transitions:
        return taken
    pairs = zip(gold.by_tree(gold.transitions), gold.by_tree(taken), strict=True)
    return np.concatenate([right_transitions(*pair) for pair in pairs])


def right_transitions(gold: NDArray[np.integer], taken: NDArray[np.integer]) -> IntArray:
    """Return the right transition (N,) before each of the transitions `taken` (N,), for a sentence
    whose tree has the transitions `gold` (N,).

    After the right transition, the largest number of phrases of the gold tree can still be built.
    It depends on the smallest gold phrase around the top of the stack that no wrong phrase crosses:
    SHIFT if that phrase extends only to the right, REDUCE if only to the left, and either (-1) if
    to both sides. Along the gold tree, it is the gold transition.

    If only one transition is possible, the result may be the other one, so it must be masked.
    """
    parents, spans = parents_of(gold)[0].tolist(), spans_of(gold).tolist()
    words = [
        node for node, (start, end) in enumerate(spans) if gold[node] == SHIFT and end == start + 1
    ]
    right = np.full(len(taken), SHIFT, np.int64)
    starts: list[int] = []  # first words of the phrases on the stack
    shifted = 0

    def wanted() -> int:
        """Return the right transition for a stack whose top has the words [starts[-1], shifted)."""
        node, first, bounds = words[starts[-1]], starts[-1], {*starts}
        while (
            spans[node][1] < shifted
            or spans[node] == [first, shifted]
            or spans[node][0] not in bounds
        ):
            if parents[node] < 0:
                return -1
            node = parents[node]
        further_right, further_left = spans[node][1] > shifted, spans[node][0] < first
        return -1 if further_right and further_left else SHIFT if further_right else REDUCE

    for step, transition in enumerate(taken.tolist()):
        if starts:
            right[step] = wanted()
        if transition == REDUCE:
            starts.pop()
        else:
            starts.append(shifted)
            shifted += 1
    return right
