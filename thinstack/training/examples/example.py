"""Makes training examples, which hold sentences as index arrays, and joins them to minibatches.

A minibatch has the right transitions for a parser, in any state of it, even after wrong ones: those
of a dynamic oracle (Cross & Huang 2016).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    """A unit that is drawn as a whole: a sentence, a text, a pair, or the phrases of a sentence as
    chains.

    Attributes:
        trees: its words over the trees of each tree source. "gold" is always there.
        parsed: whether a parser learns from its gold tree.
        one_of: whether the whole has one of the classes of its soft label, and it is not known how
            likely each of them is.
        group: the number of the group of examples whose labels should be the same.
        turn: the remainder of the epochs that read it, divided by `every`.
        every: it is read in one of so many epochs.
    """

    trees: dict[str, LabelledForest]
    parsed: bool = True
    one_of: bool = False
    group: int | None = None
    turn: int = 0
    every: int = 1

    @property
    def gold(self) -> LabelledForest:
        """Its words over the data's own trees."""
        return self.trees["gold"]

    @property
    def words(self) -> int:
        """The number of its words, in all sentences."""
        return int(self.gold.forest.lengths.sum())


class Minibatch(NamedTuple):
    """Several examples, joined. The examples that a parser learns from come first.

    Attributes:
        forest: their words and trees, N nodes in all.
        targets: (t,) the targets of the task head's loss.
        right: (N,) the right transitions for a parser, -1 where unknown. With a static oracle, only
            the nodes of examples that a parser learns from, within their sentences. Empty for
            models without a parser.
        trees: (size,) the number of trees of each example.
        size: the number of examples.
        counts: (size,) the number of targets of each example.
        whole: (size,) the place among all targets of the target for the whole example.
        soft: (t, C) the soft labels that take the place of `targets`, or None.
        sets: the places among all targets of those of examples that are `one_of`.
        groups: (size,) the number of the group of each example, -1 without one.
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
    """The examples of trees with the labels (N,) of their nodes, or soft ones. `reads`: what the
    task head reads, "nodes" or "roots".

    If texts are trees over those of their sentences (`config.aggregation`), these are read by
    themselves. Other models read a text as one sentence.

    Each of `sources` makes further binary trees of the words. They keep the labels of phrases that
    the gold tree has too. The trees of "self" are left to the model. Raises TreeError for a tree
    that does not fit the model, with the number of the tree, from 0.
    """
    others_made = [source for source in sources if source not in ("gold", "self")]
    makers = {source: tree_maker(source) for source in others_made}
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
        others = {source: gold.over(make(one.tree.words)) for source, make in makers.items()}
        group, one_of = one.group, bool(one.root_set)
        examples.append(Example({"gold": gold, **others}, one_of=one_of, group=group))
    return examples


def minibatch(
    examples: Sequence[Example], sources: Sequence[str], oracle: str | None = None
) -> Minibatch:
    """The examples joined, example i over the trees of `sources[i]`.

    `oracle`: "static" or "dynamic" for a model that parses, and so needs the right transitions (see
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
    """The order (E,) of examples in which those of a group follow its first one.

    Beside it, the lengths (words) that sort examples into minibatches. In a group, it is the length
    of the longest.
    """
    groups = [
        ("alone", place) if example.group is None else ("group", example.group)
        for place, example in enumerate(examples)
    ]
    first, longest = dict[tuple[str, int], int](), dict[tuple[str, int], int]()
    for rank, place in enumerate(order.tolist()):
        first.setdefault(groups[place], rank)
    for group, example in zip(groups, examples, strict=True):
        longest[group] = max(longest.get(group, 0), example.words)
    ranks = np.array([first[groups[place]] for place in order.tolist()], np.int64)
    return order[np.argsort(ranks, kind="stable")], [longest[group] for group in groups]


def minibatch_places(
    order: IntArray, lengths: Sequence[int], config: TrainingConfig, draw: np.random.Generator
) -> Iterator[list[int]]:
    """The places of the examples of each minibatch, as `order` names them. Within a bucket,
    examples of similar `lengths` (words) go together."""
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
    """The examples, `size` at a time, with their words over the trees of `source`."""
    for start in range(0, len(examples), size):
        part = examples[start : start + size]
        yield part, join(example.trees[source].forest for example in part)


def _right(example: Example, chosen: LabelledForest) -> IntArray:
    """The right transitions along the chosen trees; -1 for an example that no parser learns
    from."""
    gold, taken = example.gold.forest, chosen.forest.transitions
    if not example.parsed:
        return np.full(len(taken), -1)
    if taken is gold.transitions:
        return taken
    pairs = zip(gold.by_tree(gold.transitions), gold.by_tree(taken), strict=True)
    return np.concatenate([right_transitions(*pair) for pair in pairs])


def right_transitions(gold: NDArray[np.integer], taken: NDArray[np.integer]) -> IntArray:
    """The right transitions (N,): one for each place of the transitions `taken` (N,). The tree of
    the sentence has the transitions `gold` (N,).

    After the right transition, most phrases of the gold tree can still be made. It follows from the
    smallest gold phrase around the top of the stack that no wrong phrase cuts. If that phrase goes
    on only to the right, SHIFT is right; if only to the left, REDUCE is right. If it goes on to
    both sides, either is right: -1. Along the gold tree, the right transition is the gold one.

    Where only one transition is possible, the answer may be the other one: mask it.
    """
    parents, spans = parents_of(gold)[0].tolist(), spans_of(gold).tolist()
    words = [
        node for node, (start, end) in enumerate(spans) if gold[node] == SHIFT and end == start + 1
    ]
    right = np.full(len(taken), SHIFT, np.int64)
    starts: list[int] = []  # first words of the phrases on the stack
    shifted = 0
    for step, transition in enumerate(taken.tolist()):
        if starts:
            right[step] = _wanted(words[starts[-1]], starts, shifted, parents, spans)
        if transition == REDUCE:
            starts.pop()
        else:
            starts.append(shifted)
            shifted += 1
    return right


def _wanted(
    node: int, starts: list[int], end: int, parents: list[int], spans: list[list[int]]
) -> int:
    """The right transition for a stack whose top has the words [starts[-1], end). `node` is the
    gold leaf of the first of these words."""
    open_starts = set(starts)
    while (
        spans[node][1] < end
        or spans[node] == [starts[-1], end]
        or spans[node][0] not in open_starts
    ):
        if parents[node] < 0:
            return -1
        node = parents[node]
    further_right, further_left = spans[node][1] > end, spans[node][0] < starts[-1]
    return -1 if further_right and further_left else SHIFT if further_right else REDUCE
