"""Teachers: what they are asked and say, what is kept of it, and what the loss makes of it."""

import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_recipe
import torch
from runs import fresh, parser_loss
from test_parser_training import PARSER

import thinstack
from thinstack.core import Tree
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.errors import ConfigError, DataError, UnknownNameError
from thinstack.plugins.heads.node_classifier import NodeClassifier
from thinstack.runtime.predictor import Predictor
from thinstack.training.examples.datasets import load_datasets, read_items
from thinstack.training.examples.example import Minibatch, minibatch
from thinstack.training.examples.inputs import data_digests
from thinstack.training.loop import epochs as loop
from thinstack.training.loop.epochs import fit_parser
from thinstack.training.loop.losses import soft_labels, task_loss
from thinstack.training.loop.seeds import train_seed
from thinstack.training.loop.teacher import AnswerCache, Teacher
from thinstack.training.loop.teaching import taught_trees
from thinstack.training.recipe import Recipe, TeacherConfig

pytestmark = pytest.mark.usefixtures("with_own_lessons")

FIVE = ("very negative", "negative", "neutral", "positive", "very positive")
TEXT = "The film is not bad. I liked it.\n"

EXCHANGED = {"name": "exchanged.v1"}
ENDED = {"name": "ended.v1"}
ALONE = {"name": "alone.v1", "share": 1.0}
TEXTS = {"name": "texts.v1", "texts": ["texts.txt"]}
ALL = (EXCHANGED, ENDED, TEXTS)


def recipe_of(*lessons, teacher=None, **settings):
    """A tiny recipe that the bundled model teaches."""
    plain = tiny_recipe.recipe(**settings).model_dump()
    plain["model"]["labels"] = FIVE
    plain |= {"teacher": {"bundles": ["sentiment"], **(teacher or {})}, "lessons": lessons}
    return Recipe.parse(plain, source="test")


@pytest.fixture
def texts(tmp_path):
    """The files of tiny recipes, and texts."""
    folder = tiny_recipe.write_data(tmp_path / "data", train=12)
    (folder / "texts.txt").write_text(TEXT, encoding="utf-8")
    (folder / "end.txt").write_text("again", encoding="utf-8")
    return folder


def told(recipe, data):
    """The examples to train on, by what the lessons say of where they come from."""
    found = load_datasets(recipe, data)
    sources = [source for source, count in found.taught.items() for _ in range(count)]
    return {
        source: [e for e, s in zip(found.train, sources, strict=True) if s == source]
        for source in found.taught
    }


# -- what a teacher is asked


def test_sources_weights_and_parsers_lessons(texts):
    weights = {"exchanged": 0.5, "ended": 0.25, "texts": 2.0}
    shares = {"exchanged": {"share": 0.5, "for_parser": True}, "ended": {"share": 2.0}, "texts": {}}
    lessons = [
        lesson | shares[title] | {"weight": weights[title]}
        for lesson, title in zip(ALL, weights, strict=True)
    ]
    recipe = recipe_of(*lessons, sources=("left",))
    found = told(recipe, texts)
    counts = {source: len(part) for source, part in found.items()}
    assert counts == {"trees": 12, "exchanged": 6, "ended": 24, "texts": 2}
    for source, part in found.items():
        for example in part:
            assert example.parsed == (source in ("trees", "exchanged"))
            assert (example.gold.targets >= 0).all() == (source == "trees")
            sums = example.gold.soft.sum(1, dtype=float)
            np.testing.assert_allclose(sums, weights.get(source, 1.0), rtol=2e-3)


