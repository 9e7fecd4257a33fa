"""Lessons: what each draws, and what recipes say of them."""

from collections import Counter
from importlib.metadata import EntryPoint
from itertools import pairwise

import numpy as np
import pytest
import tiny_recipe
import tomli_w
from own_lessons import labelled, treebank
from pages import blocks
from runs import run, same

from thinstack.core import Tree
from thinstack.core.transitions import validate
from thinstack.data.trees.brackets import from_brackets
from thinstack.data.trees.subtrees import LabelledTree, subtree
from thinstack.errors import ConfigError, DataError
from thinstack.plugins.manager import PluginManager
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.lesson import Treebank
from thinstack.training.lessons.alone import LONGEST, MIDDLE_KEPT, SHORTEST, Alone
from thinstack.training.lessons.exchanged import Exchanged
from thinstack.training.lessons.texts import read_plain_texts
from thinstack.training.loop.teaching import drawn_trees
from thinstack.training.recipe import Recipe

# -- alone


def chain(length, label):
    """A sentence whose phrases, all of one class, have 1 to `length` words."""
    text = f"({label} a)"
    for _ in range(length - 1):
        text = f"({label} {text} ({label} a))"
    return text


def alone(given, share):
    return Alone(share=share).trees(given, np.random.default_rng(0))


def test_phrases_are_drawn_of_some_lengths_and_the_middle_class_seldom():
    drawn = alone(treebank(chain(30, 0), chain(30, 1), "(2 (2 a) (2 b))"), 600.0)
    assert {len(one.tree.words) for one in drawn} == set(range(SHORTEST, LONGEST + 1))
    labels = Counter(int(one.labels[-1]) for one in drawn)
    # A third of 1,800 draws is of each sentence; that of two words has no phrase that fits.
    assert labels.keys() == {0, 1}
    assert 500 < labels[0] < 700
    assert 500 < labels[1] < 700


@pytest.mark.parametrize(("classes", "share"), [(3, MIDDLE_KEPT), (4, 1.0), (5, 1.0)])
def test_the_middle_class_is_left_out_by_a_share(classes, share):
    given = treebank("(2 (1 (1 a) (1 (1 b) (1 c))) (2 d))", classes=classes)
    assert len(alone(given, 2000.0)) / 2000 == pytest.approx(share, abs=0.05)


# -- labels that follow phrases


def test_unlabelled_phrases_are_not_drawn():
    given = treebank(chain(8, 2))
    given.trees[0].labels[:-1] = -1
    assert alone(given, 50.0) == []


def test_a_phrase_has_the_labels_of_its_brackets():
    new, old = "(0 (1 (1 its) (1 dull)) (0 good))", "(0 (1 (1 a) (2 bad)) (0 film))"
    text = f"(2 (1 not) (2 {old} (1 s)))"
    soft = np.arange(27, dtype=np.float16).reshape(9, 3)
    whole, part = labelled(text)._replace(soft=soft), labelled(new)
    phrase, changed = whole.phrase(5), whole.replaced(5, part._replace(soft=-soft[:5]))
    for found, expected in ((phrase, labelled(old)), (changed, labelled(text.replace(old, new)))):
        assert found.tree.words == expected.tree.words
        assert found.tree.transitions.tolist() == expected.tree.transitions.tolist()
        assert found.labels.tolist() == expected.labels.tolist()
    assert phrase.soft.tolist() == soft[1:6].tolist()
    assert changed.soft[:, 0].tolist() == [0, 0, -3, -6, -9, -12, 18, 21, 24]


# -- exchanged

TREES = [from_brackets(line) for line in tiny_recipe.treebank(40, seed=7).splitlines()]


def exchanged(trees, share, seed=1):
    given = Treebank([LabelledTree.unlabelled(tree) for tree in trees], 3)
    return [one.tree for one in Exchanged(share=share).trees(given, np.random.default_rng(seed))]


def phrases(tree):
    each = (subtree(tree, node) for node in range(len(tree)))
    return [(one.words, tuple(one.transitions.tolist())) for one in each]


def named(tree, number):
    """The tree with words that tell where they come from."""
    words = [f"{number}.{place}" for place in range(len(tree.words))]
    return Tree.from_transitions(tree.transitions, words, tree.labels)


def test_exchanged_trees_differ_by_phrases_of_others():
    trees = [named(tree, number) for number, tree in enumerate(TREES)]
    known = {phrase for tree in trees for phrase in phrases(tree)}
    made = exchanged(trees, 2.5)
    assert len(made) == 100
    foreign = 0
    for place, tree in enumerate(made):
        validate(tree.transitions, words=len(tree.words))
        assert set(tree.labels) == {None}
        old = trees[place % 40]
        # A tree of up to 6 words has one exchange, of as many words or of one more or less.
        assert abs(len(tree.words) - len(old.words)) <= (len(old.words) > 1)
        foreign += any(word.split(".")[0] != tree.words[0].split(".")[0] for word in tree.words)
        for words, steps in phrases(tree):  # of one sentence alone: one of its phrases
            assert len({word.split(".")[0] for word in words}) > 1 or (words, steps) in known
    assert foreign > 50
    assert made == exchanged(trees, 2.5) != exchanged(trees, 2.5, seed=2)


