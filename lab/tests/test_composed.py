"""The lesson `composed.v1`: trees of templates, labels by rules, and templates that are refused."""

import json
import re
from collections import Counter, defaultdict
from copy import copy
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import tiny_recipe
from own_lessons import labelled, treebank
from pages import blocks

from thinstack.core import Tree
from thinstack.data.trees.brackets import to_brackets
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.errors import ConfigError
from thinstack.text.sentences import splitter
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.lesson import Treebank
from thinstack_lab.lessons.composed import Composed, words_of_treebank
from thinstack_lab.lessons.composer import Composer
from thinstack_lab.lessons.composition import FromTreebank, read_composition

RECIPES = Path(__file__).parents[1] / "recipes"
GRAMMARS = [RECIPES / name for name in Composed().grammars]
ENGLISH = read_composition(GRAMMARS)

FEW = {
    "thing": {"one": ["the room"], "many": ["the rooms"]},
    "noun": ["hotel"],
    "plain": ["local"],
    "other_thing": ["the old one"],
    "adj": {"+": ["good"], "--": ["awful"]},
    "adj_mild": {"+": ["nice"], "-": ["dull"]},
    "like": {"+": ["like"], "--": ["hate"]},
    "likes": {"one": {"+": ["likes"], "--": ["hates"]}, "many": {"+": ["like"], "--": ["hate"]}},
    "then": ["once"],
    "now": ["now"],
    "aside": ["I suppose"],
    "others": {"one": ["my sister"], "many": ["the critics"]},
    "is": {"one": ["is"], "many": ["are"]},
    "be": {"one": ["is"], "many": ["are"]},
    "very": ["very"],
    "yes": {"none": ["yes"]},
    "no": {"none": ["no"]},
    "not_so": {"none": ["it was~not"]},
    "comparative": {"+": ["better"], "-": ["worse"]},
    "short_fact": ["we left"],
    "machine": ["the kettle"],
    "machine_doing": {"+": ["working"], "-": ["leaking"]},
    "served": {"+": ["fresh air"], "-": ["wet feet"]},
    "first_name": ["Raj"],
    "place": ["Oslo"],
    "link": ["www.example.com"],
    "handle": ["@ada"],
    "what": ["blue"],
    "neutral_noun": ["hat"],
}
"""Words in place of those of the lists, so that few sentences are possible."""

