"""The plain rivals on questions of which a word, or a part of one, says the class."""

import sys
from pathlib import Path

import numpy as np
import pytest

from reproduce import rivals
from reproduce.rivals import run_rival
from thinstack.config import Recipe
from thinstack.core import Tree
from thinstack.data.treebank import Labelled
from thinstack.errors import ConfigError, DataError, MissingExtraError, UnknownNameError

LABELS = ["place", "person", "number"]
KEYS = {"place": ["where", "city"], "person": ["who", "author"], "number": ["how many", "year"]}


def recipe(task: str = "sentences") -> Recipe:
    model = {
        "labels": LABELS,
        "embedding": {"kind": "words", "size": 2},
        "cell": {"name": "nary_lstm.v1", "hidden_size": 2},
        "head": {"name": "node_classifier.v1"},
    }
    return Recipe.model_validate(
        {
            "name": "questions",
            "data": {"train": "train.txt", "dev_size": 9, "task": task},
            "model": model,
        }
    )


def labelled(text: str, label: int) -> Labelled:
    """The class is the root's; the first word has another of its own."""
    tree = Tree.left(text.split())
    labels = np.full(len(tree), -1)
    labels[0] = 0
    labels[tree.root] = label
    return tree, labels


def questions(count: int, seed: int) -> list[Labelled]:
    generator = np.random.default_rng(seed)
    found = []
    for number in range(count):
        label = number % 3
        filler = [f"w{word}" for word in generator.integers(30, size=5)]
        filler.insert(int(generator.integers(6)), str(generator.choice(KEYS[LABELS[label]])))
        found.append(labelled(" ".join([*filler, "?"]), label))
    return found


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch):
    """Sets what stands in the recipe's files."""

    def set_sentences(train: list[Labelled], held: list[Labelled], dev: list[Labelled]) -> None:
        monkeypatch.setattr(rivals, "read_sentences", lambda recipe, data: (train, held, dev))

    return set_sentences


def test_key_words_are_learnt(given) -> None:
    given(questions(90, 0), [], questions(30, 1))
    found = run_rival("tfidf", recipe(), Path("data"))
    assert found["root_accuracy"] == 100.0
    assert found["roots"] == 30


def test_accuracy_is_over_the_development_roots_that_have_a_class(given) -> None:
    dev = questions(30, 1)
    turned = [(tree, np.where(labels < 0, -1, (labels + 1) % 3)) for tree, labels in dev[:6]]
    given(questions(90, 0), [], [*turned, *dev[6:], labelled("w1 w2", -1)])
    assert run_rival("tfidf", recipe(), Path("data"))["root_accuracy"] == pytest.approx(
        100 * 24 / 30
    )
    given(questions(90, 0), [], [labelled("w1", -1)])
    with pytest.raises(
        DataError, match=r"9 examples of train\.txt: expected sentences that have a class"
    ):
        run_rival("tfidf", recipe(), Path("data"))


def test_held_out_sentences_are_learnt_too(given) -> None:
    numbers = [one for one in questions(90, 0) if one[1][-1] == 2]
    others = [one for one in questions(90, 0) if one[1][-1] != 2]
    given(others, numbers, questions(30, 1))
    assert run_rival("tfidf", recipe(), Path("data"))["root_accuracy"] == 100.0


def test_characters_help_with_words_that_were_never_seen(given) -> None:
    stems = ["zzork", "kraal", "mlorp"]
    train = [
        labelled(f"a{number} {stems[number % 3]}{number} b{number % 7}", number % 3)
        for number in range(60)
    ]
    dev = [labelled(f"c{number} {stems[number % 3]}ish d", number % 3) for number in range(9)]
    given(train, [], dev)
    assert run_rival("tfidf", recipe(), Path("data"))["root_accuracy"] == 100.0


def test_parameters_are_weights_and_biases(given) -> None:
    sentences = [labelled(word, number) for number, word in enumerate(("aa", "bb", "cc"))]
    given(sentences * 10, [], sentences)
    found = run_rival("tfidf", recipe(), Path("data"))
    assert (
        found["parameters"] == 3 * 3 + 3
    )  # three words, three classes: without a need of characters


def test_two_runs_are_the_same(given) -> None:
    given(questions(30, 0), questions(15, 2), questions(30, 1))
    assert run_rival("tfidf", recipe(), Path("data")) == run_rival("tfidf", recipe(), Path("data"))


def test_too_few_sentences_are_refused(given) -> None:
    for train in (questions(3, 0), [labelled("one class", 0)] * 20, []):
        given(train, [], questions(3, 1))
        with pytest.raises(
            DataError,
            match=r"train\.txt: expected sentences of two classes or more, and 5 or more of one",
        ):
            run_rival("tfidf", recipe(), Path("data"))


def test_an_unknown_rival_lists_the_known() -> None:
    with pytest.raises(UnknownNameError, match="unknown rival 'bayes'; known: tfidf"):
        run_rival("bayes", recipe(), Path("data"))


def test_pairs_are_refused() -> None:
    with pytest.raises(ConfigError, match="expected a task of these, found 'entailment'"):
        run_rival("tfidf", recipe("entailment"), Path("data"))


def test_without_scikit_learn_the_extra_is_named(given, monkeypatch: pytest.MonkeyPatch) -> None:
    given(questions(30, 0), [], questions(3, 1))
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(MissingExtraError, match=r"'scikit-learn'.*thinstack\[reproduce\]"):
        run_rival("tfidf", recipe(), Path("data"))