def test_a_long_sentence_has_up_to_three_exchanges_and_a_word_none():
    long = named(Tree.right(["x"] * 40), 0)
    shorts = [named(Tree.right(["x"] * 9), number) for number in range(1, 9)]
    made = [exchanged([long, *shorts], 1 / 9, seed)[0] for seed in range(20)]
    runs = [[word.split(".")[0] for word in tree.words] for tree in made]
    ends = [sum(one != other for one, other in pairwise(run)) for run in runs]
    assert 2 < max(ends) <= 2 * 3
    (word,) = exchanged([Tree.right(["good"])], 1.0)
    assert word.words == ("good",)


# -- texts

CONLLU = """# sent_id = 1
# text = It isn't bad.
1\tIt\t_\t_\t_\t_\t0\troot\t_\t_

# text = Gone
1\tGone\t_\t_\t_\t_\t0\troot\t_\t_
"""


def test_lines_are_cut_into_sentences_of_words(tmp_path):
    text, conllu = tmp_path / "a.txt", tmp_path / "b.conllu"
    text.write_text("It works. I can't complain!\n\nit works.\nOne two three four five six.\n")
    conllu.write_text(CONLLU)
    found = read_plain_texts([text, conllu], 6)
    assert found == [
        ("It", "works", "."),
        ("I", "ca", "n't", "complain", "!"),
        ("It", "is", "n't", "bad", "."),
    ]
    kept_back = [("IT", "works", "."), ["it", "is", "n't", "bad", "."]]
    assert read_plain_texts([text, conllu], 6, kept_back) == found[1:2]
    assert len(read_plain_texts([text, conllu], 7)) == 4


@pytest.mark.parametrize("name", ["empty.txt", "gone.txt", "blank.txt", "no.conllu"])
def test_files_without_sentences(tmp_path, name):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "blank.txt").write_text("\n \n")
    (tmp_path / "no.conllu").write_text("1\tGone\t_\t_\t_\t_\t0\troot\t_\t_\n")
    with pytest.raises(DataError, match=name):
        read_plain_texts([tmp_path / name], 30)


# -- in recipes


@pytest.mark.parametrize(
    ("lesson", "settings", "named"),
    [
        ({"name": "alone.v1", "share": -1}, {}, ["lessons.0.share"]),
        ({"name": "alone.v1", "odd": 1}, {}, ["lessons.0", "odd"]),
        ({"share": 1}, {}, ["lessons.0", "name", "alone.v1"]),
        ({"name": "nobody.v1"}, {}, ["lessons.0", "'nobody.v1'", "known: alone.v1"]),
        ({"name": "alone.v1"}, {"gold": False}, ["alone.v1", "training.gold"]),
        ({"name": "alone.v1"}, {"data": {"task": "sentences"}}, ["lessons", "sentences.v1"]),
        ({"name": "alone.v1"}, {"sources": (), "model": {"trees": "sequence"}}, ["'sequence'"]),
        ({"name": "exchanged.v1"}, {}, ["exchanged.v1", "[teacher]"]),
    ],
)
def test_lessons_that_are_refused(lesson, settings, named):
    with pytest.raises(ConfigError) as raised:
        tiny_recipe.recipe(lessons=[lesson], **settings)
    assert all(name in str(raised.value) for name in named)


def test_the_lesson_of_the_guide_teaches(data, tmp_path, monkeypatch):
    """Another package's lesson, with labels of its own and a weight, and no teacher."""
    (block,) = (each for each in blocks("docs/teaching.md", "python") if "class Both" in each)
    (tmp_path / "own_lesson.py").write_text(block, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("both", "own_lesson:Both", "thinstack")
    plugins = PluginManager(entry_points=[point])
    monkeypatch.setattr("thinstack.plugins.named.manager", lambda: plugins)
    lesson = {"name": "both.v1", "share": 0.5, "weight": 0.25}
    recipe = tiny_recipe.recipe(lessons=[lesson], epochs=2)
    datasets = load_datasets(recipe, data)
    (drawn,) = drawn_trees(recipe, datasets.treebank, np.random.default_rng(0))
    assert (drawn.source, len(drawn.trees), drawn.lesson.teaches_parser) == ("both", 15, False)
    for tree, labels, soft, *_ in drawn.trees:
        place = tree.words.index("and")
        first, second = int(tree.children[tree.root][0]), int(tree.children[tree.root][1])
        assert tree.spans[first].tolist() == [0, place]
        assert labels[-1] == labels[first] == labels[int(tree.children[second][1])] >= 0
        assert soft[-1].tolist() == [0.25 * (label == labels[-1]) for label in range(3)]
        assert soft.sum() == 0.25 * (labels >= 0).sum()
    (weights, history), again = (run(recipe, data, tmp_path / name) for name in "ab")
    assert same((weights, history), again)
    assert not same((weights, history), run(tiny_recipe.recipe(epochs=2), data, tmp_path / "c"))


def test_files_of_lessons_are_also_looked_for_beside_the_recipe(tmp_path):
    here, there = tmp_path / "data", tmp_path / "recipes"
    for folder in (here, there):
        folder.mkdir()
    text = tomli_w.dumps(tiny_recipe.recipe().model_dump(exclude_none=True))
    (there / "tiny.toml").write_text(text, encoding="utf-8")
    folders = Recipe.read(there / "tiny.toml").folders(here)
    assert folders == (here, there)
    for folder in (there, here):
        (folder / "texts.txt").touch()
        assert Exchanged().path("texts.txt", folders) == folder / "texts.txt"
    with pytest.raises(DataError, match=r"exchanged\.v1.*gone\.txt"):
        Exchanged().path("gone.txt", folders)
