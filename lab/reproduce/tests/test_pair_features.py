"""What the lexicalized classifier looks at, counted by hand, and the classifier itself."""

import numpy as np
import pytest
import tiny_tree_pairs
from tiny_tree_pairs import TinyPair, write_snli

from reproduce.pair_features import indicators, numbers
from reproduce.rivals import run_rival
from thinstack.errors import ConfigError, DataError


def test_indicators_are_those_of_the_hypothesis_and_of_both():
    found = list(indicators((["A", "man", "sits"], ["a", "dog"])))
    unigrams = ["a", "dog", "a\ta", "a\tdog", "man\ta", "man\tdog", "sits\ta", "sits\tdog"]
    assert found == [*unigrams, "a dog", "a man\ta dog", "man sits\ta dog"]


def test_numbers_of_a_pair():
    pair = (["the", "man", "has", "the", "dog"], ["The", "the", "the", "man", "has", "a"])
    # "the" counts twice of three times; the bigrams in both are "the man" and "man has", of five.
    both = [4 / 6, 2 / 5, 1 / 4, 0, 1, 3, 3 / 4]
    assert numbers(pair) == pytest.approx(both)
    assert numbers((["a", "b"], ["b"])) == [1, 0, 0, 0, -1, 1, 1]


def recipe(task="entailment"):
    return tiny_tree_pairs.recipe(task, snli=True)


def some(count, seed):
    """Entailed where the hypothesis names what the premise does; its first word says nothing."""
    generator, found = np.random.default_rng(seed), []
    for number in range(count):
        what, other = generator.permutation(["dog", "cat", "cow"])[:2]
        entailed = number % 2 == 0
        label = "entailment" if entailed else "contradiction"
        filler = [
            f"{side}{word}" for side, word in zip("ab", generator.integers(9, size=2), strict=True)
        ]
        found.append(
            TinyPair([filler[0], what], [filler[1], what if entailed else other], 1, label)
        )
    return found


def test_pairs_are_told_apart_by_both_sentences(tmp_path):
    train, dev = some(60, 1), some(20, 2)
    wrong = [pair._replace(label="neutral") for pair in dev[:5]]
    write_snli(tmp_path / "train.jsonl", train)
    write_snli(tmp_path / "dev.jsonl", [*wrong, *dev[5:]])
    found = run_rival("lexicalized", recipe(), tmp_path)
    assert found.pop("parameters") > 9
    assert found == {"accuracy": 75.0, "train_accuracy": 100.0, "pairs": 20}


def test_other_tasks_and_too_few_pairs_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"pairs in classes; .* 'relatedness_of_trees.v1'"):
        run_rival("lexicalized", recipe(task="relatedness"), tmp_path)
    for name in ("train", "dev"):
        write_snli(tmp_path / f"{name}.jsonl", some(4, 1))
    with pytest.raises(DataError, match=r"train\.jsonl: expected examples of two classes"):
        run_rival("lexicalized", recipe(), tmp_path)
