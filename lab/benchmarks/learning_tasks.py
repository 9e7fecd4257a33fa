"""The five tasks of the learning benchmark, over the Stanford Sentiment Treebank (SST) and SICK,
and their baselines."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Forest, Tree, transitions
from thinstack.core.config import ModelConfig
from thinstack.core.forest import join
from thinstack.data.trees.treebank import Labelled, read_labelled
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.errors import DataError
from thinstack.text.given_trees import tree_maker
from thinstack_lab.pair_files import read_sick

SENTIMENTS = ("0", "1", "2", "3", "4")
RATINGS = ("1", "2", "3", "4", "5")
JUDGEMENTS = ("neutral", "entailment", "contradiction")
CONSTITUENTS = ("constituent", "other")
KAPPA = 0.1

Array = NDArray[Any]


@dataclass(frozen=True)
class Item:
    """One tree, one pair or the candidates of one sentence: words and trees, what the head's
    `loss` takes, and the number of cases that this loss is a sum over."""

    forest: Forest
    targets: Array
    cases: int


@dataclass(frozen=True)
class Task:
    """`read` takes the data folder and "train" or "dev"; `item` makes one item of what it gives;
    `baseline` is the mean loss of development targets for who knows the training targets'
    frequencies alone. The files are relative to the data folder."""

    name: str
    labels: tuple[str, ...]
    files: tuple[str, ...]
    vectors: str
    vector_learning_rate: float
    read: Callable[[Path, str], Sequence[Any]]
    item: Callable[[Any, ModelConfig, WordVocabulary], Item]
    baseline: Callable[[list[Array], list[Array]], float]


# -- reading
# --------------------------------------------------------------------------------------------------


@cache
def sst(data: Path, split: str) -> list[Labelled]:
    return read_labelled(data / f"sst/{split}.txt", SENTIMENTS)


class SickPair(NamedTuple):
    id: str
    dependency: tuple[Tree, Tree]
    constituency: tuple[Tree, Tree]
    relatedness: float
    entailment: str


@cache
def sick(data: Path, split: str) -> list[SickPair]:
    folder = data / "sick" / split
    rated = read_sick(folder, "dependency", "relatedness")
    judged = read_sick(folder, "binary", "entailment")
    return [
        SickPair(one.id, one.trees, other.trees, float(one.target), str(other.target))
        for one, other in zip(rated, judged, strict=True)
    ]


def sst_over(data: Path, split: str, *, source: str) -> list[Labelled]:
    """SST over other trees; only the root keeps its label."""
    found, make = [], tree_maker(source)
    for gold, labels in sst(data, split):
        tree = Tree.from_transitions(make(gold.words), gold.words)
        found.append((tree, np.append(np.full(len(tree) - 1, -1), labels[-1])))
    return found


# -- items
# --------------------------------------------------------------------------------------------------


def forest_of(tree: Tree, config: ModelConfig, vocabulary: WordVocabulary) -> Forest:
    """One tree as a model reads it; for a model of sequences, its words."""
    if config.trees == "binary":
        forest = Forest.of_binary([tree])
    elif config.trees == "sequence":
        forest = Forest(lengths=np.array([len(tree.words)]))
    else:
        forest = Forest.of([tree], config.relations)
    return forest._replace(token_ids=vocabulary.ids(tree.words))


def node_item(labelled: Labelled, config: ModelConfig, vocabulary: WordVocabulary) -> Item:
    tree, labels = labelled
    return Item(forest_of(tree, config, vocabulary), labels, int((labels >= 0).sum()))


def root_item(labelled: Labelled, config: ModelConfig, vocabulary: WordVocabulary) -> Item:
    tree, labels = labelled
    return Item(forest_of(tree, config, vocabulary), labels[-1:], 1)


def pair_forest(pair: SickPair, config: ModelConfig, vocabulary: WordVocabulary) -> Forest:
    trees = pair.dependency if config.trees == "dependency" else pair.constituency
    return join(forest_of(tree, config, vocabulary) for tree in trees)


def relatedness_item(pair: SickPair, config: ModelConfig, vocabulary: WordVocabulary) -> Item:
    return Item(pair_forest(pair, config, vocabulary), np.array([pair.relatedness], np.float32), 1)


def entailment_item(pair: SickPair, config: ModelConfig, vocabulary: WordVocabulary) -> Item:
    if pair.entailment not in JUDGEMENTS:
        raise DataError(
            f"pair {pair.id}: expected one of {', '.join(JUDGEMENTS)}, found {pair.entailment}"
        )
    return Item(
        pair_forest(pair, config, vocabulary), np.array([JUDGEMENTS.index(pair.entailment)]), 1
    )


def ranking_item(labelled: Labelled, config: ModelConfig, vocabulary: WordVocabulary) -> Item:
    """The treebank's tree against a left-branching, a right-branching, a balanced and two random
    ones; all constituents bear one label, and a constituent is wrong if the treebank's tree has
    none over the same words."""
    gold, words = labelled[0], labelled[0].words
    draw = np.random.default_rng(zlib.crc32(" ".join(words).encode()))
    made = [tree_maker(source)(words) for source in ("left", "right", "balanced")]
    shapes = [gold.transitions, *made, *(random_tree(len(words), draw) for _ in range(2))]
    forest = join(
        forest_of(Tree.from_transitions(steps, words), config, vocabulary) for steps in shapes
    )
    forest = forest._replace(constituents=np.zeros_like(forest.transitions))
    known, *others = [set(map(tuple, transitions.spans_of(steps).tolist())) for steps in shapes]
    wrong = [0, *(len(spans - known) for spans in others)]
    return Item(forest, np.stack([np.zeros(len(wrong), np.int64), np.array(wrong)], 1), 1)


def random_tree(words: int, draw: np.random.Generator) -> NDArray[np.int8]:
    """Transitions (2n-1,) that shift or reduce, where both are possible, by the toss of a coin."""
    steps, shifted, height = [], 0, 0
    while shifted < words or height > 1:
        reduce = height > 1 and (shifted == words or draw.random() < 0.5)
        steps.append(transitions.REDUCE if reduce else transitions.SHIFT)
        shifted, height = shifted + (not reduce), height + (-1 if reduce else 1)
    return np.array(steps, np.int8)


# -- baselines
# --------------------------------------------------------------------------------------------------


@np.errstate(divide="ignore")
def label_frequencies(train: list[Array], dev: list[Array]) -> float:
    """Mean of -log frequency of the label."""
    known, asked = (labels[labels >= 0] for labels in (np.concatenate(train), np.concatenate(dev)))
    counts = np.bincount(known, minlength=int(asked.max()) + 1)
    return float(-np.log(counts / len(known))[asked].mean())


@np.errstate(divide="ignore")
def mean_target(train: list[Array], dev: list[Array]) -> float:
    """Mean of KL(target distribution of a rating || mean target of the training ratings)."""
    mean, targets = rating_targets(train).mean(0, keepdims=True), rating_targets(dev)
    some = targets > 0
    return float(
        (targets[some] * np.log(targets[some] / np.broadcast_to(mean, targets.shape)[some])).sum()
        / len(targets)
    )


def rating_targets(ratings: list[Array]) -> Array:
    """Tai et al. 2015, (15): a rating's mass lies on the whole numbers next to it, (P, 5)."""
    return np.clip(1 - np.abs(np.concatenate(ratings)[:, None] - np.arange(1, 6)), 0, None)


