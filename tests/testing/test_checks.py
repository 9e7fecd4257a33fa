"""The contract checks pass a good plugin, refuse a wrong one of each kind, and draw forests."""

from collections import Counter

import numpy as np
import pytest
from command_line import python
from pages import ROOT
from wrong_plugins import CELLS, HEADS, PARSERS, Good, GoodHead, GoodParser

from thinstack.core.tree import depths
from thinstack.errors import ConfigError, PluginError, UnknownNameError
from thinstack.testing import CELL_CHECKS, HEAD_CHECKS, PARSER_CHECKS
from thinstack.testing.forests import random_forest

KINDS = (
    (CELL_CHECKS, Good, CELLS),
    (HEAD_CHECKS, GoodHead, HEADS),
    (PARSER_CHECKS, GoodParser, PARSERS),
)


@pytest.mark.filterwarnings("ignore:std")
@pytest.mark.parametrize(
    ("check", "good", "asked", "wrong"),
    [
        pytest.param(checks[check], good, *fault, id=f"{good.__name__}-{check}-{what}")
        for checks, good, kinds in KINDS
        for check, faults in kinds.items()
        for what, *fault in faults
    ],
)
def test_a_wrong_plugin_is_refused(check, good, asked, wrong):
    plugin = type("Wrong", (good,), wrong) if isinstance(wrong, dict) else wrong
    with pytest.raises(AssertionError) as refused:
        check(plugin, **asked)
    assert str(refused.value).startswith(f"{good.name}, {check.__name__}, ")


@pytest.mark.parametrize(("checks", "good", "kinds"), KINDS)
def test_every_check_refuses_something(checks, good, kinds):
    """Those of any plugin refuse a cell."""
    assert set(checks) <= set(kinds) | set(CELLS)


@pytest.mark.parametrize(
    ("checks", "good", "asked"),
    [
        (CELL_CHECKS, Good, {"options": {"arity": 0}}),
        (CELL_CHECKS, Good, {"options": {"arity": 1}, "examples": 7}),
        (CELL_CHECKS, Good, {"options": {"arity": 3}, "input_size": 3, "hidden_size": 2}),
        (HEAD_CHECKS, GoodHead, {}),
        (PARSER_CHECKS, GoodParser, {}),
    ],
)
def test_a_good_plugin_passes(checks, good, asked):
    for name, check in checks.items():
        if name != "onnx" or len(asked) < 2:  # which takes seconds
            check(good, **asked)


@pytest.mark.parametrize(
    ("cell", "asked", "error", "named"),
    [
        ("no_such_cell.v1", {}, UnknownNameError, "no_such_cell"),
        ("nary_lstm.v1", {"options": {"arity": 0}}, ConfigError, "arity"),
        (dict, {}, PluginError, "dict"),
        ("nary_lstm.v1", {"inner_size": 3}, ValueError, "5"),
        ("nary_lstm.v1", {"classes": 3}, TypeError, "classes"),
    ],
)
def test_what_is_not_there(cell, asked, error, named):
    with pytest.raises(error, match=named):
        CELL_CHECKS["mixed_forests"](cell, **asked)


WITHOUT_PACKAGES = """
import sys
sys.modules["pytest"] = sys.modules["onnx"] = None
from thinstack.errors import MissingExtraError
from thinstack.testing import CELL_CHECKS, HEAD_CHECKS
CELL_CHECKS["gradients"]("dt_rnn.v1")
try: HEAD_CHECKS["onnx"]("node_classifier.v1")
except MissingExtraError as error: print(error)
"""


def test_missing_packages():
    """The checks that need no extra package run without them; the others name the extra."""
    assert "extra 'testing'" in python(WITHOUT_PACKAGES, cwd=ROOT).stdout


SIZES = (1, 20, 7, 1)


@pytest.mark.parametrize("arity", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_random_forests(arity, seed):
    forest = random_forest(SIZES, arity=arity, kinds=3, seed=seed)
    trees = np.repeat(range(4), SIZES)
    inner = forest.parents >= 0
    assert forest.sizes.tolist() == list(SIZES)
    assert np.array_equal(trees[inner], trees[forest.parents[inner]])
    assert np.bincount(trees[~inner]).tolist() == [1] * 4
    assert 0 <= depths(forest.parents).min() <= depths(forest.parents).max() < 20  # no cycle
    places = Counter(zip(forest.parents[inner].tolist(), forest.slots[inner].tolist(), strict=True))
    assert set(places.values()) == {1}
    assert forest.slots.min() == 0
    assert forest.slots.max() < (arity or 20)
    assert set(forest.kinds.tolist()) == {1, 2, 3}
    assert set(forest.kinds[~inner].tolist()) == {1}


def test_random_forests_leave_slots_empty_and_nodes_in_any_order():
    forest = random_forest([30], arity=3, kinds=1, seed=0)
    children = np.bincount(forest.parents[forest.parents >= 0])
    assert set(children.tolist()) >= {1, 2}
    only_children = children[forest.parents] == 1
    assert (forest.slots[only_children] > 0).any()
    steps = np.sign(forest.parents - np.arange(30))[forest.parents >= 0]
    assert {-1, 1} == set(steps.tolist())