EXPECTED = {
    "statement": "(3 (2 (2 The) (2 room)) (3 (3 (2 is) (3 good)) (2 .)))",
    "degree": "(4 (2 (2 The) (2 room)) (4 (4 (2 is) (4 (2 very) (3 nice))) (2 .)))",
    "negation": "(1 (2 (2 The) (2 room)) (1 (1 (? (2 is) (? not)) (3 good)) (2 .)))",
    "negative_words": "(1 (2 (2 The) (2 room)) (1 (1 (? never) (3 (? comes) (? alive))) (2 .)))",
    "scope": "(3 (2 It) (3 (3 (? (2 is) (? n't)) (0 (2 (2 (2 (2 true) (2 ,)) (2 (2 I) "
    "(2 suppose))) (2 ,)) (0 (2 that) (0 (2 (2 the) (2 rooms)) (0 (2 are) (0 awful)))))) (2 .)))",
    "belief": "(1 (2 I) (1 (1 (? (2 do) (? not)) (3 (? doubt) (0 (2 that) (0 (2 we) (0 (2 found) "
    "(0 (2 (2 the) (2 room)) (0 awful))))))) (2 .)))",
    "expectation": "(3 (2 (2 We) (2 (2 (2 expected) (0 (2 an) (0 (0 awful) (2 hotel)))) (2 .))) "
    "(? (? It) (? (? (? was) (? not)) (2 .))))",
    "time": "(3 (2 I) (3 (3 (3 (3 (3 like) (2 (2 the) (2 room))) (2 ,)) (2 "
    "(2 while) (2 (2 I) (2 (2 used) (0 (2 to) (0 (0 hate) (2 it))))))) (2 .)))",
    "others": "(1 (1 (3 (3 (3 (2 (2 My) (2 sister)) (3 (2 may) (3 (3 like) (2 it)))) (2 ,)) "
    "(2 but)) (0 (2 I) (0 (0 hate) (2 it)))) (2 .))",
    "question": "(1 (2 (2 (2 (2 Was) (2 (2 the) (2 room))) (3 good)) (2 ?)) (? (? No) (2 .)))",
    "wish": "(4 (2 (2 The) (2 room)) (4 (4 (? (2 could) (? not)) (3 (2 be) (3 better))) (2 .)))",
    "comparison": "(1 (2 (2 The) (2 (2 old) (2 one))) (1 (1 (2 is) (3 (3 better) (2 (2 than) "
    "(2 (2 the) (2 room))))) (2 .)))",
    "concession": "(3 (2 (2 The) (2 room)) (3 (3 (2 is) (3 (0 (0 awful) (2 but)) (3 good))) "
    "(2 .)))",
    "spelling": "(3 (2 (2 The) (2 room)) (3 (3 (? (2 is) (? n't)) (0 awfull)) (2 .)))",
    "facts": "(2 (2 It) (2 (2 (2 is) (2 (2 a) (2 (2 local) (2 hotel)))) (2 .)))",
    "everyday": "(1 (? Cheap) (? (? plastic) (2 .)))",
    "again": "(1 (2 I) (1 (1 (? (2 will) (? never)) (3 (? go) (? back))) (2 .)))",
    "events": "(1 (2 (2 The) (2 kettle)) (1 (1 (? (2 could) (? not)) (3 (? work) (? (? like) "
    "(? new)))) (2 .)))",
    "denied_events": "(3 (2 (2 The) (2 kettle)) (3 (3 (2 soon) (3 (? stopped) (1 leaking))) "
    "(2 .)))",
    "word_senses": "(1 (2 We) (1 (1 (2 had) (1 (? no) (3 (? fresh) (? air)))) (2 .)))",
    "idioms": "(1 (2 (2 The) (2 menu)) (1 (1 (? (2 did) (? not)) (3 (? help) (? (? at) "
    "(? all)))) (2 .)))",
    "extremes": "(4 (2 There) (4 (4 (? (2 could) (? not)) (3 (2 be) (3 (2 a) (3 (3 better) "
    "(2 hotel))))) (2 .)))",
    "reports": "(2 (2 (2 The) (2 blurb)) (2 (2 (2 says) (2 (2 that) (2 (2 (2 the) (2 score)) "
    "(2 (2 (2 was) (2 written)) (2 (2 by) (2 (2 the) (2 director))))))) (2 .)))",
    "balance": "(2 (2 (3 (3 (? Fresh) (? air)) (2 and)) (1 (? wet) (? feet))) (2 .))",
    "ratings": "(2 (2 (2 3) (2 stars)) (2 .))",
    "emoji": "(1 (2 (2 The) (2 room)) (1 (1 \N{THUMBS DOWN SIGN}) (2 .)))",
    "scales": "(1 (2 It) (1 (2 is) (1 (? (? worse) (? than)) (? nothing))))",
    "scores": "(1 (2 (2 The) (2 room)) (1 (1 (2 gets) (1 (? 45) (? (? out) (? (? of) (? "
    "100))))) (2 .)))",
    "irony": "(1 (2 The) (1 (1 (2 ``) (3 (3 good) (2 ''))) (2 hotel)))",
    "slang": "(1 (1 (? Went) (? downhill)) (2 .))",
    "own_view": "(3 (2 Twitter) (3 (3 (? (? bought) (? ten)) (? (? of) (? them))) (2 .)))",
    "daily": "(1 (2 We) (1 (1 (2 (2 had) (2 to)) (2 (2 complain) (2 (2 five) (2 times)))) (2 .)))",
    "plain_questions": "(2 (2 (2 (2 Is) (2 it)) (2 (2 blue) (2 ?))) (2 (2 No) (2 .)))",
    "plain_negations": "(2 (2 (2 I) (2 (2 expected) (2 (2 it) (2 (2 to) (2 (2 be) (2 (2 blue) (2 "
    ".))))))) (2 (2 It) (? (? (2 was) (? not)) (2 .))))",
    "plain_facts": "(2 (2 Raj) (2 (2 is) (2 (2 from) (2 Oslo))))",
    "named_opinions": "(3 (2 (2 (2 The) (2 hotel)) (2 (2 in) (2 Oslo))) (3 (2 is) (3 good)))",
    "words_alone": "(2 Hat)",
    "people": "(3 (2 (2 (2 The) (2 story)) (2 (2 of) (2 (2 our) (2 (2 Muslim) (2 singer))))) "
    "(3 (3 (2 is) (3 good)) (2 .)))",
}
"""A tree of each family, "?" where the class is unknown."""


def in_brackets(each):
    """The labels are those that are written, not those of the treebank."""
    tree, labels = each.tree, each.labels
    names = ["?" if label < 0 else str(label) for label in labels.tolist()]
    return to_brackets(Tree.from_transitions(tree.transitions, tree.words, names))


