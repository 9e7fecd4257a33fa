"""The contract suite finds what is wrong with a task head, says it in words, and lets a good head
pass."""

import subprocess
import sys
from pathlib import Path

import bad_heads
import pytest

from thinstack.core.head import TaskHead
from thinstack.errors import ConfigError, UnknownNameError
from thinstack.testing import HEAD_CHECKS

ROOT = Path(__file__).parents[2]


# The check that finds it, in the order of HEAD_CHECKS the first, and what it names.
BAD = {
    "WrongSize": ("built_as_asked", "classes is 4 where 3 was asked for"),
    "WrongWidth": ("built_as_asked", "forward of shapes {'rows': [(6, 4)]} raises RuntimeError"),
    "ReadsElse": ("built_as_asked", "reads is 'words'"),
    "Overwrites": ("inputs_are_kept", "loss overwrites labels"),
    "Mean": ("loss_is_a_sum", "no sum over rows"),
    "CountsUnlabelled": ("unlabelled_rows", "rows labelled -1 count"),
    "NoGradient": ("unlabelled_rows", "no gradient with respect to the scores"),
    "Normalises": ("few_rows", "forward of 1 rows in training mode raises ValueError"),
    "RowMixing": ("rows_are_independent", "forward reads other rows"),
    "CountsRows": ("rows_are_independent", "forward depends on the number of rows"),
    "Random": ("rows_are_independent", "forward gives other results"),
    "Detached": ("gradients", "the gradient of forward "),
    "Unscriptable": ("torchscript", "squash"),
    "OtherwiseScripted": ("torchscript", "the scores of 7 rows differ"),
    "BranchesOnValues": ("onnx", "BranchesOnValues.scores cannot be exported"),
    "OtherwiseExported": ("onnx", "the scores of 7 rows differ"),
}


def failures(head: type[TaskHead], checks: list[str]) -> dict[str, str]:
    """Messages of the checks that fail."""
    found = {}
    for name in checks:
        try:
            HEAD_CHECKS[name](head)
        except AssertionError as error:
            found[name] = str(error)
    return found


@pytest.mark.parametrize("name", BAD)
def test_a_bad_head_is_found_out(name: str) -> None:
    check, named = BAD[name]
    head = getattr(bad_heads, name)
    checks = list(HEAD_CHECKS)
    found = failures(head, checks[: checks.index(check) + 1])
    assert list(found) == [check]
    assert found[check].startswith(f"{head.name}, {check}: ")
    assert named in found[check]


@pytest.mark.parametrize("name", ["Good", "GoodOfPairs", "GoodRatings"])
def test_a_good_head_passes(name: str) -> None:
    assert failures(getattr(bad_heads, name), list(HEAD_CHECKS)) == {}


def test_a_head_that_counts_rows_has_no_onnx() -> None:
    assert list(failures(bad_heads.CountsRows, ["onnx"])) == ["onnx"]


def test_heads_that_are_not_there() -> None:
    with pytest.raises(UnknownNameError, match=r"no_such_head\.v1"):
        HEAD_CHECKS["gradients"]("no_such_head.v1")
    with pytest.raises(ConfigError, match="hidden"):
        HEAD_CHECKS["gradients"]("node_classifier.v1", {"hidden": -1})


def test_checks_have_names_and_descriptions() -> None:
    assert [check.__name__ for check in HEAD_CHECKS.values()] == list(HEAD_CHECKS)
    assert all(check.__doc__ for check in HEAD_CHECKS.values())


@pytest.mark.parametrize(("package", "extra"), [("onnx", "testing"), ("onnxruntime", "cpu")])
def test_missing_packages(package: str, extra: str) -> None:
    """The checks that need no extra package run without them; the export names the extra."""
    code = (
        "import sys\n"
        f"sys.modules[{package!r}] = None\n"
        "from thinstack.testing import HEAD_CHECKS\n"
        "HEAD_CHECKS['torchscript']('node_classifier.v1')\n"
        "HEAD_CHECKS['onnx']('node_classifier.v1')\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert answer.stderr.splitlines()[-1] == (
        f"thinstack.errors.MissingExtraError: this needs the package '{package}', which is not "
        "installed: "
        f'pip install "thinstack[{extra}]"'
    )