def equal_scores(train: list[Array], dev: list[Array]) -> float:
    """Mean of the structure loss of the worst candidate; nothing of the training data helps who
    scores all alike."""
    return KAPPA * float(np.mean([candidates[:, 1].max() for candidates in dev]))


def _sst_task(
    name: str, item: Callable[..., Item], read: Callable[..., Sequence[Any]] = sst, **other: Any
) -> Task:
    fields = {
        "labels": SENTIMENTS,
        "baseline": label_frequencies,
        "vector_learning_rate": 0.1,
    } | other
    files = ("sst/train.txt", "sst/dev.txt")
    return Task(
        name=name,
        item=item,
        read=read,
        files=files,
        vectors="vectors/glove.6B.50d.union.npz",
        **fields,
    )


def _sick_task(
    name: str, item: Callable[..., Item], labels: tuple[str, ...], baseline: Callable[..., float]
) -> Task:
    return Task(
        name=name,
        labels=labels,
        files=("sick/train", "sick/dev"),
        vectors="vectors/glove.840B.300d.sick+top256.npz",
        vector_learning_rate=0.0,  # they cover SICK, and Tai et al. keep them as they are there
        read=sick,
        item=item,
        baseline=baseline,
    )


SST_NODES = _sst_task("SST nodes", node_item)
SST_ROOTS = {"gold": _sst_task("SST roots", root_item)} | {
    source: _sst_task(f"SST roots, {source} trees", root_item, partial(sst_over, source=source))
    for source in ("left", "right", "balanced")
}
RANKING = _sst_task("SST ranking", ranking_item, labels=CONSTITUENTS, baseline=equal_scores)
RELATEDNESS = _sick_task("SICK relatedness", relatedness_item, RATINGS, mean_target)
ENTAILMENT = _sick_task("SICK entailment", entailment_item, JUDGEMENTS, label_frequencies)
