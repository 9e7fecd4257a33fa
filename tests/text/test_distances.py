"""Trees by syntactic distance."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinstack.core import Tree
from thinstack.core.transitions import left, validate
from thinstack.core.tree import depths
from thinstack.errors import DataError, InputError
from thinstack.text.distance_table import WINDOW, DistanceTable, form_of, forms, transitions_of
from thinstack.text.given_trees import tree_maker


def cut(distances, start, end):
    """The spans of the definition, by recursion: each is cut at its greatest distance."""
    if end - start == 1:
        return {(start, end)}
    gap = max(range(start, end - 1), key=lambda gap: distances[gap])
    return {(start, end)} | cut(distances, start, gap + 1) | cut(distances, gap + 1, end)


@given(st.lists(st.integers(-50, 50).map(float), max_size=12, unique=True))
def test_every_span_is_cut_at_its_greatest_distance(distances):
    words = len(distances) + 1
    tree = Tree.from_transitions(transitions_of(distances), ["w"] * words)
    assert set(map(tuple, tree.spans.tolist())) == cut(distances, 0, words)


@pytest.mark.parametrize("period", [[1.0], [1.0, 2.0], [3.0, 1.0, 1.0, 2.0, 1.0]])
def test_words_that_repeat_themselves_do_not_make_a_chain(period):
    words = 20_001
    tree = Tree.from_transitions(transitions_of((period * words)[: words - 1]), ["w"] * words)
    assert depths(tree.parents).max() < 4 * np.log2(words)


def test_a_hundred_thousand_words_make_one_tree():
    falling = transitions_of(np.arange(99_999, 0, -1.0).tolist())
    assert validate(falling, 100_000).tolist() == [0] * 100_000 + [1] * 99_999
    rising = transitions_of(np.arange(99_999.0).tolist())
    assert validate(rising, 100_000)[:5].tolist() == [0, 0, 1, 0, 1]


def table_with(weights, words):
    """A table that is zero but for some places (0 to 2 WINDOW - 1) and features."""
    columns = ["", *words, *forms()]
    array = np.zeros((2 * WINDOW, len(columns)))
    for (place, feature), weight in weights.items():
        array[place, columns.index(feature)] = weight
    return DistanceTable(words, array)


def test_a_distance_is_the_sum_of_the_weights_of_the_words_around_the_gap():
    before, after = WINDOW - 1, WINDOW
    table = table_with(
        {(before, ","): 2.0, (after, "but"): 1.0, (after + 1, "<ing>"): 0.25, (0, ""): 0.5},
        (",", "but"),
    )
    # The gaps: a|fine, fine|",", ","|But, But|acting; only the first two have nothing three places
    # before.
    assert table.distances(["a", "fine", ",", "But", "acting"]).tolist() == [0.5, 0.5, 3.25, 0.0]
    assert table.distances(["one"]).tolist() == []


@pytest.mark.parametrize(
    ("word", "form"),
    [
        *(("1990s", "<number>"), ("well-made", "<compound>"), ("moving", "<ing>")),
        *(("Boring", "<Capital ing>"), ("Plot", "<Capital >"), ("finest", "<est>")),
        *((word, "<>") for word in ("plot", "\N{GRINNING FACE}", "")),
    ],
)
def test_form_of_a_word(word, form):
    assert form_of(word) == form
    assert form in forms()


def stored(table):
    """The JSON of a table, as a bundle has it."""
    head = {"schema_version": 1, "window": WINDOW}
    return {**head, "words": table.words, "weights": table.weights.tolist()}


def test_a_stored_table_is_read():
    table = table_with({(0, "caf\u00e9"): 1 / 3, (5, "<number>"): -0.1}, ("caf\u00e9", "\u2028"))
    again = DistanceTable.from_bytes(json.dumps(stored(table)).encode(), source="here")
    assert again.words == table.words
    np.testing.assert_array_equal(again.weights, table.weights)


@pytest.mark.parametrize(
    "change", [{"window": 4}, {"schema_version": 2}, {"weights": [[1.0]]}, {"words": None}]
)
def test_any_other_text_is_refused_by_name(change):
    table = stored(table_with({}, ("a",)))
    with pytest.raises(DataError, match="there"):
        DistanceTable.from_bytes(json.dumps({**table, **change}).encode(), source="there")
    with pytest.raises(DataError, match="there"):
        DistanceTable.from_bytes(b"\xff{", source="there")


@pytest.mark.parametrize(
    ("words", "weight", "message"),
    [(("a", "a"), 0, "distinct"), (("a", "<ing>"), 0, "distinct"), (("a",), np.nan, "finite")],
)
def test_words_are_distinct_and_no_forms_and_weights_finite(words, weight, message):
    with pytest.raises(DataError, match=message):
        table_with({(0, ""): weight}, words)


def test_tree_makers():
    words = ["a", "b", "c", "d", "e"]
    assert tree_maker("balanced")(words).tolist() == [0, 0, 1, 0, 1, 0, 0, 1, 1]
    assert tree_maker("left")(words).tolist() == [0, 0, 1, 0, 1, 0, 1, 0, 1]
    assert tree_maker("right")(words).tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1]
    table = table_with({(WINDOW, "c"): 1.0}, ("c",))
    assert tree_maker("distances", table)(words).tolist() == transitions_of([0, 1, 0, 0]).tolist()

    def parser(words):
        return left(len(words))

    assert tree_maker("self", table, parser=parser)(words).tolist() == left(5).tolist()
    shapes = "balanced, left, right"
    with pytest.raises(InputError, match=f"{shapes}$"):
        tree_maker("distances")
    with pytest.raises(InputError, match=f"no parser .* 'self'; .* {shapes}, distances$"):
        tree_maker("self", table)
    with pytest.raises(InputError, match=f"'gold'; .* {shapes}, self$"):
        tree_maker("gold", parser=parser)
