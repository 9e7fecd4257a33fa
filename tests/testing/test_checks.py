"""The contract suite finds what is wrong with a cell or a task head, says it in words, and lets a
good one pass."""

import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import bad_cells
import bad_heads
import bad_parsers
import pytest
from torch import Tensor

from thinstack.errors import ConfigError, PluginError, UnknownNameError
from thinstack.testing import CELL_CHECKS, HEAD_CHECKS, PARSER_CHECKS

ROOT = Path(__file__).parents[2]
INNER = {"inner_size": 5}
ANY = {"options": {"arity": 0}}
CHAINS, CLASSIFIER = CELL_CHECKS["chains"], "node_classifier.v1"
EAGER = [name for name in CELL_CHECKS if name != "onnx"]  # which takes seconds


class Bad(NamedTuple):
    """The check that finds it, in the order of CELL_CHECKS the first; what it names; whether no
    other fails; what to ask for."""

    check: str
    named: str
    alone: bool = True
    asked: dict[str, Any] = {}  # noqa: RUF012 - it is only read


CELLS = {
    "WrongSize": Bad("built_as_asked", "hidden_size is 5 where 4 was asked for"),
    "WrongWidth": Bad("built_as_asked", "output gives shapes [(6, 5)]", alone=False),
    "SinglePrecision": Bad("built_as_asked", "leaf gives ['torch.float32']", alone=False),
    "FewKinds": Bad("built_as_asked", "kinds is 2", asked={"kinds": 5}),
    "Lazy": Bad("built_as_asked", "parameters ['late'] appear at the first call", alone=False),
    "Uninitialised": Bad("built_as_asked", "parameter 'b' has no finite", alone=False),
    "Overwrites": Bad("inputs_are_kept", "compose overwrites inputs", False, INNER),
    "OverwritesState": Bad("inputs_are_kept", "output overwrites state", alone=False),
    "Reshapes": Bad(
        "no_rows", "leaf of shapes {'inputs': [(0, 5)]} raises RuntimeError", alone=False
    ),
    "Averages": Bad("no_rows", "compose of nodes without children is not finite", True, ANY),
    "RowMixing": Bad("rows_are_independent", "other rows of `children` than its own", alone=False),
    "CountsRows": Bad("rows_are_independent", "depends on the number of rows", alone=False),
    "Remembers": Bad("nothing_is_kept", "compose gives other results when called", alone=False),
    "InOrder": Bad("rows_are_independent", "the order of the child states", False, ANY),
    "DeadInput": Bad("inner_inputs_are_read", "column 0", True, INNER),
    "Detached": Bad("gradients", "the gradient of compose with respect to b "),
    "DeadParameter": Bad("parameters_are_used", "['gate']"),
    "Unscriptable": Bad("torchscript", "curve"),
    "CountsResults": Bad("torchscript", "take the number of rows from `inputs`"),
    "BranchesOnValues": Bad("device_and_type", "`__bool__` reads the numbers", alone=False),
}

HEADS = {
    "WrongSize": ("built_as_asked", "classes is 4 where 3 was asked for"),
    "WrongWidth": ("built_as_asked", "forward of shapes {'rows': [(6, 4)]} raises RuntimeError"),
    "ReadsElse": ("built_as_asked", "reads is 'words'"),
    "Overwrites": ("inputs_are_kept", "loss overwrites labels"),
    "Mean": ("loss_is_a_sum", "no sum over rows"),
    "CountsUnlabelled": ("unlabelled_rows", "rows labelled -1 count"),
    "NoGradient": ("unlabelled_rows", "no gradient with respect to the scores"),
    "Shares": ("soft_labels", "of soft labels and of the labels that they are made of"),
    "Normalises": ("few_rows", "forward of shapes {'rows': [(1, 4)]} raises ValueError"),
    "CountsRows": ("rows_are_independent", "forward depends on the number of rows"),
    "Detached": ("gradients", "the gradient of forward "),
    "Unscriptable": ("torchscript", "squash"),
    "OtherwiseScripted": ("torchscript", "the scores of 7 rows: results differ"),
    "BranchesOnValues": ("device_and_type", "`__bool__` reads the numbers"),
    "OtherwiseExported": ("onnx", "the scores of 7 rows: results differ"),
}


PARSERS = {
    "WrongSize": ("distances_of_all_words", "input_size is 6 where 5 was asked for"),
    "NoDevice": ("device_and_type", "what torch.zeros made, (20,), lies on the CPU"),
    "NormAtZero": ("finite_distances", "forward of rows of zeros"),
    "Overflows": ("finite_distances", "softplus"),
    "LongSentences": ("sentences_are_apart", "of [700, 1, 300] words, and alone"),
    "GapsOnly": ("distances_of_all_words", "of 20 words of torch.float32 gives (19,)"),
    "NeedsWords": ("no_words", "max()"),
    "Overwrites": ("words_are_kept", "overwrites its arguments"),
    "ReadsOthers": ("sentences_are_apart", "sentence 2 of [5, 1, 12, 2] words, and alone"),
    "Unused": ("parameters_are_used", "'rest'"),
    "Unscriptable": ("torchscript", "cannot compile the parser"),
    "OtherwiseScripted": ("torchscript", "of [5, 1, 12, 2] words: results differ"),
    "OtherwiseExported": ("onnx", "of [5, 1, 12, 2] words: results differ"),
}

CHECKS = {"cell": CELL_CHECKS, "head": HEAD_CHECKS, "parser": PARSER_CHECKS}


