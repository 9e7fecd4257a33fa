"""Texts of several sentences in training: what of them is read by itself, and what is learnt."""

import numpy as np
import own_lessons
import pytest
import tiny_recipe
import torch
from own_lessons import labelled
from runs import fresh, parser_loss, run
from test_parser_training import PARSER

import thinstack
from thinstack.core.transitions import balanced, over
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.examples.example import minibatch
from thinstack.training.loop.measuring import own_trees, take_own_trees
from thinstack.training.loop.teacher import AnswerCache, Teacher
from thinstack.training.loop.teaching import Taught, taught_examples
from thinstack.training.recipe import TeacherConfig

ASKED = {"name": "asked.v1"}
SENTENCES = [*map(labelled, own_lessons.SENTENCES)]
TEXT = LabelledTree.text(SENTENCES, 1)

pytestmark = pytest.mark.usefixtures("with_own_lessons")


def recipe_of(*lessons, parser=True, **settings):
    tracker = {"encoder": {"tracker": {"size": 3, "feeds": False}}}
    model = {"parser": PARSER, "aggregation": "tree"} if parser else tracker
    model = {"labels": [*"01234"], **model}
    return tiny_recipe.recipe(model=model, lessons=lessons, **settings)


@pytest.fixture
def data(tmp_path):
    return tiny_recipe.write_data(tmp_path / "data", train=12)


def examples_of(recipe, datasets, *trees):
    return taught_examples([Taught(None, trees)], datasets.vocabulary, recipe.model, "nodes")


def loaded(data, **settings):
    recipe = recipe_of(**settings)
    datasets = load_datasets(recipe, data)
    model = fresh(recipe, datasets).double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.uniform_(-0.9, 0.9)
    return recipe, datasets, model


def test_a_parser_learns_no_joints(data):
    """Its loss over a text is the sum of those over the sentences, alone."""
    recipe, datasets, model = loaded(data)

    def loss(*trees):
        found = parser_loss(model, examples_of(recipe, datasets, *trees))
        return found.loss.item(), found.right, found.cases

    found, expected = loss(TEXT, SENTENCES[0]), loss(*SENTENCES, SENTENCES[0])
    assert found == (pytest.approx(expected[0], abs=1e-12), *expected[1:])
    assert expected[2] == 3 + 0 + 3 + 3


def test_own_trees_of_a_text_are_those_of_its_sentences(data):
    recipe, datasets, model = loaded(data)
    text, *alone = examples_of(recipe, datasets, TEXT, *SENTENCES)
    trees = own_trees(model, [text, *alone])
    assert trees[0].tolist() == over(balanced(3), trees[1:]).tolist()
    take_own_trees(model, [text])
    own = text.trees["self"]
    assert own.targets[-1] == 1
    batch = minibatch([text, *alone], ["self", *["gold"] * 3], model.oracle)
    assert batch.trees.tolist() == [1, 1, 1, 1]
    model(model.inputs(batch.forest))


def test_texts_of_a_lesson_keep_their_sentences(data):
    recipe = recipe_of(ASKED, epochs=1, sources=("self",), parser_epochs=1)
    datasets = load_datasets(recipe, data)
    text, *_ = recipe.lessons[0].trees(datasets.treebank, np.random.default_rng(0))
    (example,) = examples_of(recipe, datasets, text)
    assert example.gold.forest.breaks.tolist() == [1, 2, 0]  # ((first second) third)
    _, history = run(recipe, data, data.parent / "run")
    assert np.isfinite(history[0]["parsing_loss"])


def test_a_teacher_reads_each_sentence_by_itself():
    labels = tuple(thinstack.load("sentiment").labels)
    teacher = Teacher(TeacherConfig(bundles=("sentiment",), alpha=0.25), labels, AnswerCache())
    text, *alone = teacher.soft_labels([TEXT, *SENTENCES], "test")
    expected = LabelledTree.text(
        [one._replace(soft=soft) for one, soft in zip(SENTENCES, alone, strict=True)], 1
    )
    np.testing.assert_allclose(text, expected.soft, atol=2e-3)
    assert text[-1].tolist() == [0, 1, 0, 0, 0]
