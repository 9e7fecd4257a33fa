"""Learning syntactic distances."""

from pathlib import Path

import numpy as np

from thinstack.core import Tree
from thinstack.core.transitions import spans_of
from thinstack.data.treebank import read_trees
from thinstack.training.fit_distances import fit


def test_it_learns_to_cut_after_commas() -> None:
    generator = np.random.default_rng(0)

    def tree() -> Tree:
        left, right = (
            generator.choice(["a", "b", "c"], size=generator.integers(1, 5)).tolist()
            for _ in range(2)
        )
        first, second = Tree.balanced([*left, ","]), Tree.balanced(right)
        return Tree.from_transitions(
            [*first.transitions, *second.transitions, 1], [*first.words, *second.words]
        )

    table = fit([tree() for _ in range(60)])
    for unseen in (tree() for _ in range(20)):
        after_comma = unseen.words.index(",") + 1
        spans = spans_of(table.transitions(unseen.words)).tolist()
        assert [0, after_comma] in spans
        assert [after_comma, len(unseen.words)] in spans


def test_trees_of_unseen_sentences_are_nearer_to_gold_than_balanced_ones(data_dir: Path) -> None:
    table = fit(read_trees(data_dir / "sst" / "train.txt")[:1500])
    shared = {"distances": 0, "balanced": 0}
    total = 0
    for tree in read_trees(data_dir / "sst" / "dev.txt")[:300]:
        gold = {tuple(span) for span in tree.spans.tolist()}
        total += len(gold)
        for name, steps in (
            ("distances", table.transitions(tree.words)),
            ("balanced", Tree.balanced(tree.words).transitions),
        ):
            shared[name] += len(gold & {tuple(span) for span in spans_of(steps).tolist()})
    assert shared["distances"] > shared["balanced"] + 0.1 * total


def test_a_word_spelt_as_a_form_has_that_forms_weights() -> None:
    table = fit([Tree.balanced(["a", "<ing>", "<ING>", "<number>", "b"])])
    assert table.words == ("a", "b")
    assert table.features(["a", "<ing>"])[3, 0] == table.features(["a", "sing"])[3, 0]


def test_the_same_trees_give_the_same_table() -> None:
    trees = [Tree.balanced(list("ab,cd")), Tree.right(list("c,a")), Tree.left(list("bbb"))]
    assert fit(trees).to_bytes() == fit(trees).to_bytes()