def failures(plugin, checks, **asked):
    """Messages of the checks that fail."""
    asked = {"examples": 30, "inner_size": 0, **asked} if plugin.plugin_kind == "cell" else asked
    found = {}
    for name in checks:
        try:
            CHECKS[plugin.plugin_kind][name](plugin, **asked)
        except AssertionError as error:
            found[name] = str(error)
    return found


@pytest.mark.parametrize(
    ("plugin", "bad"),
    [
        *((getattr(bad_cells, name), bad) for name, bad in CELLS.items()),
        *((getattr(bad_heads, name), Bad(*bad, alone=False)) for name, bad in HEADS.items()),
        *((getattr(bad_parsers, name), Bad(*bad, alone=False)) for name, bad in PARSERS.items()),
    ],
)
def test_what_is_bad_is_found_out(plugin, bad):
    checks = [name for name in CHECKS[plugin.plugin_kind] if name != "onnx" or bad.check == name]
    if not bad.alone:
        checks = checks[: checks.index(bad.check) + 1]
    found = failures(plugin, checks, **bad.asked)
    assert list(found) == [bad.check]
    assert found[bad.check].startswith(f"{plugin.name}, {bad.check}: ")
    assert bad.named in found[bad.check]


TREES = ["mixed_forests", "neighbours", "gradients_of_forests"]


@pytest.mark.parametrize(
    ("plugin", "checks", "said", "asked"),
    [
        (bad_cells.RowMixing, TREES, "mend that first", {}),
        (bad_cells.LeafMixing, ["one_word_trees", "mixed_forests"], "differ by", {}),
        (bad_cells.Remembers, ["chains", "stars"], "differ by", {}),
        (bad_cells.CountsRows, ["top_down"], "root down", INNER | {"options": {"arity": 1}}),
        (bad_cells.OtherwiseScripted, ["torchscript"], "scripted, the cell's outputs", {}),
        (bad_cells.OtherwiseExported, ["onnx"], "in onnxruntime the scores", {}),
        (bad_cells.OtherOperator, ["onnx"], "needs the operator 'Softplus'", {}),
        (bad_cells.BranchesOnValues, ["onnx"], "BranchesOnValues.compose cannot be exported", {}),
        (bad_heads.BranchesOnValues, ["onnx"], "BranchesOnValues.scores cannot be exported", {}),
        (bad_heads.CountsRows, ["onnx"], "cannot be exported", {}),
    ],
)
def test_what_other_checks_find(plugin, checks, said, asked):
    found = failures(plugin, checks, **asked)
    assert list(found) == checks
    assert all(said in message for message in found.values())


NARROW = {"input_size": 3, "hidden_size": 2}


# Without sizes, the checks try a cell with and without inputs at inner nodes.
@pytest.mark.parametrize(
    ("arity", "sizes"), [(0, INNER), (0, {}), (1, {}), (3, {}), (0, NARROW), (3, NARROW)], ids=str
)
def test_a_good_cell_passes(arity, sizes):
    checks = list(CELL_CHECKS) if (arity, sizes) == (0, INNER) else EAGER
    assert failures(bad_cells.Good, checks, options={"arity": arity}, **sizes) == {}


@pytest.mark.parametrize("name", ["Good", "GoodOfPairs", "GoodRatings"])
def test_a_good_head_passes(name):
    assert failures(getattr(bad_heads, name), HEAD_CHECKS) == {}


def test_a_good_parser_passes():
    assert failures(bad_parsers.Good, PARSER_CHECKS) == {}


def test_the_number_of_examples():
    calls = []

    class Counted(bad_cells.Good):
        def leaf(self, inputs: Tensor) -> list[Tensor]:
            calls.append(inputs)
            return super().leaf(inputs)

    CELL_CHECKS["neighbours"](Counted, {"arity": 0}, inner_size=0, examples=7)
    assert len(calls) == 2 * 7


@pytest.mark.parametrize(
    ("check", "plugin", "asked", "error", "named"),
    [
        (CHAINS, "no_such_cell.v1", {}, UnknownNameError, "no_such_cell"),
        (CHAINS, "nary_lstm.v1", {"options": {"arity": 0}}, ConfigError, "arity"),
        (CHAINS, dict, {}, PluginError, "derived from"),
        (CHAINS, "nary_lstm.v1", {"inner_size": 3}, ValueError, "input_size = 5"),
        (CHAINS, "nary_lstm.v1", {"classes": 3}, TypeError, "classes"),
        (HEAD_CHECKS["gradients"], "no_such_head.v1", {}, UnknownNameError, "no_such_head"),
        (PARSER_CHECKS["no_words"], "no_such_parser.v1", {}, UnknownNameError, "no_such_parser"),
        (HEAD_CHECKS["gradients"], CLASSIFIER, {"options": {"hidden": -1}}, ConfigError, "hidden"),
    ],
)
def test_what_is_not_there(check, plugin, asked, error, named):
    with pytest.raises(error, match=named):
        check(plugin, **asked)


@pytest.mark.parametrize("checks", [CELL_CHECKS, HEAD_CHECKS, PARSER_CHECKS])
def test_checks_have_names_and_descriptions(checks):
    assert [check.__name__ for check in checks.values()] == list(checks)
    assert all(check.__doc__ for check in checks.values())


WITHOUT_PACKAGES = """
import sys
sys.modules["pytest"] = None
from thinstack.errors import MissingExtraError
from thinstack.testing import CELL_CHECKS, HEAD_CHECKS
CELL_CHECKS["chains"]("dt_rnn.v1")
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
