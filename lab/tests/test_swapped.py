"""The lesson `swapped.v1`, and misspelt words."""

import json
from random import Random

import numpy as np
import pytest
from own_lessons import labelled, treebank

from thinstack.data.trees.brackets import to_brackets
from thinstack.errors import ConfigError
from thinstack.training.lesson import Treebank
from thinstack_lab.lessons.swapped import Swapped
from thinstack_lab.lessons.typos import misspell

LISTS = {
    "nationality": ["Greek", "Irish", "Sri Lankan", "gay"],
    "person_noun": ["actor", "cast"],
    "determiner": ["an", "the"],
}
PLACE = "(3 (2 (2 an) (1 actor)) (3 (2 is) (3 good)))"
NAME = "(1 (2 (2 the) (0 (0 Greek) (2 cook))) (1 (2 is) (1 bad)))"
NONE = "(1 (2 (2 actor) (2 gay)) (1 bad))"


def lesson(folder, lists=LISTS, **settings):
    content = {"lists": lists, "an_before": "[aeiouAEIOU]"}
    (folder / "lists.json").write_text(json.dumps(content), encoding="utf-8")
    settings = {"share": 4, "people": ["nationality"], "grammars": ["lists.json"]} | settings
    return Swapped(**settings)


def drawn(folder, *trees, lists=LISTS, **settings):
    known = treebank(*trees, classes=5)
    known = Treebank(known.trees, 5, folders=[folder], vocabulary=known.vocabulary)
    return lesson(folder, lists, **settings).trees(known, np.random.default_rng(1))


def bracketed(each):
    names = [str(label) for label in each.labels.tolist()]
    tree = type(each.tree).from_transitions(each.tree.transitions, each.tree.words, names)
    return to_brackets(tree)


def test_other_people_stand_where_people_stood(tmp_path):
    """Before a noun that follows a determiner, and in place of a word with a capital."""
    assert {bracketed(each) for each in drawn(tmp_path, PLACE, copies=4)} == {
        "(3 (2 (2 a) (1 (2 Greek) (1 actor))) (3 (2 is) (3 good)))",
        "(3 (2 (2 an) (1 (2 Irish) (1 actor))) (3 (2 is) (3 good)))",
        "(3 (2 (2 a) (1 (2 (2 Sri) (2 Lankan)) (1 actor))) (3 (2 is) (3 good)))",
        "(3 (2 (2 a) (1 (2 gay) (1 actor))) (3 (2 is) (3 good)))",
    }
    with pytest.raises(ConfigError):  # no determiner
        drawn(tmp_path, PLACE.replace("2 an", "2 as"))
    words = {" ".join(each.tree.words) for each in drawn(tmp_path, NAME, copies=4)}
    people = ("Greek", "Irish", "Sri Lankan", "gay")
    assert words == {f"the {word} cook is bad" for word in people}


def test_copies_are_a_group_and_soft_labels_stay(tmp_path):
    copies = drawn(tmp_path, PLACE, NAME, copies=2, share=2)
    groups = [each.group for each in copies]
    assert groups[::2] == groups[1::2]
    assert len(set(groups)) == 2
    assert all(len({each.tree.words for each in copies[at : at + 2]}) == 2 for at in (0, 2))
    soft = np.linspace(0, 1, 35, dtype=np.float16).reshape(7, 5)
    each = labelled(PLACE)._replace(soft=soft)
    known = Treebank([each], 5, folders=[tmp_path])
    copy = lesson(tmp_path).trees(known, np.random.default_rng(0))[0]
    assert copy.soft[-1].tolist() == soft[-1].tolist()
    assert copy.soft[[0, 1]].tolist() == [soft[0].tolist(), [0, 0, 1, 0, 0]]


WORDS = {
    "first_name": ["Tom"],
    "person_name": ["Ada", "Bo"],
    "surname": ["Lee"],
    "place": ["Oslo", "Rome"],
    "opening": ["In May ,"],
    "link": ["www.x.org"],
    "handle": ["@ada"],
    "tag": ["#tea"],
}


