"""The contract suite finds what is wrong with a task head, says it in words, and lets a good head
pass."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import bad_heads
import pytest

from thinstack.core.head import TaskHead
from thinstack.errors import ConfigError, UnknownNameError
from thinstack.testing import HEAD_CHECKS

ROOT = Path(__file__).parents[2]


class Bad(NamedTuple):
    """The check that finds it, in the order of HEAD_CHECKS the first, and what it says."""

    check: str
    message: str


BAD = {
    "WrongSize": Bad(
        "built_as_asked",
        "classes is 4 where 3 was asked for; hand the classes that __init__ gets on",
    ),
    "WrongWidth": Bad(
        "built_as_asked",
        r"forward of rows of shape \(5, 4\) raises RuntimeError: .* reads nodes gets rows",
    ),
    "ReadsElse": Bad(
        "built_as_asked", "reads is 'words'; hand one of nodes, roots, pairs, candidates to"
    ),
    "Overwrites": Bad(
        "inputs_are_kept", "loss overwrites its arguments, .* without the trailing underscore"
    ),
    "Mean": Bad("loss_is_a_sum", r"the loss is no sum over rows: .*Sum it \(reduction='sum'\)"),
    "CountsUnlabelled": Bad(
        "unlabelled_rows", "rows labelled -1 count: .* as functional.cross_entropy does"
    ),
    "NoGradient": Bad(
        "unlabelled_rows", "the loss has no gradient with respect to the scores; take out detach"
    ),
    "Normalises": Bad(
        "few_rows",
        "forward of 1 rows in training mode raises ValueError: .* skip what cannot be estimated",
    ),
    "RowMixing": Bad(
        "rows_are_independent",
        r"forward reads other rows: results changed by \S+ when row 0 was replaced",
    ),
    "CountsRows": Bad(
        "rows_are_independent",
        "forward depends on the number of rows: .* Do not branch on the number",
    ),
    "Random": Bad(
        "rows_are_independent",
        "forward gives other results when it is called again: .* in evaluation mode",
    ),
    "Detached": Bad(
        "gradients", "the gradient of forward is not that of finite differences.* take out detach"
    ),
    "Unscriptable": Bad(
        "torchscript", "TorchScript cannot compile the head: .*squash.* use no lambda"
    ),
    "OtherwiseScripted": Bad("torchscript", "scripted, the scores of 7 rows differ"),
    "BranchesOnValues": Bad(
        "onnx", "BranchesOnValues.scores cannot be exported.* no Python branch"
    ),
    "OtherwiseExported": Bad("onnx", "in onnxruntime the scores of 7 rows differ"),
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
    bad = BAD[name]
    head = getattr(bad_heads, name)
    checks = list(HEAD_CHECKS)
    found = failures(head, checks[: checks.index(bad.check) + 1])
    assert list(found) == [bad.check]
    assert found[bad.check].startswith(f"{head.name}, {bad.check}: ")
    with pytest.raises(AssertionError, match=bad.message):
        raise AssertionError(found[bad.check])


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
