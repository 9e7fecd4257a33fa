"""Encoders over trees against the reference recursion, one node at a time and one layer at a time,
in float64."""

from itertools import permutations

import pytest
import torch
from core.random_trees import ANY, tree_of
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import assert_agrees, encode

from thinstack.core import Forest, Tree
from thinstack.core.depth_ordered import in_node_order
from thinstack.core.model.tree_encoder import Layer, TreeEncoder
from thinstack.errors import UnknownNameError
from thinstack.plugins.cells.child_sum_lstm import ChildSumLSTM
from thinstack.plugins.cells.lexicalized_lstm import LexicalizedLSTM
from thinstack.plugins.cells.nary_lstm import NaryLSTM
from thinstack.plugins.cells.top_down_lstm import TopDownLSTM
from thinstack.testing.forests import schedule_of

X, H, D = 3, 4, 5
SCRIPT_WARNING = "ignore:`torch.jit.script` is:DeprecationWarning"
READOUTS = [
    list(parts) for size in (1, 2, 3) for parts in permutations(("up", "down", "leaves"), size)
]
TREES = [["a", [["b", "c"], "d"]], "e", [["f", "g"], ["h", ["i", "j"]]]]


def nary(x, *, inner=False):
    return NaryLSTM(input_size=x, inner_size=x if inner else 0, hidden_size=H)


def child_sum(x, *, inner=True, wide=H, word_part=-1):
    """With an input at every node; its memory, part 1, may pass for the head word."""
    cell = ChildSumLSTM(input_size=x, inner_size=x if inner else 0, hidden_size=wide)
    cell.word_part = word_part
    return cell


def over_dependencies(*layers, separate=False):
    return TreeEncoder(list(layers), words_at_leaves=False, separate=separate)


def lexicalized(*, readout=("up", "down", "leaves")):
    down = TopDownLSTM(input_size=X, hidden_size=D)
    return TreeEncoder([Layer(LexicalizedLSTM(input_size=X, hidden_size=H), down)], readout=readout)


def shared():
    cell = child_sum(X)
    return over_dependencies(Layer(cell, cell))


def both_ways(up, down, **changes):
    """Of other widths in the two directions."""
    return Layer(child_sum(up, **changes), child_sum(down, wide=D))


ENCODERS = {
    "one_layer": lambda: TreeEncoder([Layer(nary(X))]),
    "two_layers": lambda: TreeEncoder([Layer(nary(X)), Layer(nary(H, inner=True))]),
    "three_layers_of_any_arity": lambda: TreeEncoder(
        [Layer(child_sum(X if k == 0 else H, inner=k > 0)) for k in range(3)]
    ),
    "word_at_every_node": lambda: over_dependencies(Layer(child_sum(X))),
    "lexicalized": lexicalized,
    "shared": shared,
    "own": lambda: over_dependencies(both_ways(X, X)),
    "deep_bidirectional": lambda: over_dependencies(
        both_ways(X, X), both_ways(H + D, H + D), both_ways(H + D, H + D)
    ),
    "deep_separate": lambda: over_dependencies(
        both_ways(X, X), both_ways(H, D), both_ways(H, D), separate=True
    ),
    "deep_with_head_words": lambda: over_dependencies(
        both_ways(X, H, word_part=1), both_ways(H + D, H, word_part=1)
    ),
}


def new(name):
    """An encoder in float64, none of whose weights is zero."""
    torch.manual_seed(11)
    encoder = ENCODERS[name]().double()
    for part in encoder.parameters():
        torch.nn.init.uniform_(part, -0.8, 0.8)
    return encoder


def arity_of(forest):
    return 2 if forest.slots.max(initial=0) < 2 else 0


def words_of(encoder, forest):
    words = int(forest.leaves.sum()) if encoder.words_at_leaves else len(forest.parents)
    random = torch.Generator().manual_seed(1)
    return torch.randn(words, X, dtype=torch.float64, generator=random).requires_grad_()


def found_by(run, forest, words):
    """Outputs and head words in node order, and root outputs."""
    schedule = schedule_of(forest, arity_of(forest))
    encoding = run(words, schedule)
    return (
        in_node_order(encoding.stacked, schedule),
        in_node_order(encoding.words, schedule),
        encoding.roots,
    )


def check(encoder, run, forest):
    words = words_of(encoder, forest)
    outputs, heads = encode(encoder, forest, words)
    roots = outputs[torch.from_numpy(forest.parents) < 0]
    assert outputs.shape[1] == encoder.hidden_size
    assert heads.shape[1] == encoder.word_size
    expected, wanted = (outputs, heads, roots), [words, *encoder.parameters()]
    assert_agrees(lambda: found_by(run, forest, words), expected, wanted)


@pytest.mark.filterwarnings(SCRIPT_WARNING)
@pytest.mark.parametrize("name", ENCODERS)
def test_layers_and_directions(name):
    encoder, forest = new(name), Forest.of(map(tree_of, TREES))
    scripted = torch.jit.script(encoder)
    check(encoder, encoder, forest)
    check(encoder, scripted, forest)
    check(encoder, scripted, Forest.of([Tree.left(["a"])]))
    none = found_by(scripted, Forest.of([]), words_of(encoder, Forest.of([])))
    widths = [encoder.hidden_size, encoder.word_size, encoder.hidden_size]
    assert [tuple(part.shape) for part in none] == [(0, width) for width in widths]


@settings(max_examples=10)
@given(trees=st.lists(ANY, min_size=1, max_size=3))
@pytest.mark.parametrize("name", ["three_layers_of_any_arity", "shared", "deep_separate"])
def test_trees_of_any_shape(name, trees):
    encoder = new(name)
    check(encoder, encoder, Forest.of(map(tree_of, trees)))


@pytest.mark.parametrize("readout", READOUTS, ids="-".join)
def test_readouts(readout):
    torch.manual_seed(4)
    encoder = lexicalized(readout=tuple(readout)).double()
    check(encoder, encoder, Forest.of(map(tree_of, TREES)))
    assert encoder.hidden_size == sum({"up": H, "down": D, "leaves": D}[part] for part in readout)


def test_a_readout_that_the_encoder_does_not_know_is_refused():
    with pytest.raises(UnknownNameError, match="'sideways'"):
        lexicalized(readout=("up", "sideways"))
