"""The contract checks pass a good plugin, and refuse a wrong one of each kind."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from wrong_cells import CELLS, Good
from wrong_parts import HEADS, PARSERS, GoodHead, GoodParser, Ratings

from thinstack.errors import ConfigError, PluginError, UnknownNameError
from thinstack.testing import CELL_CHECKS, HEAD_CHECKS, PARSER_CHECKS

ROOT = Path(__file__).parents[2]
WRONG = [
    pytest.param(checks[check], base, wrong, id=f"{base.__name__}-{check}-{what}")
    for checks, base, kinds in (
        (CELL_CHECKS, Good, CELLS),
        (HEAD_CHECKS, GoodHead, HEADS),
        (PARSER_CHECKS, GoodParser, PARSERS),
    )
    for check, faults in kinds.items()
    for what, wrong in faults.items()
]


@pytest.mark.filterwarnings("ignore:std")
@pytest.mark.parametrize(("check", "base", "wrong"), WRONG)
def test_a_wrong_plugin_is_refused(check, base, wrong):
    asked = {}
    if isinstance(wrong, dict):
        asked = {name: wrong[name] for name in ("options", "inner_size") if name in wrong}
        wrong = type(
            "Wrong", (base,), {name: of for name, of in wrong.items() if name not in asked}
        )
    elif base is Good:
        asked = {"inner_size": 0}
    with pytest.raises(AssertionError) as refused:
        check(wrong, **asked)
    assert str(refused.value).startswith(f"{base.name}, {check.__name__}, ")


@pytest.mark.parametrize(("checks", "kinds"), [(CELL_CHECKS, CELLS), (HEAD_CHECKS, HEADS)])
def test_every_check_refuses_something(checks, kinds):
    """Those of any plugin refuse a cell."""
    assert set(checks) <= set(kinds) | set(CELLS)


# Without sizes, the checks try a cell with and without inputs at inner nodes.
@pytest.mark.parametrize(
    ("arity", "sizes"),
    [(0, {"inner_size": 5}), (0, {}), (1, {}), (3, {}), (3, {"input_size": 3, "hidden_size": 2})],
)
def test_a_good_cell_passes(arity, sizes):
    for name, check in CELL_CHECKS.items():
        if name != "onnx" or (arity, sizes) == (0, {}):  # which takes seconds
            check(Good, {"arity": arity}, examples=20, **sizes)


@pytest.mark.parametrize(
    ("checks", "plugin"),
    [(HEAD_CHECKS, GoodHead), (HEAD_CHECKS, Ratings), (PARSER_CHECKS, GoodParser)],
)
def test_a_good_head_or_parser_passes(checks, plugin):
    for check in checks.values():
        check(plugin)


def test_the_number_of_examples():
    calls = []

    class Counted(Good):
        def leaf(self, inputs):
            calls.append(inputs)
            return super().leaf(inputs)

    CELL_CHECKS["neighbours"](Counted, inner_size=0, examples=7)
    assert len(calls) == 2 * 7


CHAINS = CELL_CHECKS["mixed_forests"]


@pytest.mark.parametrize(
    ("check", "plugin", "asked", "error", "named"),
    [
        (CHAINS, "no_such_cell.v1", {}, UnknownNameError, "no_such_cell"),
        (CHAINS, "nary_lstm.v1", {"options": {"arity": 0}}, ConfigError, "arity"),
        (CHAINS, dict, {}, PluginError, "dict"),
        (CHAINS, "nary_lstm.v1", {"inner_size": 3}, ValueError, "5"),
        (CHAINS, "nary_lstm.v1", {"classes": 3}, TypeError, "classes"),
        (HEAD_CHECKS["gradients"], "no_such_head.v1", {}, UnknownNameError, "no_such_head"),
        (PARSER_CHECKS["no_rows"], "no_such_parser.v1", {}, UnknownNameError, "no_such_parser"),
    ],
)
def test_what_is_not_there(check, plugin, asked, error, named):
    with pytest.raises(error, match=named):
        check(plugin, **asked)


def test_threads_and_random_numbers_are_as_before():
    threads, numbers = torch.get_num_threads(), torch.random.get_rng_state()
    for check in (CELL_CHECKS["nothing_is_kept"], CELL_CHECKS["torchscript"]):
        check(Good, inner_size=0)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.random.get_rng_state(), numbers)


WITHOUT_PACKAGES = """
import sys
sys.modules["pytest"] = None
from thinstack.errors import MissingExtraError
from thinstack.testing import CELL_CHECKS, HEAD_CHECKS
CELL_CHECKS["mixed_forests"]("dt_rnn.v1")
HEAD_CHECKS["gradients"]("node_classifier.v1")
for package in ("onnx", "onnxruntime"):
    sys.modules[package] = None
    for checks, name in ((CELL_CHECKS, "dt_rnn.v1"), (HEAD_CHECKS, "node_classifier.v1")):
        try:
            checks["onnx"](name)
        except MissingExtraError as error:
            print(error)
    del sys.modules[package]
"""


def test_missing_packages():
    """The checks that need no extra package run without them; the others name the extra."""
    command = [sys.executable, "-c", WITHOUT_PACKAGES]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    said = answer.stdout.splitlines()
    for line, package, extra in zip(
        said[::2], ("onnx", "onnxruntime"), ("testing", "cpu"), strict=True
    ):
        assert f"'{package}'" in line
        assert f"extra '{extra}'" in line
    assert said[::2] == said[1::2]
