"""Negated variants: what can be negated, and how."""

from pathlib import Path

import numpy as np
import pytest
from own_lessons import treebank

from thinstack.core.transitions import spans_of
from thinstack.data.trees.brackets import to_brackets
from thinstack.errors import ConfigError, DataError
from thinstack.training.lesson import Treebank
from thinstack_lab.lessons.grammar import Negatable, negatable, read_grammar
from thinstack_lab.lessons.negated import Negated, filled, negated_in_place

RECIPES = Path(__file__).parents[1] / "recipes"
ENGLISH = read_grammar(RECIPES / "grammar" / "english.json")


IS = ("n't", "not", "never", "hardly")


TREEBANK = treebank(
    "(3 (2 It) (3 (3 (2 is) (4 (4 great) (2 (2 at) (2 home)))) (2 .)))",
    "(1 (2 It) (1 (1 (1 (2 is) (1 not)) (3 funny)) (2 .)))",
    "(1 (2 It) (1 (1 (2 can) (1 (1 bore) (2 us))) (2 .)))",
    "(1 (2 It) (1 (1 (2 was) (1 (2 a) (1 (1 dull) (2 day)))) (2 .)))",
    "(2 (2 It) (2 (2 (2 is) (2 blue)) (2 .)))",
    "(3 (2 A) (4 joy))",
    classes=5,
)


KNOWN = negatable(TREEBANK, ENGLISH)


def brackets(tree):
    return to_brackets(tree, labelled=False)


def shown(trees):
    return [" ".join(tree.words) for tree in trees]


def test_slots_are_told_by_the_word_before():
    assert {slot: (shown(low), shown(high)) for slot, (low, high) in KNOWN.phrases.items()} == {
        "c": ([], ["great at home", "funny"]),
        "a": ([], ["funny"]),
        "v": (["bore us"], []),
        "n": (["a dull day"], []),
        "b": (["dull day"], []),
    }
    assert brackets(KNOWN.phrases["c"][1][0]) == "( great ( at home ) )"


NOUNS = {
    *("( no ( dull day ) )", "( far ( from ( a ( dull day ) ) ) )"),
    *(f"( {word} ( a ( dull day ) ) )" for word in ("not", "hardly", "never", "without")),
    "( not ( a ( single ( dull day ) ) ) )",
}


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, {f"( It ( ( ( is {how} ) ( great ( at home ) ) ) . ) )" for how in IS}),
        (2, {f"( It ( ( ( {how} ) ( bore us ) ) . ) )" for how in ("ca n't", "can not")}),
        (3, {f"( It ( ( was {noun} ) . ) )" for noun in NOUNS}),  # at its article
        *((number, set()) for number in (1, 4, 5)),
    ],
)
def test_what_is_negated_where_it_stands(number, expected):
    tree, draws = TREEBANK.trees[number].tree, [np.random.default_rng(seed) for seed in range(60)]
    places = KNOWN.places[number]
    made = {
        brackets(negated_in_place(tree, each, ENGLISH, draw)) for each in places for draw in draws
    }
    assert made == expected


@pytest.mark.parametrize("template", [each for kind in ENGLISH.templates.values() for each in kind])
def test_every_template_makes_a_tree_aligned_to_its_words(template):
    slots = {f"{{{slot}}}" for slot in [*"spcaxvnbd", *ENGLISH.inflected]}
    tokens = [part for token in template.split() for part in token.split("~")]
    fixed = [token for token in tokens if token not in ("(", ")") and token not in slots]
    assert all("{" not in token and "}" not in token for token in fixed)
    for seed in range(20):
        tree = filled(template, KNOWN, ENGLISH, np.random.default_rng(seed))
        words = list(tree.words)
        assert len(tree) == 2 * len(words) - 1
        assert tree.spans.tolist() == spans_of(tree.transitions).tolist()
        assert words[0][0].isupper() or not words[0][0].isalpha()
        assert words[-1] in (".", "?")
        rest = iter([word.lower() for word in words])
        assert all(word.lower() in rest for word in fixed)  # in this order
        assert all(word and " " not in word for word in words)


def made(template):
    """What a template gives with everyday words."""
    nothing, draws = Negatable({}, []), map(np.random.default_rng, range(60))
    return [filled(template, nothing, ENGLISH, draw) for draw in draws]


def test_phrases_branch_right_with_auxiliaries_joined():
    inner = brackets(made("{s} {was}~n't {c} .")[0])
    assert "( was n't )" in inner or "( were n't )" in inner
    assert inner.endswith(" ) . ) )")


def test_verbs_agree_with_their_subject_and_x_is_of_the_other_side():
    low, high = ENGLISH.everyday["a"].negative, ENGLISH.everyday["a"].positive
    sides = set()
    for tree in made("{s} {is} {a} , not {x} ."):
        *subject, verb, first, _, _, other, _ = tree.words
        assert verb == ("are" if " ".join(subject).lower() in ENGLISH.plural_subjects else "is")
        assert (first in low) == (other in high)
        sides.add(first in low)
    assert sides == {True, False}


def variants(folders, seed=5):
    given = Treebank(TREEBANK.trees, 5, folders=folders)
    made = Negated(share=10).trees(given, np.random.default_rng(seed))
    assert {label for one in made for label in one.labels.tolist()} == {-1}
    return [one.tree for one in made]


def test_variants_are_of_both_kinds_and_the_same_again():
    first = variants([RECIPES])
    assert first == variants([RECIPES])
    assert len(first) == 60
    texts = shown(first)
    in_place = [text for text in texts if text.endswith("great at home .")]
    assert 0 < len(in_place) < 10  # of the 10 times that the first sentence has its turn
    assert len(set(texts)) > 40


def test_the_grammar_is_found_in_the_data_or_beside_the_recipe(tmp_path):
    folders, name = [tmp_path / "data", tmp_path], Path("grammar", "english.json")
    with pytest.raises(DataError) as raised:
        variants(folders)
    assert all(str(folder / name) in str(raised.value) for folder in folders)
    file = tmp_path / name
    file.parent.mkdir()
    file.write_bytes((RECIPES / name).read_bytes())
    assert variants(folders) == variants([RECIPES])
    for content in (b"{", b'{"word": 1}', b"\xff"):
        file.write_bytes(content)
        with pytest.raises(ConfigError) as refused:
            variants(folders)
        assert str(file) in str(refused.value)
