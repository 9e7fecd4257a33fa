"""The plain rivals on questions of which a word, or a part of one, says the class."""

from pathlib import Path

import numpy as np
import pytest

from reproduce import rivals
from reproduce.rivals import run_rival
from thinstack.core import Tree
from thinstack.errors import ConfigError, DataError, UnknownNameError
from thinstack.training.recipe import Recipe

LABELS = ["place", "person", "number"]
KEYS = {"place": ["where", "city"], "person": ["who", "author"], "number": ["how many", "year"]}


def recipe(task="sentences"):
    cell = {"name": "nary_lstm.v1", "hidden_size": 2}
    model = {"labels": LABELS, "cell": cell, "head": {"name": "node_classifier.v1"}}
    model["embedding"] = {"kind": "words", "size": 2}
    kind = "brackets.v1" if task == "sentences" else "snli.v1"
    data = {"train": "train.txt", "dev_size": 9}
    named = {"name": f"{task}.v1", "format": kind}
    raw = {"name": "questions", "task": named, "data": data, "model": model}
    return Recipe.model_validate(raw)


def labelled(text, label):
    """The class is the root's; the first word has another of its own."""
    tree = Tree.left(text.split())
    labels = np.full(len(tree), -1)
    labels[0] = 0
    labels[tree.root] = label
    return tree, labels


def questions(count, seed):
    generator = np.random.default_rng(seed)
    found = []
    for number in range(count):
        label = number % 3
        filler = [f"w{word}" for word in generator.integers(30, size=5)]
        filler.insert(int(generator.integers(6)), str(generator.choice(KEYS[LABELS[label]])))
        found.append(labelled(" ".join([*filler, "?"]), label))
    return found


@pytest.fixture
def run(monkeypatch):
    """Runs the rival on what it is given in place of the recipe's files: train, held out, dev."""

    def run(*parts, task="sentences", rival="tfidf"):
        monkeypatch.setattr(rivals, "read_items", lambda recipe, data: parts)
        return run_rival(rival, recipe(task), Path("data"))

    return run


def test_key_words_are_learnt(run):
    found = run(questions(90, 0), [], questions(30, 1))
    assert (found["root_accuracy"], found["roots"]) == (100.0, 30)


def test_accuracy_is_over_the_development_roots_that_have_a_class(run):
    dev = questions(30, 1)
    turned = [(tree, np.where(labels < 0, -1, (labels + 1) % 3)) for tree, labels in dev[:6]]
    found = run(questions(90, 0), [], [*turned, *dev[6:], labelled("w1 w2", -1)])
    assert found["root_accuracy"] == pytest.approx(100 * 24 / 30)
    with pytest.raises(DataError, match=r"9 examples of train\.txt: .* have a class"):
        run(questions(90, 0), [], [labelled("w1", -1)])


def test_held_out_sentences_are_learnt_too(run):
    numbers = [one for one in questions(90, 0) if one[1][-1] == 2]
    others = [one for one in questions(90, 0) if one[1][-1] != 2]
    assert run(others, numbers, questions(30, 1))["root_accuracy"] == 100.0


def test_characters_help_with_words_that_were_never_seen(run):
    stems = ["zzork", "kraal", "mlorp"]
    train = [labelled(f"a{n} {stems[n % 3]}{n} b{n % 7}", n % 3) for n in range(60)]
    dev = [labelled(f"c{n} {stems[n % 3]}ish d", n % 3) for n in range(9)]
    assert run(train, [], dev)["root_accuracy"] == 100.0


def test_parameters_are_weights_and_biases(run):
    sentences = [labelled(word, number) for number, word in enumerate(("aa", "bb", "cc"))]
    # Three words, three classes: without a need of characters.
    assert run(sentences * 10, [], sentences)["parameters"] == 3 * 3 + 3


@pytest.mark.parametrize("rival", ["bayes", "svm", "tfidf"])
def test_a_word_that_only_a_phrase_gives_a_class(run, rival):
    sentences = questions(90, 0)
    for tree, labels in questions(9, 3):  # these have a class at one word, and no class as a whole
        known = np.full_like(labels, -1)
        known[0] = 2
        sentences.append((Tree.left(["zzork", *tree.words[1:]]), known))
    dev = [labelled("zzork", 2)] * 4
    found = run(sentences, [], [*dev, *questions(9, 1)], rival=rival)
    assert (found["root_accuracy"] == 100.0) == (rival != "tfidf")


@pytest.mark.parametrize("rival", ["bayes", "svm"])
def test_phrases_are_learnt_and_measured(run, rival):
    """The class of a sentence stands in its second word only, whose own node has the class too."""

    def tree(keyed, label, wrong=False):
        made, labels = labelled(f"x {keyed} y", label)
        word = made.spans.tolist().index([1, 2])
        labels[[0, word]] = -1, (label + wrong) % 3
        return made, labels

    train = [tree(f"key{n % 3}", n % 3) for n in range(30)]
    dev = [tree(f"key{n % 3}", n % 3, wrong=n < 2) for n in range(10)]
    found = run(train[:20], train[20:], dev, rival=rival)
    assert (found["root_accuracy"], found["roots"]) == (100.0, 10)
    assert (found["phrase_accuracy"], found["phrases"]) == (100 * 18 / 20, 20)
    if rival == "bayes":
        assert found["parameters"] == 3 * 5 + 3  # of five words


def test_bayes_is_the_rule_of_bayes(run):
    """Sums of logarithms, written out: P(c) times P(w | c) of each word, with one more of each."""
    train = [labelled(text, label) for text, label in [("a a b", 0), ("b c", 1), ("c c", 1)] * 5]
    for tree, labels in train:
        labels[: tree.root] = -1
    words = {0: {"a": 10, "b": 5, "c": 0}, 1: {"a": 0, "b": 5, "c": 15}}

    def score(text, label):
        counts, prior = words[label], (5, 10)[label] / 15
        total = sum(counts.values()) + 3
        return float(np.log(prior) + sum(np.log((counts[w] + 1) / total) for w in text.split()))

    texts = ["a", "b", "c", "a c", "a b c", "b b", "a a c", "b a"]
    best = [max((0, 1), key=lambda label, text=text: score(text, label)) for text in texts]
    assert set(best) == {0, 1}
    dev = [labelled(text, label) for text, label in zip(texts, best, strict=True)]
    assert run(train, [], dev, rival="bayes")["root_accuracy"] == 100.0


@pytest.mark.parametrize("train", [questions(3, 0), [labelled("one class", 0)] * 20, []])
def test_too_few_sentences_are_refused(run, train):
    with pytest.raises(DataError, match=r"train\.txt: .* two classes or more, and 5 or more"):
        run(train, [], questions(3, 1))


def test_an_unknown_rival_lists_the_known():
    with pytest.raises(
        UnknownNameError, match="unknown rival 'forest'; known: bayes, lexicalized, svm, tfidf"
    ):
        run_rival("forest", recipe(), Path("data"))


def test_pairs_are_refused(run):
    with pytest.raises(ConfigError, match=r"found 'entailment_of_trees\.v1'"):
        run([], [], [], task="entailment_of_trees")
