"""Phrases read by themselves, against the same phrases read from brackets of their own."""

from pathlib import Path

import numpy as np
import pytest
import tiny_recipe

from thinstack.data.trees.treebank import read_labelled
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.training.examples.example import Example, examples_of
from thinstack.training.examples.labelled import LabelledForest
from thinstack.training.lessons.alone import (
    LONGEST,
    MIDDLE_KEPT,
    SHORTEST,
    phrase_of,
    phrases_alone,
)

WORDS = ("[UNK]", "a", "b", "c", "d", "##d", "e")


def read(folder: Path, lines: list[str], kind: str) -> list[Example]:
    file = folder / "trees.txt"
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    recipe = tiny_recipe.recipe(kind)
    vocabulary = WordVocabulary(WORDS) if kind == "words" else WordpieceVocabulary(WORDS)
    return examples_of(read_labelled(file, recipe.model.labels), vocabulary, recipe.model, "nodes")


def brackets(text: str) -> list[str]:
    """The brackets of every node, in the order in which they close."""
    found, opened = [], []
    for place, sign in enumerate(text):
        if sign == "(":
            opened.append(place)
        elif sign == ")":
            found.append(text[opened.pop() : place + 1])
    return found


def same(found: LabelledForest, expected: LabelledForest) -> bool:
    pairs = zip((*found.forest, *found[1:5]), (*expected.forest, *expected[1:5]), strict=True)
    return all(np.array_equal(one, other) for one, other in pairs)


@pytest.mark.parametrize("kind", ["words", "wordpieces"])
def test_a_phrase_is_what_its_own_brackets_are(tmp_path: Path, kind: str) -> None:
    text = "(2 (1 (0 ddd) (2 (1 b) (2 dd))) (0 (1 (2 a) (0 e)) (1 (1 dd) (1 c))))"
    (whole,) = read(tmp_path, [text], kind)
    own = read(tmp_path, brackets(text), kind)
    assert len(own) == len(whole.gold.targets) == 13
    for node, expected in enumerate(own):
        assert same(phrase_of(whole.gold, node), expected.gold), node


def test_the_soft_labels_of_a_phrase_are_those_of_its_nodes(tmp_path: Path) -> None:
    (whole,) = read(tmp_path, ["(2 (1 (0 d) (2 b)) (0 (1 a) (1 c)))"], "words")
    soft = np.arange(21, dtype=np.float16).reshape(7, 3)
    found = phrase_of(whole.gold._replace(soft=soft), 5).soft
    assert found is not None
    np.testing.assert_array_equal(found, soft[3:6])


def chain(length: int, label: int) -> str:
    """A sentence whose phrases, all of one class, have 1 to `length` words."""
    text = f"({label} a)"
    for _ in range(length - 1):
        text = f"({label} {text} ({label} a))"
    return text


def test_phrases_are_drawn_of_some_lengths_and_the_middle_class_seldom(tmp_path: Path) -> None:
    given = read(tmp_path, [chain(30, 0), chain(30, 1), "(2 (2 a) (2 b))"], "words")
    found = phrases_alone(given, 600.0, 3, np.random.default_rng(0))
    lengths = [one.words for one in found]
    assert set(lengths) == set(range(SHORTEST, LONGEST + 1))
    labels = [int(one.gold.targets[-1]) for one in found]
    # A third of 1,800 draws is of each sentence; that of two words has no phrase that fits.
    assert 500 < labels.count(0) < 700
    assert 500 < labels.count(1) < 700
    assert len(labels) == labels.count(0) + labels.count(1)
    again = phrases_alone(given, 600.0, 3, np.random.default_rng(0))
    assert all(same(one.gold, other.gold) for one, other in zip(found, again, strict=True))


def test_neutral_phrases_are_left_out_by_a_share_of_themselves(tmp_path: Path) -> None:
    """Of a sentence with one phrase that could be drawn, for an odd number of classes."""
    given = read(tmp_path, ["(2 (1 (1 a) (1 (1 b) (1 c))) (2 d))"], "words")
    counts = {
        classes: len(phrases_alone(given, 2000.0, classes, np.random.default_rng(1)))
        for classes in (3, 4, 5)
    }
    assert abs(counts[3] / 2000 - MIDDLE_KEPT) < 0.05
    assert counts[4] == counts[5] == 2000


def test_unlabelled_phrases_are_not_drawn(tmp_path: Path) -> None:
    (whole,) = read(tmp_path, [chain(8, 2)], "words")
    whole.gold.targets[:-1] = -1
    assert phrases_alone([whole], 50.0, 3, np.random.default_rng(0)) == []
