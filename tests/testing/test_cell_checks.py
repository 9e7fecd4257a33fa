"""The contract suite finds what is wrong with a cell, says it in words, and lets a good cell
pass."""

import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import bad_cells
import pytest
from torch import Tensor

from thinstack.core.cell import Cell
from thinstack.errors import ConfigError, PluginError, UnknownNameError
from thinstack.testing import CELL_CHECKS

ROOT = Path(__file__).parents[2]
INNER: dict[str, Any] = {"inner_size": 5}


class Bad(NamedTuple):
    """The check that finds it, in the order of CELL_CHECKS the first; what it names; whether no
    other fails; what to ask for."""

    check: str
    named: str
    alone: bool = True
    sizes: dict[str, Any] = {}  # noqa: RUF012 - it is only read


BAD = {
    "WrongSize": Bad("built_as_asked", "hidden_size is 5 where 4 was asked for"),
    "WrongWidth": Bad("built_as_asked", "output gives shapes [(6, 5)]", alone=False),
    "SinglePrecision": Bad("built_as_asked", "leaf gives ['torch.float32']", alone=False),
    "FewKinds": Bad("built_as_asked", "kinds is 2", sizes={"kinds": 5}),
    "Lazy": Bad("built_as_asked", "parameters ['late'] appear at the first call", alone=False),
    "Uninitialised": Bad("built_as_asked", "parameter 'b' has no finite", alone=False),
    "Overwrites": Bad("inputs_are_kept", "compose overwrites inputs", False, INNER),
    "OverwritesState": Bad("inputs_are_kept", "output overwrites state", alone=False),
    "Reshapes": Bad("no_rows", "leaf of no rows raises RuntimeError", alone=False),
    "Averages": Bad("no_rows", "compose of nodes without children is not finite"),
    "RowMixing": Bad(
        "rows_are_independent", "reads other rows of `children` than its own", alone=False
    ),
    "CountsRows": Bad("rows_are_independent", "depends on the number of rows", alone=False),
    "Remembers": Bad("rows_are_independent", "compose gives other results", alone=False),
    "Random": Bad("rows_are_independent", "leaf gives other results", alone=False),
    "InOrder": Bad("rows_are_independent", "the order of the child states", alone=False),
    "DeadInput": Bad("inner_inputs_are_read", "column 0", True, INNER),
    "Detached": Bad("gradients", "the gradient of compose with respect to b "),
    "DeadParameter": Bad("parameters_are_used", "['gate']"),
    "Unscriptable": Bad("torchscript", "squash"),
    "CountsResults": Bad("torchscript", "take the number of rows from `inputs`"),
    "BranchesOnValues": Bad("onnx", "BranchesOnValues.compose cannot be exported"),
}


def failures(cell: type[Cell], checks: list[str], **asked: Any) -> dict[str, str]:
    """Messages of the checks that fail."""
    found = {}
    for name in checks:
        try:
            CELL_CHECKS[name](cell, examples=30, **asked)
        except AssertionError as error:
            found[name] = str(error)
    return found


@pytest.mark.parametrize("name", BAD)
def test_a_bad_cell_is_found_out(name: str) -> None:
    bad = BAD[name]
    cell = getattr(bad_cells, name)
    checks = list(CELL_CHECKS)
    if bad.check != "onnx":
        checks.remove("onnx")  # it takes seconds
    if not bad.alone:
        checks = checks[: checks.index(bad.check) + 1]
    found = failures(cell, checks, **bad.sizes)
    assert list(found) == [bad.check]
    assert found[bad.check].startswith(f"{cell.name}, {bad.check}: ")
    assert bad.named in found[bad.check]


def test_row_mixing_shows_in_trees_as_well() -> None:
    found = failures(bad_cells.RowMixing, ["mixed_forests", "neighbours", "gradients_of_forests"])
    assert list(found) == ["mixed_forests", "neighbours", "gradients_of_forests"]
    assert all("mend that first" in message for message in found.values())


def test_other_faults_show_in_trees_as_well() -> None:
    assert list(failures(bad_cells.LeafMixing, ["one_word_trees", "mixed_forests"])) == [
        "one_word_trees",
        "mixed_forests",
    ]
    assert list(failures(bad_cells.Remembers, ["chains", "stars"])) == ["chains", "stars"]


def test_top_down_finds_a_cell_that_counts_rows() -> None:
    (message,) = failures(bad_cells.CountsRowsOfChains, ["top_down"], **INNER).values()
    assert "from the root down" in message


def test_scripts_that_differ_are_found() -> None:
    (message,) = failures(bad_cells.OtherwiseScripted, ["torchscript"]).values()
    assert "scripted, the cell's outputs of trees" in message


def test_exports_that_differ_are_found() -> None:
    (message,) = failures(bad_cells.OtherwiseExported, ["onnx"]).values()
    assert "in onnxruntime the scores" in message


@pytest.mark.parametrize("sizes", [{}, INNER, {"input_size": 3, "hidden_size": 2}], ids=str)
@pytest.mark.parametrize("arity", [0, 1, 3])
def test_a_good_cell_passes(arity: int, sizes: dict[str, Any]) -> None:
    checks = [name for name in CELL_CHECKS if name != "onnx"]
    assert failures(bad_cells.Good, checks, options={"arity": arity}, **sizes) == {}


def test_a_good_cell_passes_in_onnx() -> None:
    assert failures(bad_cells.Good, ["onnx"], options={"arity": 0}, **INNER) == {}


def test_the_number_of_examples() -> None:
    calls = []

    class Counted(bad_cells.Good):
        def leaf(self, inputs: Tensor) -> list[Tensor]:
            calls.append(inputs)
            return super().leaf(inputs)

    CELL_CHECKS["neighbours"](Counted, {"arity": 0}, examples=7)
    assert len(calls) == 2 * 7


def test_cells_that_are_not_there() -> None:
    with pytest.raises(UnknownNameError, match=r"no_such_cell\.v1"):
        CELL_CHECKS["chains"]("no_such_cell.v1")
    with pytest.raises(ConfigError, match="arity"):
        CELL_CHECKS["chains"]("nary_lstm.v1", {"arity": 0})
    with pytest.raises(PluginError, match="derived from"):
        CELL_CHECKS["chains"](dict)
    with pytest.raises(ValueError, match="inner_size must be 0 or input_size = 5"):
        CELL_CHECKS["chains"]("nary_lstm.v1", inner_size=3)


def test_checks_have_names_and_descriptions() -> None:
    assert [check.__name__ for check in CELL_CHECKS.values()] == list(CELL_CHECKS)
    assert all(check.__doc__ for check in CELL_CHECKS.values())


@pytest.mark.parametrize(
    ("package", "extra", "check"),
    [
        ("hypothesis", "testing", "neighbours"),
        ("onnx", "testing", "onnx"),
        ("onnxruntime", "cpu", "onnx"),
    ],
)
def test_missing_packages(package: str, extra: str, check: str) -> None:
    """The checks that need no extra package run without them; the others name the extra."""
    code = (
        "import sys\n"
        f"for name in ('pytest', {package!r}): sys.modules[name] = None\n"
        "from thinstack.testing import CELL_CHECKS\n"
        "CELL_CHECKS['torchscript']('dt_rnn.v1')\n"
        f"CELL_CHECKS[{check!r}]('dt_rnn.v1')\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert answer.stderr.splitlines()[-1] == (
        f"thinstack.errors.MissingExtraError: this needs the package '{package}', which is not "
        "installed: "
        f'pip install "thinstack[{extra}]"'
    )