@cache
def composer(*, few=False, **settings):
    """One for all tests: to make it takes half a second, and a draw changes nothing in it."""
    lists = ENGLISH.lists | FEW if few else ENGLISH.lists
    known = ENGLISH.model_copy(update={"lists": lists, "ends": (".",) if few else ENGLISH.ends})
    return Composer(known, **settings)


def of_family(family, **settings):
    """The composer, which draws from one family."""
    one = copy(composer(**settings))
    one._weights = [float(name == family) for name in ENGLISH.families]
    return one


@pytest.mark.parametrize("family", ENGLISH.families)
def test_a_tree_of_each_family(family):
    few, expected = of_family(family, few=True), EXPECTED[family]
    drawn = (each for seed in range(40) for each in few.draw(300, seed=seed))
    assert any(in_brackets(each.tree) == expected for each in drawn)


def test_a_sentence_has_one_class_and_its_labels_are_probabilities():
    classes = defaultdict(set)
    for each in composer().draw(5000, seed=3):
        tree, labels, soft = each.tree[:3]
        assert len(tree) == len(labels) == len(soft)
        assert (labels >= 0).tolist() == (soft.astype(float).sum(1) > 0.99).tolist()
        assert not soft[labels < 0].any()
        assert labels[-1] == soft[-1].argmax()
        classes[" ".join(tree.words)].add(int(labels[-1] - 2 > 0) - int(labels[-1] - 2 < 0))
    assert len(classes) > 4500
    assert all(len(sides) == 1 for sides in classes.values())


CONSONANTS = ("one", "euro", "use")
"""How words begin that have a vowel for a letter, but not for a sound."""


def test_texts_are_read_as_they_are_composed():
    drawn = composer().draw(3000, seed=5) + composer(held_out=True).draw(1000, seed=5)
    texts = (" ".join(each.tree.tree.words).replace("\\/", "/") for each in drawn)
    joined = (re.sub(r" (n't|'d|'ll|'s|'m|[.,!?;:]+)(?= |$)", r"\1", text) for text in texts)
    for each, read in zip(drawn, splitter()(joined), strict=True):
        assert [tuple(one.words) for one in read] == [one.tree.words for one in each.sentences]
        words = [word for one in each.sentences for word in one.tree.words]
        assert list(each.tree.tree.words) == words
        for article, word in pairwise(words):
            if article.lower() in ("a", "an"):
                vowel = word[0] in "aeiouAEIO" and not word.lower().startswith(CONSONANTS)
                vowel = vowel or word == "hour"
                assert vowel == (len(article) == 2), (article, word)
        first = each.sentences[0].labels.tolist()
        assert each.tree.labels.tolist()[: len(first)] == first


def test_draws_follow_their_seed_and_the_weights_of_families():
    """Of any composer, whatever it drew before."""

    def texts(drawn):
        return [each.tree.tree.words for each in drawn]

    alone = Composer(ENGLISH, weights={"negation": 1.0}).draw(50, seed=1)
    assert {each.family for each in alone} == {"negation"}
    assert texts(of_family("negation").draw(50, seed=2)) != texts(alone)
    assert texts(of_family("negation").draw(50, seed=1)) == texts(alone)
    assert texts(composer().draw(50, seed=1)) == texts(composer().draw(50, seed=1)) != texts(alone)


def test_a_tenth_of_the_frames_of_each_family_is_held_out():
    for name, family in ENGLISH.families.items():
        total = len(family.frames) + len(family.held_out)
        assert 1 <= len(family.held_out) <= max(3, round(0.2 * total)), name
        assert not {*family.frames} & {*family.held_out}
    shown = {each.frame for each in composer().draw(3000, seed=1)}
    kept = {each.frame for each in composer(held_out=True).draw(3000, seed=1)}
    assert kept == {frame for family in ENGLISH.families.values() for frame in family.held_out}
    assert not shown & kept


def test_groups_of_people_are_equal():
    """Copies differ in groups alone and have the same labels; each group is shown equally often."""
    drawn = of_family("people").draw(15_000, seed=1)
    family = ENGLISH.families["people"]
    for place in range(0, 15_000, family.copies):
        copies = drawn[place : place + family.copies]
        assert len({each.frame for each in copies}) == 1
        assert len({each.tree.soft[-1].tobytes() for each in copies}) == 1
        assert len({each.tree.tree.words for each in copies}) > 1
    known = {faith.lower() for faith in ENGLISH.lists["faith"]}
    words = (word.lower() for each in drawn for word in each.tree.tree.words)
    faiths = Counter(word for word in words if word in known)
    assert faiths.keys() == known
    assert max(faiths.values()) - min(faiths.values()) <= 2