def test_labels_are_mixed_with_the_means_of_all_bundles(texts, monkeypatch):
    sst = thinstack.load("sentiment")
    calls = iter(range(100))

    def scores(self, words, steps):
        """Of the first bundle the model's own, of the second all on the last class."""
        own = [each.scores for each in Predictor.trees_and_scores(self, words, steps)]
        return own if next(calls) % 2 == 0 else [np.eye(5)[[4] * len(each)] for each in own]

    monkeypatch.setattr(Predictor, "node_scores", scores)
    teacher = {"bundles": ["sentiment", "sentiment"], "alpha": 0.25}
    found = taught_trees(recipe_of(EXCHANGED, teacher=teacher), *parts(texts), texts)
    for source, (tree, labels, soft, *_) in flat(found):
        own = sst.trees_and_scores([tree.words], [tree.transitions])[0].scores
        mean = (own + np.eye(5)[[4] * len(own)]) / 2
        expected = mean
        if source == "trees":
            expected = 0.25 * np.eye(5)[labels] + 0.75 * mean
        np.testing.assert_allclose(soft, expected, atol=2e-3)
    assert {each.source: len(each.trees) for each in found} == {"trees": 12, "exchanged": 12}


def flat(taught):
    return [(one.source, tree) for one in taught for tree in one.trees]


def parts(data):
    train, held, dev = read_items(recipe_of(), data)
    return train, held + dev


def test_what_is_reported_on_or_held_is_not_shown(texts):
    dev = tiny_recipe.treebank(1, seed=9).replace("(", "").replace(")", "")
    words = [word for word in dev.split() if not word.isdigit()]
    line = " ".join(words)
    aside = [(Tree.right(words), np.full(2 * len(words) - 1, -1))]
    (texts / "texts.txt").write_text(f"{TEXT}{line.upper()}\n{line} twice\n", encoding="utf-8")
    recipe = recipe_of(TEXTS)
    _, (_, trees) = taught_trees(recipe, parts(texts)[0], aside, texts)
    found = [each.tree.words for each in trees]
    assert (*words, "twice") in found
    assert not [each for each in found if [word.lower() for word in each] == words]


def test_texts_get_the_trees_of_the_parser_and_words_their_rows(texts):
    found = load_datasets(recipe_of(TEXTS | {"max_words": 5}), texts)
    assert found.taught["texts"] == 1
    words = ["I", "liked", "it", "."]
    expected = thinstack.load("sentiment").trees_and_scores([words], "self")[0].transitions
    gold = found.train[-1].gold.forest
    assert gold.transitions.tolist() == expected.tolist()
    entries = ["?", *found.vocabulary.entries]
    assert [entries[row] for row in gold.token_ids] == [word.lower() for word in words]


def test_a_pass_that_parses_gives_the_soft_labels_too(texts, tmp_path):
    teacher, whole = TeacherConfig(bundles=("sentiment",)), thinstack.load("sentiment")
    words = [["I", "liked", "it", "."], ["Not", "my", "film"]]
    keeping = Teacher(teacher, whole.labels, AnswerCache(tmp_path))
    trees = [LabelledTree.unlabelled(tree) for tree in keeping.parse(words)]
    for each, soft in zip(trees, keeping.soft_labels(trees, "texts"), strict=True):
        steps = [each.tree.transitions]
        expected = whole.trees_and_scores([each.tree.words], steps)[0].scores
        np.testing.assert_allclose(soft, expected, atol=1e-3)


# -- what is kept


