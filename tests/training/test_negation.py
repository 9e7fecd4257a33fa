"""Negated variants: what can be negated, and how."""

import numpy as np
import pytest

from thinstack.core import Tree
from thinstack.core.transitions import spans_of
from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.data.trees.treebank import Labelled, label_ids
from thinstack.training.lessons.negatable import Negatable, negatable
from thinstack.training.lessons.negation import filled, negated_in_place, negated_variants
from thinstack.training.lessons.negation_templates import EVERYDAY, INFLECTED, MANY, TEMPLATES

LABELS = ("0", "1", "2", "3", "4")
NONE = Negatable({}, [])


IS = ("n't", "not", "never", "hardly")


def labelled(*trees: str) -> list[Labelled]:
    return [(tree, label_ids(tree, LABELS)) for tree in map(from_brackets, trees)]


TREEBANK = labelled(
    "(3 (2 It) (3 (3 (2 is) (4 (4 great) (2 (2 at) (2 home)))) (2 .)))",
    "(1 (2 It) (1 (1 (1 (2 is) (1 not)) (3 funny)) (2 .)))",
    "(1 (2 It) (1 (1 (2 can) (1 (1 bore) (2 us))) (2 .)))",
    "(1 (2 It) (1 (1 (2 was) (1 (2 a) (1 (1 dull) (2 day)))) (2 .)))",
    "(2 (2 It) (2 (2 (2 is) (2 blue)) (2 .)))",
    "(3 (2 A) (4 joy))",
)


def shown(trees: list[Tree]) -> list[str]:
    return [" ".join(tree.words) for tree in trees]


def test_slots_are_told_by_the_word_before():
    phrases = negatable(TREEBANK, 5).phrases
    assert {slot: (shown(low), shown(high)) for slot, (low, high) in phrases.items()} == {
        "c": ([], ["great at home", "funny"]),
        "a": ([], ["funny"]),
        "v": (["bore us"], []),
        "n": (["a dull day"], []),
        "b": (["dull day"], []),
    }
    assert to_brackets(phrases["c"][1][0], labelled=False) == "( great ( at home ) )"


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, {f"( It ( ( ( is {how} ) ( great ( at home ) ) ) . ) )" for how in IS}),
        (2, {f"( It ( ( ( {how} ) ( bore us ) ) . ) )" for how in ("ca n't", "can not")}),
        (1, set()),
        (4, set()),
        (5, set()),
    ],
)
def test_what_is_negated_where_it_stands(number, expected):
    (tree, _), places = TREEBANK[number], negatable(TREEBANK, 5).places[number]
    found = {
        to_brackets(negated_in_place(tree, place, np.random.default_rng(seed)), labelled=False)
        for place in places
        for seed in range(40)
    }
    assert found == expected


def test_a_noun_phrase_is_negated_at_its_article():
    (tree, _), (place,) = TREEBANK[3], negatable(TREEBANK, 5).places[3]
    found = {
        to_brackets(negated_in_place(tree, place, np.random.default_rng(seed)), labelled=False)
        for seed in range(60)
    }
    nouns = {"( no ( dull day ) )", "( far ( from ( a ( dull day ) ) ) )"}
    nouns |= {f"( {word} ( a ( dull day ) ) )" for word in ("not", "hardly", "never", "without")}
    nouns |= {"( not ( a ( single ( dull day ) ) ) )"}
    assert found == {f"( It ( ( was {noun} ) . ) )" for noun in nouns}


@pytest.mark.parametrize("template", [each for kind in TEMPLATES for each in kind])
def test_every_template_makes_a_tree_aligned_to_its_words(template):
    slots = {"{s}", "{p}", "{c}", "{a}", "{x}", "{v}", "{n}", "{b}", "{d}", *INFLECTED}
    tokens = [part for token in template.split() for part in token.split("~")]
    fixed = [token for token in tokens if token not in ("(", ")") and token not in slots]
    assert all("{" not in token and "}" not in token for token in fixed)
    for seed in range(20):
        tree = filled(template, negatable(TREEBANK, 5), np.random.default_rng(seed))
        words = list(tree.words)
        assert len(tree) == 2 * len(words) - 1
        assert tree.spans.tolist() == spans_of(tree.transitions).tolist()
        assert words[0][0].isupper() or not words[0][0].isalpha()
        assert words[-1] in (".", "?")
        rest = iter([word.lower() for word in words])
        assert all(word.lower() in rest for word in fixed)  # in this order
        assert all(word and " " not in word for word in words)


def test_templates_are_negative_and_right_branching_with_auxiliaries_joined():
    tree = filled("{s} {was}~n't {c} .", NONE, np.random.default_rng(0))
    inner = to_brackets(tree, labelled=False)
    assert "( was n't )" in inner or "( were n't )" in inner
    assert inner.endswith(" ) . ) )")


def test_verbs_agree_with_their_subject():
    for seed in range(60):
        tree = filled("{s} {is} {a} .", NONE, np.random.default_rng(seed))
        *subject, verb, _, _ = tree.words
        assert verb == ("are" if " ".join(subject).lower() in MANY else "is")


def test_slots_take_phrases_of_one_side_and_x_of_the_other():
    low, high = EVERYDAY["a"]
    sides = set()
    for seed in range(60):
        tree = filled("{s} {was} {a} , not {x} .", NONE, np.random.default_rng(seed))
        *_, first, _, _, other, _ = tree.words
        assert (first in low) == (other in high)
        sides.add(first in low)
    assert sides == {True, False}


def test_variants_are_of_both_kinds_without_labels_and_the_same_again():
    first, second = (negated_variants(TREEBANK, 5, 60, np.random.default_rng(5)) for _ in range(2))
    assert first == second
    assert len(first) == 60
    assert {label for tree in first for label in tree.labels} == {None}
    texts = shown(first)
    in_place = [text for text in texts if text.endswith("great at home .")]
    assert 0 < len(in_place) < 10  # of the 10 times that the first sentence has its turn
    assert len(set(texts)) > 40