def test_texts_without_a_mark_keep_their_labels():
    """The share of them is that of the family, and a word alone is a tree of one node."""
    drawn = of_family("words_alone").draw(2000, seed=1)
    bare = [each for each in drawn if each.tree.tree.words[-1] not in (".", "!")]
    assert 0.86 < len(bare) / len(drawn) < 0.94
    single = [each.tree for each in bare if len(each.tree.tree) == 1]
    assert {int(tree.labels[0]) for tree in single} >= {0, 1, 2, 3, 4}
    for each in drawn:
        assert len(each.tree.tree) == len(each.tree.labels) == 2 * len(each.tree.tree.words) - 1


@pytest.mark.parametrize(("classes", "expected"), [(2, [0, 1]), (3, [0, 2])])
def test_fewer_classes(classes, expected):
    drawn = of_family("negation", few=True, classes=classes).draw(300, seed=1)
    sides = defaultdict(set)
    for each in drawn:
        assert each.tree.soft.shape == (len(each.tree.labels), classes)
        sides[" ".join(each.tree.tree.words)].add(int(each.tree.labels[-1]))
    assert [sides["Not good ."], sides["Not awful ."]] == [{expected[0]}, {expected[1]}]


def test_words_of_a_treebank_join_a_list():
    trees = [
        "(3 (2 it) (3 (2 so) (4 neat)))",
        "(1 (2 it) (1 (2 so) (1 drab)))",
        "(1 (2 it) (1 (2 so) (1 drab)))",
        "(2 (2 it) (2 (2 so) (2 square)))",
        "(1 (2 so) (1 (1 grim) (2 here)))",
        "(1 (2 so) (1 gone))",
        "(1 (2 so) (1 slowly))",
    ]
    more = [LabelledTree.unlabelled(labelled(trees[0]).tree)] * 9  # as of a lesson
    known = treebank(*trees, classes=5)
    known = replace(known, trees=[*more, *known.trees])
    wanted = FromTreebank(after={"so"}, left_out={"gone"}, not_like="ly$")
    assert words_of_treebank(known, wanted) == {"neat": "++", "drab": "-"}
    assert words_of_treebank(known, wanted.model_copy(update={"least": 2})) == {"drab": "-"}
    drawn = Composer(ENGLISH, weights={"statement": 1.0}, more={"adj": {"zesty": "++"}}).draw(
        500, seed=1
    )
    leaves = [
        (word, label)
        for each in drawn
        for word, label in zip(each.tree.tree.tokens, each.tree.labels.tolist(), strict=True)
    ]
    assert {label for word, label in leaves if word == "zesty"} == {4}


def test_the_family_of_the_guide(tmp_path):
    (block,) = (each for each in blocks("lab/teaching.md", "json") if "held_out" in each)
    (name,) = write(tmp_path, block)
    known = read_composition([*GRAMMARS, tmp_path / name])
    drawn = Composer(known, weights={"bread": 1.0}).draw(600, seed=1)
    assert {in_brackets(each.tree) for each in drawn} >= {
        "(1 (2 (2 The) (2 bread)) (1 (1 (? (2 is) (? not)) (3 airy)) (2 .)))",
        "(1 (2 (2 (2 Is) (1 (2 (2 this) (2 loaf)) (1 dry))) (2 ?)) (? (? Yes) (2 .)))",
    }


# -- templates that are refused

TINY = {
    "labels": {
        "none": [0, 0, 0, 0, 0],
        "-": [0, 1, 0, 0, 0],
        "0": [0, 0, 1, 0, 0],
        "+": [0, 0, 0, 1, 0],
    },
    "rules": {"not": {"of": "right", "to": {"+": "-", "-": "+"}}},
    "unlabelled": ["not"],
    "lists": {"thing": ["it", "this"], "adj": {"+": ["good"], "-": ["bad"]}},
    "families": {"plain": {"frames": ["{thing} ( not: is~not {adj} )"]}},
}


def framed(*frames, **more):
    return TINY | {"families": {"plain": {"frames": [*frames], **more}}}


