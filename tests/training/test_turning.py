"""Phrases whose polarity turns, found and exchanged as their brackets say."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import tiny_recipe

from thinstack.data.trees.treebank import read_labelled
from thinstack.data.words.vocabulary import Vocabulary, WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import ConfigError
from thinstack.training.examples.example import Example, examples_of
from thinstack.training.lessons.alone import LONGEST, phrase_of
from thinstack.training.lessons.turning import MOST_EXCHANGED, TurningPhrases, with_part

WORDS = ("[UNK]", "not", "a", "bad", "dull", "film", "good", "it", "##s", "s")

BETTER = "(2 (1 it) (2 (0 not) (0 (1 a) (0 (0 bad) (1 film)))))"
WORSE = "(0 (1 it) (0 (1 not) (2 (1 a) (2 (2 good) (1 film)))))"
OTHERS = [
    "(0 (1 a) (0 (0 dull) (1 film)))",  # may stand for "a bad film": first word, length and class
    "(0 (0 (0 bad) (1 film)) (1 s))",  # three words as well, but it begins otherwise
    "(2 (1 a) (2 (1 film) (2 good)))",
]


def read(folder: Path, lines: list[str], kind: str = "words") -> list[Example]:
    file = folder / "trees.txt"
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    recipe = tiny_recipe.recipe(kind)
    vocabulary: Vocabulary = WordVocabulary(WORDS)
    if kind == "wordpieces":
        vocabulary = WordpieceVocabulary(WORDS)
    return examples_of(read_labelled(file, recipe.model.labels), vocabulary, recipe.model, "nodes")


def spelled(example: Example) -> str:
    """Class and words."""
    (known,) = WordVocabulary(WORDS).fields(WORDS).values()
    spelling = dict(zip(known.tolist(), WORDS, strict=True))
    ids = example.gold.forest.token_ids.tolist()
    return f"{example.gold.targets[-1]} {' '.join(spelling[word] for word in ids)}"


def drawn(given: list[Example], share: float) -> list[Example]:
    return TurningPhrases(given, 3).draw(share, np.random.default_rng(0))


def test_turned_phrases_and_those_around_are_drawn_both_ways(tmp_path: Path) -> None:
    given = read(tmp_path, [BETTER, WORSE, *OTHERS])
    counts = Counter(spelled(one) for one in drawn(given, 4000.0))
    assert set(counts) == {
        "2 not a bad film",
        "2 not a dull film",
        "2 it not a bad film",
        "2 it not a dull film",
        "0 not a good film",
        "0 not a film good",
        "0 it not a good film",
        "0 it not a film good",
    }
    assert sum(counts.values()) == 20_000
    # A half to the better, a half of these the longer phrase; in every other one the part is
    # exchanged, and that for itself as often as for the other one.
    for text, number in counts.items():
        exchanged = "dull" in text or "film good" in text
        assert abs(number - (1250 if exchanged else 3750)) < 150


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("(2 (2 good) (0 bad))", id="what is positive turns nothing"),
        pytest.param("(2 (0 (0 not) (1 (1 a) (1 it))) (0 bad))", id="three words are no turner"),
        pytest.param("(1 (0 not) (0 bad))", id="neutral is not the other side"),
        pytest.param("(2 (0 bad) (1 film))", id="what is turned stands on the right"),
    ],
)
def test_what_does_not_turn(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"found 0 and 2; leave turning out"):
        drawn(read(tmp_path, [WORSE, text]), 4.0)


def test_long_phrases_are_not_drawn_and_long_parts_not_exchanged(tmp_path: Path) -> None:
    part, other = "(0 bad)", "(0 bad)"
    for _ in range(MOST_EXCHANGED):
        part, other = f"(0 {part} (1 a))", f"(0 {other} (1 film))"
    around = f"(2 (1 not) {part})"
    for _ in range(LONGEST):
        around = f"(2 {around} (1 it))"
    found = drawn(read(tmp_path, [around, other, WORSE]), 100.0)
    better = [one for one in found if one.gold.targets[-1] == 2]
    assert {one.words for one in better} == set(range(MOST_EXCHANGED + 2, LONGEST + 1))
    assert not any("film" in spelled(one) for one in better)


@pytest.mark.parametrize("kind", ["words", "wordpieces"])
def test_an_exchanged_part_is_what_the_brackets_say(tmp_path: Path, kind: str) -> None:
    new = "(0 (1 (1 its) (1 dull)) (0 good))"
    text = "(2 (1 not) (2 (0 (1 (1 a) (2 bad)) (0 film)) (1 s)))"
    whole, part, expected = read(
        tmp_path, [text, new, text.replace("(0 (1 (1 a) (2 bad)) (0 film))", new)], kind
    )
    soft = np.arange(39, dtype=np.float16)
    given = whole.gold._replace(soft=soft[:27].reshape(9, 3))
    found = with_part(given, 5, part.gold._replace(soft=-soft[:15].reshape(5, 3)))
    for one, other in zip(found.forest, expected.gold.forest, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found.targets, expected.gold.targets)
    np.testing.assert_array_equal(found.words, expected.gold.words)
    assert found.soft is not None
    np.testing.assert_array_equal(found.soft[:, 0], [0, 0, -3, -6, -9, -12, 18, 21, 24])


def test_a_sentence_with_labels_of_a_teacher_keeps_them(tmp_path: Path) -> None:
    given = read(tmp_path, [BETTER, WORSE, *OTHERS])
    taught = [
        Example({"gold": one.gold._replace(soft=np.full((len(one.gold.targets), 3), place))})
        for place, one in enumerate(given)
    ]
    found = drawn(taught, 100.0)
    for one in found:
        assert one.gold.soft is not None
        assert len(one.gold.soft) == len(one.gold.targets)
    dull = next(one for one in found if spelled(one) == "2 not a dull film")
    assert dull.gold.soft is not None
    assert dull.gold.soft[:, 0].tolist() == [0, 2, 2, 2, 2, 2, 0]


def test_the_phrases_drawn_are_those_of_the_sentences(tmp_path: Path) -> None:
    """With no other phrase to exchange, each is a node of its own tree."""
    given = read(tmp_path, [BETTER, WORSE])
    own = [phrase_of(one.gold, node) for one in given for node in range(len(one.gold.targets))]
    for one in drawn(given, 50.0):
        assert any(
            np.array_equal(one.gold.targets, node.targets)
            and np.array_equal(one.gold.forest.token_ids, node.forest.token_ids)
            for node in own
        )
