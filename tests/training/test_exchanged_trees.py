"""Trees with exchanged subtrees."""

import numpy as np
import tiny_recipe

from thinstack.core import Tree
from thinstack.core.transitions import validate
from thinstack.data.trees.brackets import from_brackets
from thinstack.data.trees.subtrees import subtree
from thinstack.training.lessons.exchanged_trees import exchanged_trees

TREES = [from_brackets(line) for line in tiny_recipe.treebank(40, seed=7).splitlines()]


def phrases(tree: Tree) -> list[tuple[tuple[str, ...], tuple[int, ...]]]:
    found = (subtree(tree, node) for node in range(len(tree)))
    return [(each.words, tuple(each.transitions.tolist())) for each in found]


def named(tree: Tree, number: int) -> Tree:
    """The tree with words that tell where they come from."""
    words = [f"{number}.{place}" for place in range(len(tree.words))]
    return Tree.from_transitions(tree.transitions, words, tree.labels)


def test_they_are_trees_without_labels_that_differ_by_phrases_of_others() -> None:
    trees = [named(tree, number) for number, tree in enumerate(TREES)]
    known = {phrase for tree in trees for phrase in phrases(tree)}
    made = exchanged_trees(trees, 100, np.random.default_rng(1))
    assert len(made) == 100
    foreign = 0
    for place, tree in enumerate(made):
        validate(tree.transitions, words=len(tree.words))
        assert set(tree.labels) == {None}
        old = trees[place % 40]
        # A tree of up to 6 words has one exchange, of as many words or of one more or less.
        assert abs(len(tree.words) - len(old.words)) <= (len(old.words) > 1)
        sources = [word.split(".")[0] for word in tree.words]
        others = [place for place, source in enumerate(sources) if source != sources[0]]
        foreign += bool(others)
        for words, steps in phrases(tree):  # of one sentence alone: one of its phrases
            assert len({word.split(".")[0] for word in words}) > 1 or (words, steps) in known
    assert foreign > 50


def test_a_long_sentence_has_more_exchanges() -> None:
    long = named(Tree.right(["x"] * 40), 0)
    shorts = [named(Tree.right(["x"] * 9), number) for number in range(1, 9)]
    (made,) = exchanged_trees([long, *shorts], 1, np.random.default_rng(2))
    runs = [word.split(".")[0] for word in made.words]
    foreign = [place for place, source in enumerate(runs) if source != "0"]
    assert 1 <= len(foreign) <= 3 * 8
    assert len(exchanged_trees([shorts[0], long], 1, np.random.default_rng(2))[0].words) in (
        8,
        9,
        10,
    )


def test_the_same_draw_gives_the_same_trees_and_words_alone_stay() -> None:
    first, second = (exchanged_trees(TREES, 30, np.random.default_rng(3)) for _ in range(2))
    assert first == second != exchanged_trees(TREES, 30, np.random.default_rng(4))
    (word,) = exchanged_trees([Tree.right(["good"])], 1, np.random.default_rng(0))
    assert word.words == ("good",)