def write(folder, *contents):
    for place, content in enumerate(contents):
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{place}.json").write_text(text, encoding="utf-8")
    return tuple(f"{place}.json" for place in range(len(contents)))


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (framed("{thingy} is {adj}"), ["'{thingy} is {adj}'", "'thingy'", "adj, thing"]),
        (framed("{thing is {adj}"), ["'{thing'"]),
        (framed("{thing} ( odd: is {adj} )"), ["rule of not", "'odd'"]),
        (framed("odd: {thing} | {adj}"), ["rule of not", "'odd'"]),
        (framed("{thing} | {adj}"), ["plain", "rule and a colon"]),
        (framed("{thing} ( is {adj}"), ["not closed"]),
        (framed("{thing} is {adj} )"), ["closes"]),
        (framed("{thing} ( ) {adj}"), ["words"]),
        (framed("( not: {adj} )"), ["two parts", "not"]),
        (framed("{adj} ( not: is {thing} )"), ["rule not", "right of +, -", "'0'"]),
        (framed("{adj0}"), ["list adj", "'0'"]),
        (framed("( not not )"), ["label for the whole text"]),
        (framed(), ["families.plain.frames"]),
        (framed("{adj}", weight=0), ["weight above 0", "plain"]),
        (TINY | {"families": {}}, ["no families"]),
        (TINY | {"lists": {"thing": ["it"], "adj": {"odd": ["good"]}}}, ["list adj", "'odd'"]),
        (TINY | {"lists": {"thing": ["it"], "adj": 3}}, ["list adj"]),
        (TINY | {"rules": {"not": {"of": "top", "to": {}}}}, ["rules.not.of", "top"]),
        (TINY | {"rules": {"not": {"of": "right", "to": {"+": "odd", "-": "odd"}}}}, ["'odd'"]),
        (TINY | {"labels": {"+": [0, 0, 0, 1, 0], "-": [0, 1, 0, 0, 0]}}, ["labels", "'0'"]),
        (TINY | {"phrases": {"bad": ["( {adj}"]}}, ["phrase bad", "not closed"]),
        (TINY | {"odd": 1}, ["odd"]),
        ("[", ["0.json"]),
    ],
)
def test_wrong_templates_are_refused_before_the_first_epoch(data, tmp_path, content, named):
    (name,) = write(data, content)
    lesson = {"name": "composed.v1", "grammars": [name]}
    with pytest.raises(ConfigError) as raised:
        load_datasets(tiny_recipe.recipe(lessons=[lesson]), data)
    assert all(each in str(raised.value) for each in named), raised.value


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"families": {"nobody": 1.0}}, ["plain", "'nobody'"]),
        ({"families": {"plain": 0.0}}, ["weight above 0", "plain"]),
        ({"share": 0.001}, ["composed.v1", "none"]),
    ],
)
def test_a_lesson_that_draws_nothing(data, settings, named):
    lesson = {"name": "composed.v1", "grammars": write(data, TINY), **settings}
    with pytest.raises(ConfigError) as raised:
        load_datasets(tiny_recipe.recipe(lessons=[lesson]), data)
    assert all(each in str(raised.value) for each in named)


def test_other_numbers_of_classes_are_refused():
    with pytest.raises(ConfigError, match=r"2, 3 or 5 classes.* found 4"):
        composer(classes=4)


def test_two_files_are_put_together_and_share_no_name(tmp_path):
    more = {"families": {"own": {"frames": ["{thing} is {adj}"]}}, "lists": {"own": ["a"]}}
    paths = [tmp_path / name for name in write(tmp_path, TINY, more, {"lists": {"adj": ["x"]}})]
    both = read_composition(paths[:2])
    assert [*both.families] == ["plain", "own"]
    assert {each.family for each in Composer(both).draw(20, seed=1)} == {"plain", "own"}
    with pytest.raises(ConfigError, match=r"2\.json: lists: 'adj'"):
        read_composition(paths)


def test_the_lesson_gives_texts_or_their_sentences(tmp_path):
    rules = TINY["rules"] | {"yes": {"of": "left", "to": {"+": "+", "-": "-"}}}
    two = framed("yes: {thing} is {adj} ? | yes") | {"rules": rules}
    (name,) = write(tmp_path, two)
    known = Treebank([labelled("(2 a)")] * 10, 3, folders=[tmp_path])
    lesson = Composed(grammars=(name,), share=2.0)
    texts = lesson.trees(known, np.random.default_rng(1))
    sentences = lesson.model_copy(update={"sentences": True}).trees(known, np.random.default_rng(1))
    assert [len(texts), len(sentences)] == [20, 40]
    for text, question, answer in zip(texts, sentences[::2], sentences[1::2], strict=True):
        assert isinstance(text, LabelledTree)
        assert text.tree.words == (*question.tree.words, *answer.tree.words)
        assert text.tree.children[text.tree.root][0] == len(question.tree) - 1
        assert text.labels[-1] == question.labels[-1] != 1
        assert answer.labels.tolist() == [1, 1, 1]