class Asked:
    """Counts the sentences that bundles are run on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at_once: int = 1000):
        self.sentences, self.at_once = 0, at_once
        original = Predictor.trees_and_scores

        def count(predictor: Predictor, words: Any, trees: Any = "auto") -> Any:
            self.sentences += len(words)
            return original(predictor, words, trees)

        monkeypatch.setattr(Predictor, "trees_and_scores", count)

    def by(self, recipe: Recipe, data: Path, cache: Path) -> int:
        before = self.sentences
        taught_trees(recipe, *parts(data), data, cache=AnswerCache(cache, at_once=self.at_once))
        return self.sentences - before


def test_answers_are_kept_until_the_question_changes(texts, tmp_path, monkeypatch):
    asked, cache = Asked(monkeypatch), tmp_path / "cache"
    # The two texts are parsed and scored at once.
    assert asked.by(recipe_of(*ALL), texts, cache) == 3 * 12 + 2
    files = set(cache.iterdir())
    assert asked.by(recipe_of(*ALL, teacher={"alpha": 0.9}), texts, cache) == 0
    more = recipe_of(EXCHANGED | {"share": 2.0}, ENDED, TEXTS)
    assert asked.by(more, texts, cache) == 24
    assert asked.by(more, texts, cache) == 0
    assert len(files & set(cache.iterdir())) == len(files) - 1  # what was not used is gone
    two = recipe_of(*ALL, teacher={"bundles": ["sentiment", "sentiment"]})
    assert asked.by(two, texts, cache) == 2 * 38
    lines = (texts / "train.txt").read_text(encoding="utf-8").splitlines()
    (texts / "train.txt").write_text("\n".join(lines[1:]), encoding="utf-8")
    assert asked.by(two, texts, cache) == 2 * 3 * 11


def test_a_stopped_teacher_goes_on_and_a_damaged_answer_is_asked_again(
    texts, tmp_path, monkeypatch
):
    asked, recipe = Asked(monkeypatch, at_once=5), recipe_of()

    def stop(what, done, total):
        assert (what, total) == ("the training trees", 12)
        if done == 10:
            raise InterruptedError

    cache = AnswerCache(tmp_path, stop, at_once=5)
    with pytest.raises(InterruptedError):
        taught_trees(recipe, *parts(texts), texts, cache=cache)
    assert asked.sentences == 10
    assert asked.by(recipe, texts, tmp_path) == 2
    whole = taught_trees(recipe, *parts(texts), texts)
    for number, path in enumerate(tmp_path.glob("*.npy")):
        path.write_bytes(path.read_bytes()[:-3] if number else b"")
    again = taught_trees(recipe, *parts(texts), texts, cache=AnswerCache(tmp_path, at_once=5))
    pairs = zip(flat(whole), flat(again), strict=True)
    assert all(np.array_equal(one.soft, other.soft) for (_, one), (_, other) in pairs)


def test_digests_name_the_teachers_files(texts):
    plain = data_digests(tiny_recipe.recipe(), texts)
    found = data_digests(recipe_of(ENDED, TEXTS, teacher={"parser": "sentiment"}), texts)
    assert set(found) - set(plain) == {"texts.txt", "end.txt", "the teacher sentiment"}


# -- the loss


def taught(data, **settings):
    recipe = recipe_of(EXCHANGED, ENDED, **settings)
    return recipe, load_datasets(recipe, data)


def test_the_loss_against_a_number_by_hand():
    """Two trees: of three nodes, one without a label, and of one node."""
    soft = np.array([[1.0, 0.0], [0, 0], [0.25, 0.75], [0.5, 0.5]], np.float32)
    logits = torch.tensor([[0.0, 0.0], [5.0, 1.0], [1.0, 0.0], [0.0, 2.0]])
    counts, whole = np.array([3, 1]), np.array([2, 3])
    none = np.zeros(0, np.int64)
    batch = Minibatch(None, np.full(4, -1), none, none, 2, counts, whole, soft, none)
    head = NodeClassifier(hidden_size=2, classes=2)
    first = np.log(2)
    second = 0.25 * np.log(1 + np.exp(-1)) + 0.75 * np.log(1 + np.exp(1))
    third = 0.5 * np.log(1 + np.exp(2)) + 0.5 * np.log(1 + np.exp(-2))
    loss, cases = task_loss(head, logits, batch, 0.0)
    assert (float(loss), cases) == (pytest.approx(first + second + third, rel=1e-6), 3)
    # A root counts 0.1 times the labelled nodes of its tree more.
    loss, cases = task_loss(head, logits, batch, 0.1)
    expected = first + 1.2 * second + 1.1 * third
    assert (float(loss), cases) == (pytest.approx(expected, rel=1e-6), 3)
    assert batch.soft is soft
    assert soft[2].tolist() == [0.25, 0.75]
    # Of classes alone.
    hard = batch._replace(targets=np.array([0, -1, 1, 0]), soft=None)
    assert soft_labels(hard, 2, 0.5).tolist() == [[1, 0], [0, 0], [0, 2], [1.5, 0]]
    plain, _ = task_loss(head, logits, hard, 0.0)
    weighted, _ = task_loss(head, logits, hard, 1e-9)
    assert float(plain) == pytest.approx(float(weighted), rel=1e-6)


# -- parsers, and going on


@pytest.mark.parametrize("kind", ["distances", "tracker"])
def test_a_parser_learns_from_the_treebank_alone(texts, kind):
    """The loss of a parser over a minibatch is that over its trees of the treebank."""
    part = {"parser": PARSER}
    if kind == "tracker":
        part = {"encoder": {"tracker": {"size": 3, "feeds": False}}}
    recipe, datasets = taught(texts, model=part, sources=("self",))
    model = fresh(recipe, datasets).eval()
    mixed = [*datasets.train[20:24], *datasets.train[:4], *datasets.train[30:34]]

    found, expected = parser_loss(model, mixed), parser_loss(model, datasets.train[:4])
    assert found.loss.item() == pytest.approx(expected.loss.item(), rel=1e-5)
    assert found.cases == expected.cases > 0
    batch = minibatch(mixed[:4], ["gold"] * 4, model.oracle)
    assert not (batch.right >= 0).any()


def test_sentences_of_a_lesson_are_read_in_one_of_so_many_epochs(texts, tmp_path, monkeypatch):
    lines = [f"The film has {count} dogs." for count in ("two", "six", "ten", "no", "more")]
    (texts / "texts.txt").write_text("\n".join(lines), encoding="utf-8")
    recipe = recipe_of({**TEXTS, "every": 2}, epochs=4, stop_on="nothing")
    read = defaultdict(list)

    def watch(examples, *settings):
        read[len(epochs) + 1].extend(map(id, examples))
        return minibatch(examples, *settings)

    monkeypatch.setattr(loop, "minibatch", watch)
    datasets, epochs = load_datasets(recipe, texts), []
    train_seed(recipe, datasets, 1, tmp_path, on_epoch=epochs.append)
    treebank, drawn = map(set, (map(id, datasets.train[:12]), map(id, datasets.train[12:])))
    parts = {epoch: {*ids} & drawn for epoch, ids in read.items()}
    assert all({*ids} >= treebank and len(ids) == len({*ids}) for ids in read.values())
    assert sorted(map(len, parts.values())) == [2, 2, 3, 3]
    assert len(drawn) == 5
    assert parts[1] == parts[3]
    assert parts[2] == parts[4] == drawn - parts[1]


def test_lessons_that_are_drawn_and_further_epochs_of_a_parser_know_such_sentences(texts):
    lines = [f"The film has {count} dogs." for count in ("two", "six", "ten", "no")]
    (texts / "texts.txt").write_text("\n".join(lines), encoding="utf-8")
    lessons = {**TEXTS, "every": 2, "for_parser": True}, {**ENDED, "every": 2}, ALONE
    settings = {"model": {"parser": PARSER}, "sources": ("self",), "parser_epochs": 2}
    recipe = recipe_of(*lessons, **settings)
    datasets = load_datasets(recipe, texts)
    assert len(datasets.train) == 12 + 4 + 12  # the sentences of ENDED are not for the parser
    assert len(datasets.treebank.trees) == 12
    totals = []
    model = fresh(recipe, datasets)
    fit_parser(model, datasets.train, recipe.training, 1, lambda *c: totals.append(c[2]))
    assert set(totals) == {14}


# -- what is said of it


def test_own_words_are_those_of_the_training_file(texts):
    """In all trees of several words; other nodes, and other words, have the teacher's labels."""
    plain = taught_trees(recipe_of(EXCHANGED, TEXTS), *parts(texts), texts)
    recipe = recipe_of(EXCHANGED, TEXTS, teacher={"own_words": True})
    known = defaultdict(list)
    for one in plain[0].trees:
        spans, labels = one.tree.spans.tolist(), one.labels.tolist()
        for (start, end), label in zip(spans, labels, strict=True):
            if len(labels) > 1 and end == start + 1:
                known[one.tree.words[start]].append(label)
    seen = Counter()
    given = flat(taught_trees(recipe, *parts(texts), texts))
    for (_, before), (source, after) in zip(flat(plain), given, strict=True):
        tree, soft = after.tree, after.soft
        for node, (start, end) in enumerate(tree.spans.tolist()):
            word = len(tree) > 1 and end == start + 1
            if own := known.get(tree.words[start]) if word else None:
                np.testing.assert_allclose(soft[node], np.eye(5)[own].mean(0), atol=1e-3)
            else:
                np.testing.assert_array_equal(soft[node], before.soft[node])
            seen[source, own is not None] += 1
    assert min(seen[source, own] for source in ("trees", "exchanged", "texts") for own in (0, 1))