@pytest.mark.parametrize(
    ("kind", "tree", "expected"),
    [
        (
            "names",
            "(1 (2 Tom) (1 fails))",
            {"(1 (2 Ada) (1 fails))", "(1 (2 Bo) (1 fails))", "(1 (2 Lee) (1 fails))"},
        ),
        ("places", "(3 (2 Oslo) (3 shines))", {"(3 (2 Rome) (3 shines))"}),
        ("openings", "(3 (3 nice) (2 .))", {"(3 (2 (2 In) (2 (2 May) (2 ,))) (3 (3 nice) (2 .)))"}),
        ("handles", "(1 (2 so) (1 bad))", {"(1 (2 @ada) (1 (2 so) (1 bad)))"}),
        ("links", "(3 (3 nice) (2 .))", {"(3 (3 (3 nice) (2 .)) (2 www.x.org))"}),
        ("tags", "(3 (3 so) (3 nice))", {"(3 (3 (3 so) (3 nice)) (2 #tea))"}),
    ],
)
def test_sentences_that_say_the_same_are_a_group(kind, tree, expected, tmp_path):
    """The first is the sentence itself. Behind a final mark stands a sentence of its own."""
    settings = {"changes": {kind: 1}, "copies": 4, "share": 48}
    copies = drawn(tmp_path, tree, lists=LISTS | WORDS, **settings)
    seen = {bracketed(each) for each in copies}
    assert {tree} < seen
    assert expected <= seen
    groups = {}
    for each in copies:
        groups.setdefault(each.group, []).append(bracketed(each))
    assert all(group[0] == tree and len(group) > 1 for group in groups.values())
    joining = Treebank([labelled(tree)], 5, folders=[tmp_path], joins=True)
    texts = lesson(tmp_path, LISTS | WORDS, **settings).trees(joining, np.random.default_rng(1))
    apart = {each.sentences for each in texts} - {None}
    assert apart == ({(2, 1)} if kind == "links" else set())


def test_other_numbers_have_as_many_digits_and_rate_nothing(tmp_path):
    tree = "(3 (3 (2 42) (2 rooms)) (2 (2 in) (2 1987)))"
    settings = {"changes": {"numbers": 1}, "share": 40, "copies": 4}
    copies = drawn(tmp_path, tree, "(1 (2 2) (1 stars))", lists=LISTS | WORDS, **settings)
    words = {(each.tree.words[0], each.tree.words[3]) for each in copies}
    assert len(words) > 20
    for rooms, year in words:
        assert (rooms == "42" and 1900 <= int(year) < 2030) or (year == "1987" and len(rooms) == 2)


def test_a_misspelt_copy_keeps_its_tree_and_its_soft_labels(tmp_path):
    soft = np.linspace(0, 1, 15, dtype=np.float16).reshape(3, 5)
    each = labelled("(1 (2 nobody) (1 laughs))")._replace(soft=soft)
    varied = lesson(tmp_path, LISTS | WORDS, changes={"typos": 1, "links": 1}, share=40)
    copies = varied.trees(Treebank([each], 5, folders=[tmp_path]), np.random.default_rng(0))
    assert len({copy.tree.words for copy in copies}) > 4
    assert all(copy.soft[-1].tolist() == soft[-1].tolist() for copy in copies)
    assert {len(copy.tree.words) for copy in copies} == {2, 3}


@pytest.mark.parametrize(
    ("trees", "changes", "named"),
    [
        ([NONE], {}, ["nationality", "person_noun"]),
        ([PLACE], {"people": ["tribe"]}, ["'tribe'", "nationality"]),
        ([PLACE], {"nouns": "job"}, ["'job'"]),
        ([PLACE], {"changes": {"places": 1}}, ["'place'"]),
        ([PLACE], {"changes": {"numbers": 1}}, ["numbers"]),
        ([PLACE], {"lists": LISTS | {"determiner": {"+": ["an"]}}}, ["'determiner'"]),
    ],
)
def test_what_names_no_people_is_refused(trees, changes, named, tmp_path):
    with pytest.raises(ConfigError) as caught:
        drawn(tmp_path, *trees, **changes)
    assert all(part in str(caught.value) for part in named), caught.value


# -- spelling


def test_a_misspelt_word_has_the_letters_of_the_right_one():
    seen = set()
    for seed in range(300):
        words = ["It", "works", ",", "n't"]
        misspell(words, Random(seed))
        assert words[0] == "It"
        assert words[2:] == [",", "n't"]
        assert words[1][0] in "wW"
        assert set(words[1].lower()) <= set("works")
        seen.add(words[1])
    assert {"WORKS", "wroks", "wrks", "woorks", "woooorks"} <= seen
    short = ["not", "bad"]
    misspell(short, Random(0))
    assert short == ["not", "bad"]
