"""Training examples against the trees that they were made of."""

import numpy as np
import pytest
import tiny_recipe

from thinstack.core import Tree
from thinstack.data.trees.brackets import from_brackets
from thinstack.data.trees.treebank import label_ids
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import TreeError
from thinstack.training.examples.example import Example, examples_of, minibatch

VOCABULARY = WordVocabulary(sorted(tiny_recipe.VALUES))
MODEL = tiny_recipe.recipe().model


def indexed(
    text: str,
    sources: tuple[str, ...] = (),
    *,
    reads: str = "nodes",
    pieces: WordpieceVocabulary | None = None,
) -> list[Example]:
    return examples_of(read(text), pieces or VOCABULARY, MODEL, reads, sources)


def read(text: str) -> list[tuple[Tree, np.ndarray]]:
    trees = [from_brackets(line) for line in text.splitlines()]
    return [(tree, label_ids(tree, tiny_recipe.LABELS)) for tree in trees]


def covered(tree: Tree) -> list[tuple[int, int]]:
    """The words of every node, found by walking up from each leaf."""
    words: list[list[int]] = [[] for _ in range(len(tree))]
    leaves = [node for node in range(len(tree)) if tree.tokens[node] is not None]
    for number, leaf in enumerate(leaves):
        node = leaf
        while node >= 0:
            words[node].append(number)
            node = int(tree.parents[node])
    return [(min(found), max(found) + 1) for found in words]


@pytest.mark.parametrize("source", ["balanced", "left", "right"])
def test_other_trees_keep_the_labels_of_the_spans_they_share(source):
    trees = read(tiny_recipe.treebank(20))
    examples = examples_of(trees, VOCABULARY, MODEL, "nodes", [source])
    kept = lost = 0
    for (tree, gold), example in zip(trees, examples, strict=True):
        other = getattr(Tree, source)(tree.words)
        labels = dict(zip(covered(tree), gold.tolist(), strict=True))
        naive = [labels.get(span, -1) for span in covered(other)]
        given = example.trees[source]
        assert given.forest.transitions.tolist() == other.transitions.tolist()
        assert given.targets.tolist() == naive
        assert given.words.tolist() == [end - start for start, end in covered(other)]
        kept, lost = kept + sum(label >= 0 for label in naive), lost + naive.count(-1)
    assert min(kept, lost) > 5


def test_the_gold_tree_is_kept_as_it_is():
    first, second = indexed("(2 (1 the) (2 (2 good) (1 film)))\n(0 bad)")
    forest, *rest, soft = first.gold
    known = [VOCABULARY.lookup(word) for word in ("the", "good", "film")]
    assert (forest.transitions.tolist(), forest.token_ids.tolist()) == ([0, 0, 0, 1, 1], known)
    assert (forest.lengths.tolist(), forest.sizes.tolist(), first.words) == ([3], [5], 3)
    targets, words, depths = [1, 2, 1, 2, 2], [1, 1, 1, 2, 3], [0, 0, 0, 1, 2]
    assert [np.asarray(part).tolist() for part in rest] == [targets, 4, words, depths]
    assert soft is None
    assert second.gold.targets.tolist() == [0]
    assert list(first.trees) == ["gold"]


def test_a_minibatch_is_the_examples_end_to_end():
    pieces = WordpieceVocabulary(["[UNK]", "the", "good", "film", "##s", "bad"])
    examples = indexed("(2 (1 the) (2 (2 good) (1 films)))\n(0 bad)", ("left",), pieces=pieces)
    batch = minibatch(examples, ["left", "gold"])
    filled = {name: part.tolist() for name, part in batch.forest._asdict().items() if len(part)}
    assert filled == {
        "piece_ids": [1, 2, 3, 4, 5],
        "pieces_per_word": [1, 1, 2, 1],
        "transitions": [0, 0, 1, 0, 1, 0],
        "lengths": [3, 1],
        "sizes": [5, 1],
    }
    assert (batch.targets.tolist(), batch.right.tolist()) == ([1, 2, -1, 1, 2, 0], [])
    assert batch.size == 2


def test_a_tree_that_is_not_binary_is_named():
    with pytest.raises(TreeError, match=r"tree 1: .* 3 children"):
        indexed("(0 bad)\n(0 (1 the) (0 bad) (1 film))")