# -- what is refused

LSTM_HEAD = {"head": {"name": "root_classifier.v1"}}
ROOTS = {"model": LSTM_HEAD, "root_weight": 0.1}
WEIGHED = {"model": LSTM_HEAD, "lessons": [{"name": "alone.v1", "weight": 0.5}]}
SOFT = r"model\.head: .*{}.*root_classifier\.v1"
MODEL = {"model": tiny_recipe.recipe().model}
THREE_CLASSES = Recipe.parse(recipe_of().model_dump() | MODEL, source="test")


@pytest.mark.parametrize(
    ("lessons", "settings", "named"),
    [
        ([], {"teacher": {"bundles": []}}, "teacher.bundles"),
        ([], {"teacher": {"alpha": 1.5}}, "teacher.alpha"),
        ([TEXTS | {"weight": 0}], {}, "weight"),
        ([TEXTS | {"texts": ["dev.txt"]}], {}, "'dev.txt'"),
        ([TEXTS | {"texts": ["train.txt"]}], {}, "'train.txt'"),
        ([], {"data": {"task": "sentences"}}, "teacher, lessons: "),
        ([], {"sources": (), "model": {"trees": "sequence"}}, "'sequence'"),
    ],
)
def test_recipes_that_are_refused(lessons, settings, named):
    with pytest.raises(ConfigError, match=re.escape(named)):
        recipe_of(*lessons, **settings)


@pytest.mark.parametrize(
    ("recipe", "error", "named"),
    [
        (recipe_of(model=LSTM_HEAD), ConfigError, SOFT.format("a teacher")),
        (tiny_recipe.recipe(**ROOTS), ConfigError, SOFT.format("root_weight")),
        (tiny_recipe.recipe(**WEIGHED), ConfigError, SOFT.format("lesson weights")),
        (recipe_of(teacher={"bundles": ["nobody"]}), UnknownNameError, "nobody"),
        (recipe_of(TEXTS | {"texts": ["gone.txt"]}), DataError, r"gone\.txt"),
        (THREE_CLASSES, ConfigError, "so-so"),
    ],
)
def test_what_cannot_teach_and_heads_without_soft_labels(texts, recipe, error, named):
    with pytest.raises(error, match=named):
        load_datasets(recipe, texts)


@pytest.mark.parametrize("lacks", ["teacher.parser", "teacher.bundles"])
def test_bundles_that_lack_a_parser_or_scores_of_phrases(monkeypatch, lacks):
    start, teacher = Predictor._start, recipe_of().teacher

    def without(self):
        start(self)
        if lacks == "teacher.bundles":
            self.phrases = False
        self.config = self.config.model_copy(update={"parser": None})

    monkeypatch.setattr(Predictor, "_start", without)
    with pytest.raises(ConfigError, match=rf"{re.escape(lacks)}: .*sentiment"):
        Teacher(teacher, FIVE, AnswerCache()).parse([["a"]])
